"""Laws by their densities alone: sums over fine grids that share nothing with the quantiles of prudent.arms.

A reward is a smooth function of y, and y = centre + unit · sinh(v) with v on equal panels, so that the bulk of a law
and both its tails are seen at their own scale. Distribution functions are running sums, from either end.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
PANELS = 900

_powers = np.vander(NODES, increasing=True)
_sums = (NODES[:, None] ** np.arange(1, 17) - (-1.0) ** np.arange(1, 17)) / np.arange(1, 17)
RUNNING = _sums @ np.linalg.inv(_powers)
"""From values at the nodes to the integrals from −1 to each node."""

Chart = tuple[Callable, Callable, float, float, float, float]


def chart(law: Any) -> Chart:
    """The reward at y, the log of its density there up to a constant, the range of y, its centre and its unit."""
    return CHARTS[law.name](law)


def _gaussian(law: Any) -> Chart:
    deviation = math.sqrt(law.variance)
    return lambda y: law.mean + deviation * y, lambda y: -0.5 * y * y, -40.0, 40.0, 0.0, 1.0


def _uniform(law: Any) -> Chart:
    return (*_between(law.low, law.high, lambda share, rest: 0.0 * share), -750.0, 750.0, 0.0, 1.0)


def _beta(law: Any) -> Chart:
    a, b = law.a, law.b
    unit = min(1.0, math.sqrt((a + b) / a / b))
    height = lambda y: -a * np.logaddexp(0.0, -y) - b * np.logaddexp(0.0, y)  # noqa: E731
    return special.expit, height, -760.0 / a - 50.0, 760.0 / b + 50.0, math.log(a / b), unit


def _truncated(law: Any) -> Chart:
    a, b = (law.low - law.center) / law.scale, (law.high - law.center) / law.scale
    peak = min(max(0.0, a), b)
    unit = 1.0 / (1.0 + abs(peak))
    if math.isinf(a) and math.isinf(b):
        return lambda y: law.center + law.scale * y, lambda y: -0.5 * y * y, -40.0, 40.0, 0.0, 1.0
    if math.isinf(b):
        return _from(law.low, law.scale, lambda d: -0.5 * d * (d + 2.0 * a), max(unit, -a))
    if math.isinf(a):
        x, *rest = _from(0.0, -law.scale, lambda d: -0.5 * d * (d - 2.0 * b), max(unit, b))
        x, slope, low, high, centre, width = (lambda y: law.high - law.scale * np.exp(-y)), rest[0], *rest[1:]
        return x, lambda y: slope(-y), -high, -low, -centre, width
    width = (law.high - law.low) / law.scale

    def height(share: np.ndarray, rest: np.ndarray) -> np.ndarray:
        # z² − peak², from the end that is nearer.
        below, above = width * share, width * rest
        z = np.where(share < 0.5, a + below, b - above)
        return -0.5 * (z - peak) * (z + peak)

    share = (min(max(peak - a, min(unit, 0.5 * width)), width - min(unit, 0.5 * width))) / width
    centre = math.log(share) - math.log1p(-share)
    steep = min(1.0, min(unit, width) / (width * share * (1.0 - share)))
    return (*_between(law.low, law.high, height), -750.0, 750.0, centre, steep)


def _exponential(law: Any) -> Chart:
    return _from(0.0, law.mean, lambda d: -d, 1.0)


def _student(law: Any) -> Chart:
    n, end = law.degrees, min(690.0 - max(math.log(law.scale), 0.0), 800.0 / law.degrees + 60.0)

    def height(y: np.ndarray) -> np.ndarray:
        far = 2.0 * np.logaddexp(np.abs(y), -np.abs(y)) - math.log(4.0)  # cosh² = 1 + sinh²
        near = np.log1p(np.sinh(np.clip(y, -300.0, 300.0)) ** 2 / n)
        power = np.where(np.abs(y) > 300.0, far - math.log(n), near)
        return -0.5 * (n + 1.0) * power + 0.5 * far

    return lambda y: law.location + law.scale * np.sinh(y), height, -end, end, 0.0, 1.0


def _between(low: float, high: float, height: Callable) -> tuple[Callable, Callable]:
    def reward(y: np.ndarray) -> np.ndarray:
        return np.where(y < 0.0, low + (high - low) * special.expit(y), high - (high - low) * special.expit(-y))

    def tall(y: np.ndarray) -> np.ndarray:
        slope = -np.logaddexp(0.0, -y) - np.logaddexp(0.0, y)
        return height(special.expit(y), special.expit(-y)) + slope

    return reward, tall


def _from(low: float, scale: float, height: Callable, reach: float) -> Chart:
    centre = math.log(reach)
    return lambda y: low + scale * np.exp(y), lambda y: height(np.exp(y)) + y, -750.0, centre + 8.0, centre, 0.3


CHARTS = {
    "gaussian": _gaussian,
    "uniform": _uniform,
    "beta": _beta,
    "truncated-gaussian": _truncated,
    "exponential": _exponential,
    "student-t": _student,
}


class Reference:
    """A law with a density as a sum. `tilt` moves the grid to where e^(−tilt·x) times the density is largest."""

    def __init__(self, law: Any, tilt: float = 0.0) -> None:
        self.law, (self.x_of, self.height, low, high, centre, unit) = law, chart(law)
        self.ends = low, high
        rough = None
        if tilt > 0.0:
            rough = Reference(law)
            # A Gaussian on a finite grid would end where the exponential is still growing.
            self.ends = low, high = (
                (low - tilt * math.sqrt(law.variance), high) if law.name == "gaussian" else (low, high)
            )
            y = np.linspace(low, high, 20_001) if law.name == "gaussian" else rough.y.ravel()
            tall = self.height(y) - tilt * self.x_of(y)
            close = np.abs(y[tall > tall.max() - 1.0] - y[np.argmax(tall)]).max()
            centre, unit = float(y[np.argmax(tall)]), min(unit, max(float(close), 1e-9))
        self.centre, self.unit = centre, unit
        self.edges = np.linspace(*np.arcsinh((np.array([low, high]) - centre) / unit), PANELS + 1)
        self.v, self.area = _nodes(self.edges)
        self.y, self.x, self.tall = self._at(self.v)
        self.top = float(self.tall.max())
        raw = self.area * np.exp(self.tall - self.top)
        self.log_total = math.log(raw.sum()) + self.top
        if rough is not None:
            self.log_total = rough.log_total
        self.weight = raw / raw.sum()
        panel = self.weight.sum(1)
        half = 0.5 * np.diff(self.edges)[:, None]
        inside = half * ((self.weight / self.area) @ RUNNING.T)
        before, after = np.cumsum(panel) - panel, np.cumsum(panel[::-1])[::-1] - panel
        self.below = before[:, None] + inside
        self.above = after[:, None] + np.maximum(panel[:, None] - inside, 0.0)
        self.before = np.append(before, before[-1] + panel[-1])

    def _at(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = np.clip(self.centre + self.unit * np.sinh(v), *self.ends)
        return y, self.x_of(y), self.height(y) + np.log(self.unit * np.cosh(v))

    def expect(self, function: Callable, kinks: tuple[float, ...] = ()) -> float:
        """E function(X); panels with a kink are cut at it."""
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.where(self.weight > 0.0, self.weight * function(self.x), 0.0).sum(1)
        for kink in kinks:
            v = self._place(lambda x, kink=kink: x >= kink)
            at = int(np.clip(np.searchsorted(self.edges, v) - 1, 0, len(sums) - 1))
            sums[at] = self._between(self.edges[at], v, function) + self._between(v, self.edges[at + 1], function)
        return math.fsum(sums)

    def _between(self, start: float, end: float, function: Callable) -> float:
        """E function(X) of what lies between two v."""
        v, area = _nodes(np.array([start, end]))
        _, x, tall = self._at(v)
        return float((area * np.exp(tall - self.log_total) * function(x)).sum())

    def _place(self, far_enough: Callable) -> float:
        low, high = self.edges[0], self.edges[-1]
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if far_enough(self._at(np.array(middle))[1]) else (middle, high)
        return high

    def quantile(self, alpha: float) -> float:
        """By bisection within the panel in which the running sum passes α."""
        at = int(np.clip(np.searchsorted(self.before, alpha) - 1, 0, PANELS - 1))
        low, high = self.edges[at], self.edges[at + 1]
        for _ in range(100):
            middle = 0.5 * (low + high)
            enough = self.before[at] + self._between(self.edges[at], middle, np.ones_like) >= alpha
            low, high = (low, middle) if enough else (middle, high)
        return float(self._at(np.array(high))[1])

    def log_laplace(self, lam: float) -> float:
        """log E e^(−λX), on the grid that `lam` has tilted; about the mean where it is near 0."""
        mean = float((self.weight * self.x).sum())
        small = float((self.weight * np.expm1(np.minimum(-lam * (self.x - mean), 1.0))).sum())
        if lam * np.abs(self.x - mean)[self.weight > 1e-20].max() < 1.0:
            return math.log1p(small) - lam * mean
        return float(special.logsumexp(self.tall + np.log(self.area) - lam * self.x)) - self.log_total


def _nodes(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    half = 0.5 * np.diff(edges)[:, None]
    return edges[:-1, None] + half * (1.0 + NODES), half * WEIGHTS


def stairs(values: np.ndarray, weights: np.ndarray) -> list[tuple[float, float, float]]:
    """Values of a discrete law with the shares below and up to each, from exact sums."""
    sums = [math.fsum(weights[:k]) for k in range(len(weights) + 1)]
    return [(float(x), low, high) for x, (low, high) in zip(values, pairwise(sums), strict=True)]
