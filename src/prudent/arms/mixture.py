"""Mixtures of other laws."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from prudent.arms import sampling
from prudent.arms.base import Law, arms
from prudent.arrays import Array
from prudent.errors import PrudentError, check_finite


@arms.add("mixture")
@dataclass(frozen=True)
class Mixture(Law):
    """Draw one of `components` by `weights` (scaled to sum to 1), then a reward from it."""

    components: tuple[Law, ...]
    weights: tuple[float, ...]

    kind = sampling.MIXTURE

    def __init__(self, components: Sequence[Law], weights: Sequence[float] | None = None) -> None:
        if not np.iterable(components) or not components or not all(isinstance(law, Law) for law in components):
            raise PrudentError(f"mixture: components must be a non-empty list of arms, got {components!r}")
        if weights is not None and not np.iterable(weights):
            raise PrudentError(f"mixture: weights must be a list, one number per component, got {weights!r}")
        components = tuple(components)
        given = [1.0] * len(components) if weights is None else [check_finite("mixture", "weights", w) for w in weights]
        if len(given) != len(components) or min(given) < 0.0 or sum(given) <= 0.0:
            wanted = f"{len(components)} numbers ≥ 0, not all 0"
            raise PrudentError(f"mixture: weights must be {wanted}, got {weights}; give one weight per component")
        total = math.fsum(given)
        # Shares that already sum to 1 up to rounding stay as they are: a spec, read again, gives the same law.
        shares = tuple(given) if abs(total - 1.0) < 1e-15 else tuple(weight / total for weight in given)
        self._settle(components=components, weights=shares)
        mean = math.fsum(w * law.mean for w, law in self.live())
        variance = math.fsum(w * (law.variance + (law.mean - mean) ** 2) for w, law in self.live())
        lows, highs = zip(*(law.support for _, law in self.live()), strict=True)
        self._settle(mean=mean, variance=variance, support=(min(lows), max(highs)))

    def live(self) -> list[tuple[float, Law]]:
        """The components that can be drawn, each with its weight."""
        return [(w, law) for w, law in zip(self.weights, self.components, strict=True) if w > 0.0]

    def cdf(self, x: float) -> float:
        return min(math.fsum(w * law.cdf(x) for w, law in self.live()), 1.0)

    def quantile(self, alpha: float) -> float:
        if (alpha := self._level(alpha)) == 1.0:
            return self.support[1]
        each = [law.quantile(alpha) for _, law in self.live()]
        low, high = min(each), max(each)
        # Bisection down to neighbouring doubles: `high` keeps P(X ≤ high) ≥ α, so it lands on an atom exactly.
        while low < (middle := 0.5 * (low + high)) < high:
            low, high = (low, middle) if self.cdf(middle) >= alpha else (middle, high)
        return low if self.cdf(low) >= alpha else high

    def partial_mean(self, x: float) -> float:
        return math.fsum(w * law.partial_mean(x) for w, law in self.live())

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

    def parts(self) -> tuple[Law, ...]:
        return self.components

    def parameters(self) -> tuple[float, ...]:
        return tuple(float(total) for total in np.cumsum(self.weights))

    def __str__(self) -> str:
        return f"mixture([{', '.join(map(str, self.components))}], {list(self.weights)})"
