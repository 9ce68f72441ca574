"""Nodes and weights of quadrature rules on [−1, 1], the same to the last bit on every machine.

They come from Newton's method in decimal arithmetic, then are rounded once. An eigenvalue solver would give them in
last digits that depend on the processor, and in some versions as complex numbers.
"""

import math
from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from prudent.arrays import Array

_DIGITS = 40
_STEPS = 8
"""Newton's method doubles the digits of a guess each time: from two to _DIGITS in five steps."""

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
