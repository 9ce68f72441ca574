"""Mean-variance, the measure of the paper."""

import math
from dataclasses import dataclass
from typing import ClassVar

from prudent.arms.base import Law, arms
from prudent.base.arrays import Array
from prudent.compile.types import helper
from prudent.confidence import anytime
from prudent.confidence.fixed_n import mean_bounds, variance_bounds
from prudent.risk.base import RiskMeasure, risks, total


@helper
def mean_variance(mean: float, variance: float, rho: float) -> float:
    """σ² − ρ μ; −μ when ρ is infinite."""
    return -mean if math.isinf(rho) else variance - rho * mean


@risks.add("mean-variance")
@dataclass(frozen=True)
class MeanVariance(RiskMeasure):
    """σ² − ρ μ, a cost (Definition 1 of [Sani12]); variances are divided by the number of samples.

    ρ ≥ 0 is the tolerance for risk; with ρ = 0 only the variance counts. ρ = ∞ means "mean only": the cost is −μ, the
    limit of (σ² − ρ μ)/ρ. Intervals: bounded differences, and the intervals of mean and variance, half of the
    failure each. Assumes independent rewards in [low, high].

    Examples
    --------
    >>> from prudent import MeanVariance
    >>> round(MeanVariance(rho=1).cost("gaussian(1.0, 0.25)"), 3)
    -0.75
    """

    rho: float = 1.0

    by_moments = True
    additive = True
    quasiconcave = True
    grows: ClassVar = {"rho": 1}

    @property
    def variance_weight(self) -> float:
        """How much σ² counts: not at all where only the mean does."""
        return 0.0 if math.isinf(self.rho) else 1.0

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        # Asked for the mean only, a law need have no variance.
        return -law.mean if math.isinf(self.rho) else law.variance - self.rho * law.mean

    def weigh(self, values: Array, weights: Array) -> float:
        mean = total(weights * values)
        return self.estimate(mean, total(weights * (values - mean) ** 2), values)

    def estimate(self, mean: float, variance: float, rewards: Array) -> float:
        return mean_variance(mean, variance, self.rho)

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        if math.isinf(self.rho):
            least, most = mean_bounds(pulls, mean, variance, failure, low, high)
            return -most, -least
        if self.rho == 0.0 or pulls < 2:
            calm, wild = variance_bounds(pulls, variance, failure, low, high)
            return (calm, wild) if self.rho == 0.0 else (calm - self.rho * high, wild - self.rho * low)
        least, most = mean_bounds(pulls, mean, variance, 0.25 * failure, low, high)
        calm, wild = variance_bounds(pulls, variance, 0.25 * failure, low, high)
        # One reward moves the unbiased variance by reach²/n at most, and the mean by reach/n (docs: theory).
        reach, centre = high - low, variance * pulls / (pulls - 1.0) - self.rho * mean
        width = reach * (reach + self.rho) * math.sqrt(math.log(4.0 / failure) / (2.0 * pulls))
        return max(centre - width, calm - self.rho * most), min(centre + width, wild - self.rho * least)

    def always_bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        least, most = anytime.mean_variance_bounds(pulls, mean, variance, self.rho, failure, low, high)
        return float(least), float(most)


@risks.add("variance")
def variance() -> MeanVariance:
    """The variance as a cost [Markowitz52]: mean-variance without tolerance for risk.

    Assumes independent rewards in [low, high] for its intervals.
    """
    return MeanVariance(0.0)


@risks.add("mean")
def mean() -> MeanVariance:
    """Minus the mean, a cost: mean-variance that tolerates every risk [Sani12].

    Assumes independent rewards in [low, high] for its intervals.
    """
    return MeanVariance(math.inf)
