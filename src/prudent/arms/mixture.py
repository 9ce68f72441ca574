"""Mixtures of other laws."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from prudent.arms import sampling
from prudent.arms.base import Law, arms, log_mean_exp, reached
from prudent.base.arrays import Array, is_listing
from prudent.base.errors import PrudentError, check_finite, shown

PARTS = 64


@arms.add("mixture", example="mixture([gaussian(0.1, 0.01), gaussian(-2, 0.5)], [0.98, 0.02])")
@dataclass(frozen=True)
class Mixture(Law):
    """A law drawn from `components` by `weights` (scaled to sum to 1), then a reward drawn from it.

    Examples
    --------
    >>> from prudent import Gaussian, Mixture
    >>> law = Mixture([Gaussian(0.1, 0.01), Gaussian(-2.0, 0.5)], [0.98, 0.02])
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (0.058, 0.106, -0.087)
    """

    components: tuple[Law, ...]
    weights: tuple[float, ...]

    kind = sampling.MIXTURE

    def __init__(self, components: Sequence[Law | str], weights: Sequence[float] | None = None) -> None:
        laws = tuple(components) if is_listing(components) else ()
        if not laws or not all(isinstance(law, (Law, str)) for law in laws):
            raise PrudentError(f"mixture: components must be a non-empty list of arms, got {shown(components)}")
        if weights is not None and not is_listing(weights):
            raise PrudentError(f"mixture: weights must be a list, one number per component, got {shown(weights)}")
        made = tuple(arms.make("mixture", law) for law in laws)
        given = [1.0] * len(made) if weights is None else [check_finite("mixture", "weights", w) for w in weights]
        if len(given) != len(made) or min(given) < 0.0 or sum(given) <= 0.0:
            wanted = f"{len(made)} numbers ≥ 0, not all 0"
            raise PrudentError(
                f"mixture: weights must be {wanted}, got {shown(weights)}; give one weight per component"
            )
        given = [weight / max(given) for weight in given] if sum(given) > 1e300 else given
        total = math.fsum(given)
        # Shares that already sum to 1 up to rounding stay as they are: a spec, read again, gives the same law.
        shares = tuple(given) if abs(total - 1.0) < 1e-15 else tuple(weight / total for weight in given)
        self._settle(components=made, weights=shares)
        mean = math.fsum(w * law.mean for w, law in self.live())
        variance = math.fsum(w * (law.variance + (law.mean - mean) ** 2) for w, law in self.live())
        lows, highs = zip(*(law.support for _, law in self.live()), strict=True)
        self._settle(mean=mean, variance=variance, support=(min(lows), max(highs)))

    def live(self) -> list[tuple[float, Law]]:
        """The components that can be drawn, each with its weight."""
        return [(w, law) for w, law in zip(self.weights, self.components, strict=True) if w > 0.0]

    def times(self, factor: float) -> "Mixture | None":
        laws = [law.times(factor) for law in self.components]
        return None if None in laws else Mixture([law for law in laws if law is not None], self.weights)

    def cdf(self, x: float) -> float:
        x = self._reward(x)
        return min(math.fsum(w * law.cdf(x) for w, law in self.live()), 1.0)

    def quantile(self, alpha: float) -> float:
        if (alpha := self._level(alpha)) == 1.0:
            return self.support[1]
        each = [law.quantile(alpha) for _, law in self.live()]
        return _search(min(each), max(each), lambda x: reached(self.masses(x)[0], alpha))

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        each = [law.tail(levels, upper=upper) for _, law in self.live()]
        return np.array(list(map(partial(self._far, upper), np.min(each, 0), np.max(each, 0), levels)))

    def _far(self, upper: bool, low: float, high: float, level: float) -> float:
        # Above, by the share of better rewards, which has digits that 1 minus it has not.
        limit = level * (1.0 + 1e-12)
        return _search(low, high, lambda x: self.masses(x)[1] <= limit if upper else reached(self.masses(x)[0], level))

    def masses(self, x: Array) -> tuple[Array, Array]:
        below, above = np.zeros(np.shape(x)), np.zeros(np.shape(x))
        for weight, law in self.live():
            under, over = law.masses(x)
            below, above = below + weight * under, above + weight * over
        return np.minimum(below, 1.0), np.minimum(above, 1.0)

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        return math.fsum(w * law.partial_mean(x) for w, law in self.live())

    def upper_tail_mean(self, alpha: float) -> float:
        if self.atoms() is not None or self._level(alpha) > 0.5:
            return super().upper_tail_mean(alpha)
        q = float(self.tail(np.array([alpha]), upper=True)[0])
        above = [(w, float(law.masses(np.array([q]))[1][0]), law) for w, law in self.live()]
        better = math.fsum(w * share * law.upper_tail_mean(share) for w, share, law in above if share > 0.0)
        return (better + q * (alpha - math.fsum(w * share for w, share, _ in above))) / alpha

    def atoms(self) -> tuple[Array, Array] | None:
        found = [(w, pair) for w, law in self.live() if (pair := law.atoms()) is not None]
        if len(found) < len(self.live()):
            return None
        values, place = np.unique(np.concatenate([x for _, (x, _) in found]), return_inverse=True)
        return values, np.bincount(place, np.concatenate([w * p for w, (_, p) in found])).astype(float)

    def edges(self) -> Array:
        return np.unique(np.concatenate([law.edges() for _, law in self.live()]))

    def expectation(self, function: Callable[[Array], Array], moment: str = "expectation of this function") -> float:
        return math.fsum(w * law.expectation(function, moment) for w, law in self.live())

    def log_laplace(self, lam: float) -> float:
        lam, live = self._aversion(lam), self.live()
        return log_mean_exp(np.array([law.log_laplace(lam) for _, law in live]), np.array([w for w, _ in live]))

    def parts(self) -> tuple[Law, ...]:
        return self.components

    def parameters(self) -> tuple[float, ...]:
        return tuple(float(total) for total in np.cumsum(self.weights))

    def __str__(self) -> str:
        return f"mixture([{', '.join(map(str, self.components))}], {list(self.weights)})"


def _search(low: float, high: float, enough: Callable[[Array], NDArray[np.bool_]]) -> float:
    """The smallest double that is enough, `high` at most, so that it is an atom exactly.

    Doubles are counted: their bits, read as integers, ascend with them, so a few cuts into many parts reach the last.
    """
    first, last = (int(place) for place in _places(np.array([low, high])))
    while first < last:
        cuts = first + np.array([(last - first) * part // PARTS for part in range(PARTS)])
        found = np.flatnonzero(enough(_doubles(cuts)))
        if not found.size:
            first = int(cuts[-1]) + 1
        else:
            last = int(cuts[found[0]])
            first = int(cuts[found[0] - 1]) + 1 if found[0] > 0 else last
    return float(_doubles(np.array([last]))[0])


def _places(x: Array) -> NDArray[np.int64]:
    bits = (x + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & np.iinfo(np.int64).max))


def _doubles(places: NDArray[np.int64]) -> Array:
    return np.copysign(np.abs(places).view(np.float64), places)
