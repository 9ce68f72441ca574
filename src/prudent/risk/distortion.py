"""Measures that distort the distribution function: they weigh rewards by rank, the worst most."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from prudent.arms.base import Law, arms
from prudent.arms.quadrature import DOUBT, Tail, beyond, integrals
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.base.parameters import Parameter
from prudent.compile.types import helper, kernel
from prudent.confidence.fixed_n import distorted_bounds
from prudent.risk.base import POSITIVE, RiskMeasure, risks, total

_BLURRED_MASS = 1e-13
"""Below this, differences of numbers near 1 have lost most of their digits."""


@helper
def levels_of(weights: Array) -> Array:
    """What share of all weights each and those before it make."""
    sums = np.cumsum(weights)
    return np.minimum(sums / sums[-1], 1.0)


@helper
def distorted(measure: Any, values: Array, levels: Array) -> float:
    """−∫ x dg(F(x)) for F that rises to levels[i] at values[i], with g the measure's `distort`."""
    mass = measure.distort(levels)
    # By parts, so that equal values cost exactly what one does.
    return total(mass[:-1] * (values[1:] - values[:-1])) - mass[-1] * values[-1]


class Distortion(RiskMeasure):
    """−∫ x dg(F(x)), a cost: minus the mean reward after the distribution function F is distorted by g.

    A subclass writes g as `distort`. `cost` integrates g(F(x)); override it where a closed form is known, or g jumps.
    Intervals: the Dvoretzky–Kiefer–Wolfowitz band. Assumes independent rewards in [low, high].

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from prudent import Distortion
    >>> @dataclass(frozen=True)
    ... class Own(Distortion):
    ...     name = "own"
    ...     def distort(self, p):
    ...         return p**0.5
    >>> round(Own().cost("uniform(0, 1)"), 3)
    -0.333
    """

    grows: ClassVar = {}

    @abstractmethod
    def distort(self, p: Array) -> Array:
        """g(p), the weight of the worst p-fraction of rewards; rises from g(0) = 0 to g(1) = 1."""

    def distort_best(self, p: Array) -> Array:
        """1 − g(1 − p), the weight of the best p-fraction; write it too for laws with heavy tails.

        Here it has no digits for p near 1e-16, where 1 − p is 1.
        """
        return 1.0 - self.distort(1.0 - p)

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        if (atoms := law.atoms()) is not None:
            return float(self.weigh(*atoms))
        median, edges = law.quantile(0.5), law.edges()
        below, above = self._side(law, median, edges, -1.0), self._side(law, median, edges, 1.0)
        size = np.abs(below[0]).sum() + np.abs(above[0]).sum() + abs(below[1].rest) + abs(above[1].rest)
        if not math.isfinite(size):
            raise PrudentError(f"{self.name}: {law} has no finite mean under its distortion; its tails are too heavy")
        if below[1].doubt + above[1].doubt > DOUBT * size:
            fix = "take a measure that gives them less weight, such as cvar"
            if _is_blurred(self.distort) or _is_blurred(self.distort_best):
                fix += ", or let distort and distort_best keep the digits of small weights (np.expm1, np.log1p)"
            raise PrudentError(f"{self.name}: the cost of {law} rests on rewards too rare for floats; {fix}")
        return math.fsum([-median, *below[0], below[1].rest, *-above[0], -above[1].rest])

    def _side(self, law: Law, median: float, edges: Array, sign: float) -> tuple[Array, Tail]:
        """∫ g(F) over rewards below the median, or ∫ (1 − g(F)) over those above, in pieces, and what lies beyond."""
        upper = sign > 0.0
        bounded, weigh = math.isfinite(law.support[upper]), self.distort_best if upper else self.distort
        distances = np.unique(np.maximum(sign * (edges - median), 0.0))
        if not bounded and _is_blurred(weigh):
            distances = distances[: _sharp(weigh, law.masses(median + sign * distances)[upper])]
        # Distances are unit·(e^t − 1): on t tails that are powers fall exponentially, and others faster.
        unit = float(np.median(distances[1:])) if len(distances) > 1 else 1.0

        def weight(t: Array) -> Array:
            return weigh(law.masses(median + sign * unit * np.expm1(t))[upper]) * unit * np.exp(t)

        steps = np.log1p(distances / unit)
        if len(steps) < 2:  # nothing here has a weight that a float holds
            return np.zeros(0), Tail(0.0, 0.0)
        pieces = integrals(weight, steps)
        # Just beyond the last edge, because an atom may be there.
        return pieces, Tail(0.0, 0.0) if bounded else beyond(weight, float(steps[-1]) * (1.0 + 1e-9))

    def weigh(self, values: Array, weights: Array) -> float:
        return distorted(self, values, levels_of(weights))

    def estimate(self, mean: float, variance: float, rewards: Array) -> float:
        return distorted(self, rewards, np.arange(1, len(rewards) + 1) / len(rewards))

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        return distorted_bounds(self, pulls, rewards, failure, low, high)


def _is_blurred(weigh: Callable[[Array], Array]) -> bool:
    """Whether weights of rare rewards are differences of numbers near 1, such as 1 − (1 − p)², and so no numbers."""
    rarest, rare = weigh(np.array([1e-30, _BLURRED_MASS]))
    return bool(rare > 0.0 and not 0.0 < rarest < 0.999 * rare)


def _sharp(weigh: Callable[[Array], Array], shares: Array) -> int:
    """How many of the shares, which fall, come before weights are blurred; one more where they drop at an atom."""
    clear = (shares > _BLURRED_MASS) & (weigh(shares) > 0.1 * _BLURRED_MASS)
    count = len(shares) if clear.all() else int(np.argmin(clear))
    return count + int(count > 0 and weigh(shares[count - 1 : count])[0] > 10.0 * _BLURRED_MASS)


class Spectral(Distortion):
    """A distortion with a concave g: coherent [Acerbi02]. −∫₀¹ φ(u) q(u) du with q the quantiles of rewards.

    A subclass writes, as `distort`, the integrated spectrum g(p) = ∫₀^p φ of a spectrum φ ≥ 0 that does not rise.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from prudent import Spectral
    >>> @dataclass(frozen=True)
    ... class Own(Spectral):
    ...     name = "own"
    ...     def distort(self, p):
    ...         return 1 - (1 - p) ** 2
    >>> round(Own().cost("uniform(0, 1)"), 3)
    -0.333
    """

    quasiconcave: ClassVar = True


@risks.add("exponential-spectrum")
@dataclass(frozen=True)
class ExponentialSpectrum(Spectral):
    """The spectrum φ(u) = k e^(−ku)/(1 − e^(−k)) [Acerbi02]; a larger k gives the worst rewards more weight.

    Assumes independent rewards in [low, high] for its intervals.

    Examples
    --------
    >>> from prudent import ExponentialSpectrum
    >>> round(ExponentialSpectrum(k=5).cost("gaussian(1.0, 0.25)"), 3)
    -0.459
    """

    k: float = 5.0

    own_parameters: ClassVar = {"k": Parameter(*POSITIVE, "k is the aversion to risk; near 0 only the mean counts")}

    def distort(self, p: Array) -> Array:
        return np.expm1(-self.k * p) / np.expm1(-self.k)

    def distort_best(self, p: Array) -> Array:
        return np.exp(-self.k * (1.0 - p)) * np.expm1(-self.k * p) / np.expm1(-self.k)


@risks.add("proportional-hazard")
@dataclass(frozen=True)
class ProportionalHazard(Spectral):
    """g(p) = p^r [Wang95]; r = 1 is the mean, a smaller r gives the worst rewards more weight.

    Assumes independent rewards in [low, high] for its intervals.

    Examples
    --------
    >>> from prudent import ProportionalHazard
    >>> round(ProportionalHazard(r=0.5).cost("gaussian(1.0, 0.25)"), 3)
    -0.648
    """

    r: float = 0.5

    own_parameters: ClassVar = {
        "r": Parameter(0.0, 1.0, "low", "r = 1 is the mean, a smaller r is more averse to risk")
    }

    def distort(self, p: Array) -> Array:
        return p**self.r

    def distort_best(self, p: Array) -> Array:
        with np.errstate(divide="ignore"):
            return -np.expm1(self.r * np.log1p(-p))


@risks.add("wang")
@dataclass(frozen=True)
class Wang(Spectral):
    """g(p) = Φ(Φ⁻¹(p) + λ), Wang's transform [Wang00]: −μ + λσ for Gaussian rewards.

    Assumes independent rewards in [low, high] for its intervals.

    Examples
    --------
    >>> from prudent import Wang
    >>> round(Wang(lam=0.5).cost("gaussian(1.0, 0.25)"), 3)
    -0.75
    """

    lam: float = 0.5

    own_parameters: ClassVar = {"lam": Parameter(0.0, math.inf, "high", "λ is a price of risk; 0 is the mean")}

    def distort(self, p: Array) -> Array:
        return _wang_transform(p, self.lam)

    def distort_best(self, p: Array) -> Array:
        return _wang_transform(p, -self.lam)


@kernel
def _wang_transform(p: Array, lam: float) -> Array:
    """Φ(Φ⁻¹(p) + λ)."""
    shifted = np.empty(len(p))
    for i in range(len(p)):
        if p[i] <= 0.0 or p[i] >= 1.0:
            shifted[i] = p[i]
        else:
            z = _lower_quantile(p[i]) if p[i] <= 0.5 else -_lower_quantile(1.0 - p[i])
            shifted[i] = 0.5 * math.erfc(-(z + lam) / math.sqrt(2.0))
    return shifted


@kernel
def _lower_quantile(p: float) -> float:
    """Φ⁻¹(p) for p ≤ ½, by Newton's method on log Φ.

    log Φ is concave and Φ(−t) ≤ ½ e^(−t²/2), so the steps approach from the left and never overshoot.
    """
    z = -math.sqrt(max(-2.0 * math.log(2.0 * p), 0.0))
    for _ in range(50):
        if z < -36.0:
            # Φ is below the smallest normal floats: its asymptotic series, of which the next term is 3e-13.
            w = 1.0 / (z * z)
            ratio = (1.0 - w * (1.0 - w * (3.0 - w * (15.0 - w * 105.0)))) / -z
            step = (math.log(p) - math.log(ratio) + 0.5 * math.log(2.0 * math.pi) + 0.5 * z * z) * ratio
        else:
            mass = 0.5 * math.erfc(-z / math.sqrt(2.0))
            step = math.log(p / mass) * mass * math.sqrt(2.0 * math.pi) * math.exp(0.5 * z * z)
        z += step
        if abs(step) <= 1e-14 * (1.0 - z):
            break
    return z
