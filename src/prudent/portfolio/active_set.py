"""The compiled half of the quadratic program: checks on the way in, an active-set method on the way out.

The problem is min ½ xᵀPx + cᵀx over low ≤ x ≤ high, Σx = 1, scaled so that the gradient is of order one. With g its
gradient, x is optimal exactly when no weight that may shrink has a larger g than a weight that may grow; half of that
excess is the KKT residual, with the multiplier of Σx = 1 halfway between.
"""

import math
from typing import Any

import numpy as np

from prudent.compiled import kernel

FINE, NOT_FINITE, NOT_SYMMETRIC, NOT_DEFINITE = 0, 1, 2, 3

ASYMMETRY = 1e-9
"""Entries across the diagonal may differ by this share of the largest."""

PIVOT = 1e-13
"""A Cholesky pivot below this share of the largest diagonal entry counts as zero: the matrix may be singular."""

DAMPING = 1e-13
"""Added to the diagonal of each solve as a share of the largest entry, so that a singular block has a solution; later
steps remove its error."""

PRECISION = 1e-14
"""Excess of scaled gradients at which a point counts as optimal."""


@kernel
def prepare(covariance: Any, mean: Any, rho: float, quadratic: Any, linear: Any) -> int:
    """Write P = 2C/scale and c = ρ(max μ − μ)/scale; return what is wrong with them, if anything.

    Shifting the means changes no minimiser and keeps a common large mean from drowning their differences.
    """
    n = mean.size
    highest = mean.max()
    largest, widest, spread = 0.0, 0.0, 0.0
    for i in range(n):
        if not math.isfinite(mean[i]):
            return NOT_FINITE
        spread = max(spread, highest - mean[i])
        for j in range(i + 1):
            if not math.isfinite(covariance[i, j] + covariance[j, i]):
                return NOT_FINITE
            largest = max(largest, abs(covariance[i, j]), abs(covariance[j, i]))
            widest = max(widest, abs(covariance[i, j] - covariance[j, i]))
    if widest > ASYMMETRY * largest:
        return NOT_SYMMETRIC
    scale = max(2.0 * largest, rho * spread)
    if scale == 0.0:
        scale = 1.0
    for i in range(n):
        linear[i] = rho * (highest - mean[i]) / scale
        for j in range(n):
            quadratic[i, j] = (covariance[i, j] + covariance[j, i]) / scale
    return FINE if _factor(quadratic.copy(), n, 0.0) else NOT_DEFINITE


@kernel
def _factor(a: Any, n: int, damping: float) -> bool:
    """Cholesky in the lower triangle of `a`, in place; false at a pivot too small to trust."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, a[i, i])
    column = np.empty(n)
    for j in range(n):
        pivot = a[j, j] + damping
        if pivot <= (PIVOT * largest if damping == 0.0 else 0.0):
            return False
        root = math.sqrt(pivot)
        a[j, j] = root
        for i in range(j + 1, n):
            a[i, j] /= root
            column[i] = a[i, j]
        for i in range(j + 1, n):  # along rows and from a copy of the column, so that it vectorises
            factor = column[i]
            for k in range(j + 1, i + 1):
                a[i, k] -= factor * column[k]
    return True


@kernel
def _substitute(factor: Any, n: int, b: Any) -> None:
    """Solve L Lᵀ z = b in place."""
    for i in range(n):
        for k in range(i):
            b[i] -= factor[i, k] * b[k]
        b[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= factor[k, i] * b[k]
        b[i] /= factor[i, i]


@kernel
def settle(x: Any, low: Any, high: Any, pull_low: Any, pull_high: Any) -> None:
    """Put an interior point onto the bounds whose multipliers outweigh its distance to them, and make Σx = 1."""
    rest = 1.0
    for i in range(x.size):
        if x[i] - low[i] < pull_low[i]:
            x[i] = low[i]
        elif high[i] - x[i] < pull_high[i]:
            x[i] = high[i]
        x[i] = min(max(x[i], low[i]), high[i])
        rest -= x[i]
    for bounds_too in (False, True):
        for i in range(x.size):
            if bounds_too or low[i] < x[i] < high[i]:
                moved = min(max(x[i] + rest, low[i]), high[i])
                rest -= moved - x[i]
                x[i] = moved


@kernel
def improve(quadratic: Any, linear: Any, low: Any, high: Any, x: Any, most: int) -> float:
    """Active-set steps from a feasible x, in place, until it is optimal or `most` steps are spent; the KKT residual.

    Each step solves the problem on the free weights exactly and goes there, or to the first bound in the way. Once the
    free weights agree, the weight at a bound that most wants to leave it is freed.
    """
    n = x.size
    free = (x > low) & (x < high)
    gradient, excess = linear.copy(), math.inf
    best, best_x = math.inf, x.copy()
    for _ in range(most):
        for i in range(n):
            total = linear[i]
            for j in range(n):
                total += quadratic[i, j] * x[j]
            gradient[i] = total
        grow, shrink, excess, among_free = _pair(gradient, low, high, x, free)
        if excess < best:
            best = excess
            best_x[:] = x
        if excess <= PRECISION:
            break
        if among_free <= max(PRECISION, 1e-4 * excess):
            free[grow] = True
            free[shrink] = True
        _step(quadratic, gradient, low, high, x, free)
    x[:] = best_x
    return max(best, 0.0) / 2.0 + abs(x.sum() - 1.0)


@kernel
def _pair(gradient: Any, low: Any, high: Any, x: Any, free: Any) -> tuple[int, int, float, float]:
    """The weight that most wants to grow and the one that most wants to shrink; their excess, and that among free."""
    grow, shrink = -1, -1
    least, most = math.inf, -math.inf
    for i in range(x.size):
        if x[i] < high[i] and (grow < 0 or gradient[i] < gradient[grow]):
            grow = i
        if x[i] > low[i] and (shrink < 0 or gradient[i] > gradient[shrink]):
            shrink = i
        if free[i]:
            least, most = min(least, gradient[i]), max(most, gradient[i])
    excess = gradient[shrink] - gradient[grow] if grow >= 0 and shrink >= 0 else 0.0
    return grow, shrink, excess, max(most - least, 0.0)


@kernel
def _fill(block: Any, quadratic: Any, place: Any, shift: float) -> None:
    """The rows and columns of the free weights. A shift of every entry changes nothing for moves that sum to zero, and
    leaves the block singular only where such a move has no curvature."""
    for a in range(place.size):
        for b in range(a + 1):
            block[a, b] = quadratic[place[a], place[b]] + shift


@kernel
def _step(quadratic: Any, gradient: Any, low: Any, high: Any, x: Any, free: Any) -> None:
    """To the minimum over the free weights with the others held, or to the first bound in the way."""
    place = np.flatnonzero(free)
    k = place.size
    block = np.empty((k, k))
    move, one = np.empty(k), np.ones(k)
    for a in range(k):
        move[a] = -gradient[place[a]]
    largest = 0.0
    for i in range(x.size):
        largest = max(largest, quadratic[i, i])
    if largest == 0.0:
        largest = 1.0
    damping = DAMPING * largest
    _fill(block, quadratic, place, largest)
    while not _factor(block, k, damping):  # rounding may cost a singular block more than the damping gives
        damping *= 100.0
        _fill(block, quadratic, place, largest)
    _substitute(block, k, move)
    _substitute(block, k, one)
    shift = move.sum() / one.sum()
    length, blocking = 1.0, -1
    for a in range(k):
        i = place[a]
        move[a] -= shift * one[a]
        bound = low[i] if move[a] < 0.0 else high[i]
        if move[a] != 0.0 and length * abs(move[a]) > abs(bound - x[i]):
            length, blocking = (bound - x[i]) / move[a], a
    for a in range(k):
        i = place[a]
        x[i] = min(max(x[i] + length * move[a], low[i]), high[i])  # rounding may pass a bound that did not block
    if blocking >= 0:
        i = place[blocking]
        x[i] = low[i] if move[blocking] < 0.0 else high[i]
        free[i] = False
