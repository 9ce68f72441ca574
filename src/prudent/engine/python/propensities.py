"""With which probability each arm is taken: the policy's own probabilities, mixed with floors and caps.

A policy that is deterministic has one arm of probability 1. One that declares what it draws (`draws`) has the shares of
DRAWS independent draws of all scores, in which each arm had the smallest score. Another one that uses chance has those
of ONE_BY_ONE draws of its scores or of its coming phase. Averaged over these draws, that is the policy itself; given
them, the probability with which an arm is taken is exact, however many they are. A learner makes its choice, by chance
or not, and what it chose has the probability 1 before floors and caps.
"""

import dis
import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from prudent.base.errors import PrudentError, check_number, near, shown
from prudent.engine.python.arm import ArmState
from prudent.engine.python.choosing import (
    Ready,
    begin,
    count_down,
    draw_phases,
    in_play,
    no_number,
    wanted,
)
from prudent.engine.python.memory import seen_of
from prudent.policies.scoring import declares_draws

DRAWS = 64
"""Draws of all scores for each decision. More would make weights of logged rounds vary less; they cost time."""

ONE_BY_ONE = 8
"""Draws of scores and phases that cannot be drawn together: a decision takes so many times as long."""

ROUNDING = 1e-12

Share = float | Mapping[Any, float]
"""A probability for every arm, or for each of those that are named."""


class Choice(NamedTuple):
    """An arm to pull, and the probability with which it was taken, given all that the agent knew.

    The probability is exact, and `evaluate` needs it. It is None without a `floor`, because then it is not computed.

    Examples
    --------
    >>> from prudent import Agent
    >>> Agent("ucb1", arms=["A", "B"], support=(0, 1), floor=0.1).decide()
    Choice(arm='A', propensity=0.9)
    """

    arm: Any
    propensity: float | None


class Ends(NamedTuple):
    """Floors and caps of some arms; `after` are the probabilities where the policy is certain of one of them."""

    floors: list[float]
    caps: list[float]
    after: dict[int, list[float]]


class Limits(NamedTuple):
    """Floors and caps of probabilities, as users give them. `known` are those of arms by their numbers."""

    floor: Share = 0.0
    cap: Share = 1.0
    known: dict[tuple[int, ...], Ends] | None = None

    def of(self, name: Any) -> tuple[float, float]:
        """Floor and cap of an arm."""
        floor = self.floor.get(name, 0.0) if isinstance(self.floor, Mapping) else self.floor
        cap = self.cap.get(name, 1.0) if isinstance(self.cap, Mapping) else self.cap
        return floor, cap

    def ends(self, arms: Sequence[ArmState], available: Sequence[int]) -> Ends:
        """Those of the available arms."""
        key = tuple(available)
        found = None if self.known is None else self.known.get(key)
        if found is None:
            ends = [self.of(i if arms[i].name is None else arms[i].name) for i in available]
            found = Ends([floor for floor, _ in ends], [cap for _, cap in ends], {})
            if self.known is not None:
                self.known.clear()
                self.known[key] = found
        return found

    def again(self) -> "Limits":
        """The same for another agent, whose numbers of arms may come to mean others."""
        return Limits(self.floor, self.cap, {})

    def numbered(self, names: Sequence[Any]) -> "Limits":
        """The same for arms that go by their numbers."""
        floor, cap = (
            {names.index(one): part for one, part in share.items()} if isinstance(share, Mapping) else share
            for share in (self.floor, self.cap)
        )
        return Limits(floor, cap, {})


def limits_of(owner: str, floor: Any, cap: Any, names: Sequence[Any]) -> Limits | None:
    """Floors and caps for arms of these names, checked; none if neither is given."""
    if floor is None and cap is None:
        return None
    found = Limits(
        _share(owner, "floor", 0.0 if floor is None else floor, names),
        _share(owner, "cap", 1.0 if cap is None else cap, names),
        {},
    )
    check_limits(owner, found, names)
    return found


def _share(owner: str, parameter: str, given: Any, names: Sequence[Any]) -> Share:
    """A probability, or one for each of some arms."""
    hint = "it is the smallest probability of an arm" if parameter == "floor" else "it is the largest one of an arm"
    between: Any = {"low": 0.0, "high": 1.0, "hint": hint}
    if not isinstance(given, Mapping):
        return check_number(owner, parameter, given, **between)
    for name in given:
        if name not in names:
            known = near(str(name), [str(each) for each in names])
            raise PrudentError(f"{owner}: {parameter} must name arms, got {shown(name)}; {known}")
    return {
        name: check_number(owner, f"{parameter} of {shown(name)}", share, **between) for name, share in given.items()
    }


def check_limits(owner: str, limits: Limits, names: Sequence[Any]) -> None:
    """Whether the arms can share all rounds in this way."""
    floors, caps = zip(*(limits.of(name) for name in names), strict=True)
    if math.fsum(floors) > 1.0 + ROUNDING:
        got = f"got {math.fsum(floors):.6g} for {len(names)} arms"
        raise PrudentError(f"{owner}: floors of all arms must sum to 1 at most, {got}; lower the floor")
    if math.fsum(caps) < 1.0 - ROUNDING:
        got = f"got {math.fsum(caps):.6g} for {len(names)} arms"
        raise PrudentError(f"{owner}: caps of all arms must sum to 1 at least, {got}; raise the cap")
    for name, floor, cap in zip(names, floors, caps, strict=True):
        if floor > cap:
            called = shown(name)
            raise PrudentError(f"{owner}: floor must be at most cap, got {floor:g} and {cap:g} for arm {called}")


def mixed(own: Sequence[float], floors: Sequence[float], caps: Sequence[float]) -> list[float]:
    """The policy's own probabilities with floors, then with caps.

    What is above a cap goes to the other arms, in proportion to the room below theirs. If all caps together leave
    rounds over, as among few arms, they are stretched.
    """
    left = 1.0 - math.fsum(floors)
    found = [left * share + floor for share, floor in zip(own, floors, strict=True)]
    if min(caps) == 1.0:  # as for most
        return found
    above = math.fsum(max(share - cap, 0.0) for share, cap in zip(found, caps, strict=True))
    if above <= ROUNDING:
        return found
    total = math.fsum(caps)
    if total <= 1.0:
        return [cap / total if total > 0.0 else share for cap, share in zip(caps, own, strict=True)]
    room = math.fsum(max(cap - share, 0.0) for share, cap in zip(found, caps, strict=True))
    return [
        cap if share > cap else share + above * (cap - share) / room for share, cap in zip(found, caps, strict=True)
    ]


def least_chances(limits: Limits, names: Sequence[Any], *, certain: bool) -> list[float]:
    """The smallest probability that each of these arms can have, whatever the policy wants of them.

    Others have at most their caps, so that the rest is left. `certain` says that the policy always wants one arm alone.
    What that arm has above its cap goes to the others in proportion to their room.
    """
    floors, caps = zip(*(limits.of(name) for name in names), strict=True)
    total = math.fsum(caps)
    if total <= 1.0:
        return [cap / total if total > 0.0 else 0.0 for cap in caps]
    least = [max(floor, 1.0 - (total - cap)) for floor, cap in zip(floors, caps, strict=True)]
    if not certain or len(names) == 1:
        return [part if part > ROUNDING else 0.0 for part in least]
    left, room = 1.0 - math.fsum(floors), total - math.fsum(floors)
    given = [
        max(left + floor - cap, 0.0) / (room - (cap - floor)) if room > cap - floor else 0.0
        for floor, cap in zip(floors, caps, strict=True)
    ]
    first, second = sorted(given)[:2]
    passed_on = [second if one == first else first for one in given]  # the arm that is wanted gives nothing to itself
    least = [
        max(part, floor + more * (cap - floor))
        for part, floor, cap, more in zip(least, floors, caps, passed_on, strict=True)
    ]
    return [part if part > ROUNDING else 0.0 for part in least]


def decide(
    ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator, limits: Limits
) -> Choice:
    """The arm to pull now, and its probability."""
    ends = limits.ends(arms, available)
    own: int | list[float] | None = None
    kind: Any = type(ready.policy)
    if len(available) > 1 and uses_chance(kind):
        if ready.scores and all(seen_of(arms[i], 1.0).pulls > 0 for i in available):
            own = _shares_of_scores(ready, arms, available, rng)
        elif not (ready.scores or ready.learns) and available == in_play(arms) and not any(arm.due for arm in arms):
            return _of_phases(ready, arms, available, rng, ends)
    own = available.index(wanted(ready, arms, available, rng)) if own is None else own
    shares = with_ends(own, ends) if isinstance(own, list) else _after(own, ends)
    place = _drawn(shares, rng)
    count_down(arms[available[place]])
    return Choice(available[place], shares[place])


def _after(place: int, ends: Ends) -> list[float]:
    """The probabilities of arms if the policy wants the one at this place."""
    if place not in ends.after:
        ends.after[place] = with_ends([float(i == place) for i in range(len(ends.floors))], ends)
    return ends.after[place]


def _of_phases(
    ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator, ends: Ends
) -> Choice:
    """The arm and its probability where a phase begins: of several draws of it, one that wants the arm counts."""
    drawn = draw_phases(ready, arms, rng, ONE_BY_ONE)
    first = [min(i for i, mark in zip(available, phase.chosen, strict=True) if mark) for phase in drawn]
    shares = with_ends([first.count(i) / ONE_BY_ONE for i in available], ends)
    place = _drawn(shares, rng)
    arm = available[place]
    wanting = [phase for phase, one in zip(drawn, first, strict=True) if one == arm] or drawn
    begin(arms, wanting[0])
    count_down(arms[arm])
    return Choice(arm, shares[place])


def with_limits(
    own: Sequence[float], arms: Sequence[ArmState], available: Sequence[int], limits: Limits
) -> list[float]:
    """Probabilities of the available arms with their floors and caps."""
    return with_ends(own, limits.ends(arms, available))


def with_ends(own: Sequence[float], ends: Ends) -> list[float]:
    """Probabilities with floors and caps."""
    return mixed(own, ends.floors, ends.caps)


@cache
def uses_chance(policy: Hashable) -> bool:
    """Whether a class of policies, ready for arms, uses random numbers to choose; of learners it says no."""
    if hasattr(policy, "draws"):
        return True
    method = getattr(policy, "score", None) or getattr(policy, "phase", None)
    code = getattr(method, "__code__", None)
    return code is not None and any(each.argval == "rng" for each in dis.get_instructions(code))


def _shares_of_scores(
    ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator
) -> list[float]:
    """In what share of some draws of all scores the policy wants each arm."""
    if declares_draws(type(ready.policy)):
        return _shares_of_draws(ready, arms, available, rng)
    first = [wanted(ready, arms, available, rng) for _ in range(ONE_BY_ONE)]
    return [first.count(i) / ONE_BY_ONE for i in available]


def _shares_of_draws(ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator) -> list[float]:
    """In what share of some draws each arm has the smallest score. Ties have no chance; the lowest number has them."""
    scores, policy = np.empty((len(available), DRAWS)), ready.policy
    for row, i in zip(scores, available, strict=True):
        seen = seen_of(arms[i], ready.unit)
        row[:] = policy.score(seen, *[law.draw_many(rng, DRAWS) for law in policy.draws(seen)])
    if math.isnan(np.vdot(scores, scores)):
        for row, i in zip(scores, available, strict=True):
            if np.isnan(row).any():
                raise no_number(ready.owner, arms, i, seen_of(arms[i], ready.unit))
    wins = np.bincount(scores.argmin(0), minlength=len(available)).tolist()
    return [won / DRAWS for won in wins]


def _drawn(shares: Sequence[float], rng: np.random.Generator) -> int:
    """A place, with these probabilities; without a random number if one is certain."""
    if 1.0 in shares:
        return shares.index(1.0)
    sums = list(accumulate(shares))
    mark = rng.random() * sums[-1]
    return next((place for place, reached in enumerate(sums) if mark < reached), sums.index(sums[-1]))
