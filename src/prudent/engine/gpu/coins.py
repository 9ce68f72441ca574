"""The Bayes recursion of two coins on a GPU, round by round: what prudent.policies.coin_table computes on a CPU.

A layer holds the least expected costs in all states (n₁, s₁, s₂) after t rounds, in the rows of `row_starts`. A group
of threads takes a row, and each of them some s₂. The layer of round t is made from that of round t + 1 beside it, so
that two of them are kept, n³/3 numbers: of 64 bits where they fit, else of 32 bits. Sums are of 64 bits either way.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from prudent.base.arrays import Array, Counts
from prudent.base.errors import PrudentError
from prudent.compile.types import helper
from prudent.engine.gpu import device
from prudent.policies.coin_table import row_starts

WIDTH, HEIGHT = 32, 8
"""Threads of a row, and rows of a block."""

SPARE = 2**30
"""Bytes of a GPU that are left to its driver and to small arrays."""


@helper
def row_of(place: int) -> tuple[int, int]:
    """n₁ and s₁ of a row, counted from 0."""
    n1 = int((math.sqrt(8.0 * place + 1.0) - 1.0) / 2.0)
    while n1 * (n1 + 1) // 2 > place:
        n1 -= 1
    while (n1 + 1) * (n1 + 2) // 2 <= place:
        n1 += 1
    return n1, place - n1 * (n1 + 1) // 2


@helper
def fill_row(
    layer: Any, left: Array, right: Array, costs: Array, offset: Counts, n: int, place: int, first: int, step: int
) -> None:
    """The expected costs of a row of the last layer, for s₂ = first, first + step, …"""
    n1, s1 = row_of(place)
    n2 = n - n1
    here = offset[n1] + s1 * (n2 + 1)
    for s2 in range(first, n2 + 1, step):
        seen = 0.0
        for j in range(left.shape[0]):
            seen += left[j, place] * right[j, n2 * (n2 + 1) // 2 + s2]
        layer[here + s2] = seen * costs[s1 + s2]


@helper
def respond_in_row(
    following: Any, layer: Any, offset: Counts, n: int, t: int, place: int, first: int, step: int
) -> None:
    """The least costs of a row after t rounds from those after t + 1, for s₂ = first, first + step, …"""
    n1, s1 = row_of(place)
    n2, stride = t - n1, n - n1 + 1
    here, zero = offset[n1] + s1 * stride, offset[n1 + 1] + s1 * (stride - 1)
    one, share, part = zero + stride - 1, (s1 + 1.0) / (n1 + 1.0), 1.0 / (n2 + 1.0)
    rest = (n1 + 1.0 - s1) / (n1 + 1.0)
    for s in range(first, n2 + 1, step):
        toss_first = share * following[one + s] + rest * following[zero + s]
        toss_second = ((s + 1.0) * following[here + s + 1] + (n2 + 1.0 - s) * following[here + s]) * part
        layer[here + s] = toss_first if toss_first < toss_second else toss_second


def bytes_of(horizon: int, digits: type) -> int:
    """The memory of two layers."""
    return 2 * math.comb(horizon + 3, 3) * np.dtype(digits).itemsize


def digits_for(horizon: int, free: int) -> type:
    """The numbers that fit into so many bytes, or an error that says how many are needed."""
    for digits in (np.float64, np.float32):
        if bytes_of(horizon, digits) + SPARE <= free:
            return digits
    needed = (bytes_of(horizon, np.float32) + SPARE) / 2**30
    raise PrudentError(
        f"optimal: {horizon:,} rounds need {needed:,.3g} GiB of a GPU's memory, and it has {free / 2**30:,.3g} left;"
        " take fewer rounds"
    )


def least_cost(horizon: int, left: Array, right: Array, costs: Array, *, digits: type | None = None) -> float:
    """The least expected cost, as `prudent.policies.coin_table.least_cost`."""
    device.require()
    from numba import cuda

    from prudent.engine.gpu import kernels

    digits = digits or digits_for(horizon, cuda.current_context().get_memory_info().free)
    size = math.comb(horizon + 3, 3)
    layer, following = (cuda.device_array(size, digits) for _ in range(2))
    tables = [cuda.to_device(np.ascontiguousarray(each)) for each in (left, right, costs)]
    offset = cuda.to_device(row_starts(horizon))
    fill, respond = kernels.of_last_rows(), kernels.of_rows()
    fill[blocks(horizon), (WIDTH, HEIGHT)](layer, *tables, offset, horizon)

    def play(t: int, *layers: Any) -> None:
        respond[blocks(t), (WIDTH, HEIGHT)](*layers, offset, horizon, t)

    return descend(horizon, layer, following, play)


def descend(horizon: int, layer: Any, following: Any, respond: Callable[..., None]) -> float:
    """The first number of the layer of round 0, from the last one."""
    for t in range(horizon - 1, -1, -1):
        layer, following = following, layer
        respond(t, following, layer)
    return float(layer[0])


def blocks(t: int) -> int:
    """As many as the rows of round t need."""
    return -(-((t + 1) * (t + 2) // 2) // HEIGHT)
