"""Integrals over laws with a density, by panels that are halved until two rules agree."""

import math
from collections.abc import Callable

import numpy as np

from prudent.arrays import Array

Function = Callable[[Array], Array]

# Levels are e^−s, s growing by a fixed factor: in s tails are smooth. Beyond 300 quantile functions lose their digits,
# beyond 36 the level 1 − e^−s is 1.
LOWER = np.geomspace(math.log(2.0), 300.0, 46)
UPPER = np.geomspace(math.log(2.0), 36.0, 30)
RULES = tuple(np.polynomial.legendre.leggauss(nodes) for nodes in (16, 8))

LEVELS = np.concatenate([np.exp(-LOWER[::-1]), -np.expm1(-UPPER[1:])])
"""Levels from e^−300 to 1 − e^−36, ascending: where panels begin and end."""


def half(quantile: Callable[[float], float], function: Function, *, upper: bool = False) -> Array:
    """∫ function(quantile(u)) du from 0 to ½, or from ½ to 1, in pieces by ascending u."""
    edges = UPPER if upper else LOWER
    pieces = integrals(lambda s: function(_each(quantile, -np.expm1(-s) if upper else np.exp(-s))) * np.exp(-s), edges)
    return pieces if upper else pieces[::-1]


def integrals(function: Function, edges: Array, near: float = 1e-12) -> Array:
    """∫ function from each edge to the next; a kink or a jump costs a few more panels."""
    total, owner = np.zeros(len(edges) - 1), np.arange(len(edges) - 1)
    a, b = edges[:-1], edges[1:]
    for _ in range(60):
        fine, rough = (_panels(function, a, b, *rule) for rule in RULES)
        coarse = np.abs(fine - rough) > near * (np.abs(total).sum() + np.abs(fine).sum())
        np.add.at(total, owner[~coarse], fine[~coarse])
        middle = 0.5 * (a + b)[coarse]
        a, b = np.stack([a[coarse], middle], 1).ravel(), np.stack([middle, b[coarse]], 1).ravel()
        owner = np.repeat(owner[coarse], 2)
        if not owner.size:
            break
    return total


def _panels(function: Function, a: Array, b: Array, points: Array, weights: Array) -> Array:
    half = 0.5 * (b - a)[:, None]
    x = a[:, None] + half * (1.0 + points)
    sums: Array = (half * weights * function(x.ravel()).reshape(x.shape)).sum(1)
    return sums


def _each(function: Callable[[float], float], x: Array) -> Array:
    return np.array([function(float(value)) for value in x])
