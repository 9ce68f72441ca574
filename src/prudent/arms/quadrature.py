"""Integrals over laws: panels are halved until two rules agree, and what lies beyond them is added.

Nodes and weights of the rules on [−1, 1] are the same to the last bit on every machine: they come from Newton's method
in decimal arithmetic, then are rounded once. An eigenvalue solver would give them in last digits that depend on the
processor, and in some versions as complex numbers.
"""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array

_DIGITS = 40
_STEPS = 8
"""Newton's method doubles the digits of a guess each time: from two to _DIGITS in five steps."""

_SMALL = Decimal("1e-25")
"""After a step as small as this all digits are right."""

_INWARDS = Decimal("1e-5")
"""How far the outer nodes of `lobatto` lie from the ends, where functions may be infinite."""


@cache
def gauss(count: int) -> tuple[Array, Array]:
    """The Gauss–Legendre rule: the roots of P_n, weights 2 / ((1 − x²) P_n′(x)²)."""
    with localcontext(prec=_DIGITS):
        half, weights = [], []
        for i in range(count // 2):
            x = Decimal(math.cos(math.pi * (i + 0.75) / (count + 0.5)))
            for _ in range(_STEPS):
                value, slope = _legendre(count, x)
                x -= value / slope
                if abs(value) < _SMALL * abs(slope):
                    break
            half.append(x)
            weights.append(2 / ((1 - x * x) * _legendre(count, x)[1] ** 2))
        middle = [2 / _legendre(count, Decimal(0))[1] ** 2] if count % 2 else []
        return _mirrored(half, weights, middle)


@cache
def lobatto(count: int) -> tuple[Array, Array]:
    """A rule with a node in the middle and nodes next to both ends, so that it sees the jumps that Gauss's misses.

    The Gauss–Lobatto nodes x are the ends and the roots of P_m′, m = n − 1. Here they are drawn in a little, to s x,
    and the weights are those with which polynomials up to degree m are still integrated exactly: those of P_k(y / s),
    by the orthogonality of P_k on the nodes.
    """
    degree = count - 1
    with localcontext(prec=_DIGITS):
        half = [Decimal(1)]
        for i in range(1, count // 2):
            x = Decimal(math.cos(math.pi * i / degree))
            for _ in range(_STEPS):
                value, slope = _legendre(degree, x)
                x -= slope * (1 - x * x) / (2 * x * slope - degree * count * value)
            half.append(x)
        shrink = 1 - _INWARDS
        areas = [_area(k, shrink) for k in range(0, count, 2)]

        def weight(x: Decimal) -> Decimal:
            plain = 2 / (degree * count * _legendre(degree, x)[0] ** 2)
            norms = [Decimal(2) / (2 * k + 1) if k < degree else Decimal(2) / degree for k in range(0, count, 2)]
            terms = zip(range(0, count, 2), areas, norms, strict=True)
            return plain * sum(_legendre(k, x)[0] * area / norm for k, area, norm in terms)

        middle = [weight(Decimal(0))] if count % 2 else []
        return _mirrored([shrink * x for x in half], [weight(x) for x in half], middle)


def _area(k: int, shrink: Decimal) -> Decimal:
    """∫ P_k(y / s) dy from −1 to 1, for even k."""
    if k == 0:
        return Decimal(2)
    end = 1 / shrink
    return 2 * shrink * (_legendre(k + 1, end)[0] - _legendre(k - 1, end)[0]) / (2 * k + 1)


def _legendre(n: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """P_n(x) and its derivative, which is not needed at x = ±1."""
    before, value = Decimal(0), Decimal(1)
    for k in range(n):
        before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
    return value, n * (before - x * value) / (1 - x * x) if abs(x) != 1 else Decimal("NaN")


def _mirrored(half: list[Decimal], weights: list[Decimal], middle: list[Decimal]) -> tuple[Array, Array]:
    """Nodes ascending, symmetric about an exact 0, and their weights."""
    positive, outer = [float(x) for x in half], [float(w) for w in weights]
    points = [-x for x in positive] + [0.0] * len(middle) + positive[::-1]
    return np.array(points), np.array(outer + [float(w) for w in middle] + outer[::-1])


_Function = Callable[[Array], Array]


RULES = gauss(16), lobatto(15)
"""A fine rule, and a rough one that sees the jumps that the fine one misses."""

_LEAST_RATE = 1e-9
"""Tails that fall by a smaller rate than this do not fall: the rate of a tail is known to about 1e-15."""

_MAX_COARSE_PANELS = 400
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


def integrals(function: _Function, edges: Array, near: float = 1e-12) -> Array:
    """∫ function from each edge to the next; a kink or a jump costs a few more panels."""
    total, owner = np.zeros(len(edges) - 1), np.arange(len(edges) - 1)
    a, b = edges[:-1], edges[1:]
    for _ in range(60):
        if not owner.size:
            break
        fine, rough = (_panels(function, a, b, *rule) for rule in RULES)
        coarse = np.abs(fine - rough) > near * (np.abs(total).sum() + np.abs(fine).sum())
        if coarse.sum() > _MAX_COARSE_PANELS:
            # A kink or a jump makes few panels coarse. So many are noise, of which finer panels have as much.
            coarse[:] = False
        np.add.at(total, owner[~coarse], fine[~coarse])
        middle = 0.5 * (a + b)[coarse]
        a, b = np.stack([a[coarse], middle], 1).ravel(), np.stack([middle, b[coarse]], 1).ravel()
        owner = np.repeat(owner[coarse], 2)
    return total


def beyond(function: _Function, end: float) -> Tail:
    """∫ function from `end` to infinity, for a function that falls exponentially there, as powers do on a log scale."""
    values = function(end * np.array([0.9, 0.95, 1.0]))
    last, (before, rate) = float(values[-1]), _rates(np.abs(values), 0.05 * end)
    if last == 0.0:
        return Tail(0.0, 0.0)
    if rate > _LEAST_RATE:
        return Tail(last / rate, abs(last / rate) * min(abs(before / rate - 1.0), 1.0))
    # A rate that still rises, like a constant minus 1/√s for normal weights, may yet be one of a tail that falls.
    limit = rate + 37.5 * max(rate - before, 0.0)
    return Tail(0.0, math.inf) if limit > 10.0 * _LEAST_RATE else Tail(math.copysign(math.inf, last), 0.0)


def _rates(sizes: Array, step: float) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        rates: Array = -np.diff(np.log(sizes)) / step
    return rates


def _panels(function: _Function, a: Array, b: Array, points: Array, weights: Array) -> Array:
    half = 0.5 * (b - a)[:, None]
    x = a[:, None] + half * (1.0 + points)
    sums: Array = (half * weights * function(x.ravel()).reshape(x.shape)).sum(1)
    return sums
