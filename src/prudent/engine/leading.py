"""Leaping behind a leader: exact runs of policies whose scores change with the round, or by chance (docs: leaping).

As long as one arm, the leader, is pulled again and again, only its own statistics change. Its rewards come as a block,
which is taken whole if no round of it can be another arm's. A block for which that is not sure is cut, and where no
block fits, rounds are simulated one by one. Nothing that was drawn is ever thrown away: the rest of a block stays on
the arm's stack.

Here are the loop, scores with a clock and scores that compare arms with the best one; prudent.engine.thinning has
scores with draws.
"""

import math
from typing import Any

import numpy as np

from prudent.arms.sampling import Laws, include, may_tie
from prudent.arrays import Array, Counts, Marks
from prudent.compiled import helper, in_kernels, kernel
from prudent.engine.blocks import Sources
from prudent.engine.comparing import FIRST_STEP, Floors, clearly_below, compare
from prudent.engine.passage import make_stacks
from prudent.engine.record import BAD_SCORE, FINE, HALTED, Record, clear, no_statistics, write_down
from prudent.engine.stacks import FIRST, MOST_BLOCKS, ROOM, SHORTEST, box_of, cut, pull, stage, take
from prudent.engine.thinning import Book, Table, make_book, stride_drawn
from prudent.policies.base import Arm
from prudent.policies.scoring import declares_draws, own_cost, score_of
from prudent.policies.ties import arm_of, lowest

ENOUGH = 10.0
SMALLEST = 8
"""The smallest block to ask for."""


@kernel
def lead_scores(
    policy: Any, src: Sources, laws: Laws, best: int, rounds: Counts, record: Record, halt: Marks, rng: Any
) -> int:
    """Run a policy whose score has a clock and a `score_bound`, or has `draws`; arguments as for `step_scores`."""
    n_runs, _, n_arms = record.pulls.shape
    arms, stacks, ties = no_statistics(n_arms), make_stacks(src, ROOM), may_tie(laws, n_arms)
    table, book, scores = Table(src, arms, stacks), make_book(n_arms), np.empty(n_arms)
    for run in range(n_runs):
        clear(arms)
        stacks.n_ahead[:] = 0
        book.first[:] = 0.0
        t, pause = 0, FIRST * n_arms
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                if halt[0]:
                    return HALTED
                stretch = min(pause, rounds[snapshot] - t)
                if not step_on(policy, t, stretch, ties, table, scores, rng):
                    return BAD_SCORE
                t += stretch
                if t < rounds[snapshot]:
                    made = stride_drawn(policy, rounds[snapshot] - t, table, book, rng)
                    if made < 0:
                        return BAD_SCORE
                    t += made
                    pause = longer(pause, t) if made == 0 else 2
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@helper
def longer(pause: int, t: int) -> int:
    """The rounds to the next try after one that failed: more and more, or ties would cost double."""
    return min(2 * pause, max(128, t // 16))


@kernel
def step_on(policy: Any, t: int, count: int, ties: bool, table: Table, scores: Array, rng: Any) -> bool:
    """Simulate `count` rounds one by one, after the t-th; whether all scores were numbers."""
    arms, n_ahead, atoms = table.arms, table.stacks.n_ahead, table.src.n_atoms
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    true_mean, true_variance = table.src.mean, table.src.variance
    for now in range(t + 1, t + count + 1):
        for i in range(len(pulls)):
            scores[i] = -math.inf
            if pulls[i] > 0:
                scores[i] = score_of(policy, Arm(pulls[i], mean[i], variance[i]), 0.0, now, rng, 0)
                if math.isnan(scores[i]):
                    return False
        pulled = 0
        if ties:
            pulled = lowest(scores, arms)
        else:
            for i in range(1, len(pulls)):
                if scores[i] < scores[pulled]:
                    pulled = i
        if n_ahead[pulled] > 0 or atoms[pulled] > 0:
            pull_next(table, pulled, rng)
        else:
            reward = true_mean[pulled] + math.sqrt(true_variance[pulled]) * rng.standard_normal()
            pulls[pulled] += 1
            mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
    return True


@kernel
def pull_next(table: Table, i: int, rng: Any) -> None:
    """`pull`, out of line."""
    src, arms, stacks = table
    pull(src, src.n_atoms, arms.pulls, arms.mean, arms.variance, stacks.ahead, stacks.n_ahead, i, rng)


@kernel
def lead_clocked(
    policy: Any, src: Sources, laws: Laws, best: int, rounds: Counts, record: Record, halt: Marks, rng: Any
) -> int:
    """Run a policy whose score has a clock and a `score_bound`; arguments as for `step_scores`.

    The first round of a block is the leader's by its score. All others are, if the bound on its score at the earliest
    clock lies below its rivals' scores at the latest.
    """
    n_runs, _, n_arms = record.pulls.shape
    arms, stacks, ties = no_statistics(n_arms), make_stacks(src, ROOM), may_tie(laws, n_arms)
    ahead, n_ahead, atoms, true_mean, true_variance = stacks.ahead, stacks.n_ahead, src.n_atoms, src.mean, src.variance
    pulls, mean, variance, table = arms.pulls, arms.mean, arms.variance, Table(src, arms, stacks)
    scores, closing = np.empty(n_arms), np.empty(n_arms)
    for run in range(n_runs):
        clear(arms)
        n_ahead[:], closing[:] = 0, 0.0
        t, tried, pause = 0, 0, 1
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                if halt[0]:
                    return HALTED
                leader, score, rival = 0, math.inf, math.inf
                for i in range(n_arms):
                    here = -math.inf
                    if pulls[i] > 0:
                        here = score_of(policy, Arm(pulls[i], mean[i], variance[i]), 0.0, t + 1, rng, 0)
                        if math.isnan(here):
                            return BAD_SCORE
                    scores[i] = here
                    if here < score:
                        leader, score, rival = i, here, score
                    elif here < rival:
                        rival = here
                if ties:
                    leader, rival = lowest(scores, arms), math.inf
                    score = scores[leader]
                    for i in range(n_arms):
                        if i != leader:
                            rival = min(rival, scores[i])
                while (rival - score) * pulls[leader] >= ENOUGH * closing[leader] and t >= tried and clearly_below(score, rival):
                    # How fast the two approached each other in the last block tells how far the next can go.
                    size = fitting(rounds[snapshot] - t, pulls[leader], rival - score, closing[leader])
                    if size < SMALLEST:
                        break
                    size, whole = stage(src, atoms, ahead, n_ahead, leader, size, rounds[snapshot] - t, rng), False
                    bar = rival
                    while size >= SHORTEST and not whole:
                        low, high = box_of(Arm(pulls[leader], mean[leader], variance[leader]), ahead, n_ahead, leader, 1)
                        bound, bar = policy.score_bound(low, high, t + 2), math.inf
                        for i in range(n_arms):
                            if i != leader:
                                arm = Arm(pulls[i], mean[i], variance[i])
                                bar = min(bar, score_of(policy, arm, 0.0, t + size + 1, rng, 0))
                        approached = max(bound - score + rival - bar, 0.0) / size * pulls[leader]
                        closing[leader] = max(approached, 0.5 * closing[leader])
                        whole = clearly_below(bound, bar)
                        if not whole:
                            size = min(size // 2, fitting(size, pulls[leader], rival - score, closing[leader]))
                            if size >= SHORTEST:
                                cut(src, atoms, ahead, n_ahead, leader, size, rng)
                    if not whole:
                        pause = longer(pause, t)
                        tried = t + pause
                        break
                    take(pulls, mean, variance, ahead, n_ahead, leader)
                    t += size
                    rival, pause = bar, 1
                    score = score_of(policy, Arm(pulls[leader], mean[leader], variance[leader]), 0.0, t + 1, rng, 0)
                if t < rounds[snapshot]:
                    if n_ahead[leader] > 0 or atoms[leader] > 0:
                        pull_next(table, leader, rng)
                    else:
                        reward = true_mean[leader] + math.sqrt(true_variance[leader]) * rng.standard_normal()
                        pulls[leader] += 1
                        mean[leader], variance[leader] = include(pulls[leader], mean[leader], variance[leader], reward)
                    t += 1
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@helper
def fitting(most: int, pulls: int, gap: float, closing: float) -> int:
    """How many rewards to take at once where the gap to the rivals closes by closing/pulls with each."""
    if closing <= 0.0:
        return min(most, pulls // 4 + 1)
    return int(min(0.8 * gap / closing * pulls, float(most)))


@kernel
def lead_compared(
    policy: Any, src: Sources, laws: Laws, best: int, rounds: Counts, record: Record, halt: Marks, rng: Any
) -> int:
    """Run a policy whose score asks for `best_cost` and has a `score_bound`: `step_compared`, with blocks.

    While the leader's own cost is the smallest, its score is bounded by itself, and the rivals' floors hold up to a
    ceiling of that cost.
    """
    n_runs, _, n_arms = record.pulls.shape
    arms, stacks, ties = no_statistics(n_arms), make_stacks(src, ROOM), may_tie(laws, n_arms)
    ahead, n_ahead, atoms, true_mean, true_variance = stacks.ahead, stacks.n_ahead, src.n_atoms, src.mean, src.variance
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    table, kept, closing = Table(src, arms, stacks), np.zeros((n_arms, 0)), np.zeros((n_arms, 2))
    cost, floor, at, step = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    floors = Floors(cost, floor, at, step)
    for run in range(n_runs):
        clear(arms)
        stacks.n_ahead[:] = 0
        cost[:], floor[:], at[:], step[:], closing[:] = math.inf, -math.inf, math.inf, FIRST_STEP, 0.0
        t, pulled, best_cost, score, pause, wait = 0, 0, math.inf, -math.inf, 1, FIRST * n_arms
        rival, ceiling, other_cost = -math.inf, math.inf, math.inf
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                if halt[0]:
                    return HALTED
                if ties or best_cost > ceiling or not clearly_below(score, rival):
                    floor[pulled], at[pulled] = score, best_cost
                    pulled = compare(policy, arms, floors, kept, best_cost, ties)
                    if pulled < 0:
                        return BAD_SCORE
                    score, rival, ceiling, other_cost = floor[pulled], math.inf, math.inf, math.inf
                    for i in range(n_arms):
                        if i != pulled:
                            rival, ceiling = min(rival, floor[i]), min(ceiling, at[i])
                            other_cost = min(other_cost, cost[i])
                size, wait = 0, wait - 1
                if wait < 0 and clearly_below(score, rival):
                    limits = score, rival, ceiling, other_cost
                    size = block_below(policy, pulled, rounds[snapshot] - t, limits, table, closing, rng)
                    pause, wait = (longer(pause, t), pause) if size == 0 else (1, 0)
                if size > 0:
                    take(pulls, mean, variance, ahead, n_ahead, pulled)
                elif n_ahead[pulled] > 0 or atoms[pulled] > 0:
                    pull_next(table, pulled, rng)
                else:
                    reward = true_mean[pulled] + math.sqrt(true_variance[pulled]) * rng.standard_normal()
                    pulls[pulled] += 1
                    mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
                t += max(size, 1)
                arm = Arm(pulls[pulled], mean[pulled], variance[pulled])
                cost[pulled] = own_cost(policy, arm, 0)
                best_cost = min(cost[pulled], other_cost)
                score = score_of(policy, arm, best_cost, t, rng, 0)
                if math.isnan(score):
                    return BAD_SCORE
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@kernel
def block_below(
    policy: Any,
    leader: int,
    most: int,
    limits: tuple[float, float, float, float],
    table: Table,
    closing: Array,
    rng: Any,
) -> int:
    """Have a block on the leader's stack of which every round is its own; the size of the block, 0 if there is none."""
    score, rival, ceiling, other_cost = limits
    src, ahead, n_ahead, atoms = table.src, table.stacks.ahead, table.stacks.n_ahead, table.src.n_atoms
    now, room = arm_of(table.arms, leader), rival - score
    cost = own_cost(policy, now, 0)
    gap = min(ceiling, other_cost) - cost
    size = min(fitting(most, now.pulls, room, closing[leader, 0]), fitting(most, now.pulls, gap, closing[leader, 1]))
    if size < SMALLEST or math.isinf(score):
        return 0
    size = stage(src, atoms, ahead, n_ahead, leader, size, most, rng)
    while size >= SHORTEST:
        low, high = box_of(now, ahead, n_ahead, leader, 1)
        bound, highest = policy.score_bound(low, high), -math.inf
        for mean in (low.mean, high.mean):
            for variance in (low.variance, high.variance):
                highest = max(highest, own_cost(policy, Arm(high.pulls, mean, variance), 0))
        rise, climb = max(bound - score, 0.0) / size * now.pulls, max(highest - cost, 0.0) / size * now.pulls
        closing[leader, 0], closing[leader, 1] = rise, climb
        if clearly_below(bound, rival) and highest <= ceiling and clearly_below(highest, other_cost):
            return size
        size = min(size // 2, fitting(size, now.pulls, room, rise), fitting(size, now.pulls, gap, climb))
        if size >= SHORTEST:
            cut(src, atoms, ahead, n_ahead, leader, size, rng)
    return 0
