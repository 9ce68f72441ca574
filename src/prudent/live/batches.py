"""Many rounds at once: how a batch is divided over the arms, and rewards that come back merged.

No reward is known before a batch ends, so the policy's estimates stand still and only its clock and its draws go on.
A small batch is asked ask by ask. In a large one, what stands still is computed, and the rest is sampled evenly over
the batch: a fixed number of asks, or of phases, each of which stands for its share.
"""

import inspect
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

import numpy as np

from prudent.arms.sampling import merge
from prudent.base.errors import PrudentError
from prudent.engine.python.arm import ArmState, check_moments
from prudent.engine.python.choosing import Ready, by_score, choose, meanwhile, scored, start_phase
from prudent.engine.python.propensities import Limits, decide, with_limits
from prudent.policies.contract import Arm
from prudent.policies.scoring import needs_no_clock
from prudent.policies.ties import below

_merge = inspect.unwrap(merge)  # interpreted: a service starts without waiting for the compiler

PARTS = 256
"""How many asks a batch takes at most. Shares of draws then have a standard error of 3 % at most."""

SECTIONS = 16
"""A batch of a policy with phases is sampled at so many times, PARTS / SECTIONS phases each: phases of different
lengths, such as one pull to explore and a thousand to exploit, must be seen in a row to be counted right."""


def split(
    ready: Ready,
    arms: list[ArmState],
    available: list[int],
    rng: np.random.Generator,
    count: int,
    limits: Limits | None = None,
) -> Counter[int]:
    """How often each of the available arms is asked for in the next `count` rounds. These asks are open afterwards.

    A small batch has floors and caps in each of its asks. A large one has them as a whole: the shares that the policy
    would give the arms are mixed with them, and rounded. If the policy raises an error, nothing has changed.
    """
    before = [(arm.open_asks, arm.chosen, arm.alive, arm.due) for arm in arms]
    state = rng.bit_generator.state
    batch = _Batch(ready, arms, available, rng, count, limits)
    try:
        if count <= PARTS or ready.learns:
            batch.one_by_one()
        elif ready.scores:
            batch.by_scores()
        else:
            batch.by_phases()
        if limits is not None and count > PARTS and not ready.learns:
            batch.keep_limits(limits)
    except BaseException:
        for arm, kept in zip(arms, before, strict=True):
            arm.open_asks, arm.chosen, arm.alive, arm.due = kept
        rng.bit_generator.state = state
        raise
    return batch.asked


class _Batch:
    """A batch being asked for: its `count` of rounds, and what was asked so far."""

    def __init__(
        self,
        ready: Ready,
        arms: list[ArmState],
        available: list[int],
        rng: np.random.Generator,
        count: int,
        limits: Limits | None,
    ) -> None:
        self.ready, self.arms, self.available, self.rng, self.count = ready, arms, available, rng, count
        self.limits = limits
        self.asked: Counter[int] = Counter()

    def ask(self, counts: dict[int, int]) -> None:
        """These arms are asked for so often."""
        for i, times in counts.items():
            if times > 0:
                self.arms[i].open_asks += times
                self.asked[i] += times

    def one_by_one(self) -> None:
        """The very asks that would be made in a row."""
        known = self.ready, self.arms, self.available, self.rng
        for _ in range(self.count):
            self.ask({choose(*known) if self.limits is None else decide(*known, limits=self.limits).arm: 1})

    def keep_limits(self, limits: Limits) -> None:
        """Ask instead for what is left of the policy's shares under floors and caps."""
        own = [self.asked[i] / self.count for i in self.available]
        counts = rounded(with_limits(own, self.arms, self.available, limits), self.count)
        for i, count in zip(self.available, counts, strict=True):
            self.arms[i].open_asks += count - self.asked[i]
        self.asked = +Counter(dict(zip(self.available, counts, strict=True)))

    def by_scores(self) -> None:
        """Arms of equal scores, or without rewards, share evenly if neither clock nor chance can change that. Else
        each of PARTS asks stands for its share of the batch."""
        scores = scored(self.ready, self.arms, self.available, self.rng)
        best = scores[by_score(self.arms, scores)]
        if best[0] == -math.inf or needs_no_clock(type(self.ready.policy)):
            equal = {i: self.arms[i].open_asks for i, score in scores.items() if _equal(score, best)}
            due = [self.count + max(equal.values()) - busy for busy in equal.values()]  # the least busy one first
            self.ask(dict(zip(equal, turns(due, self.count), strict=True)))
            return
        for part in range(1, PARTS + 1):
            self.ask({by_score(self.arms, scores): self.count * part // PARTS - self.asked.total()})
            if part < PARTS:
                scores = scored(self.ready, self.arms, self.available, self.rng)

    def by_phases(self) -> None:
        """What is due in a phase is asked for exactly. In each section, once as many phases are over as it may take,
        they stand for the rest of it."""
        for section in range(1, SECTIONS + 1):
            rest = self.count * section // SECTIONS - self.asked.total()
            rest -= self.due(rest)
            seen: Counter[int] = Counter()
            for _ in range(PARTS // SECTIONS):
                if rest == 0:
                    break
                before = self.asked.copy()
                start_phase(self.ready, self.arms, self.rng)
                if self.due(rest) == 0:
                    self.ask({meanwhile(self.ready.among(self.available), self.arms, self.available, self.rng): 1})
                more = self.asked - before
                seen, rest = seen + more, rest - more.total()
            if rest > 0:
                self.ask(in_proportion(seen, rest))

    def due(self, most: int) -> int:
        """Ask for the arms that are due in the present phase, in turn, at most so often; how often it was."""
        due = {i: self.arms[i].due for i in self.available if self.arms[i].due > 0}
        counts = dict(zip(due, turns(list(due.values()), most), strict=True))
        for i, times in counts.items():
            self.arms[i].due -= times
        self.ask(counts)
        return sum(counts.values())


def turns(due: Sequence[int], count: int) -> list[int]:
    """How often each comes up in `count` turns, if always the one due most often does, ties to the first."""
    if sum(due) <= count:
        return list(due)
    # The lowest level to which all can be brought; those that reach it come up once more, until all turns are used.
    level = bisect_left(range(max(due)), -count, key=lambda level: -sum(max(0, one - level) for one in due))
    taken = [max(0, one - level) for one in due]
    once_more = [i for i, one in enumerate(due) if one >= level][: count - sum(taken)]
    for i in once_more:
        taken[i] += 1
    return taken


def in_proportion(counts: Counter[int], total: int) -> dict[int, int]:
    """`total` divided as the counts are, in whole numbers that add up to it."""
    whole, before, found = counts.total(), 0, {}
    for i in sorted(counts):
        end = before + counts[i]
        found[i] = total * end // whole - total * before // whole
        before = end
    return found


def rounded(shares: Sequence[float], total: int) -> list[int]:
    """`total` divided by these shares, in whole numbers that add up to it; none is off by 1 or more."""
    whole = math.fsum(shares)
    counts = [int(total * share / whole) for share in shares]
    rest = sorted(range(len(shares)), key=lambda i: counts[i] - total * shares[i] / whole)
    for i in rest[: total - sum(counts)]:
        counts[i] += 1
    return counts


def merged(owner: str, count: int, mean: float, variance: float, support: tuple[float, float]) -> Arm:
    """The statistics of `count` rewards, if rewards in the support can have them, up to rounding."""
    given = ArmState(pulls=count, mean=mean, variance=variance)
    check_moments(owner, given, *support)
    low, high = support
    mean = min(max(given.mean, low), high)
    return Arm(count, mean, min(given.variance, (high - mean) * (mean - low)))


def include(owner: str, arm: ArmState, more: Arm) -> None:
    """Add the statistics of more rewards to those of an arm. Its bets end, since they are made on single rewards."""
    mean, variance = _merge(arm.pulls, arm.mean, arm.variance, *more)
    if not math.isfinite(variance):
        raise PrudentError(
            f"{owner}: a mean of size {abs(more.mean):g} is too large for a variance; rescale the rewards"
        )
    arm.pulls, arm.mean, arm.variance, arm.ledger = arm.pulls + more.pulls, mean, variance, None


def _equal(one: tuple[float, Arm], other: tuple[float, Arm]) -> bool:
    return not below(*one, *other) and not below(*other, *one)
