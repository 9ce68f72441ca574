"""The leaping engine: exact runs whose cost hardly grows with the horizon (docs: leaping).

If a score needs only the arm's own statistics, the policy pulls in increasing order of each arm's running maximum of
its score. So after n rounds there is a level such that every arm stands at its first passage above it: arms advance
one at a time, by whole blocks as long as no prefix of a block can pass the level.

A run raises the level towards the one that makes n pulls. A level that turns out too high is taken back: the blocks
consumed on the way return to the queue, with everything that was revealed of them. The last pulls are simulated in
their order, an arm at a time, each up to the score of the next.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import Laws, draw, include
from prudent.base.arrays import Array, Counts, Marks
from prudent.compile.types import helper, in_kernels, kernel
from prudent.engine.leap.blocks import Sources
from prudent.engine.leap.first_passage import FIRST_BLOCKS, MAX_BLOCKS, enlarged, make_stacks
from prudent.engine.leap.level_search import any_nan, play_out, raise_level, smallest
from prudent.engine.record import BAD_SCORE, FINE, HALTED, Past, Record, Statistics, clear, no_statistics, write_down
from prudent.engine.score_rounds import begin
from prudent.policies.contract import ReadyPolicy
from prudent.policies.scoring import score_of
from prudent.policies.ties import arm_of, lowest

STRIDE = 2
"""How many times as many pulls a leap from a past goes for at most."""


@kernel
def leap_scores(
    policy: ReadyPolicy,
    blocks: Sources,
    log_failure: float,
    past: Past | None,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Generator,
) -> int:
    """Run a policy whose score does not depend on time and has a `score_bound`; arguments as for `play_scores`.

    With `log_failure` 0 every bound is certain; else those of a Gaussian block fail with probability e^−log_failure.
    With a `past`, `blocks` are arrays with a row for each run.
    """
    n_runs, _, n_arms = record.pulls.shape
    arms, saved = no_statistics(n_arms), no_statistics(n_arms)
    scores = np.empty(n_arms)
    stacks = make_stacks(of_run(blocks, 0), FIRST_BLOCKS)
    for run in range(n_runs):
        src = of_run(blocks, run)
        clear(arms)
        stacks.n_ahead[:] = 0
        stacks.n_behind[:] = 0
        scores[:] = -math.inf
        level, before = -math.inf, 0
        if past is not None:
            begin(past, run, n_runs, arms, laws)
            for i in range(n_arms):
                if arms.pulls[i] > 0:
                    scores[i] = score_of(policy, arm_of(arms, i), 0.0, 0, rng, 0)
            before = arms.pulls.sum()
        for snapshot in range(len(rounds)):
            horizon = before + rounds[snapshot]
            if past is not None:
                # Arms without a score go first. Then there is a level below all of the run, and the search for the
                # next one never goes back to no pulls.
                while smallest(scores) == -math.inf and arms.pulls.sum() < horizon:
                    pull_first(policy, arms, scores, laws, rng)
                if any_nan(scores):
                    return BAD_SCORE
            while arms.pulls.sum() < horizon:
                goal, full = horizon, True
                if past is not None:  # a level can be aimed well only from nearby
                    goal, level = min(horizon, STRIDE * arms.pulls.sum()), smallest(scores)
                while full:
                    if halt[0]:
                        return HALTED
                    level, full = raise_level(policy, src, log_failure, goal, level, arms, scores, saved, stacks, rng)
                    if full and stacks.ahead.shape[1] >= MAX_BLOCKS:
                        break
                    if full:
                        stacks = enlarged(src, stacks)
                level = play_out(policy, src, log_failure, goal, level, arms, scores, stacks, rng)
                if any_nan(scores):
                    return BAD_SCORE
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@helper
def pull_first(policy: ReadyPolicy, arms: Statistics, scores: Array, laws: Laws, rng: Generator) -> None:
    """Simulate one round of arms that are not all pulled yet."""
    i = lowest(scores, arms)
    reward, count = draw(laws, i, rng), arms.pulls[i] + 1
    arms.mean[i], arms.variance[i] = include(count, arms.mean[i], arms.variance[i], reward)
    arms.pulls[i] = count
    scores[i] = score_of(policy, arm_of(arms, i), 0.0, 0, rng, 0)


def of_run(blocks: Sources, run: int) -> Sources:
    """Where the blocks of a run come from, which may be the same for all runs."""
    return _row(blocks, run) if blocks.mean.ndim > 1 else blocks


@in_kernels(of_run)
def _of_run(blocks: Any, run: Any) -> Any:
    return _row if blocks.types[0].ndim > 1 else lambda blocks, run: blocks


@helper
def _row(blocks: Sources, run: int) -> Sources:
    return Sources(blocks.mean[run], blocks.variance[run], blocks.n_atoms, blocks.value[run], blocks.probability[run])
