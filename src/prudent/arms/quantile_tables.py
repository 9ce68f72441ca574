"""A law as a table of its quantile function, from which kernels draw: one uniform number, one look-up, one polynomial.

The levels (0, 1) are cut into segments, dense towards both ends, on each of which a polynomial of degree five meets the
quantile function within `ERROR`. A value of positive probability is a segment on which it is constant, and is drawn
exactly.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError

ERROR = 1e-9
"""How far a drawn reward may be from the quantile at its level: this share of its distance from the median plus the
length of the middle half, or of its distance from an end of the support, if that is less."""

RARE = 1e-7
"""Below this level the error may be larger, in proportion to how much rarer a reward is, as that of SciPy is."""

GRID = 2.0**-53
"""The step between uniform numbers. Rewards rarer than this are never drawn."""

TINY = 1e-300
"""An error that nobody sees: floats so small have few digits."""

GUIDES = 256
"""Equal parts of (0, 1), for each of which the table tells a segment to begin with."""

MAX_SEGMENTS = 30_000
"""_Segments of a table at most; a jump takes a hundred."""

POWERS = 6
_COSINES = [(math.sqrt(6.0) + math.sqrt(2.0)) / 4.0, math.sqrt(0.5), (math.sqrt(6.0) - math.sqrt(2.0)) / 4.0]
NODES = 0.5 + 0.5 * np.array([-x for x in _COSINES] + _COSINES[::-1])
"""Chebyshev's six points on (0, 1), cos(π/12), cos(π/4), cos(5π/12) in closed form: the same on every machine."""

CHECKS = np.array([0.004, 0.06, 0.25, 0.5, 0.75, 0.94, 0.996])


def _lagrange() -> Array:
    """Row j: the coefficients of the polynomial that is 1 at node j and 0 at the others, by ascending powers."""
    nodes, rows = [Fraction(x) for x in NODES.tolist()], []
    for j, own in enumerate(nodes):
        row = [Fraction(1)]
        for other in nodes[:j] + nodes[j + 1 :]:
            row = [
                (a - other * b) / (own - other) for a, b in zip([Fraction(0), *row], [*row, Fraction(0)], strict=True)
            ]
        rows.append([float(x) for x in row])
    return np.array(rows)


FIT = _lagrange()
_POWERS_AT_CHECKS = np.vander(CHECKS, POWERS, increasing=True).T

Tail = Callable[..., Array]


class _Segments(NamedTuple):
    """Where segments begin, and on each the powers of the distance from there; `end` is where the last one ends."""

    begin: Array
    powers: Array
    end: float


def of_quantiles(name: str, tail: Tail, support: tuple[float, float]) -> Array:
    """The table of a law whose quantiles at levels up to ½, or at 1 minus these, `tail` tells."""
    quarter, median, three = (*tail(np.array([0.25, 0.5])), float(tail(np.array([0.25]), upper=True)[0]))
    size = max(three - quarter, 1e-3 * float(tail(np.array([1e-3]), upper=True)[0] - tail(np.array([1e-3]))[0]))
    halves = [_half(name, tail, upper, support, float(median), size) for upper in (False, True)]
    begin, powers = (np.concatenate([half[part] for half in halves]) for part in (0, 1))
    order = np.argsort(begin)
    return _layout(_Segments(begin[order], powers[order], 1.0 - GRID), support)


def of_values(values: Array, weights: Array) -> Array:
    """The table of a law on finitely many values, ascending."""
    there = weights > 0.0
    values, sums = values[there], np.cumsum(weights[there])
    powers = np.zeros((len(values), POWERS))
    powers[:, 0] = values
    begin = np.concatenate([[0.0], sums[:-1] / sums[-1]])
    return _layout(_Segments(begin, powers, 1.0), (float(values[0]), float(values[-1])))


def of_cells(low: Array, high: Array, masses: Array) -> Array:
    """The table of a law that is uniform on each of these cells, which ascend; a cell of no width is a value."""
    there = masses > 0.0
    low, width, sums = low[there], (high - low)[there], np.cumsum(masses[there])
    powers = np.zeros((len(low), POWERS))
    powers[:, 0], powers[:, 1] = low, width * sums[-1] / masses[there]
    begin = np.concatenate([[0.0], sums[:-1] / sums[-1]])
    return _layout(_Segments(begin, powers, 1.0), (float(low[0]), float(low[-1] + width[-1])))


def search(tail: Tail, support: tuple[float, float], x: Array) -> tuple[Array, Array]:
    """P(X ≤ x) and P(X > x): the largest level with a quantile up to x, found by halving its logarithm."""
    upper = x >= tail(np.array([0.5]))[0]
    least, most = np.full(x.shape, math.log(5e-324)), np.full(x.shape, math.log(0.5))
    for _ in range(64):
        middle = 0.5 * (least + most)
        there = np.where(upper, tail(np.exp(middle), upper=True), tail(np.exp(middle)))
        nearer = np.where(upper, there > x, there <= x)
        least, most = np.where(nearer, middle, least), np.where(nearer, most, middle)
    level = np.exp(0.5 * (least + most))
    below, above = np.where(upper, 1.0 - level, level), np.where(upper, level, 1.0 - level)
    first, last = (x < support[0]) | (x == -math.inf), x >= support[1]
    return np.where(first, 0.0, np.where(last, 1.0, below)), np.where(first, 1.0, np.where(last, 0.0, above))


def _half(
    name: str, tail: Tail, upper: bool, support: tuple[float, float], median: float, size: float
) -> tuple[Array, Array]:
    """The segments of one half of the levels: halved until polynomials fit, or until they are as short as the grid."""
    edges = 2.0 ** -np.arange(1.0, 54.0 if upper else 55.0)
    a, b = edges[1:], edges[:-1]
    begins, powers = [], []
    while a.size:
        if a.size > MAX_SEGMENTS:
            raise PrudentError(
                f"{name}: its quantile function jumps or bends too often to be tabled in {MAX_SEGMENTS:,} pieces;"
                " give it a draw of its own, as FromDraw(draw, ...), or the values and how often they occur,"
                " as Empirical(values)"
            )
        width = (b - a)[:, None]
        nodes, checks = (b[:, None] - width * at if upper else a[:, None] + width * at for at in (NODES, CHECKS))
        values, wanted = (tail(levels.ravel(), upper=upper).reshape(levels.shape) for levels in (nodes, checks))
        if not (np.isfinite(values).all() and np.isfinite(wanted).all()):
            raise PrudentError(
                f"{name}: its quantiles must be finite numbers at every level between 1e-16 and 1 − 1e-16"
            )
        first = values[:, :1]
        fit = _product(values - first, FIT)
        flat = (values == first).all(1) & (wanted == first).all(1)
        short = b - a <= GRID
        fit[flat | short] = 0.0
        room = np.minimum(np.minimum(np.abs(wanted - median) + size, wanted - support[0]), support[1] - wanted)
        allowed = ERROR * (1.0 + RARE / checks) * room + 64.0 * np.spacing(np.abs(wanted)) + TINY
        off = np.abs(_product(fit, _POWERS_AT_CHECKS) + first - wanted) > allowed
        fit[:, :1] += first
        done = flat | short | ~off.any(1)
        begins.append((1.0 - b if upper else a)[done])
        powers.append((fit / width ** np.arange(float(POWERS)))[done])
        middle = 0.5 * (a + b)[~done]
        a, b = np.concatenate([a[~done], middle]), np.concatenate([middle, b[~done]])
    return np.concatenate(begins), np.concatenate(powers)


def _product(left: Array, right: Array) -> Array:
    """left @ right, added up in the same order on every machine, which BLAS does not promise: rewards depend on it."""
    total: Array = left[:, :1] * right[0]
    for k in range(1, len(right)):
        total += left[:, k : k + 1] * right[k]
    return total


def _layout(segments: _Segments, support: tuple[float, float]) -> Array:
    """The numbers in the order in which `sampling.draw` reads them."""
    begin, powers, end = segments
    edges, cells = np.append(begin, end), np.arange(GUIDES)
    # A search begins at the end of the part that is nearer to the middle: outwards, segments are short and rare.
    inner = np.searchsorted(edges, (cells + 1.0) / GUIDES, side="left") - 1
    outer = np.searchsorted(edges, cells / GUIDES, side="right") - 1
    guides = np.clip(np.where(cells < GUIDES // 2, inner, outer), 0, len(begin) - 1)
    # A constant of almost no probability stands for a jump, and is no value that two rewards share.
    constant = bool(((powers[:, 1:] == 0.0).all(1) & (np.diff(edges) > 2.0 * GRID)).any())
    head = [float(len(begin)), float(constant), *support]
    return np.concatenate([head, guides, edges, powers.ravel()])
