"""Which arm to pull: the policy, interpreted, on what is known of the arms.

Functions take all arms with their numbers in the list, and the numbers of those that are `available` now.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.base.errors import PrudentError
from prudent.engine.python.arm import ArmState, ordered
from prudent.engine.python.memory import clock, seen_of
from prudent.engine.record import BAD_PHASE, COMPLAINTS
from prudent.policies.binding import bind
from prudent.policies.contract import FOREVER, Arm, Arms, Policy, Setting, spec
from prudent.policies.forgetting import Remembering
from prudent.policies.helpers import answer, choose_only
from prudent.policies.learners import chosen_arm, is_learner
from prudent.policies.scoring import (
    compares,
    cost_of,
    costs_need_rewards,
    counted,
    own_cost,
    reads_rewards,
    score_inputs,
    score_of,
)
from prudent.policies.ties import below
from prudent.policies.units import NOTHING, core, power_of_two, size_of, times
from prudent.risk.base import RiskMeasure


class Binding(NamedTuple):
    """A policy as its user gave it, and what it must know of an experiment before it can be bound to some arms.

    `latest` holds what was asked for last, because batches ask for the same arms again and again.
    """

    policy: Policy
    risk: RiskMeasure
    horizon: int | None
    support: tuple[float, float]
    latest: dict[tuple[int, ...], "Ready"]

    def ready(self, numbers: list[int]) -> "Ready":
        """The policy made ready for some of the arms, which it sees numbered from 0, with rewards in its own unit."""
        key = tuple(numbers)
        if key not in self.latest:
            found = self._bound(numbers)
            self.latest.clear()
            self.latest[key] = found
        return self.latest[key]

    def _bound(self, numbers: list[int]) -> "Ready":
        policy = self.policy
        arm = getattr(policy, "arm", None)  # a parameter that names an arm, as fixed-arm's
        if arm is not None:
            if arm not in numbers:
                raise PrudentError(f"{spec(policy)}: arm {arm} must be there to be pulled; there are {numbers}")
            policy = policy._replace(arm=numbers.index(arm))
        setting = Setting(len(numbers), self.risk, self.horizon, self.support, units=NOTHING)
        bound = bind(policy, setting)  # in the user's unit first, for errors that speak of it
        unit = power_of_two(size_of(policy, self.risk, self.support))
        other, risk = times(policy, 1.0 / unit), self.risk.times(1.0 / unit)
        if unit == 1.0 or other is None or risk is None:
            return ready_of(bound, spec(policy), 1.0, self)
        support = (self.support[0] / unit, self.support[1] / unit)
        return ready_of(bind(other, setting._replace(risk=risk, support=support)), spec(policy), unit, self)


class Ready(NamedTuple):
    """A policy made ready for some arms, its spec for errors, and the unit in which it sees rewards.

    `known` are scores that depend on nothing but what is seen of an arm, with what was seen, by the arm's number.
    `binding` makes the policy ready for others; without it the policy is asked as it is. If the policy `forgets`, what
    is seen of an arm is what is remembered of it.
    """

    policy: Any  # a `ReadyPolicy`, or a learner
    owner: str
    unit: float
    known: dict[int, tuple[float, Arm]]
    binding: Binding | None = None
    forgets: Remembering | None = None

    def among(self, numbers: list[int]) -> "Ready":
        """The policy for some of the arms alone."""
        return self if self.binding is None else self.binding.ready(numbers)

    @property
    def learns(self) -> bool:
        """Whether it is a learner, which has a memory of its own."""
        return is_learner(self.policy)

    @property
    def scores(self) -> bool:
        """Whether it scores arms; else it has phases, or learns."""
        return hasattr(self.policy, "score") and not self.learns

    @property
    def needs_rewards(self) -> bool:
        """Whether it asks for every reward of an arm."""
        if self.learns:
            return True
        if self.forgets is not None:
            return False
        return reads_rewards(type(self.policy)) if self.scores else costs_need_rewards(self.policy)


def ready_of(bound: Any, owner: str, unit: float, binding: Binding | None = None) -> Ready:
    """A policy that was bound; of one that forgets, the policy inside."""
    forgets = bound if core(bound) is not bound else None
    return Ready(core(bound), owner, unit, {}, binding, forgets)


def round_of(arms: Sequence[ArmState]) -> int:
    """The number of the coming round, from 1."""
    return 1 + sum(arm.pulls + arm.open_asks for arm in arms)


def choose(
    ready: Ready,
    arms: list[ArmState],
    available: list[int],
    rng: np.random.Generator,
) -> int:
    """The arm to pull now."""
    arm = wanted(ready, arms, available, rng)
    count_down(arms[arm])
    return arm


def count_down(arm: ArmState) -> None:
    """It is pulled once, as far as its phase has it due."""
    arm.due -= arm.due > 0


def wanted(ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator) -> int:
    """The arm that the policy wants now; nothing counts as pulled."""
    if ready.learns:
        if available != list(range(len(arms))):
            raise PrudentError(f"{ready.owner}: a learner chooses among all of its arms; leave `among` out")
        return chosen_arm(ready.owner, ready.policy.ask(rng), len(arms))
    if ready.scores:
        return by_score(arms, scored(ready, arms, available, rng))
    start_phase(ready, arms, rng)
    if due := [i for i in available if arms[i].due > 0]:
        # In turn: the one due most often, ties to the lowest number. One that is not available keeps what it is due.
        return max(due, key=lambda i: arms[i].due)
    return meanwhile(ready.among(available), arms, available, rng)


def scored(
    ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator
) -> dict[int, tuple[float, Arm]]:
    """The score of every available arm, −∞ without a reward, and what the policy sees of it."""
    policy, owner, unit, known = ready[:4]
    t: Any = round_of(arms) if ready.forgets is None else clock(ready.forgets, arms)
    shown = {i: seen_of(arms[i], unit) for i in available}
    best_cost = math.inf
    if compares(type(policy)):
        costs = [own_cost(policy, seen, kept(ready, arms[i])) for i, seen in shown.items() if seen.pulls > 0]
        best_cost = min(costs, default=math.inf)
    found = {}
    for i, seen in shown.items():
        arm = arms[i]
        if i in known and known[i][1] == seen:
            found[i] = known[i]
            continue
        try:
            score = score_of(policy, seen, best_cost, t, rng, kept(ready, arm)) if seen.pulls > 0 else -math.inf
        except ArithmeticError:  # where a kernel goes on with infinity, Python stops
            score = math.nan
        if math.isnan(score):
            raise no_number(owner, arms, i, seen)
        found[i] = score, seen
    if score_inputs(type(policy)) == ("arm",):  # such a score changes only with what is seen of the arm
        known.update(found)
    return found


def no_number(owner: str, arms: Sequence[ArmState], number: int, seen: Arm) -> PrudentError:
    """That a policy cannot score an arm."""
    name = arms[number].name
    called = number if name is None else repr(name)
    return PrudentError(f"{owner}: its score of arm {called}, {seen}, is not a number (NaN)")


def kept(ready: Ready, arm: ArmState) -> NDArray[np.float64] | None:
    """What the policy asks for of an arm's rewards, in its unit: they themselves, counts of its values, or nothing."""
    if ready.forgets is not None:
        return np.array(arm.recent[3:]) if arm.recent is not None and len(arm.recent) > 3 else None
    if not ready.needs_rewards:
        return None
    rewards, policy = ordered(arm) / ready.unit, ready.policy
    return counted(policy.values, rewards) if "counts" in score_inputs(type(policy)) else rewards


def by_score(arms: list[ArmState], scores: dict[int, tuple[float, Arm]]) -> int:
    """The arm with the smallest score. Among equals the arm with the fewest open asks is chosen, so that a first batch
    tries all new arms, and then the lowest number."""
    best = next(iter(scores))
    for i, score in scores.items():
        less_busy = arms[i].open_asks < arms[best].open_asks
        if below(*score, *scores[best]) or (less_busy and not below(*scores[best], *score)):
            best = i
    return best


class Phase(NamedTuple):
    """What a policy wants in its next phase: which of the arms in play, which are alive after it, and how often."""

    chosen: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    repeats: int


def in_play(arms: Sequence[ArmState]) -> list[int]:
    """The numbers of the arms that are not retired."""
    return [i for i, arm in enumerate(arms) if not arm.retired]


def start_phase(ready: Ready, arms: list[ArmState], rng: np.random.Generator) -> None:
    """Ask the policy for its next phase, unless an arm is still due in this one."""
    if not any(arm.due for arm in arms):
        begin(arms, draw_phases(ready, arms, rng, 1)[0])


def draw_phases(ready: Ready, arms: list[ArmState], rng: np.random.Generator, count: int) -> list[Phase]:
    """The next phase, so many times, each by chances of its own."""
    numbers, found = in_play(arms), []
    for _ in range(count):
        chosen, alive = (np.array([getattr(arms[i], name) for i in numbers]) for name in ("chosen", "alive"))
        repeats = _phase(ready, arms, numbers, rng, chosen, alive)
        found.append(Phase(chosen, alive, repeats))
    return found


def begin(arms: list[ArmState], phase: Phase) -> None:
    """The arms that the phase wants are due."""
    for i, mark, living in zip(in_play(arms), phase.chosen.tolist(), phase.alive.tolist(), strict=True):
        arms[i].chosen, arms[i].alive, arms[i].due = mark, living, phase.repeats if mark else 0


def meanwhile(ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator) -> int:
    """While the phase waits for its arms, the policy chooses as if there were only those available, for which it is
    ready."""
    chosen, alive = np.ones((2, len(available)), np.bool_)
    _phase(ready, arms, available, rng, chosen, alive)
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
    policy, owner, unit = ready[:3]
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
