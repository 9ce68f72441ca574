"""The Sharpe ratio as a cost."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prudent.arms.base import Law
from prudent.arrays import Array
from prudent.confidence.once import mean_bounds, variance_bounds
from prudent.errors import check_positive
from prudent.risk.base import RiskMeasure, risks, total


@risks.add("sharpe")
@dataclass(frozen=True)
class Sharpe(RiskMeasure):
    """−μ/√(ε₀ + σ²), a cost: minus the ratio of [Sharpe66], with ε₀ > 0 so that it is finite for constant rewards.

    Intervals: the worst and the best corner of those of mean and variance, each with half of the failure. Assumes
    independent rewards in [low, high], both finite.
    """

    epsilon: float = 0.01

    by_moments = True

    def __post_init__(self) -> None:
        hint = "it keeps the ratio finite where the variance is 0"
        self._set(epsilon=check_positive(self.name, "epsilon", self.epsilon, hint=hint))

    def cost(self, law: Law) -> float:
        return float(self.stats_cost(law.mean, law.variance))

    def weigh(self, values: Array, weights: Array) -> float:
        mean = total(weights * values)
        return self.estimate(mean, total(weights * (values - mean) ** 2), values)

    def estimate(self, mean: float, variance: float, rewards: Array) -> float:
        return -mean / math.sqrt(self.epsilon + variance)

    def stats_cost(self, mean: ArrayLike, variance: ArrayLike) -> Array:
        costs: Array = -np.asarray(mean, float) / np.sqrt(self.epsilon + np.asarray(variance, float))
        return costs

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        if math.isinf(high - low):
            return -math.inf, math.inf
        least, most = mean_bounds(pulls, mean, variance, 0.5 * failure, low, high)
        calm, wild = variance_bounds(pulls, variance, 0.5 * failure, low, high)
        # Variance lowers the cost of a negative mean, and raises that of a positive one.
        cheapest = self.estimate(most, calm if most > 0.0 else wild, rewards)
        return cheapest, self.estimate(least, wild if least > 0.0 else calm, rewards)
