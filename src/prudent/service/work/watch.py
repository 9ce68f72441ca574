"""What happens by itself: windows close, and after each reward of an arm it is watched whether its rewards have changed
and whether a limit is certainly passed. All of it is written down as events, so that a replay needs no clock.

A change is written down, and nothing else is done about it. A guardrail acts: firing and its consequence are events of
the transaction of the reward that caused it, so that nothing is decided in between. It acts once for an arm, and
nothing takes it back but a person.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from prudent.base.errors import PrudentError
from prudent.live import drift
from prudent.live.guardrails import Rail, fires, share_of_arm, shares
from prudent.service.verbs import EVENT_OF

if TYPE_CHECKING:
    from prudent.live.agent import Agent
    from prudent.service.log.events import Details
    from prudent.service.log.state import ExperimentState
    from prudent.service.log.store import Store
    from prudent.service.work.transaction import Transaction

WINDOWS_AT_ONCE = 500
"""Windows that one transaction closes; decisions wait no longer than that takes."""

REWARDS_BETWEEN_LOOKS = 50
"""Limits on variance, cost and quantile are looked at after so many rewards of an arm; that of a mean after each."""


def close_windows(work: Transaction, store: Store) -> bool:
    """Count what is due, in the order in which windows closed; whether there is more."""
    rows = store.due(work.experiment.id, work.now, WINDOWS_AT_ONCE)
    default = work.state.spec.rewards.default
    for row in rows:
        assert row.arm is not None
        work.decisions[row.seq] = row
        value, details = (None if default is None else default + 0.0), None
        kind = "expired" if default is None else "defaulted"
        if row.state == "told":
            kind, value = "counted", row.value
            details = None if row.body is None else {"metrics": msgspec.json.decode(row.body)}
        work.record(kind, 0, details, decision=row.seq, arm=row.arm, value=value)
        if kind != "expired":
            after_reward(work, row.arm)
    return len(rows) == WINDOWS_AT_ONCE


def after_reward(work: Transaction, arm: int, count: int = 1) -> None:
    """Say if the arm has changed, and act on every guardrail of it that fires now, after so many rewards of it."""
    state = work.state
    _watch(work, arm, count)
    if not state.rails:
        return
    # Rewards that come one by one are judged by sharper bounds than merged ones. Where both may come, each has half.
    error = state.spec.error * (0.5 if state.spec.takes_batches else 1.0)
    parts = shares(state.rails, len(state.spec.arms), arm, state.labels[arm])
    for number, (rail, part) in enumerate(zip(state.rails, parts, strict=True)):
        done = (number, arm) in state.fired or arm in state.retired or state.status not in ("running", "frozen")
        if not done and _fires(state, rail, arm, error * part, count):
            _act(work, number, rail, arm)


def _watch(work: Transaction, arm: int, count: int) -> None:
    """An event if the rewards of the arm have surely changed, once for each arm."""
    state = work.state
    known = state.agent.kept(state.labels[arm])
    if known.pulls % drift.EVERY >= count or arm in state.changed:
        return
    failure = drift.FAILURE * share_of_arm(len(state.spec.arms), arm)
    found = state.marks[arm].change(known, failure, _support(state.agent))
    if found is not None:
        found = found if state.agent.larger_is_better else found.negative()
        work.record("changed", 0, {"rewards": known.pulls, **found._asdict()}, arm=arm)


def _support(agent: Agent) -> tuple[float, float]:
    """Where the rewards lie that an agent keeps, which may be the negatives of what is told."""
    low, high = agent.support
    return (low, high) if agent.larger_is_better else (-high, -low)


def _fires(state: ExperimentState, rail: Rail, arm: int, failure: float, count: int) -> bool:
    """Whether the limit is certainly passed; looked at only as often as it is cheap."""
    agent, binary = state.agent, False
    if rail.metric is None:
        binary = agent.binary
        known, support, larger = agent.kept(state.labels[arm]), _support(agent), agent.larger_is_better
    else:
        known, support, larger = state.metrics[arm][rail.metric], state.spec.metrics[rail.metric].support, True
    if rail.watch != "mean" and known.pulls % REWARDS_BETWEEN_LOOKS >= count:
        return False
    return fires(rail, known, agent.risk, failure, support, larger, binary)


def _act(work: Transaction, number: int, rail: Rail, arm: int) -> None:
    """The event of the guardrail, then that of what it does."""
    state = work.state
    limit = f"above {rail.limit:g}" if rail.below is None else f"below {rail.limit:g}"
    what = rail.watch if rail.q is None else f"{rail.q:g}-quantile"
    what = what if rail.metric is None else f"{what} of {rail.metric}"
    label, to = state.labels[arm], None if rail.to is None else state.numbers[rail.to]
    details: Details = {"reason": f"guardrail: the {what} of {label} is {limit}"}
    work.record("guardrail", 0, {"rail": number, **details}, arm=arm)
    if rail.then == "retire" and arm != state.frozen_to and _can(state, lambda agent: agent.retire(label)):
        work.record(EVENT_OF["retire"], 0, details | _new_fallback(state, arm), arm=arm)
    elif to is not None and to not in state.retired and _can(state, lambda agent: agent.ask([rail.to])):
        work.record(EVENT_OF["freeze"], 0, details, arm=to)
    else:  # also if what it should do cannot be done: the last arm is not retired
        work.record(EVENT_OF["stop" if rail.then == "stop" else "pause"], 0, details)


def _new_fallback(state: ExperimentState, arm: int) -> dict[str, str]:
    """If a guardrail retires the fallback arm, the arm with the smallest estimated cost takes its place: a pause must
    not give everybody the arm that was found to be bad, nor nothing."""
    if state.fallback != state.labels[arm]:
        return {}
    others = [
        (math.inf if known.cost is None else known.cost, i)
        for i, known in enumerate(state.agent.estimates())
        if i != arm and i not in state.retired
    ]
    return {"fallback": state.labels[min(others)[1]]}


def _can(state: ExperimentState, act: Callable[[Agent], object]) -> bool:
    """Whether the agent can do it, tried on a copy."""
    try:
        act(state.agent.copy())
    except PrudentError:
        return False
    return True
