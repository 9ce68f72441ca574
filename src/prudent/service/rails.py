"""What is watched after each reward of an arm: have its rewards changed, and is a limit certainly passed?

A change is written down, and nothing else is done about it. A guardrail acts: firing and its consequence are events of
the transaction of the reward that caused it, so that nothing is decided in between. It acts once for an arm, and
nothing takes it back but a person.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prudent.errors import PrudentError
from prudent.live import changes
from prudent.live.rails import Rail, fires, share_of_arm, shares

if TYPE_CHECKING:
    from prudent.live.agent import Agent
    from prudent.service.fold import Fold
    from prudent.service.work import Work

EVERY = 50
"""Limits on variance, cost and quantile are looked at after so many rewards of an arm; that of a mean after each."""


def after_reward(work: Work, arm: int, count: int = 1) -> None:
    """Say if the arm has changed, and act on every guardrail of it that fires now, after so many rewards of it."""
    fold = work.fold
    _watch(work, arm, count)
    if not fold.rails:
        return
    # Rewards that come one by one are judged by sharper bounds than merged ones. Where both may come, each has half.
    error = fold.spec.error * (0.5 if fold.spec.takes_batches else 1.0)
    parts = shares(fold.rails, len(fold.spec.arms), arm, fold.labels[arm])
    for number, (rail, part) in enumerate(zip(fold.rails, parts, strict=True)):
        done = (number, arm) in fold.fired or arm in fold.retired or fold.status not in ("running", "frozen")
        if not done and _fires(fold, rail, arm, error * part, count):
            _act(work, number, rail, arm)


def _watch(work: Work, arm: int, count: int) -> None:
    """An event if the rewards of the arm have surely changed, once for each arm."""
    fold = work.fold
    known = fold.agent.kept(fold.labels[arm])
    if known.pulls % changes.EVERY >= count or arm in fold.changed:
        return
    failure = changes.FAILURE * share_of_arm(len(fold.spec.arms), arm)
    found = fold.marks[arm].change(known, failure, _support(fold.agent))
    if found is not None:
        found = found if fold.agent.larger_is_better else found.negative()
        work.record("changed", 0, {"rewards": known.pulls, **found._asdict()}, arm=arm)


def _support(agent: Agent) -> tuple[float, float]:
    """Where the rewards lie that an agent keeps, which may be the negatives of what is told."""
    low, high = agent.support
    return (low, high) if agent.larger_is_better else (-high, -low)


def _fires(fold: Fold, rail: Rail, arm: int, failure: float, count: int) -> bool:
    """Whether the limit is certainly passed; looked at only as often as it is cheap."""
    agent = fold.agent
    if rail.metric is None:
        known, support, larger = agent.kept(fold.labels[arm]), _support(agent), agent.larger_is_better
    else:
        known, support, larger = fold.metrics[arm][rail.metric], fold.spec.metrics[rail.metric].support, True
    if rail.watch != "mean" and known.pulls % EVERY >= count:
        return False
    return fires(rail, known, agent.risk, failure, support, larger)


def _act(work: Work, number: int, rail: Rail, arm: int) -> None:
    """The event of the guardrail, then that of what it does."""
    fold = work.fold
    limit = f"above {rail.limit:g}" if rail.below is None else f"below {rail.limit:g}"
    what = rail.watch if rail.q is None else f"{rail.q:g}-quantile"
    what = what if rail.metric is None else f"{what} of {rail.metric}"
    details = {"reason": f"guardrail: the {what} of {fold.labels[arm]} is {limit}"}
    work.record("guardrail", 0, {"rail": number, **details}, arm=arm)
    to = None if rail.to is None else fold.numbers[rail.to]
    if rail.then == "stop":
        work.record("stopped", 0, details)
    elif rail.then == "retire" and arm != fold.frozen_to and _can(fold, lambda agent: agent.retire(fold.labels[arm])):
        work.record("arm-retired", 0, {**details, **_new_fallback(fold, arm)}, arm=arm)
    elif to is not None and to not in fold.retired and _can(fold, lambda agent: agent.ask([rail.to])):
        work.record("frozen", 0, details, arm=to)
    else:  # also if what it should do cannot be done: the last arm is not retired
        work.record("paused", 0, details)


def _new_fallback(fold: Fold, arm: int) -> dict[str, str]:
    """If a guardrail retires the fallback arm, the arm with the smallest estimated cost takes its place: a pause must
    not give everybody the arm that was found to be bad, nor nothing."""
    if fold.fallback != fold.labels[arm]:
        return {}
    others = [
        (math.inf if known.cost is None else known.cost, i)
        for i, known in enumerate(fold.agent.estimates())
        if i != arm and i not in fold.retired
    ]
    return {"fallback": fold.labels[min(others)[1]]}


def _can(fold: Fold, act: Callable[[Agent], Any]) -> bool:
    """Whether the agent can do it, tried on a copy."""
    try:
        act(fold.agent.copy())
    except PrudentError:
        return False
    return True
