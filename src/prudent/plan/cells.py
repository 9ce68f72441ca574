"""A distribution that is uniform on each of several cells: what a world of a plan gives an option."""

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prudent.arms import quantile_tables, sampling
from prudent.arms.base import Law
from prudent.base.arrays import Array


@dataclass(frozen=True, eq=False)
class Cells(Law):
    """Outcomes that fall into cell i with probability `weights[i]`, and are uniform on it; cells ascend.

    A cell of no width is a single value.
    """

    low: Array
    high: Array
    weights: Array

    name = "cells"
    kind = sampling.TABLED
    grows: ClassVar = None

    def __post_init__(self) -> None:
        low, high, weights = self.low, self.high, self.weights / self.weights.sum()
        mean = float(weights @ (0.5 * low + 0.5 * high))
        a, b = low - mean, high - mean
        variance = float(weights @ (a * a + a * b + b * b)) / 3.0
        there = weights > 0.0
        support = float(low[there][0]), float(high[there][-1])
        self._settle(weights=weights, mean=mean, variance=max(variance, 0.0), support=support)

    def parameters(self) -> Array:
        return quantile_tables.of_cells(self.low, self.high, self.weights)

    def times(self, factor: float) -> "Cells":
        return Cells(self.low * factor, self.high * factor, self.weights)

    def negative(self) -> "Cells":
        """The distribution of minus the outcome."""
        return Cells(0.0 - self.high[::-1], 0.0 - self.low[::-1], self.weights[::-1])

    def quantile(self, alpha: float) -> float:
        return float(self.tail(np.array([self._level(alpha)]))[0])

    def tail(self, levels: Array, *, upper: bool = False) -> Array:
        levels = 1.0 - levels if upper else levels
        sums = np.cumsum(self.weights)
        i = np.minimum(np.searchsorted(sums, levels * (1.0 - 1e-15)), len(sums) - 1)
        part = 1.0 - np.clip((sums[i] - levels) / np.where(self.weights[i] > 0.0, self.weights[i], 1.0), 0.0, 1.0)
        return self.low[i] + (self.high - self.low)[i] * part

    def _shares(self, x: Array) -> Array:
        """Of each cell the share that is at most x: (x, cell)."""
        width = self.high - self.low
        with np.errstate(over="ignore"):  # far from a cell that is hardly a value
            inside = (x[:, None] - self.low) / np.where(width > 0.0, width, 1.0)
        return np.where(x[:, None] >= self.high, 1.0, np.where(x[:, None] < self.low, 0.0, inside))

    def _below(self, x: Array) -> Array:
        """P(X ≤ x)."""
        return np.minimum(self._shares(x) @ self.weights, 1.0)

    def cdf(self, x: float) -> float:
        return float(self._below(np.array([self._reward(x)]))[0])

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        share = self._shares(np.array([x]))[0]
        return float((self.weights * share) @ (self.low + 0.5 * (self.high - self.low) * share))

    def points(self) -> tuple[Array, Array]:
        """Values, ascending, and weights of nearly the same distribution: each cell by three points of equal weight,
        with the cell's mean and variance."""
        at = np.array([0.5 - np.sqrt(0.125), 0.5, 0.5 + np.sqrt(0.125)])
        values = (self.low[:, None] + (self.high - self.low)[:, None] * at).ravel()
        return values, np.repeat(self.weights / 3.0, 3)

    def __str__(self) -> str:
        told = np.concatenate([self.low, self.high, self.weights]).tobytes()
        return f"cells({len(self.weights)}, {hashlib.blake2b(told, digest_size=8).hexdigest()})"
