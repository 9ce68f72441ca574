"""Distributions of rewards that are cut to an interval: a time-out, a largest payment."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prudent.arms import quantile_tables
from prudent.arms.base import Law, arms
from prudent.arms.user_laws import Integrated
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, as_float


@arms.add("clipped", example="clipped(log-normal(0, 1), 0, 5)")
@dataclass(frozen=True)
class Clipped(Integrated):
    """Rewards of another distribution, with those below `low` counted as `low` and those above `high` as `high`: both
    ends may have a probability of their own. `TruncatedGaussian` draws again instead.

    Examples
    --------
    >>> from prudent import Clipped, LogNormal
    >>> waiting = Clipped(LogNormal(0.0, 1.0), 0.0, 5.0)
    >>> round(waiting.mean, 4), waiting.quantile(0.99), round(waiting.cdf(4.999), 4)
    (1.4705, 5.0, 0.9462)
    """

    law: Law
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        law = arms.make(self.name, self.law)
        low, high = as_float(self.name, "low", self.low), as_float(self.name, "high", self.high)
        if not low < high:
            raise PrudentError(f"{self.name}: low must be below high, got {low:g} and {high:g}")
        ends = max(law.support[0], low), min(law.support[1], high)
        if not ends[0] <= ends[1]:
            within = f"[{law.support[0]:g}, {law.support[1]:g}]"
            raise PrudentError(f"{self.name}: all rewards of {law} lie in {within}, outside of [{low:g}, {high:g}]")
        self._settle(law=law, low=low, high=high, support=ends, reach=law.reach)

    def quantile(self, alpha: float) -> float:
        return min(max(self.law.quantile(alpha), self.low), self.high)

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        found: Array = np.clip(self.law.tail(levels, upper=upper), self.low, self.high)
        return found

    def masses(self, x: Array) -> tuple[Array, Array]:
        below, above = self.law.masses(x)
        past = x >= self.high
        return np.where(past, 1.0, np.where(x < self.low, 0.0, below)), np.where(
            past, 0.0, np.where(x < self.low, 1.0, above)
        )

    def cdf(self, x: float) -> float:
        return float(self.masses(np.array([self._reward(x)]))[0][0])

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        if x < self.low:
            return 0.0
        if x >= self.high:
            return self.mean
        return self.law.partial_mean(x) + self._raised

    @cached_property
    def _raised(self) -> float:
        """What clipping from below adds to partial means."""
        if math.isinf(self.low):
            return 0.0
        under = math.nextafter(self.low, -math.inf)  # an atom at `low` stays as it is
        return self.low * self.law.cdf(under) - self.law.partial_mean(under)

    @cached_property
    def _table(self) -> Array:
        if (atoms := self.atoms()) is not None:
            return quantile_tables.of_values(*atoms)
        # Rewards near an end of the support keep digits relative to it; an end that clipping made is not worth that.
        return quantile_tables.of_quantiles(str(self), self.tail, self.law.support)

    def panels(self, *, upper: bool = False) -> Array:
        return self.law.panels(upper=upper)

    def atoms(self) -> tuple[Array, Array] | None:
        if (known := self.law.atoms()) is None:
            return None
        values, place = np.unique(np.clip(known[0], self.low, self.high), return_inverse=True)
        return values, np.bincount(place, weights=known[1]).astype(float)

    def times(self, factor: float) -> "Clipped | None":
        law = self.law.times(factor)
        return None if law is None else Clipped(law, self.low * factor, self.high * factor)
