"""Entropic risk."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prudent.arms.base import Law, arms
from prudent.arrays import Array
from prudent.confidence.once import mean_bounds
from prudent.risk.base import RiskMeasure, risks, total


@risks.add("entropic")
@dataclass(frozen=True)
class Entropic(RiskMeasure):
    """λ⁻¹ log E e^(−λX), a cost [Follmer02]; near λ = 0 it is −μ + λσ²/2, as it is for every λ if rewards are Gaussian.

    Intervals: Hoeffding and empirical Bernstein on e^(−λ(X − low)), which lies in [0, 1]. Assumes independent rewards
    in [low, high]; `high` may be infinite.

    Examples
    --------
    >>> from prudent import Entropic
    >>> round(Entropic(lam=1).cost("gaussian(1.0, 0.25)"), 3)
    -0.875
    """

    lam: float = 1.0

    additive = True
    quasiconcave = True
    grows: ClassVar = {"lam": -1}

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        return law.log_laplace(self.lam) / self.lam

    def weigh(self, values: Array, weights: Array) -> float:
        there = weights > 0.0
        x, w = values[there], weights[there]
        return math.log(total(w * np.exp(-self.lam * (x - x[0])))) / self.lam - x[0]

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        if math.isinf(low):
            return -high, -low
        scaled = np.exp(-self.lam * (rewards - low))
        floor = math.exp(-self.lam * (high - low))
        least, most = mean_bounds(pulls, scaled.mean(), scaled.var(), failure, floor, 1.0)
        cheapest = math.log(least) / self.lam - low if least > 0.0 else -high
        return cheapest, math.log(most) / self.lam - low
