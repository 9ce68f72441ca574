"""Leaping behind a leader: exact runs of policies whose scores change with the round, or by chance (docs: leaping).

As long as one arm, the leader, is pulled again and again, only its own statistics change. Its rewards come as a block,
which is taken whole if no round of it can be another arm's. A block for which that is not sure is cut, and where no
block fits, rounds are simulated one by one. Nothing that was drawn is ever thrown away: the rest of a block stays on
the arm's stack.

Here is the loop for scores with draws, which prudent.engine.thinning takes in blocks; prudent.engine.falling has scores
with a clock and scores that compare arms with the best one.
"""

import math
from typing import Any

import numpy as np

from prudent.arms.sampling import Laws, may_tie
from prudent.arrays import Array, Counts, Marks
from prudent.compiled import absorbed, borrowed, helper, kernel
from prudent.engine.blocks import Sources
from prudent.engine.passage import make_stacks
from prudent.engine.record import BAD_SCORE, FINE, HALTED, Record, clear, no_statistics, write_down
from prudent.engine.stacks import FIRST, ROOM, pull
from prudent.engine.thinning import Table, make_book, stride_drawn
from prudent.policies.base import Arm
from prudent.policies.scoring import score_of
from prudent.policies.ties import lowest


@kernel
def lead_scores(
    policy: Any, src: Sources, laws: Laws, best: int, rounds: Counts, record: Record, halt: Marks, rng: Any
) -> int:
    """Run a policy whose score has `draws`; arguments as for `step_scores`."""
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
    table, scores, rng = borrowed((table, scores, rng))
    arms, pulls, mean, variance = table.arms, table.arms.pulls, table.arms.mean, table.arms.variance
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
        pull_next(table, pulled, rng)
    return True


@absorbed
def pull_next(table: Table, i: int, rng: Any) -> None:
    """The next reward of arm i, from its stack or new, joins its statistics."""
    src, arms, stacks = table
    pull(src, src.n_atoms, arms.pulls, arms.mean, arms.variance, stacks.ahead, stacks.n_ahead, i, rng)
