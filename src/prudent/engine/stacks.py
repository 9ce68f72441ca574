"""The leader's way with its blocks: have one of a size, look ahead over it, cut it, take it.

All stand in line and take arrays by name, since handing them on in tuples would count references at every block.
"""

import math
from typing import Any

from prudent.arms.sampling import include, merge
from prudent.arrays import Array, Counts
from prudent.compiled import inlined
from prudent.engine.blocks import (
    MEAN,
    RESIDUAL,
    SIZE,
    Sources,
    fresh,
    gaussian_block,
    gaussian_split,
    prefix_box,
    split,
)
from prudent.policies.base import Arm

ROOM = 256
"""Blocks there is room for per arm: a block being cut leaves parts that shrink by a third or more."""

SHORTEST = 4
"""The smallest block worth while; fewer rounds cost less one by one."""

FIRST = 4
"""So many rounds for each arm before the first leap."""

MOST_BLOCKS = 10_000
"""After so many blocks the loop looks up, so that a run can be stopped."""


@inlined
def cut(src: Sources, atoms: Counts, ahead: Array, n_ahead: Counts, i: int, size: int, rng: Any) -> None:
    """Cut the block on top of arm i's stack after `size` rewards."""
    at = n_ahead[i] - 1
    if atoms[i] == 0:
        total = ahead[i, at, SIZE]
        parts = gaussian_split(total, ahead[i, at, MEAN], ahead[i, at, RESIDUAL], size, rng)
        ahead[i, at + 1, SIZE], ahead[i, at + 1, MEAN], ahead[i, at + 1, RESIDUAL] = size, parts[0], parts[1]
        ahead[i, at, SIZE], ahead[i, at, MEAN], ahead[i, at, RESIDUAL] = total - size, parts[2], parts[3]
    else:
        split(src, i, size, ahead[i], at, rng)
    n_ahead[i] = at + 2


@inlined
def stage(src: Sources, atoms: Counts, ahead: Array, n_ahead: Counts, i: int, size: int, most: int, rng: Any) -> int:
    """Have a block of about `size` rewards of arm i, and `most` at most, on top of its stack; its size."""
    if n_ahead[i] > 0:
        ready = int(ahead[i, n_ahead[i] - 1, SIZE])
        if 2 * ready > 3 * size or ready > most:
            cut(src, atoms, ahead, n_ahead, i, size, rng)
        else:
            size = ready
    else:
        if atoms[i] == 0:
            ahead[i, 0, SIZE] = size
            ahead[i, 0, MEAN], ahead[i, 0, RESIDUAL] = gaussian_block(src.mean[i], src.variance[i], size, rng)
        else:
            fresh(src, i, size, ahead[i], 0, rng)
        n_ahead[i] = 1
    return size


@inlined
def take(pulls: Counts, mean: Array, variance: Array, ahead: Array, n_ahead: Counts, i: int) -> None:
    """The block on top of arm i's stack joins its statistics."""
    at = n_ahead[i] - 1
    size = int(ahead[i, at, SIZE])
    more_mean, more_variance = ahead[i, at, MEAN], ahead[i, at, RESIDUAL] / size
    mean[i], variance[i] = merge(pulls[i], mean[i], variance[i], size, more_mean, more_variance)
    pulls[i] += size
    n_ahead[i] = at


@inlined
def pull_new(
    true_mean: Array,
    true_variance: Array,
    value: Array,
    probability: Array,
    atoms: Counts,
    pulls: Counts,
    mean: Array,
    variance: Array,
    i: int,
    rng: Any,
) -> None:
    """A new reward of arm i, which has none on its stack, joins its statistics."""
    if atoms[i] == 0:
        reward = true_mean[i] + math.sqrt(true_variance[i]) * rng.standard_normal()
    else:
        share, j = rng.random(), 0
        while j < atoms[i] - 1 and share >= probability[i, j]:
            share -= probability[i, j]
            j += 1
        reward = value[i, j]
    pulls[i] += 1
    mean[i], variance[i] = include(pulls[i], mean[i], variance[i], reward)


@inlined
def pull(
    src: Sources,
    atoms: Counts,
    pulls: Counts,
    mean: Array,
    variance: Array,
    ahead: Array,
    n_ahead: Counts,
    i: int,
    rng: Any,
) -> None:
    """The next reward of arm i, from its stack or new, joins its statistics."""
    if n_ahead[i] > 0:
        if ahead[i, n_ahead[i] - 1, SIZE] > 1.0:
            cut(src, atoms, ahead, n_ahead, i, 1, rng)
        take(pulls, mean, variance, ahead, n_ahead, i)
    else:
        pull_new(src.mean, src.variance, src.value, src.probability, atoms, pulls, mean, variance, i, rng)


@inlined
def box_of(now: Arm, ahead: Array, n_ahead: Counts, i: int) -> tuple[Arm, Arm]:
    """The least and the largest statistics of arm i after any rewards of the block on top of its stack, one or more."""
    at = n_ahead[i] - 1
    size = ahead[i, at, SIZE]
    box = prefix_box(now.pulls, now.mean, now.variance, size, ahead[i, at, MEAN], ahead[i, at, RESIDUAL], 0.0)
    return Arm(now.pulls + 1, box[0], box[2]), Arm(now.pulls + int(size), box[1], box[3])
