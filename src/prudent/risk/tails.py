"""Measures of the lower tail of rewards: value at risk, conditional value at risk."""

import math
from dataclasses import dataclass

import numpy as np

from prudent.arms.base import Law
from prudent.arrays import Array
from prudent.errors import PrudentError, check_number
from prudent.risk.base import risks
from prudent.risk.distortion import Distortion, Spectral


@risks.add("var")
@dataclass(frozen=True)
class VaR(Distortion):
    """Value at risk [Morgan96], a cost: minus the α-quantile of rewards, the smallest x with P(X ≤ x) ≥ α.

    Intervals: minus the sample quantiles at α ± √(ln(2/δ)/2n). Assumes independent rewards; a support only if
    α ± √… leaves (0, 1).
    """

    alpha: float = 0.05

    def cost(self, law: Law) -> float:
        quantile = law.quantile(self.alpha)
        if math.isinf(quantile):
            raise PrudentError(f"var: {law} has no largest reward; take alpha below 1")
        return 0.0 - quantile

    def distort(self, p: Array) -> Array:
        # The tolerance undoes the rounding of sums of weights, so that k of n rewards reach the level k/n.
        return np.where(p >= self.alpha * (1.0 - 1e-12), 1.0, 0.0)


@risks.add("cvar")
@dataclass(frozen=True)
class CVaR(Spectral):
    """Conditional value at risk [Rockafellar00], a cost: minus the mean of the worst α-fraction of rewards.

    An atom at the edge is split.

    Intervals: Theorems 3 and 4 of [Thomas19], each with half of the failure; they are the band of `Distortion`.
    Assumes independent rewards in [low, high]. `brown_bounds` is the older interval.
    """

    alpha: float = 0.05

    def cost(self, law: Law) -> float:
        return -law.lower_tail_mean(self.alpha)

    def distort(self, p: Array) -> Array:
        return np.minimum(p / self.alpha, 1.0)

    def brown_bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        """The interval of [Brown07], in place of `bounds`, each side with half of the failure.

        Assumes a continuous law and independent rewards in [low, high].
        """
        cost, reach = self.estimate(mean, variance, rewards), high - low
        below = reach / self.alpha * math.sqrt(math.log(2.0 / failure) / (2.0 * pulls))
        above = reach * math.sqrt(5.0 * math.log(6.0 / failure) / (self.alpha * pulls))
        return max(cost - below, -high), min(cost + above, -low)


@risks.add("mean-cvar")
@dataclass(frozen=True)
class MeanCVaR(Spectral):
    """(1 − weight) · (−μ) + weight · CVaR_α, a cost [Rockafellar00].

    Assumes independent rewards in [low, high] for its intervals.
    """

    alpha: float = 0.05
    weight: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        hint = "0 is the mean, 1 is cvar"
        self._set(weight=check_number(self.name, "weight", self.weight, low=0.0, high=1.0, hint=hint))

    def cost(self, law: Law) -> float:
        return -(1.0 - self.weight) * law.mean - self.weight * law.lower_tail_mean(self.alpha)

    def distort(self, p: Array) -> Array:
        return (1.0 - self.weight) * p + self.weight * np.minimum(p / self.alpha, 1.0)
