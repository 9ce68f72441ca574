"""The compiled half of the quadratic program: an active-set method.

The problem is min ½ xᵀPx + cᵀx over low ≤ x ≤ high, Σx = 1, scaled so that the gradient is of order one. With g its
gradient, x is optimal exactly when no weight that may shrink has a larger g than a weight that may grow; half of that
excess is the KKT residual, with the multiplier of Σx = 1 halfway between.

The free weights, those strictly within their limits, are found in two ways. First whole sets are exchanged: solve for
the free weights, fix all that left their limits, free all that want to leave one. That takes two to six solves where
it ends, but it need not end. From where it stopped one weight at a time is exchanged, which never raises the cost.
"""

import math
from typing import Any

import numpy as np

from prudent.compile.types import helper, kernel

ROUNDS = 10
"""Exchanges of whole sets before one weight at a time is exchanged."""

ASYMMETRY = 1e-9
"""Entries across the diagonal may differ by this share of the largest."""

PIVOT = 1e-13
"""A Cholesky pivot below this share of the largest diagonal entry counts as zero: the matrix may be singular."""

WIDTH = 128
"""Columns of a large matrix that are factorised together."""

DAMPING = 1e-13
"""Added to the diagonal of each solve as a share of the largest entry, so that a singular block has a solution; later
steps remove its error."""

PRECISION = 3e-13
"""Excess of scaled gradients at which a point counts as optimal; the damping leaves less after one solve."""


@kernel
def prepare(covariance: Any, mean: Any, rho: float, quadratic: Any, linear: Any) -> bool:
    """Write P = 2C/scale and c = ρ(max μ − μ)/scale; whether all is finite, C symmetric and clearly positive definite.

    Shifting the means changes no minimiser and keeps a common large mean from drowning their differences.
    """
    largest, widest = 0.0, 0.0
    for i in range(mean.size):
        for j in range(i + 1):
            one, other = covariance[i, j], covariance[j, i]
            if not math.isfinite(one + other + mean[i]):
                return False
            largest, widest = max(largest, abs(one), abs(other)), max(widest, abs(one - other))
    scale = max(2.0 * largest, rho * (mean.max() - mean.min())) or 1.0
    linear[:] = rho * (mean.max() - mean) / scale
    quadratic[:] = (covariance + covariance.T) / scale
    return widest <= ASYMMETRY * largest and _factor(quadratic.copy(), 0.0)


@kernel
def is_positive(covariance: Any, damping: float) -> bool:
    """Whether C is positive definite after `damping` is added to its diagonal."""
    return _factor(covariance.copy(), damping)


@helper
def minimise_in_steps(quadratic: Any, linear: Any, low: Any, high: Any, x: Any) -> float:
    """Write a minimiser into x; the KKT residual. Each solve is a kernel of its own: Ctrl-C is heard between them."""
    x[:] = np.minimum(1.0 / x.size, high)
    _balance(low, high, x, np.arange(x.size))
    _exchange(quadratic, linear, low, high, x)
    _balance(low, high, x, np.flatnonzero((x > low) & (x < high)))
    _balance(low, high, x, np.arange(x.size))
    return _improve(quadratic, linear, low, high, x)


minimise = kernel(minimise_in_steps)
"""The same all in one, for problems that take no time."""


@kernel
def _balance(low: Any, high: Any, x: Any, place: Any) -> None:
    """Make Σx = 1 by moving these weights, one after the other, as far as their limits let them."""
    rest = 1.0 - x.sum()
    for i in place:
        moved = min(max(x[i] + rest, low[i]), high[i])
        rest -= moved - x[i]
        x[i] = moved


@helper
def _exchange(quadratic: Any, linear: Any, low: Any, high: Any, x: Any) -> None:
    """Exchange whole sets until none changes, ROUNDS are over or no weight is free; x stays within its limits."""
    free = (x > low) & (x < high)
    for _ in range(ROUNDS):
        place = np.flatnonzero(free)
        if place.size == 0:
            return
        x[place] += _newton(quadratic, linear + quadratic @ x, x, place)
        gradient = linear + quadratic @ x
        price = gradient[place[0]]
        changed = False
        for i in range(x.size):
            if free[i]:
                free[i] = low[i] < x[i] < high[i]
                x[i] = min(max(x[i], low[i]), high[i])
                changed |= not free[i]
            elif gradient[i] < price - PRECISION if x[i] == low[i] else gradient[i] > price + PRECISION:
                free[i] = changed = True
        if not changed:
            return


@helper
def _improve(quadratic: Any, linear: Any, low: Any, high: Any, x: Any) -> float:
    """Active-set steps from a feasible x, in place, until rounding stops them or too many are taken; the KKT residual.

    Each step solves the problem on the free weights exactly and goes there, or to the first limit in the way. Once it
    got there, the weight that most wants to grow and the one that most wants to shrink are freed. (Freed sooner, a
    weight may at once be pushed back, over and over.)
    """
    free = (x > low) & (x < high)
    best, best_x, arrived = math.inf, x.copy(), False
    for _ in range(10 * x.size + 50):
        gradient = linear + quadratic @ x
        grow, shrink, excess = pair(gradient, low, high, x)
        stuck = arrived and free[grow] and free[shrink] and excess > 0.5 * best
        if excess < best:
            best, best_x = excess, x.copy()
        if excess <= PRECISION or stuck:
            break
        if arrived or not free.any():
            free[grow] = free[shrink] = True
        arrived = _step(quadratic, gradient, low, high, x, free)
    x[:] = best_x
    return max(best, 0.0) / 2.0 + abs(x.sum() - 1.0)


@kernel
def pair(gradient: Any, low: Any, high: Any, x: Any) -> tuple[int, int, float]:
    """The weight that most wants to grow, the one that most wants to shrink, and the excess of their gradients."""
    grow, shrink = -1, -1
    for i in range(x.size):
        if x[i] < high[i] and (grow < 0 or gradient[i] < gradient[grow]):
            grow = i
        if x[i] > low[i] and (shrink < 0 or gradient[i] > gradient[shrink]):
            shrink = i
    return grow, shrink, gradient[shrink] - gradient[grow] if grow >= 0 and shrink >= 0 else 0.0


@kernel
def _newton(quadratic: Any, gradient: Any, x: Any, place: Any) -> Any:
    """The move of the free weights to their minimum with the others held, which also makes Σx = 1.

    A shift of every entry changes nothing for moves that sum to zero, and leaves the block singular only where such a
    move has no curvature.
    """
    shift = np.diag(quadratic).max() or 1.0
    damping = DAMPING * shift
    block, move, one = np.empty((place.size, place.size)), -gradient[place], np.ones(place.size)
    while True:
        for a, i in enumerate(place):
            for b in range(a + 1):
                block[a, b] = quadratic[i, place[b]] + shift
        if _factor(block, damping):
            break
        damping *= 100.0  # rounding may cost a singular block more than the damping gives
    _substitute(block, move)
    _substitute(block, one)
    return move + (1.0 - x.sum() - move.sum()) / one.sum() * one


@kernel
def _factor(a: Any, damping: float) -> bool:
    """Cholesky in the lower triangle of `a`, in place; false at a pivot too small to trust."""
    n = len(a)
    least = 0.0 if damping > 0.0 else PIVOT * np.diag(a).max()
    column = np.empty(n)
    for start in range(0, n, WIDTH):
        stop = min(start + WIDTH, n)
        if start > 0:  # what the columns before explain of these, which is nearly all of the work
            before = a[start:, :start].copy()
            a[start:, start:stop] -= np.dot(before, before[: stop - start].T)
        for j in range(start, stop):
            pivot = a[j, j] + damping
            if pivot <= least:
                return False
            root = a[j, j] = math.sqrt(pivot)
            for i in range(j + 1, n):
                column[i] = a[i, j] = a[i, j] / root
            for i in range(j + 1, n):  # along rows and from a copy of the column, so that it vectorises
                factor = column[i]
                for k in range(j + 1, min(i + 1, stop)):
                    a[i, k] -= factor * column[k]
    return True


@kernel
def _substitute(factor: Any, b: Any) -> None:
    """Solve L Lᵀ z = b in place."""
    n = len(b)
    for i in range(n):
        for k in range(i):
            b[i] -= factor[i, k] * b[k]
        b[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= factor[k, i] * b[k]
        b[i] /= factor[i, i]


@kernel
def _step(quadratic: Any, gradient: Any, low: Any, high: Any, x: Any, free: Any) -> bool:
    """To the minimum over the free weights, or to the first limit in the way; whether it got to the minimum."""
    place = np.flatnonzero(free)
    move = _newton(quadratic, gradient, x, place)
    length, blocking = 1.0, -1
    limit = np.where(move < 0.0, low[place], high[place])
    for a, i in enumerate(place):
        if move[a] != 0.0 and length * abs(move[a]) > abs(limit[a] - x[i]):
            length, blocking = (limit[a] - x[i]) / move[a], a
    for a, i in enumerate(place):
        x[i] = min(max(x[i] + length * move[a], low[i]), high[i])  # rounding may pass a limit that did not block
    if blocking >= 0:
        x[place[blocking]] = limit[blocking]
        free[place[blocking]] = False
    _balance(low, high, x, np.flatnonzero(free))  # a long move is rough, and so is its sum
    return blocking < 0
