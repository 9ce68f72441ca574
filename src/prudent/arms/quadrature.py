"""Integrals over laws: panels are halved until two rules agree, and what lies beyond them is added."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from prudent.arms.nodes import gauss, lobatto
from prudent.arrays import Array

Function = Callable[[Array], Array]


RULES = gauss(16), lobatto(15)
"""A fine rule, and a rough one that sees the jumps that the fine one misses."""

SLOWEST = 1e-9
"""Tails that fall by a smaller rate than this do not fall: the rate of a tail is known to about 1e-15."""

MOST = 400
"""Panels that are halved at once, at most."""

DOUBT = 1e-6
"""The share of an integral that may rest on a tail of which the rate is not known."""


class Tail(NamedTuple):
    """What an integral adds beyond its last panel, infinite if it diverges, and how much of that is uncertain."""

    rest: float
    doubt: float


def levels(reach: float) -> Array:
    """Where panels begin and end on −log of levels from ½ down: steps that grow, because tails are smooth in it."""
    steps = max(math.ceil(math.log(reach / math.log(2.0)) / 0.135), 3)
    return np.geomspace(math.log(2.0), reach, steps)


def integrals(function: Function, edges: Array, near: float = 1e-12) -> Array:
    """∫ function from each edge to the next; a kink or a jump costs a few more panels."""
    total, owner = np.zeros(len(edges) - 1), np.arange(len(edges) - 1)
    a, b = edges[:-1], edges[1:]
    for _ in range(60):
        if not owner.size:
            break
        fine, rough = (_panels(function, a, b, *rule) for rule in RULES)
        coarse = np.abs(fine - rough) > near * (np.abs(total).sum() + np.abs(fine).sum())
        if coarse.sum() > MOST:
            # A kink or a jump makes few panels coarse. So many are noise, of which finer panels have as much.
            coarse[:] = False
        np.add.at(total, owner[~coarse], fine[~coarse])
        middle = 0.5 * (a + b)[coarse]
        a, b = np.stack([a[coarse], middle], 1).ravel(), np.stack([middle, b[coarse]], 1).ravel()
        owner = np.repeat(owner[coarse], 2)
    return total


def beyond(function: Function, end: float) -> Tail:
    """∫ function from `end` to infinity, for a function that falls exponentially there, as powers do on a log scale."""
    values = function(end * np.array([0.9, 0.95, 1.0]))
    last, (before, rate) = float(values[-1]), _rates(np.abs(values), 0.05 * end)
    if last == 0.0:
        return Tail(0.0, 0.0)
    if rate > SLOWEST:
        return Tail(last / rate, abs(last / rate) * min(abs(before / rate - 1.0), 1.0))
    # A rate that still rises, like a constant minus 1/√s for normal weights, may yet be one of a tail that falls.
    limit = rate + 37.5 * max(rate - before, 0.0)
    return Tail(0.0, math.inf) if limit > 10.0 * SLOWEST else Tail(math.copysign(math.inf, last), 0.0)


def _rates(sizes: Array, step: float) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        rates: Array = -np.diff(np.log(sizes)) / step
    return rates


def _panels(function: Function, a: Array, b: Array, points: Array, weights: Array) -> Array:
    half = 0.5 * (b - a)[:, None]
    x = a[:, None] + half * (1.0 + points)
    sums: Array = (half * weights * function(x.ravel()).reshape(x.shape)).sum(1)
    return sums
