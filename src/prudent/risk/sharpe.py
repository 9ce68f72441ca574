"""The Sharpe ratio as a cost."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prudent.arms.base import Law, arms
from prudent.base.arrays import Array
from prudent.base.parameters import Parameter
from prudent.confidence.fixed_n import mean_bounds, variance_bounds
from prudent.risk.base import POSITIVE, RiskMeasure, risks, total


@risks.add("sharpe")
@dataclass(frozen=True)
class Sharpe(RiskMeasure):
    """−μ/√(ε₀ + σ²), a cost: minus the ratio of [Sharpe66], with ε₀ > 0 so that it is finite for constant rewards.

    Intervals: the worst and the best corner of those of mean and variance, each with half of the failure. Assumes
    independent rewards in [low, high], both finite.

    Examples
    --------
    >>> from prudent import Sharpe
    >>> round(Sharpe(epsilon=0.01).cost("gaussian(1.0, 0.25)"), 3)
    -1.961
    """

    epsilon: float = 0.01

    by_moments = True
    grows: ClassVar = {"epsilon": 2}
    own_parameters: ClassVar = {"epsilon": Parameter(*POSITIVE, "it keeps the ratio finite where the variance is 0")}

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        return float(self.estimate(law.mean, law.variance, np.empty(0)))

    def weigh(self, values: Array, weights: Array) -> float:
        mean = total(weights * values)
        return self.estimate(mean, total(weights * (values - mean) ** 2), values)

    def estimate(self, mean: float, variance: float, rewards: Array) -> float:
        return -mean / np.sqrt(self.epsilon + variance)

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
