"""Measures of the tails of rewards: value at risk, conditional value at risk, and with mean and variance."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prudent.arms.base import Law, arms
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.base.parameters import Parameter
from prudent.confidence.fixed_n import distorted_bounds, variance_bounds
from prudent.risk.base import RiskMeasure, risks, total
from prudent.risk.distortion import Distortion, Spectral, distorted, levels_of


@risks.add("var")
@dataclass(frozen=True)
class VaR(Distortion):
    """Value at risk [Morgan96], a cost: minus the α-quantile of rewards, the smallest x with P(X ≤ x) ≥ α.

    Intervals: minus the sample quantiles at α ± √(ln(2/δ)/2n). Assumes independent rewards; a support only if
    α ± √… leaves (0, 1).

    Examples
    --------
    >>> from prudent import VaR
    >>> round(VaR(alpha=0.05).cost("gaussian(1.0, 0.25)"), 3)
    -0.178
    """

    alpha: float = 0.05

    quasiconcave = True

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
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

    An atom at the edge is split. Intervals: Theorems 3 and 4 of [Thomas19], each with half of the failure; they are the
    band of `Distortion`. Assumes independent rewards in [low, high]. `brown_bounds` is the older interval.

    Examples
    --------
    >>> from prudent import CVaR
    >>> round(CVaR(alpha=0.05).cost("gaussian(1.0, 0.25)"), 3)
    0.031
    """

    alpha: float = 0.05

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
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

    Examples
    --------
    >>> from prudent import MeanCVaR
    >>> round(MeanCVaR(alpha=0.05, weight=0.5).cost("gaussian(1.0, 0.25)"), 3)
    -0.484
    """

    alpha: float = 0.05
    weight: float = 0.5

    own_parameters: ClassVar = {"weight": Parameter(0.0, 1.0, "", "0 is the mean, 1 is cvar")}

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        return -(1.0 - self.weight) * law.mean - self.weight * law.lower_tail_mean(self.alpha)

    def distort(self, p: Array) -> Array:
        return (1.0 - self.weight) * p + self.weight * np.minimum(p / self.alpha, 1.0)


@risks.add("mixed")
@dataclass(frozen=True)
class Mixed(RiskMeasure):
    """variance · σ² − mean · μ − tail · (mean of the best α-fraction), a cost; the measure of [Chang22]'s experiments.

    The paper maximises its negative, ½ μ − σ² + CVaR_0.95, where CVaR is of the upper tail. Intervals: one for the
    variance and the band of `Distortion` for the rest, each with half of the failure. Assumes independent rewards in
    [low, high].

    Examples
    --------
    >>> from prudent import Mixed
    >>> round(Mixed(mean=0.5, variance=1, tail=1, alpha=0.05).cost("gaussian(1.0, 0.25)"), 3)
    -2.281
    """

    mean: float = 0.5
    variance: float = 1.0
    tail: float = 1.0
    alpha: float = 0.05

    weight: ClassVar = Parameter(0.0, math.inf, "high", "weights say how much each part counts")
    grows: ClassVar = {"mean": 1, "tail": 1}
    own_parameters: ClassVar = {"mean": weight, "variance": weight, "tail": weight}

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        best = law.upper_tail_mean(self.alpha)
        return self.variance * law.variance - self.mean * law.mean - self.tail * best

    def distort(self, p: Array) -> Array:
        """The part without the variance is −∫ x dg(F(x)) for this g, which is convex: the best rewards count most."""
        return self.mean * p + self.tail * np.maximum(p - (1.0 - self.alpha), 0.0) / self.alpha

    def weigh(self, values: Array, weights: Array) -> float:
        spread = total(weights * (values - total(weights * values)) ** 2)
        return self.variance * spread + distorted(self, values, levels_of(weights))

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        smallest, largest = distorted_bounds(self, pulls, rewards, 0.5 * failure, low, high)
        calm, wild = variance_bounds(pulls, variance, 0.5 * failure, low, high)
        if self.variance > 0.0:
            smallest += self.variance * calm
            largest += self.variance * wild
        return smallest, largest
