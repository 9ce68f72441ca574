"""Mean-variance, the seed's measure of risk and return."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prudent.arms import Law
from prudent.errors import check_number
from prudent.risk.base import Array, RiskMeasure, registry


@dataclass(frozen=True)
class MeanVariance(RiskMeasure):
    """σ² − ρ μ, a cost (Definition 1 of [Sani12]); variances are divided by the number of samples.

    ρ ≥ 0 is the tolerance for risk: 0 minds only the variance. ρ = ∞ means "mean only": the cost is −μ, the limit of
    (σ² − ρ μ)/ρ.
    """

    rho: float = 1.0

    name = "mean-variance"
    by_moments = True

    def __post_init__(self) -> None:
        hint = "ρ is a tolerance for risk: 0 minds only the variance, inf only the mean"
        object.__setattr__(self, "rho", check_number(self.name, "rho", self.rho, low=0.0, hint=hint))

    @property
    def variance_weight(self) -> float:
        """The cost is variance_weight · σ² − mean_weight · μ."""
        return 0.0 if math.isinf(self.rho) else 1.0

    @property
    def mean_weight(self) -> float:
        return 1.0 if math.isinf(self.rho) else self.rho

    def cost(self, law: Law) -> float:
        return float(self.stats_cost(law.mean, law.variance))

    def weigh(self, values: Array, weights: Array) -> float:
        # A cumulative sum adds one by one, compiled or not; `sum` does not, and last digits decide between equal arms.
        mean = (weights * values).cumsum()[-1]
        return self.estimate(mean, (weights * (values - mean) ** 2).cumsum()[-1], values)

    def estimate(self, mean: float, variance: float, rewards: Array) -> float:
        return -mean if math.isinf(self.rho) else variance - self.rho * mean

    def stats_cost(self, mean: ArrayLike, variance: ArrayLike) -> Array:
        return self.variance_weight * np.asarray(variance, float) - self.mean_weight * np.asarray(mean, float)


registry.add(MeanVariance.name, MeanVariance)
