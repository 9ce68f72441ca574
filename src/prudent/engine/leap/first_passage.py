"""One arm's first passage above a level, by blocks."""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import merge
from prudent.base.arrays import Array, Counts
from prudent.compile.types import borrowed, kernel
from prudent.engine.leap.blocks import (
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
from prudent.engine.record import Statistics
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.scoring import score_of

FIRST_BLOCKS, MAX_BLOCKS = 1 << 12, 1 << 17
"""Blocks there is room for per arm, at first and at most: the memory of a run does not depend on its horizon."""


class Stacks(NamedTuple):
    """Per arm, blocks already drawn: those ahead (the next on top), and those consumed since the last sure level."""

    ahead: Array
    n_ahead: Counts
    behind: Array
    n_behind: Counts


@kernel
def make_stacks(src: Sources, room: int) -> Stacks:
    """Empty stacks for all arms."""
    n_arms, atoms = src.value.shape
    shape = (n_arms, room, 3 + atoms)
    return Stacks(np.empty(shape), np.zeros(n_arms, np.int64), np.empty(shape), np.zeros(n_arms, np.int64))


@kernel
def enlarged(src: Sources, stacks: Stacks) -> Stacks:
    """Four times the room, at most MAX_BLOCKS, with the same blocks ahead."""
    larger = make_stacks(src, min(4 * stacks.ahead.shape[1], MAX_BLOCKS))
    for i in range(len(stacks.n_ahead)):
        count = stacks.n_ahead[i]
        larger.n_ahead[i] = count
        for j in range(count):
            copy_block(stacks.ahead[i], j, larger.ahead[i], j)
    return larger


@kernel
def advance(
    policy: ReadyPolicy,
    src: Sources,
    log_failure: float,
    i: int,
    level: float,
    budget: int,
    coarse: int,
    arms: Statistics,
    scores: Array,
    stacks: Stacks,
    remember: bool,
    rng: Generator,
) -> int:
    """Pull arm i until its score passes the level, at most `budget` times; returns the number of pulls.

    At least one pull is made. Where `coarse` is not 0, it may stop short of the level, once no more than one reward for
    every `coarse` pulls fits below it. With `remember` the blocks consumed are kept behind, and it stops where there
    is no more room for blocks.
    """
    src, arms, scores, stacks, rng = borrowed((src, arms, scores, stacks, rng))
    ahead, behind = stacks.ahead[i], stacks.behind[i]
    top, trail = stacks.n_ahead[i], stacks.n_behind[i]
    pulls, mean, variance, score = arms.pulls[i], arms.mean[i], arms.variance[i], scores[i]
    true_mean, true_variance, gaussian = src.mean[i], src.variance[i], src.n_atoms[i] == 0
    sure = log_failure if gaussian else 0.0
    width = ahead.shape[1]
    # A block being split adds one part per halving, 53 in all; once given back, the first one behind may be split too.
    room = len(ahead) - 128
    left, rate, rated_at = budget, 0.0, 0
    while True:
        if top == 0:
            if pulls == 0 or math.isinf(score):
                size = 1
            else:
                if 4 * pulls > 5 * rated_at:
                    rate = rise(policy, sure, true_mean, true_variance, level, score, pulls, mean, variance)
                    rated_at = pulls
                size = fitting(left, level - score, rate)
                if 0 < coarse * size < pulls and left < budget:
                    break
            if gaussian:
                ahead[0, SIZE] = size
                ahead[0, MEAN], ahead[0, RESIDUAL] = gaussian_block(true_mean, true_variance, size, rng)
            else:
                fresh(src, i, size, ahead, 0, rng)
            top = 1
        at = top - 1
        size = int(ahead[at, SIZE])
        block_mean, residual = ahead[at, MEAN], ahead[at, RESIDUAL]
        if size > 1:
            cut = 0
            if size > left:
                cut = left
            elif pulls == 0:
                cut = 1
            else:
                box = prefix_box(pulls, mean, variance, size, block_mean, residual, sure)
                low, high = Arm(pulls + 1, box[0], box[2]), Arm(pulls + size, box[1], box[3])
                if not policy.score_bound(low, high) < level:
                    cut = fitting(size // 2, level - score, rate) if rated_at > 0 else size // 2
            if cut > 0:
                if gaussian:
                    parts = gaussian_split(float(size), block_mean, residual, cut, rng)
                    ahead[top, SIZE], ahead[top, MEAN], ahead[top, RESIDUAL] = cut, parts[0], parts[1]
                    ahead[at, SIZE], ahead[at, MEAN], ahead[at, RESIDUAL] = size - cut, parts[2], parts[3]
                else:
                    split(src, i, cut, ahead, at, rng)
                top += 1
                continue
        mean, variance = merge(pulls, mean, variance, size, block_mean, residual / size)
        pulls += size
        left -= size
        top -= 1
        if remember:
            for j in range(width):
                behind[trail, j] = ahead[at, j]
            trail += 1
        score = score_of(policy, Arm(pulls, mean, variance), 0, 0, 0, 0)
        if score > level or left == 0 or math.isnan(score) or (remember and trail + top >= room):
            break
    arms.pulls[i], arms.mean[i], arms.variance[i], scores[i] = pulls, mean, variance, score
    stacks.n_ahead[i], stacks.n_behind[i] = top, trail
    return budget - left


@kernel
def fitting(most: int, room: float, rate: float) -> int:
    """How many rewards to take at once, at most `most`, where the bound on the score rises by `rate` a reward and
    there is `room` up to the level. The answer affects only the time."""
    if not room < rate * most:
        return most
    size = int(0.92 * room / rate)
    return size if size >= 3 else 1


@kernel
def rise(
    policy: ReadyPolicy,
    sure: float,
    true_mean: float,
    true_variance: float,
    level: float,
    score: float,
    pulls: int,
    mean: float,
    variance: float,
) -> float:
    """By how much the bound on the score rises with every reward of an ordinary block that just stays below the level.

    It is nearly linear in the size of the block, so a second look at the size it suggests is enough.
    """
    size, rate = max(2, pulls // 2), 0.0
    for _ in range(2):
        box = prefix_box(pulls, mean, variance, size, true_mean, true_variance * size, sure)
        bound = policy.score_bound(Arm(pulls + 1, box[0], box[2]), Arm(pulls + size, box[1], box[3]))
        rate = (bound - score) / size
        if not rate > 0.0 or math.isinf(level):
            return 0.0
        size = max(2, fitting(8 * pulls, level - score, rate))
    return rate


@kernel
def give_back(stacks: Stacks, i: int, mark: int) -> None:
    """Return the blocks behind arm i, but for the first `mark`, to those ahead, in their order."""
    while stacks.n_behind[i] > mark:
        stacks.n_behind[i] -= 1
        copy_block(stacks.behind[i], stacks.n_behind[i], stacks.ahead[i], stacks.n_ahead[i])
        stacks.n_ahead[i] += 1


@kernel
def copy_block(rows: Array, at: int, to_rows: Array, to: int) -> None:
    """Write the block in rows[at] into to_rows[to]."""
    for j in range(rows.shape[1]):
        to_rows[to, j] = rows[at, j]
