"""Utility-based shortfall, and the expectile, which is one too."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from prudent.arms.base import Law, arms
from prudent.base.arrays import Array
from prudent.base.parameters import Parameter
from prudent.compile.types import kernel
from prudent.confidence.fixed_n import band_bounds
from prudent.risk.base import POSITIVE, RiskMeasure, risks, total

_MAX_NEWTON_STEPS = 1_000
"""Steps of Newton's method at most. They never overshoot, and a dozen are usual."""


class Shortfall(RiskMeasure):
    """The smallest t with E l(−X − t) ≤ threshold, a cost [Follmer02]: the least amount that, added to every reward,
    makes the expected loss acceptable.

    A subclass has a field `threshold` and writes l as `loss`. Intervals: the Dvoretzky–Kiefer–Wolfowitz band, because
    the cost falls as rewards move up. Assumes independent rewards in [low, high].

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from prudent import Shortfall
    >>> @dataclass(frozen=True)
    ... class Own(Shortfall):
    ...     name = "own"
    ...     threshold: float = 0.5
    ...     def loss(self, y):
    ...         return y**3
    >>> round(Own().cost("bernoulli(0.5)"), 3)
    -1.0
    """

    quasiconcave: ClassVar = True
    threshold: float

    @abstractmethod
    def loss(self, y: Array) -> Array:
        """l(y), element by element; it does not fall, and lies below the threshold for some y and above for others."""

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        if (atoms := law.atoms()) is not None:
            return float(self.weigh(*atoms))

        def enough(t: float) -> bool:
            return law.expectation(lambda x: self.loss(-x - t), "expected loss") <= self.threshold

        low, step = -law.quantile(0.5), 1.0
        while enough(low):
            low, step = low - step, 2.0 * step
        high = low + step
        while not enough(high):
            low, high, step = high, high + 2.0 * step, 2.0 * step
        while high - low > 1e-13 * (1.0 + abs(high)):
            t = 0.5 * (low + high)
            low, high = (low, t) if enough(t) else (t, high)
        return high

    def weigh(self, values: Array, weights: Array) -> float:
        low, step = -values[-1], max(values[-1] - values[0], 1.0)
        while total(weights * self.loss(-values - low)) <= self.threshold:
            low, step = low - step, 2.0 * step
        high = low + step
        while total(weights * self.loss(-values - high)) > self.threshold:
            low, high, step = high, high + 2.0 * step, 2.0 * step
        t = 0.5 * (low + high)
        while low < t < high:
            if total(weights * self.loss(-values - t)) <= self.threshold:
                high = t
            else:
                low = t
            t = 0.5 * (low + high)
        return high

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        return band_bounds(self, pulls, rewards, failure, low, high)


@risks.add("shortfall")
@dataclass(frozen=True)
class PowerShortfall(Shortfall):
    """Shortfall with the loss l(y) = (y⁺)^p/p, p = `power` [Follmer02]: minus the c at which ‖(c − X)⁺‖_p reaches
    (p · threshold)^(1/p).

    That norm is convex in c, so Newton's method from above never overshoots. A sure reward x costs
    −x − (p · threshold)^(1/p). The exponential loss is `entropic`. Assumes independent rewards in [low, high] for its
    intervals.

    Examples
    --------
    >>> from prudent import PowerShortfall
    >>> round(PowerShortfall(power=2, threshold=0.05).cost("gaussian(1.0, 0.25)"), 3)
    -0.932
    """

    power: float = 2.0
    threshold: float = 0.05

    own_parameters: ClassVar = {
        "power": Parameter(1.0, 100.0, "", "the power of losses; 2 squares them"),
        "threshold": Parameter(*POSITIVE, "the expected loss that is still acceptable"),
    }

    def loss(self, y: Array) -> Array:
        return np.maximum(y, 0.0) ** self.power / self.power

    def spare(self) -> float:
        """The loss without risk that is still acceptable."""
        return (self.power * self.threshold) ** (1.0 / self.power)

    def times(self, factor: float) -> "PowerShortfall":
        return replace(self, threshold=self.threshold * factor**self.power)

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        if (atoms := law.atoms()) is not None:
            return float(self.weigh(*atoms))
        spare, middle = self.spare(), law.quantile(0.5)
        # At least half of all rewards are far enough below this.
        c = middle + spare * 2.0 ** (1.0 / self.power)
        for _ in range(_MAX_NEWTON_STEPS):
            size = max(spare, abs(c - middle))
            power, slope = self._powers(law, c, size)
            step = (size * power ** (1.0 / self.power) - spare) * power ** (1.0 - 1.0 / self.power) / slope
            c -= step
            if step <= 1e-12 * (abs(c) + spare):
                break
        return -c

    def _powers(self, law: Law, c: float, size: float) -> tuple[float, float]:
        """E y^p and E y^(p−1) over rewards below c, y their distance from it by the size."""
        if self.power == 1.0:
            below = law.cdf(c)
            return (c * below - law.partial_mean(c)) / size, below
        moment = f"moment of order {self.power:g} of losses"
        power = law.expectation(lambda x: np.maximum((c - x) / size, 0.0) ** self.power, moment)
        return power, law.expectation(
            lambda x: np.where(x < c, np.abs(c - x) / size, 0.0) ** (self.power - 1.0), moment
        )

    def weigh(self, values: Array, weights: Array) -> float:
        return _power_shortfall(values, weights, self.power, self.spare())


@kernel
def _power_shortfall(values: Array, weights: Array, power: float, spare: float) -> float:
    """−c with ‖(c − X)⁺‖_p = spare, for the law that gives each of the ascending values its weight."""
    first, last = 0, len(values) - 1
    while weights[first] == 0.0:
        first += 1
    while weights[last] == 0.0:
        last -= 1
    c = values[last] + spare
    for _ in range(_MAX_NEWTON_STEPS):
        size, mass, slope = c - values[first], 0.0, 0.0
        for i in range(first, last + 1):
            if values[i] < c:
                share = (c - values[i]) / size
                part = weights[i] * share ** (power - 1.0)
                mass, slope = mass + part * share, slope + part
        if not slope > 0.0:  # c is the worst reward, to the last digit
            break
        step = (size * mass ** (1.0 / power) - spare) * mass ** (1.0 - 1.0 / power) / slope
        c -= step
        if step <= 1e-15 * (abs(c) + spare):
            break
    return -c


@risks.add("expectile")
@dataclass(frozen=True)
class Expectile(Shortfall):
    """Minus the τ-expectile of rewards [Newey87], a cost: the e with τ E(X − e)⁺ = (1 − τ) E(e − X)⁺.

    τ, the `asymmetry`, is ½ for the mean, and averse to risk below. It is the shortfall of l(y) = (1 − τ) y⁺ − τ y⁻
    with threshold 0, and the only shortfall that is coherent [Bellini14]. Assumes independent rewards in [low, high]
    for its intervals.

    Examples
    --------
    >>> from prudent import Expectile
    >>> round(Expectile(asymmetry=0.05).cost("gaussian(1.0, 0.25)"), 3)
    -0.43
    """

    asymmetry: float = 0.05

    threshold = 0.0
    grows: ClassVar = {}
    own_parameters: ClassVar = {"asymmetry": Parameter(0.0, 0.5, "low", "½ is the mean, less is more averse")}

    def loss(self, y: Array) -> Array:
        return np.where(y > 0.0, (1.0 - self.asymmetry) * y, self.asymmetry * y)

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        if (atoms := law.atoms()) is not None:
            return float(self.weigh(*atoms))
        # Newton's method on (1 − 2τ) E(e − X)⁺ + τ(e − μ), which is convex: from the mean it falls to the expectile.
        e, more = law.mean, 1.0 - 2.0 * self.asymmetry
        for _ in range(_MAX_NEWTON_STEPS):
            before, e = (
                e,
                (more * law.partial_mean(e) + self.asymmetry * law.mean) / (more * law.cdf(e) + self.asymmetry),
            )
            if before - e <= 1e-15 * abs(e):
                break
        return -e

    def weigh(self, values: Array, weights: Array) -> float:
        return expectile(values, weights, self.asymmetry)


@kernel
def expectile(values: Array, weights: Array, asymmetry: float) -> float:
    """Minus the expectile of the law that gives each of the ascending values its weight."""
    # Counted from the least reward, so that a constant costs exactly what it should.
    mean, mass, least, more = 0.0, 0.0, values[0], 1.0 - 2.0 * asymmetry
    for i in range(len(values)):
        mean, mass = mean + weights[i] * (values[i] - least), mass + weights[i]
    e, k, below, part = mean, len(values), mass, mean
    for _ in range(len(values) + 1):
        while k > 1 and values[k - 1] - least > e:
            k -= 1
            below, part = below - weights[k], part - weights[k] * (values[k] - least)
        before, e = e, (more * part + asymmetry * mean) / (more * below + asymmetry * mass)
        if before - e <= 1e-15 * abs(e):
            break
    return 0.0 - least - e
