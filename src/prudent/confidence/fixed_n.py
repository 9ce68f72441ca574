"""Bounds at a fixed number of independent rewards in [low, high]. They run inside kernels too."""

import math
from typing import Any, TypeAlias

import numpy as np

from prudent.base.arrays import Array
from prudent.compile.types import helper

Bounds: TypeAlias = tuple[float, float]


@helper
def mean_bounds(pulls: int, mean: float, variance: float, failure: float, low: float, high: float) -> Bounds:
    """Holds the mean: Hoeffding and empirical Bernstein (Theorem 4 of [Maurer09]), half of the failure for each."""
    reach = high - low
    width = reach * math.sqrt(math.log(4.0 / failure) / (2.0 * pulls))
    if pulls > 1:
        x = math.log(8.0 / failure)
        unbiased = variance * pulls / (pulls - 1.0)
        width = min(width, math.sqrt(2.0 * unbiased * x / pulls) + 7.0 * reach * x / (3.0 * (pulls - 1.0)))
    return max(low, mean - width), min(high, mean + width)


@helper
def variance_bounds(pulls: int, variance: float, failure: float, low: float, high: float) -> Bounds:
    """Holds the variance: bounded differences (docs: theory) and Theorem 10 of [Maurer09], half of the failure each.

    The unbiased variance moves by at most reach²/n with a reward; the second is the better one for small variances.
    """
    reach = high - low
    most = 0.25 * reach * reach
    if pulls < 2:
        return 0.0, most
    x = math.log(4.0 / failure)
    unbiased = variance * pulls / (pulls - 1.0)
    width = reach * reach * math.sqrt(x / (2.0 * pulls))
    deviation, slack = math.sqrt(unbiased), reach * math.sqrt(2.0 * x / (pulls - 1.0))
    lower = max(unbiased - width, max(deviation - slack, 0.0) ** 2)
    return min(lower, most), min(unbiased + width, (deviation + slack) ** 2, most)


@helper
def distorted_bounds(measure: Any, pulls: int, rewards: Array, failure: float, low: float, high: float) -> Bounds:
    """Holds −∫ x dg(F(x)), g = measure.distort, by the band F̂ ± √(ln(2/failure)/2n) of [Massart90] around F.

    The cost falls as rewards move up, so it is largest where F is: at the band's upper edge, with the mass below the
    least reward at `low`; and smallest at its lower edge, with the mass above the largest at `high`. Atoms are welcome.
    """
    width = math.sqrt(math.log(2.0 / failure) / (2.0 * pulls))
    levels = np.arange(pulls + 1) / pulls
    upper = measure.distort(np.minimum(levels + width, 1.0))
    lower = measure.distort(np.maximum(levels - width, 0.0))
    above = measure.distort(np.ones(1))[0] - lower[-1]
    # An infinite end without mass must not count: 0 · ∞ is no number.
    largest = 0.0 - ((upper[1:] - upper[:-1]) * rewards).sum() - (upper[0] * low if upper[0] > 0.0 else 0.0)
    smallest = 0.0 - ((lower[1:] - lower[:-1]) * rewards).sum() - (above * high if above > 0.0 else 0.0)
    return smallest, largest


@helper
def band_bounds(measure: Any, pulls: int, rewards: Array, failure: float, low: float, high: float) -> Bounds:
    """Holds any cost that falls as rewards move up, by the same band: its two edges, as the measure's `weigh` prices
    them; infinite where the end of the support is, to which the band moves rewards.
    """
    width = math.sqrt(math.log(2.0 / failure) / (2.0 * pulls))
    values, weights = np.empty(pulls + 1), np.empty(pulls + 1)
    smallest, largest = -math.inf, math.inf
    if low > -math.inf:
        values[0], weights[0] = low, min(width, 1.0)
        for i in range(pulls):
            values[i + 1], weights[i + 1] = rewards[i], max(min(1.0 / pulls, 1.0 - width - i / pulls), 0.0)
        largest = measure.weigh(values, weights)
    if high < math.inf:
        for i in range(pulls):
            values[i], weights[i] = rewards[i], max(min(1.0 / pulls, (i + 1) / pulls - width), 0.0)
        values[pulls], weights[pulls] = high, min(width, 1.0)
        smallest = measure.weigh(values, weights)
    return smallest, largest
