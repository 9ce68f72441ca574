"""Leaping behind a leader: exact runs of policies whose scores change with the round, or by chance (docs: leaping).

As long as one arm, the leader, is pulled again and again, only its own statistics change. Its rewards come as a block,
which is taken whole if no round of it can be another arm's. A block for which that is not sure is cut, and where no
block fits, rounds are simulated one by one. Nothing that was drawn is ever thrown away: the rest of a block stays on
the arm's stack.

Here is the leader's way with its blocks: have one of a size, look ahead over it, cut it, take it. The loops are in
prudent.engine.leap.clocked, for scores with a clock and scores that compare arms with the best one, and in
prudent.engine.leap.drawn, for scores with draws.
"""

import math
from typing import NamedTuple

from numpy.random import Generator

from prudent.arms.sampling import include, merge
from prudent.base.arrays import Array
from prudent.compile.types import absorbed, borrowed, kernel
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
from prudent.engine.leap.first_passage import Stacks
from prudent.engine.record import Statistics
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.scoring import score_of
from prudent.policies.ties import lowest

BLOCKS_KEPT = 256
"""Blocks there is room for per arm: a block being cut leaves parts that shrink by a third or more."""

MIN_BLOCK = 4
"""The smallest block worth while; fewer rounds cost less one by one."""


class Table(NamedTuple):
    """Where blocks come from, what is known of the arms, and the blocks that were drawn and not taken yet."""

    src: Sources
    arms: Statistics
    stacks: Stacks


@absorbed
def known_of(table: Table, i: int) -> Arm:
    """What is known of arm i."""
    return Arm(table.arms.pulls[i], table.arms.mean[i], table.arms.variance[i])


@absorbed
def cut(table: Table, i: int, size: int, rng: Generator) -> None:
    """Cut the block on top of arm i's stack after `size` rewards."""
    src, ahead, n_ahead = table.src, table.stacks.ahead, table.stacks.n_ahead
    at = n_ahead[i] - 1
    if src.n_atoms[i] == 0:
        total = ahead[i, at, SIZE]
        parts = gaussian_split(total, ahead[i, at, MEAN], ahead[i, at, RESIDUAL], size, rng)
        ahead[i, at + 1, SIZE], ahead[i, at + 1, MEAN], ahead[i, at + 1, RESIDUAL] = size, parts[0], parts[1]
        ahead[i, at, SIZE], ahead[i, at, MEAN], ahead[i, at, RESIDUAL] = total - size, parts[2], parts[3]
    else:
        split(src, i, size, ahead[i], at, rng)
    n_ahead[i] = at + 2


@absorbed
def stage(table: Table, i: int, size: int, most: int, rng: Generator) -> int:
    """Have a block of about `size` rewards of arm i, and `most` at most, on top of its stack; its size."""
    src, ahead, n_ahead = table.src, table.stacks.ahead, table.stacks.n_ahead
    if n_ahead[i] > 0:
        ready = int(ahead[i, n_ahead[i] - 1, SIZE])
        if 2 * ready <= 3 * size and ready <= most:
            return ready
        cut(table, i, size, rng)
    else:
        if src.n_atoms[i] == 0:
            ahead[i, 0, SIZE] = size
            ahead[i, 0, MEAN], ahead[i, 0, RESIDUAL] = gaussian_block(src.mean[i], src.variance[i], size, rng)
        else:
            fresh(src, i, size, ahead[i], 0, rng)
        n_ahead[i] = 1
    return size


@absorbed
def box_of(table: Table, i: int) -> tuple[Arm, Arm]:
    """The least and the largest statistics of arm i after any rewards of the block on top of its stack, one or more."""
    ahead, at, now = table.stacks.ahead, table.stacks.n_ahead[i] - 1, known_of(table, i)
    size = ahead[i, at, SIZE]
    box = prefix_box(now.pulls, now.mean, now.variance, size, ahead[i, at, MEAN], ahead[i, at, RESIDUAL], 0.0)
    return Arm(now.pulls + 1, box[0], box[2]), Arm(now.pulls + int(size), box[1], box[3])


@absorbed
def take(table: Table, i: int) -> None:
    """The block on top of arm i's stack joins its statistics."""
    arms, ahead, at = table.arms, table.stacks.ahead, table.stacks.n_ahead[i] - 1
    size = int(ahead[i, at, SIZE])
    more_mean, more_variance = ahead[i, at, MEAN], ahead[i, at, RESIDUAL] / size
    arms.mean[i], arms.variance[i] = merge(
        arms.pulls[i], arms.mean[i], arms.variance[i], size, more_mean, more_variance
    )
    arms.pulls[i] += size
    table.stacks.n_ahead[i] = at


@absorbed
def pull(table: Table, i: int, rng: Generator) -> None:
    """The next reward of arm i, from its stack or new, joins its statistics."""
    src, arms, stacks = table
    if stacks.n_ahead[i] > 0:
        if stacks.ahead[i, stacks.n_ahead[i] - 1, SIZE] > 1.0:
            cut(table, i, 1, rng)
        take(table, i)
        return
    if src.n_atoms[i] == 0:
        reward = src.mean[i] + math.sqrt(src.variance[i]) * rng.standard_normal()
    else:
        share, j = rng.random(), 0
        while j < src.n_atoms[i] - 1 and share >= src.probability[i, j]:
            share -= src.probability[i, j]
            j += 1
        reward = src.value[i, j]
    arms.pulls[i] += 1
    arms.mean[i], arms.variance[i] = include(arms.pulls[i], arms.mean[i], arms.variance[i], reward)


@kernel
def step_on(policy: ReadyPolicy, t: int, count: int, ties: bool, table: Table, scores: Array, rng: Generator) -> bool:
    """Simulate `count` rounds one by one, after the t-th; whether all scores were numbers."""
    table, scores, rng = borrowed((table, scores, rng))
    for now in range(t + 1, t + count + 1):
        for i in range(len(scores)):
            scores[i] = score_of(policy, known_of(table, i), 0.0, now, rng, 0) if table.arms.pulls[i] > 0 else -math.inf
            if math.isnan(scores[i]):
                return False
        pulled = 0
        if ties:
            pulled = lowest(scores, table.arms)
        else:  # in a loop of its own: then the processor guesses the arm, and does not wait for its score
            for i in range(1, len(scores)):
                if scores[i] < scores[pulled]:
                    pulled = i
        pull(table, pulled, rng)
    return True
