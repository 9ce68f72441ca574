"""The risk of the sum of several rewards of one arm, which is rarely a multiple of the risk of one reward.

Mean-variance and entropic risk are additive: the cost of n independent rewards is n times the cost of one, so the best
arm stays the best. For other measures it may change, because the spread of a sum grows like √n and its mean like n.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import fft

from prudent.arms.base import Law
from prudent.arms.continuous import Gaussian
from prudent.arrays import Array
from prudent.errors import PrudentError, check_integer
from prudent.risk.base import RiskMeasure

LARGEST = 2**22
"""Points of the largest lattice that is convolved; beyond it sums are drawn."""

MOST_DRAWS = 10**10
"""Rewards drawn at most, two minutes of them."""

BATCHES = 20
"""Parts of a sample whose costs, compared, give the standard error of the whole."""


class PeriodCost(NamedTuple):
    """The cost of a sum of rewards, and its standard error; 0 where nothing was drawn."""

    cost: float
    error: float


def period_cost(law: Law, risk: RiskMeasure, periods: int, *, samples: int = 100_000, seed: int = 0) -> PeriodCost:
    """The cost of the sum of `periods` independent rewards.

    Exact for additive measures and Gaussian laws. The probabilities of laws on a lattice are convolved by FFT; rounding
    misplaces a mass of about 1e-15 times the periods. For other laws `samples` sums are drawn; a law without the moment
    that the measure needs is an error, although every sample would have a cost.
    """
    periods = check_integer("period_cost", "periods", periods, low=1, hint="over how many rewards?")
    if periods == 1 or risk.additive:
        return PeriodCost(periods * risk.cost(law), 0.0)
    if isinstance(law, Gaussian):
        return PeriodCost(risk.cost(Gaussian(periods * law.mean, periods * law.variance)), 0.0)
    if (found := sum_on_lattice(law, periods)) is not None:
        return PeriodCost(float(risk.weigh(*found)), 0.0)
    samples = check_integer("period_cost", "samples", samples, low=BATCHES * 10, hint="100,000 take a second")
    seed = check_integer("period_cost", "seed", seed, low=0)
    if periods * samples > MOST_DRAWS:
        fix = "pass fewer samples, or the Gaussian law of the same mean and variance"
        many = f"{periods:,} periods of {law} would take {samples:,} times as many draws"
        raise PrudentError(f"period_cost: {many}; {fix}")
    risk.cost(law)
    rng, sums = np.random.default_rng(seed), np.zeros(samples)
    for _ in range(periods):
        sums += law.sample(rng, samples)
    parts = [risk.sample_cost(part) for part in np.array_split(sums, BATCHES)]
    return PeriodCost(risk.sample_cost(sums), float(np.std(parts, ddof=1) / math.sqrt(BATCHES)))


def sum_on_lattice(law: Law, periods: int) -> tuple[Array, Array] | None:
    """Values and probabilities of the sum of `periods` rewards, None unless the law's values lie on a small lattice."""
    if (atoms := law.atoms()) is None or (lattice := _lattice(*atoms)) is None:
        return None
    start, step, mass = lattice
    size = periods * (len(mass) - 1) + 1
    if size > LARGEST:
        return None
    # A convolution, periods times, is a power of the transform; long enough, nothing wraps around.
    length = fft.next_fast_len(size, real=True)
    total: Array = fft.irfft(fft.rfft(mass, length) ** periods, length)[:size]
    # Rounding leaves about 1e-17 everywhere, of either sign: no probability, yet a heavy tail to some measures.
    total[total < 1e-15] = 0.0
    there = np.flatnonzero(total).astype(float)
    return periods * start + step * there, total[total > 0.0] / total.sum()


def _lattice(values: Array, probabilities: Array) -> tuple[float, float, Array] | None:
    """Start, step, and the probability of every point of the coarsest lattice that holds the values."""
    if len(values) == 1:
        return float(values[0]), 0.0, np.ones(1)
    reach, step = float(values[-1] - values[0]), 0.0
    for gap in np.diff(values):
        # Euclid's algorithm; a remainder within rounding is none.
        step, rest = float(gap), step
        while rest > 1e-9 * reach:
            step, rest = rest, math.fmod(step, rest)
            rest = 0.0 if step - rest <= 1e-9 * reach else rest
        if reach / step > LARGEST:
            return None
    places = np.rint((values - values[0]) / step)
    step = reach / places[-1]
    if np.abs(values[0] + places * step - values).max() > 1e-9 * reach:
        return None
    return float(values[0]), step, np.bincount(places.astype(int), probabilities).astype(float)
