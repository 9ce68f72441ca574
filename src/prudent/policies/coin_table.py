"""Which of two coins to toss in every state of their counts: best responses, and where a table of decisions leads.

A state after t rounds is (n₁, s₁, s₂): n₁ tosses of the first coin, s₁ ones of it, s₂ ones among the n₂ = t − n₁ tosses
of the second. A layer of numbers is one array; the numbers of (n₁, s₁) lie in a row, with room for the last round, so
that a layer takes the place of the one before it. Numbers are probabilities or costs *given the allocation*: a state
has the share (s + 1)/(n₁ + 1) of what follows a one, as in docs: exact, and nothing overflows.

A table of decisions has one bit a state, 1 for the first coin; each row of s₂ begins with a new byte.

Costs of the last layer are a sum of products, Σ_j left_j(n₁, s₁) right_j(n₂, s₂) cost(s₁ + s₂): one product for
independent coins, one for each pair of a finite prior. A state (k, s) of one coin is in column k(k + 1)/2 + s.
"""

import numpy as np
from numpy.typing import NDArray

from prudent.base.arrays import Array, Counts
from prudent.compile.types import helper, kernel

Bits = NDArray[np.uint8]
Pair = tuple[Array, Array]

NEAR = 1e-13
"""Costs whose shares differ by less are tied, which rounding alone must not decide; then the first coin is tossed."""


@helper
def row_starts(horizon: int) -> Counts:
    """Where in a layer the rows of n₁ = 0, 1, … begin, and the size of a layer."""
    starts = np.zeros(horizon + 2, np.int64)
    for n1 in range(horizon + 1):
        starts[n1 + 1] = starts[n1] + (n1 + 1) * (horizon - n1 + 1)
    return starts


def table_starts(horizon: int) -> Counts:
    """Where in a table the rows of round t (from 0) and n₁ begin; at [horizon, 0] its size."""
    n1 = np.arange(horizon + 1)
    starts = np.zeros((horizon + 1, horizon + 1), np.int64)
    for t in range(horizon):
        there = n1[: t + 1]
        ends = starts[t, 0] + np.cumsum((there + 1) * ((t - there + 8) // 8))
        starts[t, 1 : t + 1] = ends[:-1]
        starts[t + 1, 0] = ends[-1]
    return starts


def best_response(costs: Array, horizon: int, starts: Counts) -> tuple[float, Bits]:
    """The least expected cost and the decisions that have it; `costs`, above 0, are those of the last layer.

    They are E[cost; s₁, s₂ | n₁] under a prior, and are used up.
    """
    table = np.zeros(int(starts[horizon, 0]), np.uint8)
    return _respond(costs, horizon, starts, table), table


@kernel
def _respond(layer: Array, horizon: int, starts: Counts, table: Bits) -> float:
    offset = row_starts(horizon)
    up, down, first = np.empty(horizon + 1), np.empty(horizon + 1), np.empty(horizon + 8, np.uint8)
    for t in range(horizon - 1, -1, -1):
        for n1 in range(t + 1):
            n2, stride = t - n1, horizon - n1 + 1
            for s in range(n2 + 1):
                up[s] = (s + 1.0) / (n2 + 1.0)
                down[s] = (n2 - s + 1.0) / (n2 + 1.0)
            size = (n2 + 8) // 8
            first[: 8 * size] = 0
            for s1 in range(n1 + 1):
                here, zero = offset[n1] + s1 * stride, offset[n1 + 1] + s1 * (stride - 1)
                share = (s1 + 1.0) / (n1 + 1.0)
                shares, after = (share, (n1 + 2.0) / (n1 + 1.0) - share), (layer[zero + stride - 1 :], layer[zero:])
                _respond_in_row(layer[here:], after, (up, down), shares, first, n2 + 1)
                _pack(first, table[starts[t, n1] + s1 * size :], size)
    return float(layer[0])


@helper
def _respond_in_row(here: Array, after: Pair, moves: Pair, shares: tuple[float, float], first: Bits, size: int) -> None:
    """The smaller cost of both coins, and which it is, in the states of a row; `after` follow the first coin."""
    (one, zero), (up, down), (share, rest) = after, moves, shares
    for s in range(size):
        toss_first = share * one[s] + rest * zero[s]
        toss_second = up[s] * here[s + 1] + down[s] * here[s]
        first[s] = toss_first <= toss_second * (1.0 + NEAR)
        here[s] = min(toss_first, toss_second)


@helper
def _pack(marks: Bits, packed: Bits, size: int) -> None:
    for i in range(size):
        byte = 0
        for bit in range(8):
            byte |= marks[8 * i + bit] << bit
        packed[i] = byte


LEVELS = 8
"""So many numbers of tosses of the first coin follow each other, so that rows are read from slow memory once."""


def least_costs(horizon: int, left: Array, right: Array, costs: Array) -> tuple[float, float]:
    """The least expected costs if the first or the second coin is tossed first, of one round or more, without a table:
    in n³/6 numbers."""
    sizes = [(horizon - a + 1) * (horizon - a + 2) // 2 for a in range(horizon + 1)]
    start = np.concatenate([[0], np.cumsum(sizes)])
    first, second = _least_costs(horizon, left, right, costs, start, np.empty(start[-1]))
    return float(first), float(second)


@kernel
def _least_costs(n: int, left: Array, right: Array, costs: Array, start: Counts, values: Array) -> tuple[float, float]:
    """Row a of `values` holds, for u = 0, 1, … and b = 0, …, u tosses and ones of the second coin, the least cost with
    a ones among s tosses of the first. Level s of it is made from rows a and a + 1 of level s + 1, and replaces it."""
    numbers = np.arange(n + 2).astype(np.float64)
    for begin in range(n, -1, -LEVELS):
        for step in range(begin + LEVELS):
            for d in range(LEVELS):
                s, a = begin - d, step - d
                if 0 <= a <= s:
                    own = values[start[a] : start[a + 1]]
                    after = values[start[a + 1] : start[a + 2]] if s < n else own
                    _replace_level(own, after, (n, s, a), (left, right), costs, numbers)
    return values[start[1]] + values[0], values[1] + values[2]


@helper
def _replace_level(
    own: Array, after: Array, place: tuple[int, int, int], sides: Pair, costs: Array, numbers: Array
) -> None:
    """Row a of level s, from the last of n rounds backwards."""
    (n, s, a), (left, right) = place, sides
    one, zero, most = (a + 1.0) / (s + 1.0), (s - a + 1.0) / (s + 1.0), n - s
    last = own[most * (most + 1) // 2 :]
    for b in range(most + 1):
        seen = 0.0
        for j in range(len(left)):
            seen += left[j, s * (s + 1) // 2 + a] * right[j, most * (most + 1) // 2 + b]
        last[b] = seen * costs[a + b]
    for u in range(most - 1, 0 if s == 0 else -1, -1):  # all but the first decision
        begin, part = u * (u + 1) // 2, 1.0 / (u + 1.0)
        here, there, then = own[begin : begin + u + 1], after[begin : begin + u + 1], own[begin + u + 1 :]
        for b in range(u + 1):
            toss_first = one * there[b] + zero * here[b]
            toss_second = ((numbers[b] + 1.0) * then[b + 1] + (u + 1.0 - numbers[b]) * then[b]) * part
            here[b] = toss_first if toss_first < toss_second else toss_second


@kernel
def follow(horizon: int, starts: Counts, table: Bits) -> Array:
    """P(the allocation | the counts of the first tosses of each coin) for every state of the last layer."""
    offset = row_starts(horizon)
    layer, first = np.zeros(offset[horizon + 1]), np.empty(horizon + 8)
    up, down = np.empty(horizon + 1), np.empty(horizon + 1)
    layer[0] = 1.0
    for t in range(horizon):
        for n1 in range(t, -1, -1):  # downwards, since what a row gives lies in later ones
            n2, stride = t - n1, horizon - n1 + 1
            for s in range(n2 + 1):
                up[s] = (s + 1.0) / (n2 + 1.0)
                down[s] = (n2 - s + 1.0) / (n2 + 1.0)
            size = (n2 + 8) // 8
            for s1 in range(n1, -1, -1):
                here, zero = offset[n1] + s1 * stride, offset[n1 + 1] + s1 * (stride - 1)
                row = starts[t, n1] + s1 * size
                for i in range(size):
                    for bit in range(8):
                        first[8 * i + bit] = (table[row + i] >> bit) & 1
                share = (s1 + 1.0) / (n1 + 1.0)
                shares, after = (share, (n1 + 2.0) / (n1 + 1.0) - share), (layer[zero + stride - 1 :], layer[zero:])
                _follow_row(layer[here:], after, (up, down), shares, first, n2 + 1)
    return layer


@helper
def _follow_row(here: Array, after: Pair, moves: Pair, shares: tuple[float, float], first: Array, size: int) -> None:
    """Give the weights of a row on; its own place takes what the second coin gives."""
    (one, zero), (up, down), (share, rest) = after, moves, shares
    for s in range(size):
        given = here[s] * first[s]
        one[s] += share * given
        zero[s] += rest * given
        here[s] -= given
    here[size] = up[size - 1] * here[size - 1]
    for s in range(size - 1, 0, -1):
        here[s] = down[s] * here[s] + up[s - 1] * here[s - 1]
    here[0] = down[0] * here[0]
