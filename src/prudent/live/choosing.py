"""Which arm to pull: the policy, interpreted, on what is known of the arms.

Functions take all arms with their numbers in the list, and the numbers of those that are `available` now.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.engine.record import BAD_PHASE, COMPLAINTS
from prudent.errors import PrudentError
from prudent.live.arm import ArmState, ordered
from prudent.policies.base import FOREVER, Arm, Arms
from prudent.policies.helpers import answer, choose_only
from prudent.policies.scoring import cost_of, costs_need_rewards, score_inputs, score_of
from prudent.policies.ties import below


class Ready(NamedTuple):
    """A policy made ready for some arms, its spec for errors, and the unit in which it sees rewards."""

    policy: Any
    owner: str
    unit: float

    @property
    def scores(self) -> bool:
        """Whether it scores arms; else it has phases."""
        return hasattr(self.policy, "score")

    @property
    def needs_rewards(self) -> bool:
        """Whether it asks for every reward of an arm."""
        return "rewards" in score_inputs(type(self.policy)) if self.scores else costs_need_rewards(self.policy)


def round_of(arms: Sequence[ArmState]) -> int:
    """The number of the coming round, from 1."""
    return 1 + sum(arm.pulls + arm.open_asks for arm in arms)


def by_score(ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator) -> int:
    """The arm with the smallest score; one without a reward comes first. Among equals the arm with the fewest
    open asks is chosen, so that a first batch tries all new arms, and then the lowest number."""
    policy, owner, unit = ready
    t, keeps = round_of(arms), ready.needs_rewards
    best, best_score, best_seen = -1, math.inf, Arm(0, 0.0, 0.0)
    for i in available:
        arm = arms[i]
        seen = Arm(arm.pulls, arm.mean / unit, arm.variance / unit / unit)
        rewards = ordered(arm) / unit if keeps else None
        try:
            score = score_of(policy, seen, t, rng, rewards) if arm.pulls > 0 else -math.inf
        except ArithmeticError:  # where a kernel goes on with infinity, Python stops
            score = math.nan
        if math.isnan(score):
            called = i if arm.name is None else repr(arm.name)
            raise PrudentError(f"{owner}: its score of arm {called}, {seen}, is not a number (NaN)")
        less_busy = best < 0 or arm.open_asks < arms[best].open_asks
        if below(score, seen, best_score, best_seen) or (less_busy and not below(best_score, best_seen, score, seen)):
            best, best_score, best_seen = i, score, seen
    return best


def by_phase(
    ready: Ready,
    arms: list[ArmState],
    available: list[int],
    rng: np.random.Generator,
    bound: Callable[[list[int]], Ready],
) -> int:
    """The arms due in the phase, in turn: the one due most often, ties to the lowest number. An arm that was not
    available keeps what it is due. `bound` makes the policy ready for some of the arms."""
    if not any(arm.due for arm in arms):
        numbers = [i for i, arm in enumerate(arms) if not arm.retired]
        chosen, alive = (np.array([getattr(arms[i], name) for i in numbers]) for name in ("chosen", "alive"))
        repeats = _phase(ready, arms, numbers, rng, chosen, alive)
        for i, mark, living in zip(numbers, chosen.tolist(), alive.tolist(), strict=True):
            arms[i].chosen, arms[i].alive, arms[i].due = mark, living, repeats if mark else 0
    if due := [i for i in available if arms[i].due > 0]:
        arm = max(due, key=lambda i: arms[i].due)
        arms[arm].due -= 1
        return arm
    # The phase waits for its arms. Meanwhile the policy chooses as if there were no others.
    chosen, alive = np.ones((2, len(available)), np.bool_)
    _phase(bound(available), arms, available, rng, chosen, alive)
    marked = [i for i, mark in zip(available, chosen, strict=True) if mark]
    return min(marked, key=lambda i: arms[i].pulls + arms[i].open_asks)


def _phase(
    ready: Ready,
    arms: list[ArmState],
    numbers: list[int],
    rng: np.random.Generator,
    chosen: NDArray[np.bool_],
    alive: NDArray[np.bool_],
) -> int:
    """Ask the policy, ready for the arms of these numbers, for a phase: it marks those chosen; the repetitions."""
    policy, owner, unit = ready
    some = [arms[i] for i in numbers]
    rewards = np.full((len(some), max(len(arm.rewards or ()) for arm in some)), math.nan)
    for row, arm in zip(rewards, some, strict=True):
        row[: len(arm.rewards or ())] = arm.rewards or ()
    pulls, costs = np.array([arm.pulls for arm in some], np.int64), np.full(len(some), math.inf)
    means, variances = np.array([(arm.mean, arm.variance) for arm in some]).T
    seen = Arms(pulls, means / unit, variances / unit / unit, costs, alive, rewards / unit)
    for i in np.flatnonzero(seen.pulls).tolist():
        seen.cost[i] = cost_of(policy, seen, i)
    repeats = int(policy.phase(seen, round_of(arms), chosen, rng))
    if repeats == 0 and (best := answer(seen)) >= 0:
        choose_only(chosen, best)
        return FOREVER
    if repeats < 1 or not chosen.any():
        raise PrudentError(f"{owner}: {COMPLAINTS[BAD_PHASE]}")
    return repeats
