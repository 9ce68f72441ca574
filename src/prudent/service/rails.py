"""Guardrails at work: after each reward of an arm, is a limit certainly passed, and what is done about it?

Firing and its consequence are events of the transaction of the reward that caused it, so that nothing is decided in
between. A guardrail acts once for an arm, and nothing takes it back but a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prudent.service.spec import Guardrail
    from prudent.service.work import Work

EVERY = 50
"""Limits on variance, cost and quantile are looked at after so many rewards of an arm; that of a mean after each."""


def after_reward(work: Work, arm: int, count: int = 1) -> None:
    """Act on every guardrail of the arm that fires now, after so many rewards of it."""
    fold = work.fold
    for number, rail in enumerate(fold.spec.guardrails):
        if (number, arm) in fold.fired or arm in fold.retired or rail.arm not in (None, fold.labels[arm]):
            continue
        if fold.status not in ("running", "frozen"):
            return
        if _fires(work, number, arm, count):
            _act(work, number, rail, arm)


def _fires(work: Work, number: int, arm: int, count: int) -> bool:
    """Whether the limit is certainly passed."""
    raise NotImplementedError


def _act(work: Work, number: int, rail: Guardrail, arm: int) -> None:
    """The event of the guardrail, then that of what it does."""
    fold = work.fold
    limit = f"above {rail.above}" if rail.above is not None else f"below {rail.below}"
    what = rail.watch if rail.metric is None else f"{rail.watch} of {rail.metric}"
    reason = f"guardrail: the {what} of {fold.labels[arm]} is {limit}"
    work.record("guardrail", 0, {"rail": number, "reason": reason}, arm=arm)
    details: dict[str, Any] = {"reason": reason}
    last = len(fold.labels) - len(fold.retired) == 1
    if rail.then == "retire" and not last and arm != fold.frozen_to:
        work.record("arm-retired", 0, details, arm=arm)
    elif rail.then == "freeze" and fold.numbers[rail.to or ""] not in fold.retired:
        work.record("frozen", 0, details, arm=fold.numbers[rail.to or ""])
    elif rail.then == "stop":
        work.record("stopped", 0, details)
    else:  # also if the last arm would have to be retired
        work.record("paused", 0, details)
