"""Gaussian laws cut off on one side or both."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from prudent.arms import sampling
from prudent.arms.base import MAX_MOMENT, arms
from prudent.arms.continuous import Continuous, check_scale, interval
from prudent.arms.quadrature import gauss
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_finite, check_positive

NODES, WEIGHTS = gauss(32)
UNITS = np.concatenate([[0.0], np.geomspace(0.5, 1_000.0, 26)])


@arms.add("truncated-gaussian", example="truncated-gaussian(0.5, 0.2, 0, 1)")
@dataclass(frozen=True)
class TruncatedGaussian(Continuous):
    """N(center, scale²) given that it lies in [low, high]; `mean` and `variance` are those after truncation.

    Examples
    --------
    >>> from prudent import TruncatedGaussian
    >>> law = TruncatedGaussian(0.5, 0.2, 0, 1)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (0.5, 0.036, 0.181)
    """

    center: float
    scale: float
    low: float
    high: float

    kind = sampling.TRUNCATED
    grows: ClassVar = {"center": 1, "scale": 1, "low": 1, "high": 1}
    ends: ClassVar[tuple[float, float]]
    peak: ClassVar[float]
    total: ClassVar[float]

    def __post_init__(self) -> None:
        center, scale = check_finite(self.name, "center", self.center), check_positive(self.name, "scale", self.scale)
        low, high = interval(self.name, self.low, self.high)
        check_scale(self.name, scale)
        if max(abs(end) for end in (center, low, high) if math.isfinite(end)) > MAX_MOMENT:
            raise PrudentError(f"{self.name}: its numbers are too large for floats; measure rewards in larger units")
        a, b = ends = (low - center) / scale, (high - center) / scale
        with np.errstate(all="ignore"):  # too far away they are no numbers, which the next line refuses
            peak, mean, variance = _normal_moments(a, b)
            mass = float(_normal_mass(a, b, (high - low) / scale, peak))
        if not mass > 0.0 or not math.log(mass) - 0.5 * peak * peak > math.log(1e-250):
            raise PrudentError(f"{self.name}: [{low:g}, {high:g}] is too short, or too far from center {center:g}")
        origin = low if peak == a else high if peak == b else center
        self._settle(center=center, scale=scale, low=low, high=high, support=(low, high), ends=ends, total=mass)
        self._settle(mean=origin + scale * mean, variance=scale * scale * variance, peak=peak)

    def masses(self, x: Array) -> tuple[Array, Array]:
        (a, b), x = self.ends, np.minimum(np.maximum(x, self.low), self.high)
        z = np.minimum(np.maximum((x - self.center) / self.scale, a), b)
        below = _normal_mass(a, z, (x - self.low) / self.scale, self.peak)
        above = _normal_mass(z, b, (self.high - x) / self.scale, self.peak)
        return np.minimum(below / self.total, 1.0), np.minimum(above / self.total, 1.0)

    def cdf(self, x: float) -> float:
        (a, b), x = self.ends, min(max(self._reward(x), self.low), self.high)
        z = min(max((x - self.center) / self.scale, a), b)
        return min(float(_normal_mass(a, z, (x - self.low) / self.scale, self.peak)) / self.total, 1.0)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        if upper:
            return -self._mirrored().tail(levels)
        a, b = self.ends
        if math.isinf(a):
            with np.errstate(divide="ignore"):
                z: Array = special.ndtri_exp(special.log_ndtr(b) + np.log(levels))
            return np.minimum(self.center + self.scale * z, self.high)
        return np.minimum(self.low + self.scale * _normal_quantiles(a, b, levels), self.high)

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        a, b = self.ends
        x = min(max(x, self.low), self.high)
        width, z = (x - self.low) / self.scale, min(max((x - self.center) / self.scale, a), b)
        if width < 1.0:
            return self.low * self.cdf(x) + self.scale * _normal_lift(a, width, self.peak) / self.total
        ends = (0.0 if math.isinf(end) else math.exp(0.5 * (self.peak - end) * (self.peak + end)) for end in (a, z))
        first, last = ends
        return self.center * self.cdf(x) + self.scale * (first - last) / self.total

    def upper_tail_mean(self, alpha: float) -> float:
        return -self._mirrored().lower_tail_mean(alpha)

    def log_laplace(self, lam: float) -> float:
        lam = self._aversion(lam)
        shift = lam * self.scale
        if shift * min(self.ends[1] - self.ends[0], 1.0) < 1.0:
            return super().log_laplace(lam)
        # The density times e^(−λx) is that of a Gaussian again, further down.
        a, b = (end + shift for end in self.ends)
        width = (self.high - self.low) / self.scale
        if width < 1.0 and a > 0.0:
            # A short interval far down: the distance y from its lower end keeps the digits that a + y would lose.
            half = 0.5 * min(width, 40.0 / a)
            y = half * (1.0 + NODES)
            lift = math.log(half * float(np.exp(-y * (a + 0.5 * y)) @ WEIGHTS) / self.total)
            return lift + 0.5 * (self.peak - self.ends[0]) * (self.peak + self.ends[0]) - lam * self.low
        peak = min(max(0.0, a), b)
        ratio = math.log(float(_normal_mass(a, b, width, peak)) / self.total)
        if peak == 0.0:
            return ratio + 0.5 * self.peak**2 + shift * (0.5 * shift - self.center / self.scale)
        end, at = (self.ends[0], self.low) if peak == a else (self.ends[1], self.high)
        return ratio + 0.5 * (self.peak - end) * (self.peak + end) - lam * at

    def _mirrored(self) -> "TruncatedGaussian":
        return TruncatedGaussian(-self.center, self.scale, -self.high, -self.low)

    def parameters(self) -> tuple[float, ...]:
        return self.center, self.scale, *self.ends


def _normal_mass(start: Array | float, end: Array | float, width: Array | float, peak: float) -> Array:
    """∫ e^((peak² − z²)/2) dz from start to end, whose difference is `width`; `peak` is where z² is smallest."""
    start, end, width = np.broadcast_arrays(start, end, width)
    narrow = (width < 1.0) & (width * np.maximum(np.abs(start), np.abs(end)) < 40.0)
    mass = np.empty(start.shape)
    if narrow.any():
        # A difference would be one of nearly equal numbers here, and the rule is exact to rounding.
        half = 0.5 * width[narrow]
        z = start[narrow][:, None] + half[:, None] * (1.0 + NODES)
        mass[narrow] = half * (np.exp(0.5 * (peak - z) * (peak + z)) @ WEIGHTS)
    if not narrow.all():
        start, end = start[~narrow], end[~narrow]
        across = special.erf(math.sqrt(0.5) * end) - special.erf(math.sqrt(0.5) * start)
        # In a tail, by the function that keeps its digits there; a tail below is one above, mirrored.
        mirrored = end <= 0.0
        near, far = np.where(mirrored, -end, start), np.where(mirrored, -start, end)
        tail = near >= 0.0
        near, far = np.where(tail, near, abs(peak)), np.where(tail, far, abs(peak))
        mass[~narrow] = math.sqrt(0.5 * math.pi) * np.where(tail, _tail(near, peak) - _tail(far, peak), across)
    return mass


def _tail(z: Array, peak: float) -> Array:
    """e^((peak² − z²)/2) erfcx(z/√2), for z ≥ 0."""
    finite = np.minimum(z, 1e100)
    tail: Array = np.exp(0.5 * (abs(peak) - finite) * (abs(peak) + finite)) * special.erfcx(math.sqrt(0.5) * finite)
    return tail


def _normal_quantiles(start: float, end: float, levels: Array) -> Array:
    """How far above `start` a standard normal on [start, end] lies, at levels up to ½; `start` is finite."""
    peak, width = min(max(0.0, start), end), end - start
    total = float(_normal_mass(start, end, width, peak))
    with np.errstate(divide="ignore"):
        if start > 0.0:
            share = total / (math.sqrt(0.5 * math.pi) * special.erfcx(math.sqrt(0.5) * start))
            z = -special.ndtri_exp(special.log_ndtr(-start) + np.log1p(-levels * share))
        else:
            z = special.ndtri(special.ndtr(start) * (1.0 - levels) + special.ndtr(end) * levels)
    found = np.clip(z - start, 0.0, width)
    # That is right up to the rounding of `start`. A step of Newton's method, and it is right relative to itself.
    z = start + found
    missing = levels * total - _normal_mass(start, z, found, peak)
    found = found + missing / np.exp(0.5 * (peak - z) * (peak + z))
    clipped: Array = np.minimum(np.maximum(found, 0.0), width)
    return clipped


def _normal_moments(start: float, end: float) -> tuple[float, float, float]:
    """The point of [start, end] nearest to 0, how far above it the mean of a standard normal there lies, its variance.

    Closed forms would be differences of nearly equal numbers for short intervals and far ones.
    """
    peak = min(max(0.0, start), end)
    unit = UNITS / (1.0 + abs(peak))
    offsets = np.unique(np.clip(np.concatenate([-unit[::-1], unit]), start - peak, end - peak))
    half = 0.5 * np.diff(offsets)[:, None]
    z = offsets[:-1, None] + half * (1.0 + NODES)
    weights = half * WEIGHTS * np.exp(-0.5 * z * (z + 2.0 * peak))
    mean = float((weights * z).sum() / weights.sum())
    return peak, mean, float((weights * (z - mean) ** 2).sum() / weights.sum())


def _normal_lift(start: float, width: float, peak: float) -> float:
    """∫ (z − start) e^((peak² − z²)/2) dz over a short interval that begins at `start`."""
    rise = 0.5 * width * (1.0 + NODES)
    z = start + rise
    return float(0.5 * width * (WEIGHTS * rise * np.exp(0.5 * (peak - z) * (peak + z))).sum())
