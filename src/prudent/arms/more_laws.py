"""Laws that kernels draw from a table of their quantiles: log-normal, gamma, Laplace, Pareto, Poisson."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy import special

from prudent.arms.base import MAX_MOMENT, Law, arms, reached
from prudent.arms.continuous import Continuous, check_scale
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_finite, check_number, check_positive


@arms.add("log-normal", example="log-normal(0.0, 0.5)")
@dataclass(frozen=True)
class LogNormal(Continuous):
    """Rewards above 0 whose logarithm is normal with this mean and this standard deviation.

    Examples
    --------
    >>> from prudent import LogNormal
    >>> law = LogNormal(0.0, 0.5)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (1.133, 0.365, 0.439)
    """

    log_mean: float
    log_deviation: float

    def __post_init__(self) -> None:
        m, s = (
            check_finite(self.name, "log_mean", self.log_mean),
            check_positive(self.name, "log_deviation", self.log_deviation),
        )
        hint = "rewards would leave the range of floats; this is the deviation of the logarithm"
        check_number(self.name, "log_deviation", s, low=1e-9, high=8.0, hint=hint)
        check_number(self.name, "log_mean", m, low=-150.0, high=100.0, hint="measure rewards in other units")
        mean = math.exp(m + 0.5 * s * s)
        self._settle(log_mean=m, log_deviation=s, mean=mean, variance=math.expm1(s * s) * mean * mean)
        self._settle(support=(0.0, math.inf))

    def times(self, factor: float) -> "LogNormal":
        return LogNormal(self.log_mean + math.log(factor), self.log_deviation)

    def masses(self, x: Array) -> tuple[Array, Array]:
        with np.errstate(divide="ignore"):
            z = (np.log(np.maximum(x, 0.0)) - self.log_mean) / self.log_deviation
        return special.ndtr(z), special.ndtr(-z)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        z = special.ndtri(levels)
        found: Array = np.exp(self.log_mean + self.log_deviation * (-z if upper else z))
        return found

    def partial_mean(self, x: float) -> float:
        if (x := self._reward(x)) <= 0.0:
            return 0.0
        z = (math.log(x) - self.log_mean) / self.log_deviation
        return self.mean * float(special.ndtr(z - self.log_deviation))

    def upper_tail_mean(self, alpha: float) -> float:
        z = -float(special.ndtri(self._level(alpha)))
        return self.mean * float(special.ndtr(self.log_deviation - z)) / alpha


@arms.add("gamma", example="gamma(2.0, 1.5)")
@dataclass(frozen=True)
class Gamma(Continuous):
    """Gamma on [0, ∞) with this shape and scale: the mean is shape · scale.

    Examples
    --------
    >>> from prudent import Gamma
    >>> law = Gamma(2.0, 1.5)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (3.0, 4.5, 0.533)
    """

    shape: float
    scale: float

    grows: ClassVar = {"scale": 1}

    def __post_init__(self) -> None:
        shape, scale = check_positive(self.name, "shape", self.shape), check_positive(self.name, "scale", self.scale)
        check_number(self.name, "shape", shape, low=0.01, high=1e9, hint="take bernoulli or gaussian instead")
        check_scale(self.name, scale)
        self._settle(shape=shape, scale=scale, mean=shape * scale, variance=shape * scale * scale)
        # Below, rewards are smaller than the smallest float.
        self._settle(support=(0.0, math.inf), reach=(min(max(600.0 * shape, 36.0), 700.0), 700.0))

    def masses(self, x: Array) -> tuple[Array, Array]:
        scaled = np.maximum(x, 0.0) / self.scale
        return special.gammainc(self.shape, scaled), special.gammaincc(self.shape, scaled)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        inverse = special.gammainccinv if upper else special.gammaincinv
        found: Array = self.scale * inverse(self.shape, levels)
        return found

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        return self.mean * float(special.gammainc(self.shape + 1.0, max(x, 0.0) / self.scale))

    def upper_tail_mean(self, alpha: float) -> float:
        q = special.gammainccinv(self.shape, self._level(alpha))
        return self.mean * float(special.gammaincc(self.shape + 1.0, q)) / alpha

    def log_laplace(self, lam: float) -> float:
        return -self.shape * math.log1p(self._aversion(lam) * self.scale)


@arms.add("laplace", example="laplace(0.0, 1.0)")
@dataclass(frozen=True)
class Laplace(Continuous):
    """location ± an exponential of mean `scale`: a peak, and tails longer than those of a Gaussian.

    Examples
    --------
    >>> from prudent import Laplace
    >>> law = Laplace(0.0, 1.0)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (0.0, 2.0, -2.303)
    """

    location: float
    scale: float

    grows: ClassVar = {"location": 1, "scale": 1}

    def __post_init__(self) -> None:
        location = check_finite(self.name, "location", self.location)
        scale = check_scale(self.name, check_positive(self.name, "scale", self.scale))
        self._settle(location=location, scale=scale, mean=location, variance=2.0 * scale * scale)
        self._settle(support=(-math.inf, math.inf))

    def masses(self, x: Array) -> tuple[Array, Array]:
        z = (x - self.location) / self.scale
        far = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0.0, far, 1.0 - far), np.where(z < 0.0, 1.0 - far, far)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        with np.errstate(divide="ignore"):
            below = self.scale * np.log(2.0 * levels)
        return self.location - below if upper else self.location + below

    def partial_mean(self, x: float) -> float:
        z = (self._reward(x) - self.location) / self.scale
        if math.isinf(z):
            return self.location if z > 0.0 else 0.0
        far = 0.5 * math.exp(-abs(z))
        below, level = -far * (1.0 + abs(z)), far if z < 0.0 else 1.0 - far
        return self.location * level + self.scale * below

    def upper_tail_mean(self, alpha: float) -> float:
        return 2.0 * self.mean - self.lower_tail_mean(alpha)

    def log_laplace(self, lam: float) -> float:
        lam = self._aversion(lam)
        if lam * self.scale >= 1.0:
            fix = "take cvar, or var, which needs none"
            raise PrudentError(f"{self}: its exponential moment at −{lam:g} is infinite; {fix}")
        return -math.log1p(-((lam * self.scale) ** 2)) - lam * self.location


@arms.add("pareto", example="pareto(3.0, 1.0)")
@dataclass(frozen=True)
class Pareto(Continuous):
    """Rewards above `scale`, larger than x with probability (scale/x)^shape: a heavy tail above.

    It has no mean for a shape ≤ 1 and no variance for a shape ≤ 2; asking for one of them is then an error.

    Examples
    --------
    >>> from prudent import Pareto
    >>> law = Pareto(3.0, 1.0)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (1.5, 0.75, 1.017)
    """

    shape: float
    scale: float

    grows: ClassVar = {"scale": 1}

    def __post_init__(self) -> None:
        hint = "with a smaller one, rewards leave the range of floats"
        shape = check_finite(self.name, "shape", self.shape, low=0.1, hint=hint)
        scale = check_scale(self.name, check_positive(self.name, "scale", self.scale))
        if shape * (2.0 * math.log(MAX_MOMENT) - math.log(scale)) < 40.0:
            fix = "take a larger shape, or measure rewards in larger units"
            raise PrudentError(f"{self.name}: rewards would leave the range of floats; {fix}")
        furthest = shape * (334.0 - math.log(scale))  # beyond, the square of a reward is more than a float
        self._settle(shape=shape, scale=scale, support=(scale, math.inf))
        self._settle(reach=(700.0, min(max(furthest, 5.0), 700.0)))

    @property
    def mean(self) -> float:  # type: ignore[override]
        self._need(1.0, "mean")
        return self.scale * self.shape / (self.shape - 1.0)

    @property
    def variance(self) -> float:  # type: ignore[override]
        self._need(2.0, "variance")
        return self.mean * self.mean / (self.shape * (self.shape - 2.0))

    def masses(self, x: Array) -> tuple[Array, Array]:
        fall = -self.shape * np.log(np.maximum(x, self.scale) / self.scale)
        return -np.expm1(fall), np.exp(fall)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            rise = -(np.log(levels) if upper else np.log1p(-levels)) / self.shape
            found: Array = self.scale * np.exp(rise)
        return found

    def partial_mean(self, x: float) -> float:
        ratio = max(self._reward(x), self.scale) / self.scale
        return -self.mean * math.expm1((1.0 - self.shape) * math.log(ratio)) if math.isfinite(ratio) else self.mean

    def upper_tail_mean(self, alpha: float) -> float:
        return self.mean * math.pow(self._level(alpha), -1.0 / self.shape)

    def _need(self, shape: float, moment: str) -> None:
        if self.shape <= shape:
            other = "or a risk measure that needs less, such as var"
            raise PrudentError(f"{self}: it has no {moment}; take a shape above {shape:g}, {other}")


@arms.add("poisson", example="poisson(3.0)")
@dataclass(frozen=True)
class Poisson(Law):
    """Counts 0, 1, 2, … with this mean, which is the variance too.

    Examples
    --------
    >>> from prudent import Poisson
    >>> law = Poisson(3.0)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (3.0, 3.0, 1.0)
    """

    mean: float

    def __post_init__(self) -> None:
        mean = check_positive(self.name, "mean", self.mean)
        check_number(self.name, "mean", mean, low=1e-12, high=1e6, hint="take gaussian instead")
        self._settle(mean=mean, variance=mean, support=(0.0, math.inf))

    @cached_property
    def _atoms(self) -> tuple[Array, Array]:
        """The counts that have a probability in floats: 38 deviations around the mean, and more where it is small."""
        reach = 38.0 * math.sqrt(self.mean) + 200.0
        counts = np.arange(max(math.floor(self.mean - reach), 0), math.ceil(self.mean + reach) + 1.0)
        weights = np.exp(special.xlogy(counts, self.mean) - self.mean - special.gammaln(counts + 1.0))
        return counts[weights > 0.0], weights[weights > 0.0]

    def atoms(self) -> tuple[Array, Array]:
        return self._atoms

    def masses(self, x: Array) -> tuple[Array, Array]:
        count = np.clip(np.floor(x), -1.0, 1e300)
        below, above = special.pdtr(count, self.mean), special.pdtrc(count, self.mean)
        return np.where(count < 0.0, 0.0, below), np.where(count < 0.0, 1.0, above)

    def quantile(self, alpha: float) -> float:
        if (alpha := self._level(alpha)) == 1.0:
            return math.inf
        counts, weights = self._atoms
        return float(counts[np.argmax(reached(np.cumsum(weights), alpha))])

    def log_laplace(self, lam: float) -> float:
        return self.mean * math.expm1(-self._aversion(lam))
