"""Laws with a density: Gaussian, truncated Gaussian, beta, uniform, exponential, Student's t."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import special

from prudent.arms import quadrature, sampling
from prudent.arms.base import Law, arms
from prudent.arrays import Array
from prudent.errors import PrudentError, as_float, check_finite, check_number, check_positive


@arms.add("gaussian")
@dataclass(frozen=True)
class Gaussian(Law):
    """N(mean, variance); variance 0 is the constant `mean`."""

    mean: float
    variance: float

    kind = sampling.GAUSSIAN
    deviation: ClassVar[float]

    def __post_init__(self) -> None:
        mean = check_finite(self.name, "mean", self.mean)
        hint = "pass the variance σ², not the standard deviation"
        variance = check_finite(self.name, "variance", self.variance, low=0.0, hint=hint)
        support = (-math.inf, math.inf) if variance > 0.0 else (mean, mean)
        self._settle(mean=mean, variance=variance, deviation=math.sqrt(variance), support=support)

    def cdf(self, x: float) -> float:
        return float(x >= self.mean) if self.variance == 0.0 else float(special.ndtr((x - self.mean) / self.deviation))

    def quantile(self, alpha: float) -> float:
        alpha = self._level(alpha)
        return self.mean if self.variance == 0.0 else self.mean + self.deviation * float(special.ndtri(alpha))

    def partial_mean(self, x: float) -> float:
        below = self.deviation * _density((x - self.mean) / self.deviation) if self.variance > 0.0 else 0.0
        return self.mean * self.cdf(x) - below

    def parameters(self) -> tuple[float, ...]:
        return self.mean, self.deviation


@arms.add("truncated-gaussian")
@dataclass(frozen=True)
class TruncatedGaussian(Law):
    """N(center, scale²) given that it lies in [low, high]; `mean` and `variance` are those after truncation."""

    center: float
    scale: float
    low: float
    high: float

    kind = sampling.TRUNCATED
    ends: ClassVar[tuple[float, float]]

    def __post_init__(self) -> None:
        center, scale = check_finite(self.name, "center", self.center), check_positive(self.name, "scale", self.scale)
        low, high = _interval(self.name, self.low, self.high)
        a, b = ends = (low - center) / scale, (high - center) / scale
        if _mass(a, b) < 1e-250:
            raise PrudentError(f"{self.name}: [{low:g}, {high:g}] is too far from center {center:g}; move it closer")
        mean, variance = _truncated_moments(a, b)
        self._settle(center=center, scale=scale, low=low, high=high, support=(low, high), ends=ends)
        self._settle(mean=center + scale * mean, variance=scale * scale * variance)

    def cdf(self, x: float) -> float:
        a, b = self.ends
        return _mass(a, min(max((x - self.center) / self.scale, a), b)) / _mass(a, b)

    def quantile(self, alpha: float) -> float:
        alpha = self._level(alpha)
        a, b = self.ends
        # Work from the nearer tail, where the distribution function keeps its digits.
        sign = -1.0 if a > 0.0 else 1.0
        z = sign * float(special.ndtri(special.ndtr(sign * a) * (1.0 - alpha) + special.ndtr(sign * b) * alpha))
        return self.center + self.scale * min(max(z, a), b)

    def partial_mean(self, x: float) -> float:
        a, b = self.ends
        z = min(max((x - self.center) / self.scale, a), b)
        return self.center * self.cdf(x) + self.scale * (_density(a) - _density(z)) / _mass(a, b)

    def parameters(self) -> tuple[float, ...]:
        return self.center, self.scale, *self.ends


@arms.add("beta")
@dataclass(frozen=True)
class Beta(Law):
    """Beta(a, b) on [0, 1]."""

    a: float
    b: float

    kind = sampling.BETA

    @classmethod
    def from_moments(cls, mean: float, variance: float) -> "Beta":
        """The beta law of that mean and variance: a + b = mean(1 − mean)/variance − 1."""
        inside = partial(check_number, cls.name, low=0.0, open_low=True, open_high=True)
        mean = inside("mean", mean, high=1.0)
        largest, hint = mean * (1.0 - mean), "a law on [0, 1] has variance mean·(1 − mean) at most"
        variance = inside("variance", variance, high=largest, hint=hint)
        total = largest / variance - 1.0
        return cls(mean * total, (1.0 - mean) * total)

    def __post_init__(self) -> None:
        a, b = (check_positive(self.name, name, getattr(self, name)) for name in ("a", "b"))
        share = a / (a + b)
        self._settle(a=a, b=b, mean=share, variance=share * (1.0 - share) / (a + b + 1.0), support=(0.0, 1.0))

    def cdf(self, x: float) -> float:
        return float(special.betainc(self.a, self.b, min(max(x, 0.0), 1.0)))

    def quantile(self, alpha: float) -> float:
        return float(special.betaincinv(self.a, self.b, self._level(alpha)))

    def partial_mean(self, x: float) -> float:
        return self.mean * float(special.betainc(self.a + 1.0, self.b, min(max(x, 0.0), 1.0)))


@arms.add("uniform")
@dataclass(frozen=True)
class Uniform(Law):
    """Uniform on [low, high]."""

    low: float
    high: float

    kind = sampling.UNIFORM

    def __post_init__(self) -> None:
        low, high = _interval(self.name, *(check_finite(self.name, end, getattr(self, end)) for end in ("low", "high")))
        variance = (high - low) * ((high - low) / 12.0)
        self._settle(low=low, high=high, mean=0.5 * (low + high), variance=variance, support=(low, high))

    def cdf(self, x: float) -> float:
        return min(max((x - self.low) / (self.high - self.low), 0.0), 1.0)

    def quantile(self, alpha: float) -> float:
        return self.low + self._level(alpha) * (self.high - self.low)

    def partial_mean(self, x: float) -> float:
        return self.cdf(x) * 0.5 * (self.low + min(max(x, self.low), self.high))


@arms.add("exponential")
@dataclass(frozen=True)
class Exponential(Law):
    """Exponential with the given mean, on [0, ∞)."""

    mean: float

    kind = sampling.EXPONENTIAL

    def __post_init__(self) -> None:
        mean = check_positive(self.name, "mean", self.mean, hint="pass the mean, not the rate")
        self._settle(mean=mean, variance=mean * mean, support=(0.0, math.inf))

    def cdf(self, x: float) -> float:
        return -math.expm1(-max(x, 0.0) / self.mean)

    def quantile(self, alpha: float) -> float:
        alpha = self._level(alpha)
        return math.inf if alpha == 1.0 else -self.mean * math.log1p(-alpha)

    def partial_mean(self, x: float) -> float:
        return self.mean * float(special.gammainc(2.0, max(x, 0.0) / self.mean))


@arms.add("student-t")
@dataclass(frozen=True)
class StudentT(Law):
    """location + scale · T, where T has Student's law with `degrees` of freedom: heavy tails.

    It has no mean for degrees ≤ 1 and no variance for degrees ≤ 2; asking for one of them is then an error.
    """

    degrees: float
    location: float = 0.0
    scale: float = 1.0

    kind = sampling.STUDENT

    def __post_init__(self) -> None:
        hint = "with fewer degrees, rewards leave the range of floats"
        degrees = check_finite(self.name, "degrees", self.degrees, low=0.1, hint=hint)
        location = check_finite(self.name, "location", self.location)
        scale = check_positive(self.name, "scale", self.scale)
        self._settle(degrees=degrees, location=location, scale=scale, support=(-math.inf, math.inf))

    @property
    def mean(self) -> float:  # type: ignore[override]
        self._need(1.0, "mean")
        return self.location

    @property
    def variance(self) -> float:  # type: ignore[override]
        self._need(2.0, "variance")
        return self.scale * self.scale * self.degrees / (self.degrees - 2.0)

    def cdf(self, x: float) -> float:
        return float(special.stdtr(self.degrees, (x - self.location) / self.scale))

    def quantile(self, alpha: float) -> float:
        if (alpha := self._level(alpha)) == 1.0:
            return math.inf
        n, z = self.degrees, float(special.stdtrit(self.degrees, alpha))
        if abs(z) > 1e100:
            # SciPy's search ends at 1e153, whatever the level. So far out the tail is a power of z to all digits.
            log_z = 0.5 * math.log(n) - (math.log(min(alpha, 1.0 - alpha) * n) + special.betaln(0.5 * n, 0.5)) / n
            z = math.copysign(math.exp(log_z) if log_z < 700.0 else math.inf, z)
        return self.location + self.scale * z

    def partial_mean(self, x: float) -> float:
        self._need(1.0, "mean")
        z, n = (x - self.location) / self.scale, self.degrees
        if math.isinf(z):
            return self.location * self.cdf(x)
        # The density is c (1 + z²/n)^(−(n+1)/2), and z times it has the integral −(n + z²)/(n − 1) times it.
        log_c = special.gammaln(0.5 * (n + 1.0)) - special.gammaln(0.5 * n) - 0.5 * math.log(n * math.pi)
        below = n / (n - 1.0) * math.exp(log_c - 0.5 * (n - 1.0) * math.log1p(z * z / n))
        return self.location * self.cdf(x) - self.scale * below

    def _pieces(self, function: Callable[[Array], Array]) -> Array:
        # Above the location as below it, where levels keep their digits.
        lower = quadrature.half(self.quantile, function)
        upper = quadrature.half(self.quantile, lambda x: function(2.0 * self.location - x))
        return np.concatenate([lower, upper[::-1]])

    def _need(self, degrees: float, moment: str) -> None:
        if self.degrees <= degrees:
            other = "or a risk measure that needs less, such as var"
            raise PrudentError(f"{self}: it has no {moment}; take degrees above {degrees:g}, {other}")


def _interval(owner: str, low: float, high: float) -> tuple[float, float]:
    low, high = as_float(owner, "low", low), as_float(owner, "high", high)
    if not low < high:
        raise PrudentError(f"{owner}: low must be below high, got low={low:g} and high={high:g}; swap them?")
    return low, high


def _density(z: float) -> float:
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def _truncated_moments(a: float, b: float) -> tuple[float, float]:
    """Mean and variance of a standard normal given that it lies in [a, b]."""
    if b - a < 1.0:
        # The closed form is a difference of nearly equal numbers here; Gauss–Legendre is exact to rounding.
        nodes, weights = np.polynomial.legendre.leggauss(32)
        z = 0.5 * (a + b) + 0.5 * (b - a) * nodes
        weights = weights * np.exp(0.5 * (min(abs(a), abs(b)) ** 2 - z * z))
        mean = float(np.average(z, weights=weights))
        return mean, float(np.average((z - mean) ** 2, weights=weights))
    mean = (_density(a) - _density(b)) / _mass(a, b)
    left, right = (0.0 if math.isinf(z) else z * _density(z) for z in (a, b))
    return mean, max(1.0 + (left - right) / _mass(a, b) - mean * mean, 0.0)


def _mass(a: float, b: float) -> float:
    """P(a ≤ Z ≤ b) for a standard normal, from the tail that keeps its digits."""
    upper = special.ndtr(-a) - special.ndtr(-b)
    return float(upper if a > 0.0 else special.ndtr(b) - special.ndtr(a))
