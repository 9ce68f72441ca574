"""Whether the rewards of an arm have changed, with one stated error for all arms and times together.

Intervals and policies take an arm's rewards for independent draws of one law. Here that is tested. At the first reward
after 40, 60, 90, … of an arm's rewards a mark is kept: their number, mean and variance. What came after a mark follows
from it and the present statistics, so a reward costs nothing and an arm with a million rewards has 25 marks.

If nothing has changed, the following hold together at all times, with probability 1 − δ:

- mean μ and variance σ² lie where `anytime.mean_bounds` and `variance_bounds` of the rewards before a mark say, for all
  marks at once, with probability 1 − δ/4, because they are one confidence sequence;
- the rewards after mark k = 0, 1, … do not have a mean beyond those limits, nor a mean squared distance from c, the
  mean at the mark, beyond those of σ² + (μ − c)² that follow. Each of these four is a test of one side that ever errs
  with probability at most w_k 3δ/16, and the w_k = 1/((k + 1)(k + 2)) sum to 1.

So the rewards have changed as soon as one of them fails. Tests are those of `confidence.always`, which start anew at
each mark. Looking less often than at every reward is always valid. All of it needs a bounded support.

The order is that in which rewards are counted. If outcomes of one kind are counted sooner than others, the first
rewards are mostly of that kind, and this is a change too.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.base.text import count, minus, number
from prudent.confidence import anytime
from prudent.engine.python.arm import ArmState

FAILURE = 0.01
"""How often an alarm may be false, over the whole life of an experiment and all of its arms."""

FIRST, GROWTH = 40, 1.5
"""The first mark, and by how much the next ones are apart. Fewer rewards say too little; closer marks share the error
among more tests and gain nothing."""

EVERY = 20
"""Rewards of an arm between two looks; a look takes some tens of microseconds."""

ROUNDING = 1e-12
"""By what share of their size sums of rewards may be off."""


class Mark(NamedTuple):
    """The statistics of an arm at some time, as its `ArmState` has them."""

    pulls: int
    mean: float
    variance: float


class Change(NamedTuple):
    """What has changed, the "mean" or the "spread": where it lay in the first `since` rewards, and what it is since.

    The spread is the root of the mean squared distance from the mean of the first rewards.
    """

    what: str
    since: int
    low: float
    high: float
    after: float

    def negative(self) -> "Change":
        """The same for outcomes whose negatives were counted."""
        return self if self.what == "spread" else self._replace(low=-self.high, high=-self.low, after=-self.after)

    def __str__(self) -> str:
        low, high, after = (minus(number(value, 3)) for value in self[2:])
        what = "their mean" if self.what == "mean" else "their typical distance from the mean"
        return f"{what} lay between {low} and {high} for the first {count(self.since)}, and is {after} since then"


class Marks:
    """The marks of an arm. What follows from them is computed once for each, and kept."""

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        self.marks = list(marks)
        self._limits: tuple[Any, Array] | None = None

    def include(self, arm: ArmState) -> None:
        """Keep a mark, if it is time."""
        if arm.pulls >= (GROWTH * self.marks[-1].pulls if self.marks else FIRST):
            self.marks.append(Mark(arm.pulls, arm.mean, arm.variance))

    def change(self, arm: ArmState, failure: float, support: tuple[float, float]) -> Change | None:
        """What has changed, if something surely has; wrong at some time with probability at most `failure`."""
        if not self.marks or not max(map(abs, support)) <= anytime.LARGEST:
            return None
        then = np.array(self.marks).T
        limits = self._known_limits(then, failure, support)
        found = excess(then, (arm.pulls, arm.mean, arm.variance), limits, errors(len(self.marks), failure), support)
        if found.max() < 0.0:
            return None
        of_mean = bool(found[:2].max() >= 0.0)  # if both have changed, that of the mean says more
        k = int((found[:2] if of_mean else found[2:]).max(0).argmax())
        _, mean, variance = after(then[:, k], (arm.pulls, arm.mean, arm.variance), support)
        if of_mean:
            return Change("mean", self.marks[k].pulls, float(limits[0, k]), float(limits[1, k]), float(mean))
        square = variance + (mean - self.marks[k].mean) ** 2
        low, high, newer = (math.sqrt(value) for value in (*limits[2:, k], square))
        return Change("spread", self.marks[k].pulls, low, high, newer)

    def _known_limits(self, then: Array, failure: float, support: tuple[float, float]) -> Array:
        asked = len(self.marks), failure, support
        if self._limits is None or self._limits[0] != asked:
            self._limits = asked, limits_at(then, failure, support)
        return self._limits[1]


def errors(marks: int, failure: float) -> Array:
    """The part of the failure that each of the four tests of each mark has."""
    k = np.arange(1.0, marks + 1.0)
    return np.asarray(3.0 / 16.0 * failure / (k * (k + 1.0)))


def limits_at(then: Any, failure: float, support: tuple[float, float]) -> Array:
    """For each mark, the limits of the mean and of the mean squared distance from the mean at the mark."""
    pulls, mean, variance = then
    known = pulls, mean, variance, failure / 8.0, *support
    (left, right), (least, most) = anytime.mean_bounds(*known), anytime.variance_bounds(*known)
    return np.array([left, right, least, most + np.maximum(right - mean, mean - left) ** 2])


def after(then: Any, now: Any, support: tuple[float, float]) -> tuple[Any, Any, Any]:
    """Number, mean and variance of the rewards after each mark, from those at the mark and those of all."""
    (low, high), (pulls, mean, variance), (total, centre, spread) = support, then, now
    since = np.maximum(total - pulls, 1e-9)  # at the mark itself nothing has come since
    newer = np.clip(centre + pulls / since * (centre - mean), low, high)
    rest = (total * spread - pulls * variance) / since - pulls / total * (newer - mean) ** 2
    return since, newer, np.clip(rest, 0.0, (newer - low) * (high - newer))


def excess(then: Any, now: Any, limits: Array, error: Any, support: tuple[float, float]) -> Array:
    """By how much each test has gained more than it may, for each side and mark: there is a change from 0 on."""
    (low, high), (since, mean, variance), (left, right, least, most) = support, after(then, now, support), limits
    reach, needed = high - low, -np.log(error)
    rounding = ROUNDING * max(abs(low), abs(high)) * now[0] / since
    beyond = np.array([left - mean, mean - right]) - rounding
    gained = anytime.log_capital(since, np.maximum(beyond, 0.0) / reach, variance / reach**2) - needed
    found = [*np.where((beyond > 0.0) & (since >= 1.0), gained, -np.inf)]
    # Squared distances lie between 0 and the largest; for such numbers the inequality of counts holds.
    largest = np.maximum(then[1] - low, high - then[1]) ** 2
    square = np.minimum((variance + (mean - then[1]) ** 2) / largest, 1.0)
    for limit, sign in ((least, -1.0), (np.minimum(most, largest), 1.0)):
        outside = (sign * (square - limit / largest) > rounding * reach / largest) & (since >= 1.0)
        gained = since * anytime.kl(square, limit / largest) - np.log(2.0 * np.sqrt(since)) - needed
        found.append(np.where(outside, gained, -np.inf))
    return np.array(found)
