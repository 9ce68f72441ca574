"""Laws with a density: Gaussian, beta, uniform, exponential, Student's t."""

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import special

from prudent.arms import functions, sampling
from prudent.arms.base import MAX_MOMENT, Law, arms
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, as_float, check_finite, check_number, check_positive


class Continuous(Law):
    """A law that knows both of its tails to all digits: the one above is the lower one of its mirror image."""

    reach = (700.0, 700.0)

    def quantile(self, alpha: float) -> float:
        alpha = self._level(alpha)
        upper = alpha > 0.5
        return float(self.tail(np.array([1.0 - alpha if upper else alpha]), upper=upper)[0])

    def cdf(self, x: float) -> float:
        return float(self.masses(np.asarray(self._reward(x)))[0])


NEAR = np.exp(-np.geomspace(0.02, 745.0, 40))
"""Distances from an end of [0, 1], down to the smallest float."""


@arms.add("gaussian", aliases=["normal"], example="gaussian(1.0, 0.05)")
@dataclass(frozen=True)
class Gaussian(Continuous):
    """Normal with this mean and variance σ², not the standard deviation; variance 0 is the constant `mean`.

    Examples
    --------
    >>> from prudent import Gaussian
    >>> law = Gaussian(1.0, 0.25)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (1.0, 0.25, 0.178)
    """

    mean: float
    variance: float

    kind = sampling.GAUSSIAN
    grows: ClassVar = {"mean": 1, "variance": 2}
    deviation: ClassVar[float]

    def __post_init__(self) -> None:
        mean = check_finite(self.name, "mean", self.mean)
        hint = "pass the variance σ², not the standard deviation"
        variance = check_finite(self.name, "variance", self.variance, low=0.0, hint=hint)
        support = (-math.inf, math.inf) if variance > 0.0 else (mean, mean)
        self._settle(mean=mean, variance=variance, deviation=math.sqrt(variance), support=support)

    def masses(self, x: Array) -> tuple[Array, Array]:
        if self.variance == 0.0:
            return (x >= self.mean).astype(float), (x < self.mean).astype(float)
        z = (x - self.mean) / self.deviation
        return special.ndtr(z), special.ndtr(-z)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        if self.variance == 0.0:
            return np.full(len(levels), self.mean)
        below: Array = self.deviation * special.ndtri(levels)
        return self.mean - below if upper else self.mean + below

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        below = self.deviation * _density((x - self.mean) / self.deviation) if self.variance > 0.0 else 0.0
        return self.mean * self.cdf(x) - below

    def upper_tail_mean(self, alpha: float) -> float:
        return 2.0 * self.mean - self.lower_tail_mean(alpha)

    def log_laplace(self, lam: float) -> float:
        lam = self._aversion(lam)
        return lam * (0.5 * lam * self.variance - self.mean)

    def atoms(self) -> tuple[Array, Array] | None:
        return (np.array([self.mean]), np.ones(1)) if self.variance == 0.0 else None

    def parameters(self) -> tuple[float, ...]:
        return self.mean, self.deviation


MIN_BETA_SUM = 1e-5
"""The smallest a + b of a beta law: where both are small, drawing a reward takes about 1/(709 (a + b)) attempts."""


@arms.add("beta", example="beta(2, 5)")
@dataclass(frozen=True)
class Beta(Continuous):
    """Beta(a, b) on [0, 1].

    Examples
    --------
    >>> from prudent import Beta
    >>> law = Beta(2, 5)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (0.286, 0.026, 0.063)
    """

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
        hint = "nearly all rewards would be 0 or 1, or all of them the mean; take bernoulli or deterministic"
        check_number(self.name, "a + b", a + b, low=MIN_BETA_SUM, high=1e100, hint=hint)
        share, rest = a / (a + b), b / (a + b)
        self._settle(a=a, b=b, mean=share, variance=share * rest / (a + b + 1.0), support=(0.0, 1.0))
        # Below, rewards are smaller than the smallest float.
        self._settle(reach=(min(max(690.0 * a, 36.0), 700.0), 700.0))

    def masses(self, x: Array) -> tuple[Array, Array]:
        x = np.minimum(np.maximum(x, 0.0), 1.0)
        below, above = special.betainc(self.a, self.b, x), special.betaincc(self.a, self.b, x)
        # The smaller one has all its digits; SciPy's Beta(½, ½) loses half of them in the larger.
        return np.where(below < above, below, 1.0 - above), np.where(below < above, 1.0 - below, above)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        if not upper:
            return functions.beta_quantiles(self.a, self.b, levels)
        rest = functions.beta_quantiles(self.b, self.a, levels)
        # Where even the better rewards are near 0, 1 minus the rest would be 0.
        near = special.betainccinv(self.a, self.b, np.where(rest > 0.9, levels, 0.5))
        return np.where((rest > 0.9) & np.isfinite(near), near, 1.0 - rest)

    def panels(self, *, upper: bool = False) -> Array:
        s = super().panels(upper=upper)
        if min(self.a, self.b) > 0.5:
            return s
        # Nearly all rewards are close to 0 or 1. Rewards that are not lie between few levels, so these are added.
        a, b = (self.b, self.a) if upper else (self.a, self.b)
        with np.errstate(divide="ignore"):
            more = -np.log(np.concatenate([special.betainc(a, b, NEAR), special.betaincc(b, a, NEAR)]))
        return np.unique(np.concatenate([s, more[(more > s[0]) & (more < s[-1])]]))

    def edges(self) -> Array:
        return np.unique(np.concatenate([super().edges(), NEAR, 1.0 - NEAR]))

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        return self.mean * float(special.betainc(self.a + 1.0, self.b, min(max(x, 0.0), 1.0)))

    def upper_tail_mean(self, alpha: float) -> float:
        if (alpha := self._level(alpha)) > 0.5:
            return super().upper_tail_mean(alpha)
        q = self.tail(np.array([alpha]), upper=True)
        part = self.mean * special.betaincc(self.a + 1.0, self.b, q)
        return float((part + q * (alpha - self.masses(q)[1]))[0] / alpha)

    def log_laplace(self, lam: float) -> float:
        lam = self._aversion(lam)
        near = lam < 1.0 or lam * math.sqrt(self.variance) < 0.1
        return super().log_laplace(lam) if near else functions.log_beta_laplace(self.a, self.b, lam)


@arms.add("uniform", example="uniform(0, 1)")
@dataclass(frozen=True)
class Uniform(Continuous):
    """Uniform on [low, high].

    Examples
    --------
    >>> from prudent import Uniform
    >>> law = Uniform(0, 1)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (0.5, 0.083, 0.05)
    """

    low: float
    high: float

    kind = sampling.UNIFORM
    grows: ClassVar = {"low": 1, "high": 1}

    def __post_init__(self) -> None:
        low, high = interval(self.name, *(check_finite(self.name, end, getattr(self, end)) for end in ("low", "high")))
        variance = (high - low) * ((high - low) / 12.0)
        self._settle(low=low, high=high, mean=0.5 * (low + high), variance=variance, support=(low, high))

    def masses(self, x: Array) -> tuple[Array, Array]:
        x, reach = np.minimum(np.maximum(x, self.low), self.high), self.high - self.low
        return (x - self.low) / reach, (self.high - x) / reach

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        reach = self.high - self.low
        return self.high - levels * reach if upper else self.low + levels * reach

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        return self.cdf(x) * 0.5 * (self.low + min(max(x, self.low), self.high))

    def upper_tail_mean(self, alpha: float) -> float:
        return self.high - 0.5 * self._level(alpha) * (self.high - self.low)

    def log_laplace(self, lam: float) -> float:
        lam = self._aversion(lam)
        half = 0.5 * lam * (self.high - self.low)
        # log of sinh(half)/half; where it is near 1 by its series, where it is large by its exponential.
        spread = (
            half * half / 6.0 * (1.0 - half * half / 30.0)
            if half < 1e-2
            else half + math.log(-math.expm1(-2.0 * half) / (2.0 * half))
        )
        return spread - lam * self.mean


@arms.add("exponential", example="exponential(2.0)")
@dataclass(frozen=True)
class Exponential(Continuous):
    """Exponential with the given mean, on [0, ∞).

    Examples
    --------
    >>> from prudent import Exponential
    >>> law = Exponential(2.0)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (2.0, 4.0, 0.103)
    """

    mean: float

    kind = sampling.EXPONENTIAL
    grows: ClassVar = {"mean": 1}

    def __post_init__(self) -> None:
        mean = check_positive(self.name, "mean", self.mean, hint="pass the mean, not the rate")
        self._settle(mean=mean, variance=mean * mean, support=(0.0, math.inf))

    def masses(self, x: Array) -> tuple[Array, Array]:
        scaled = np.maximum(x, 0.0) / self.mean
        return -np.expm1(-scaled), np.exp(-scaled)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        with np.errstate(divide="ignore"):
            return -self.mean * (np.log(levels) if upper else np.log1p(-levels))

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        return self.mean * float(special.gammainc(2.0, max(x, 0.0) / self.mean))

    def upper_tail_mean(self, alpha: float) -> float:
        return self.mean * (1.0 - math.log(self._level(alpha)))

    def log_laplace(self, lam: float) -> float:
        lam = self._aversion(lam)
        return -math.log1p(lam * self.mean)


@arms.add("student-t", aliases=["student"], example="student-t(5, 0.0, 1.0)")
@dataclass(frozen=True)
class StudentT(Continuous):
    """location + scale · T, where T has Student's law with `degrees` of freedom: heavy tails.

    It has no mean for degrees ≤ 1 and no variance for degrees ≤ 2; asking for one of them is then an error.

    Examples
    --------
    >>> from prudent import StudentT
    >>> law = StudentT(5, 0.0, 1.0)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (0.0, 1.667, -2.015)
    """

    degrees: float
    location: float = 0.0
    scale: float = 1.0

    kind = sampling.STUDENT
    grows: ClassVar = {"location": 1, "scale": 1}

    def __post_init__(self) -> None:
        hint = "with fewer degrees, rewards leave the range of floats"
        degrees = check_finite(self.name, "degrees", self.degrees, low=0.1, hint=hint)
        location = check_finite(self.name, "location", self.location)
        scale = check_scale(self.name, check_positive(self.name, "scale", self.scale))
        # P(|T| > t) is about t^−degrees: rewards too large to be squared must be too rare to be met.
        if degrees * (2.0 * math.log(MAX_MOMENT) - math.log(scale)) < 32.0 or abs(location) > MAX_MOMENT:
            fix = "take more degrees, or measure rewards in larger units"
            raise PrudentError(f"{self.name}: rewards would leave the range of floats; {fix}")
        self._settle(degrees=degrees, location=location, scale=scale, support=(-math.inf, math.inf))
        # Beyond 1e145 the square of a reward is more than a float; so far out the tail is a power to all digits.
        furthest = 334.0 - math.log(scale) - 0.5 * math.log(degrees)
        reach = degrees * furthest + math.log(degrees) + float(special.betaln(0.5 * degrees, 0.5))
        self._settle(reach=(min(max(reach, 5.0), 700.0),) * 2)

    @property
    def mean(self) -> float:  # type: ignore[override]
        self._need(1.0, "mean")
        return self.location

    @property
    def variance(self) -> float:  # type: ignore[override]
        self._need(2.0, "variance")
        return self.scale * self.scale * self.degrees / (self.degrees - 2.0)

    def masses(self, x: Array) -> tuple[Array, Array]:
        z = (x - self.location) / self.scale
        return special.stdtr(self.degrees, z), special.stdtr(self.degrees, -z)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        below = self.scale * functions.student_quantiles(self.degrees, levels)
        return self.location - below if upper else self.location + below

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        self._need(1.0, "mean")
        z, n = (x - self.location) / self.scale, self.degrees
        if math.isinf(z):
            return self.location * self.cdf(x)
        # The density is c (1 + z²/n)^(−(n+1)/2), and z times it has the integral −(n + z²)/(n − 1) times it.
        log_c = -special.betaln(0.5 * n, 0.5) - 0.5 * math.log(n)
        below = n / (n - 1.0) * math.exp(log_c - (n - 1.0) * math.log(math.hypot(1.0, z / math.sqrt(n))))
        return self.location * self.cdf(x) - self.scale * below

    def upper_tail_mean(self, alpha: float) -> float:
        return 2.0 * self.mean - self.lower_tail_mean(alpha)

    def log_laplace(self, lam: float) -> float:
        lam = self._aversion(lam)
        raise PrudentError(
            f"{self}: its exponential moment at −{lam:g} is infinite; take cvar, or var, which needs none"
        )

    def _need(self, degrees: float, moment: str) -> None:
        if self.degrees <= degrees:
            other = "or a risk measure that needs less, such as var"
            raise PrudentError(f"{self}: it has no {moment}; take degrees above {degrees:g}, {other}")


def check_scale(owner: str, scale: float) -> float:
    """A scale by which the largest rewards can be divided, and the ratio squared."""
    return check_number(
        owner, "scale", scale, low=1.0 / MAX_MOMENT, high=MAX_MOMENT, hint="measure rewards in other units"
    )


def interval(owner: str, low: float, high: float) -> tuple[float, float]:
    """The two ends as floats, the lower one first."""
    low, high = as_float(owner, "low", low), as_float(owner, "high", high)
    if not low < high:
        raise PrudentError(f"{owner}: low must be below high, got low={low:g} and high={high:g}; swap them?")
    return low, high


def _density(z: float) -> float:
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
