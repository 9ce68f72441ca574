"""The risk of the sum of several rewards, which is rarely the sum of their risks.

Mean-variance and entropic risk are additive: the cost of n independent rewards is n times the cost of one, so the best
arm stays the best. For other measures it may change, because the spread of a sum grows like √n and its mean like n.
Which sequence of arms has the best sum is the question of prudent.theory.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from prudent.arms.base import Law, arms
from prudent.arms.continuous import Gaussian
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_integer
from prudent.risk.base import RiskMeasure, risks

MAX_LATTICE = 2**22
"""Points of the largest lattice that is convolved; beyond it sums are drawn."""

SHORT_LATTICE, SHORT_IF_MANY = 20_000, 600
"""Points up to which probabilities are convolved one by one, for one sum and where many are compared. They are sums of
positive products then, so even the smallest keep their digits, which a Fourier transform takes from all below 1e-16."""

MISPLACED, LEAST_MASS = 1e-15, 1e-150
"""The mass that is misplaced for each period, by a transform and without; what is smaller is left out. Products of the
latter are still no denormal numbers, with which processors take a hundred times as long."""

MOST_PERIODS = 2**53
"""Beyond this, floats cannot count."""

_MAX_DRAWS = 10**10
"""Rewards drawn at most, two minutes of them."""

_LAST_DIGITS = 1e-12

BATCHES = 20
"""Parts of a sample whose costs, compared, give the standard error of the whole."""


class PeriodCost(NamedTuple):
    """The cost of a sum of rewards, and its error: the standard error if sums were drawn, else the most by which the
    rounding of probabilities may move the cost, 0 if only in its last digits."""

    cost: float
    error: float


def period_cost(
    law: Law | str, risk: RiskMeasure | str, periods: int, *, samples: int = 100_000, seed: int = 0
) -> PeriodCost:
    """The cost of the sum of `periods` independent rewards.

    Exact for additive measures and Gaussian laws. The probabilities of laws on a lattice are convolved, by FFT where
    there are more than 20,000 sums. The rounding of that misplaces a mass of about 1e-15 times the periods. It matters
    to a measure such as `proportional-hazard(r=0.1)`, which counts a mass of 1e-15 as 0.03; `error` says how much at
    most. For other laws `samples` sums are drawn; a law without the moment that the measure needs is an error, although
    every sample would have a cost.

    Examples
    --------
    >>> from prudent import period_cost
    >>> round(period_cost("bernoulli(0.3)", "cvar(alpha=0.05)", periods=10).cost, 3)
    -0.435
    """
    law, risk = arms.make("period_cost", law), risks.make("period_cost", risk)
    periods = check_integer("period_cost", "periods", periods, low=1, high=MOST_PERIODS, hint="over how many rewards?")
    samples = check_integer("period_cost", "samples", samples, low=BATCHES * 10, hint="100,000 take a second")
    seed = check_integer("period_cost", "seed", seed, low=0)
    if periods == 1 or risk.additive:
        return PeriodCost(periods * risk.cost(law), 0.0)
    if isinstance(law, Gaussian):
        return PeriodCost(risk.cost(Gaussian(periods * law.mean, periods * law.variance)), 0.0)
    if (lattice := shared_lattice([law], periods, SHORT_LATTICE)) is not None:
        return lattice.cost(risk, [periods])
    if periods * samples > _MAX_DRAWS:
        fix = "pass fewer samples, or the Gaussian law of the same mean and variance"
        many = f"{periods:,} periods of {law} would take {samples:,} times as many draws"
        raise PrudentError(f"period_cost: {many}; {fix}")
    risk.cost(law)
    rng, sums = np.random.default_rng(seed), np.zeros(samples)
    for _ in range(periods):
        sums += law.sample(rng, samples)
    return sampled_cost(risk, sums)


def sampled_cost(risk: RiskMeasure, sums: Array) -> PeriodCost:
    """The cost of observed sums, and its standard error from the costs of parts of them."""
    parts = [risk.sample_cost(part) for part in np.array_split(sums, BATCHES)]
    return PeriodCost(risk.sample_cost(sums), float(np.std(parts, ddof=1) / math.sqrt(BATCHES)))


def sum_on_lattice(law: Law, periods: int) -> tuple[Array, Array] | None:
    """Values and probabilities of the sum of `periods` rewards, None unless the law's values lie on a small lattice."""
    lattice = shared_lattice([law], periods)
    return None if lattice is None else lattice.total([periods])


class Lattice(NamedTuple):
    """Laws whose values are their start plus whole multiples of one step, ready to be added up."""

    starts: Array
    step: float
    masses: list[Array]
    spectra: list[NDArray[np.complex128]]
    """Their transforms; empty where probabilities are convolved one by one."""
    length: int

    def total(self, counts: Sequence[int]) -> tuple[Array, Array]:
        """Values and probabilities of the sum of counts[i] independent rewards of law i, for every i."""
        mass = self._transformed(counts) if self.spectra else self._convolved(counts)
        there = np.flatnonzero(mass)
        return float(self.starts @ counts) + self.step * there.astype(float), mass[there] / mass.sum()

    def cost(self, risk: RiskMeasure, counts: Sequence[int]) -> PeriodCost:
        """The cost of that sum, and how far it may move if as much mass as rounding misplaces goes to either end."""
        values, mass = self.total(counts)
        cost = float(risk.weigh(values, mass))
        first = float(self.starts @ counts)
        reach = self.step * sum(count * (len(own) - 1) for count, own in zip(counts, self.masses, strict=True))
        lost = sum(counts) * (MISPLACED if self.spectra else LEAST_MASS)
        moved = (
            risk.sample_cost(np.append(values, end), np.append((1.0 - lost) * mass, lost))
            for end in (first, first + reach)
        )
        error = max(abs(each - cost) for each in moved)
        return PeriodCost(cost, error if error > _LAST_DIGITS * (abs(cost) + reach) else 0.0)

    def _convolved(self, counts: Sequence[int]) -> Array:
        """By powers of two, without a transform."""
        found = np.ones(1)
        for mass, count in zip(self.masses, counts, strict=True):
            power = mass
            for bit in reversed(f"{count:b}"):
                found = _without_dust(np.convolve(found, power)) if bit == "1" else found
                power = _without_dust(np.convolve(power, power)) if len(power) < self.length else power
        return found

    def _transformed(self, counts: Sequence[int]) -> Array:
        """A convolution is a product of transforms; the length leaves room for all rewards, so nothing wraps around."""
        product = np.ones(self.length // 2 + 1, complex)
        for spectrum, count in zip(self.spectra, counts, strict=True):
            if count > 0:
                product *= spectrum**count
        mass: Array = np.asarray(fft.irfft(product, self.length))
        # Rounding leaves about 1e-17 everywhere, of either sign: no probability, yet a heavy tail to some measures.
        mass[mass < MISPLACED] = 0.0
        return mass


def _without_dust(mass: Array) -> Array:
    """With 0 for masses that are too small to go on with."""
    return np.where(mass < LEAST_MASS, 0.0, mass)


def shared_lattice(laws: Sequence[Law], periods: int, short: int = SHORT_IF_MANY) -> Lattice | None:
    """The lattice for sums of up to `periods` rewards, without transforms if `short`; None if the laws share none."""
    atoms = [found for law in laws if (found := law.atoms()) is not None]
    if len(atoms) < len(laws):
        return None
    rises = [values - values[0] for values, _ in atoms]
    if (step := lattice_step(np.unique(np.concatenate(rises)))) is None:
        return None
    places = [np.rint(rise / step).astype(int) for rise in rises]
    size = periods * max(int(each[-1]) for each in places) + 1
    if size > MAX_LATTICE:
        return None
    length = fft.next_fast_len(size, real=True)
    masses: list[Array] = [np.bincount(at, mass).astype(float) for at, (_, mass) in zip(places, atoms, strict=True)]
    spectra = [fft.rfft(mass, length) for mass in masses] if size > short else []
    return Lattice(np.array([values[0] for values, _ in atoms]), step, masses, spectra, length)


def lattice_step(rises: Array) -> float | None:
    """The largest number of which all rises (ascending from 0) are whole multiples; None if it is very small."""
    reach, step = float(rises[-1]), 0.0
    for gap in np.diff(rises)[np.diff(rises) > 1e-9 * reach]:
        # Euclid's algorithm; a remainder within rounding is none.
        step, rest = float(gap), step
        while rest > 1e-9 * reach:
            step, rest = rest, math.fmod(step, rest)
            rest = 0.0 if step - rest <= 1e-9 * reach else rest
        if reach / step > MAX_LATTICE:
            return None
    if step == 0.0:  # constant rewards
        return 1.0
    step = reach / np.rint(reach / step)
    return step if np.abs(np.rint(rises / step) * step - rises).max() <= 1e-9 * reach else None
