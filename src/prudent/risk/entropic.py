"""Entropic risk, and the entropic value at risk."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import optimize

from prudent.arms.base import MOST_AVERSE, Law, arms
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.compile.types import kernel
from prudent.confidence.fixed_n import band_bounds, mean_bounds
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


_SEARCH_FACTOR = 4.0
"""By which factor the search for the best λ goes on."""


@risks.add("evar")
@dataclass(frozen=True)
class EVaR(RiskMeasure):
    """Entropic value at risk [AhmadiJavid12], a cost: the least over λ > 0 of λ⁻¹ log(E e^(−λX)/α).

    It is the smallest bound on value at risk at α that Chernoff's inequality gives, so VaR ≤ CVaR ≤ EVaR; α = 1 is the
    mean. −μ + σ√(−2 log α) for Gaussian rewards. Intervals: the Dvoretzky–Kiefer–Wolfowitz band, because the cost falls
    as rewards move up. Assumes independent rewards in [low, high].

    Examples
    --------
    >>> from prudent import EVaR
    >>> round(EVaR(alpha=0.05).cost("gaussian(1.0, 0.25)"), 3)
    0.224
    """

    alpha: float = 0.05

    quasiconcave = True
    grows: ClassVar = {}

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        if (atoms := law.atoms()) is not None:
            return float(self.weigh(*atoms))
        if self.alpha == 1.0:
            return -law.mean

        def bound(lam: float) -> float:
            return (law.log_laplace(lam) - math.log(self.alpha)) / lam

        spread = law.quantile(0.75) - law.quantile(0.25) or 1.0
        return _least(bound, min(math.sqrt(-2.0 * math.log(self.alpha)) / spread, 0.1 * MOST_AVERSE))

    def weigh(self, values: Array, weights: Array) -> float:
        return _entropic_value(values, weights, self.alpha)

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        return band_bounds(self, pulls, rewards, failure, low, high)


@kernel
def _entropic_value(values: Array, weights: Array, alpha: float) -> float:
    """EVaR of the law that gives each of the ascending values its weight.

    The best λ is where the law, tilted by e^(−λX), has divergence −log α from the law itself, which grows with λ; it is
    found by Newton's method between bounds. The cost is flat there, so half of the digits of λ are all of its own.
    """
    first = 0
    while weights[first] == 0.0:
        first += 1
    least, mass, mean, spread = values[first], 0.0, 0.0, 0.0
    for i in range(first, len(values)):
        mass += weights[i] if values[i] == least else 0.0
        mean += weights[i] * (values[i] - least)
    for i in range(first, len(values)):
        spread += weights[i] * (values[i] - least - mean) ** 2
    if alpha == 1.0 or spread == 0.0:
        return 0.0 - least - mean
    if mass >= alpha * (1.0 - 1e-12):
        return 0.0 - least
    wanted, low, high = -math.log(alpha), 0.0, math.inf
    lam = math.sqrt(2.0 * wanted / spread)
    for _ in range(200):
        mass, centre, spread = 0.0, 0.0, 0.0
        for i in range(first, len(values)):
            x = values[i] - least
            tilted = weights[i] * math.exp(-lam * x)
            mass, centre, spread = mass + tilted, centre + tilted * x, spread + tilted * x * x
        centre /= mass
        spread = spread / mass - centre * centre
        excess = -lam * centre - math.log(mass) - wanted
        if excess > 0.0:
            high = lam
        else:
            low = lam
        following = lam - excess / (lam * spread) if spread > 0.0 else low
        if not low < following < high:
            following = 2.0 * lam if math.isinf(high) else 0.5 * (low + high)
        if abs(following - lam) <= 1e-9 * lam:
            break
        lam = following
    return (math.log(mass) + wanted) / lam - least


def _least(bound: Callable[[float], float], start: float) -> float:
    """The least of a function of λ > 0 that falls and then rises, and is not finite beyond some λ."""

    def known(lam: float) -> float:
        try:
            return bound(lam)
        except PrudentError:
            return math.inf

    lam = next((lam for k in range(30) if math.isfinite(known(lam := start / _SEARCH_FACTOR**k))), 0.0)
    value = known(lam) if lam > 0.0 else bound(start)  # which is refused
    for factor in (_SEARCH_FACTOR, 1.0 / _SEARCH_FACTOR):
        while lam * factor < MOST_AVERSE and (following := known(lam * factor)) < value:
            lam, value = lam * factor, following
    edges = math.log(lam / _SEARCH_FACTOR), math.log(min(lam * _SEARCH_FACTOR, 0.99 * MOST_AVERSE))
    found = optimize.minimize_scalar(
        lambda s: known(math.exp(s)), bounds=edges, method="bounded", options={"xatol": 1e-8}
    )
    return min(value, float(found.fun))
