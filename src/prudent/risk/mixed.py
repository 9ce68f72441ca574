"""Mean, variance and the upper tail in one measure."""

from dataclasses import dataclass

import numpy as np

from prudent.arms.base import Law
from prudent.arrays import Array
from prudent.confidence.once import distorted_bounds, variance_bounds
from prudent.errors import check_finite
from prudent.risk.base import RiskMeasure, risks, total
from prudent.risk.distortion import distorted, levels_of


@risks.add("mixed")
@dataclass(frozen=True)
class Mixed(RiskMeasure):
    """variance · σ² − mean · μ − tail · (mean of the best α-fraction), a cost; the measure of [Chang22]'s experiments.

    The paper maximises its negative, ½ μ − σ² + CVaR_0.95, where CVaR is of the upper tail. Intervals: one for the
    variance and the band of `Distortion` for the rest, each with half of the failure. Assumes independent rewards in
    [low, high].
    """

    mean: float = 0.5
    variance: float = 1.0
    tail: float = 1.0
    alpha: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        hint = "weights say how much each part counts"
        for name in ("mean", "variance", "tail"):
            self._set(**{name: check_finite(self.name, name, getattr(self, name), low=0.0, hint=hint)})

    def cost(self, law: Law) -> float:
        worse = 1.0 - self.alpha
        best = (law.mean - worse * law.lower_tail_mean(worse)) / self.alpha if worse > 0.0 else law.mean
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
