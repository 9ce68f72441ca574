"""Bands: between which two laws the law of what a policy receives lies, at all rewards at once.

At each of `LEVELS` the quantile has a lower and an upper limit, and all of them hold together. The steps through the
lower limits are a law whose quantiles are no larger than the true ones, those through the upper limits one whose
quantiles are no smaller. A cost that only falls as rewards rise is largest for the first and smallest for the second.
[Chandak21] bounds the distribution function in this way at rewards that are fixed beforehand. Here the levels are, so
that nobody must choose rewards, and the steps are where the rewards are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.confidence.betting import LEVELS
from prudent.evaluation.betting import Sample, upper_quantiles


class Steps(NamedTuple):
    """A law on finitely many rewards, ascending, with their probabilities."""

    values: Array
    weights: Array

    @classmethod
    def of(cls, values: Array, weights: Array) -> "Steps":
        """From rewards in any order."""
        order = np.argsort(values, kind="stable")
        return cls(values[order], weights[order])

    def reversed(self) -> "Steps":
        """The law of −R."""
        return Steps(-self.values[::-1], self.weights[::-1])

    def times(self, factor: float, more: float) -> "Steps":
        """The law of factor · R + more, for a positive factor."""
        return self._replace(values=more + factor * self.values)

    def below(self, x: Array) -> Array:
        """P(R ≤ x)."""
        levels = np.concatenate(([0.0], np.cumsum(self.weights)))
        return np.asarray(np.minimum(levels, 1.0)[np.searchsorted(self.values, x, side="right")])

    def quantile(self, level: float) -> float:
        """The smallest reward with at least so much probability up to it."""
        sums = np.cumsum(self.weights)
        place = np.searchsorted(sums, level * sums[-1] * (1.0 - 1e-12))  # which undoes the rounding of sums
        return float(self.values[min(int(place), len(self.values) - 1)])


class Band(NamedTuple):
    """Each quantile of the law is at least that of `lower` and at most that of `upper`."""

    lower: Steps
    upper: Steps

    def reversed(self) -> "Band":
        """The band of −R."""
        return Band(self.upper.reversed(), self.lower.reversed())

    def times(self, factor: float, more: float) -> "Band":
        """The band of factor · R + more, for a positive factor."""
        return Band(self.lower.times(factor, more), self.upper.times(factor, more))


def quantile_limits(sample: Sample, levels: Array, failure: float) -> tuple[Array, Array]:
    """Where the quantiles at the levels lie, all of them with probability 1 − failure; low and high where none is
    known."""
    share = failure / (2.0 * len(levels))
    high = upper_quantiles(sample, levels, share)
    low = -upper_quantiles(sample.reversed(), 1.0 - levels, share)
    return low, high


def band_of(sample: Sample, failure: float) -> Band:
    """The band of one sample."""
    low, high = quantile_limits(sample, LEVELS, failure)
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    steps = np.diff(LEVELS, prepend=0.0, append=1.0)
    return Band(Steps(np.append(sample.low, low), steps), Steps(np.append(high, sample.high), steps))


def mixed(bands: Sequence[Band], shares: Array) -> Band:
    """The band of a mixture of laws, each of which lies in its own band."""
    edges = []
    for edge in zip(*bands, strict=True):
        values = np.concatenate([steps.values for steps in edge])
        weights = np.concatenate([share * steps.weights for share, steps in zip(shares, edge, strict=True)])
        edges.append(Steps.of(values, weights))
    return Band(*edges)
