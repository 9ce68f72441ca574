"""The largest value of a polynomial on the unit square, between two numbers.

A polynomial in Bernstein form lies below its largest coefficient, and takes the coefficients at the corners as values.
A square is halved, by de Casteljau's averages, until both numbers agree.
"""

from functools import lru_cache
from heapq import heappop, heappush
from itertools import count

import numpy as np

from prudent.base.arrays import Array

MOST_SQUARES = 20_000


@lru_cache(maxsize=8)
def _halves(degree: int) -> tuple[Array, Array]:
    """The matrices that give the coefficients on the lower and on the upper half."""
    lower = np.zeros((degree + 1, degree + 1))
    lower[0, 0] = 1.0
    for i in range(1, degree + 1):
        lower[i, : i + 1] = lower[i - 1, : i + 1] / 2.0
        lower[i, 1 : i + 1] += lower[i - 1, :i] / 2.0
    return lower, lower[::-1, ::-1].copy()


def largest_value(coefficients: Array, tolerance: float) -> tuple[float, float]:
    """A value that the polynomial takes, and one that it does not exceed: at most `tolerance` more, or what is left
    after MOST_SQUARES squares."""
    found, order = -np.inf, count()
    waiting: list[tuple[float, int, Array, int]] = []

    def look_at(square: Array, axis: int) -> None:
        nonlocal found
        found = max(found, float(square[[0, 0, -1, -1], [0, -1, 0, -1]].max()))
        if (high := float(square.max())) > found + tolerance:
            heappush(waiting, (-high, next(order), square, axis))

    look_at(coefficients, 0)
    for _ in range(MOST_SQUARES):
        if not waiting or -waiting[0][0] <= found + tolerance:
            break
        _, _, square, axis = heappop(waiting)
        for half in _halves(square.shape[axis] - 1):
            look_at(half @ square if axis == 0 else square @ half.T, 1 - axis)
    return found, max(found + tolerance, -waiting[0][0] if waiting else found)
