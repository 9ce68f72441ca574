"""With which probability each arm is taken: the policy's own probabilities, mixed with floors and caps.

A policy that is deterministic has one arm of probability 1. One that declares what it draws (`draws`) has the shares of
DRAWS independent draws of all scores, in which each arm had the smallest score. Averaged over these draws, that is the
policy itself; and given them, the probability with which an arm is taken is exact, however many they are. Any other
policy makes its choice, by chance or not, and what it chose has the probability 1 before floors and caps.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from prudent.base.errors import PrudentError, check_number, near, shown
from prudent.engine.python.arm import ArmState
from prudent.engine.python.choosing import Ready, count_down, no_number, seen_of, wanted
from prudent.policies.contract import policies
from prudent.policies.scoring import declares_draws

DRAWS = 64
"""Draws of all scores for each decision. More would make weights of logged rounds vary less; they cost time."""

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


class Limits(NamedTuple):
    """Floors and caps of probabilities, as users give them."""

    floor: Share = 0.0
    cap: Share = 1.0

    def of(self, name: Any) -> tuple[float, float]:
        """Floor and cap of an arm."""
        floor = self.floor.get(name, 0.0) if isinstance(self.floor, Mapping) else self.floor
        cap = self.cap.get(name, 1.0) if isinstance(self.cap, Mapping) else self.cap
        return floor, cap

    def numbered(self, names: Sequence[Any]) -> "Limits":
        """The same for arms that go by their numbers."""
        return Limits(
            *(
                {names.index(one): part for one, part in share.items()} if isinstance(share, Mapping) else share
                for share in self
            )
        )


def limits_of(owner: str, floor: Any, cap: Any, names: Sequence[Any]) -> Limits | None:
    """Floors and caps for arms of these names, checked; none if neither is given."""
    if floor is None and cap is None:
        return None
    found = Limits(
        _share(owner, "floor", 0.0 if floor is None else floor, names),
        _share(owner, "cap", 1.0 if cap is None else cap, names),
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
    own = own_shares(ready, arms, available, rng)
    shares = with_limits(own, arms, available, limits)
    place = _drawn(shares, rng)
    count_down(arms[available[place]])
    return Choice(available[place], shares[place])


def with_limits(
    own: Sequence[float], arms: Sequence[ArmState], available: Sequence[int], limits: Limits
) -> list[float]:
    """Probabilities of the available arms with their floors and caps."""
    floor, cap = limits
    if cap == 1.0 and not isinstance(floor, Mapping):  # as for most, and quicker
        left = 1.0 - len(available) * floor
        return [left * share + floor for share in own]
    ends = [limits.of(i if arms[i].name is None else arms[i].name) for i in available]
    return mixed(own, [floor for floor, _ in ends], [cap for _, cap in ends])


def wants_one_arm(policy: Any) -> bool:
    """Whether a policy, or the spec of one, always is certain of one arm before floors and caps."""
    kind = policies.get(policy.partition("(")[0]).factory if isinstance(policy, str) else type(policy)
    return not declares_draws(kind)


def own_shares(ready: Ready, arms: list[ArmState], available: list[int], rng: np.random.Generator) -> list[float]:
    """The policy's own probabilities of the available arms."""
    draws = ready.scores and declares_draws(type(ready.policy))
    if draws and len(available) > 1 and all(arms[i].pulls > 0 for i in available):
        return _shares_of_draws(ready, arms, available, rng)
    arm = wanted(ready, arms, available, rng)
    return [float(i == arm) for i in available]


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
