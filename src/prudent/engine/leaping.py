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

from prudent.arms.sampling import Laws, draw_block, merge
from prudent.arrays import Counts, Marks
from prudent.compiled import kernel
from prudent.engine.blocks import Sources
from prudent.engine.levels import any_nan, play_out, raise_level
from prudent.engine.passage import MOST_ROOM, ROOM, enlarged, make_stacks
from prudent.engine.record import (
    BAD_PHASE,
    BAD_SCORE,
    FINE,
    HALTED,
    Record,
    clear,
    clear_arms,
    no_arms,
    no_statistics,
    write_down,
)
from prudent.engine.stepping import next_phase
from prudent.policies.base import Arms


@kernel
def leap_scores(
    policy: Any,
    src: Sources,
    log_failure: float,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Any,
) -> int:
    """Run a policy whose score does not depend on time and has a `score_bound`; arguments as for `step_scores`.

    With `log_failure` 0 every bound is certain; else those of a Gaussian block fail with probability e^−log_failure.
    """
    n_runs, _, n_arms = record.pulls.shape
    arms, saved = no_statistics(n_arms), no_statistics(n_arms)
    scores = np.empty(n_arms)
    stacks = make_stacks(src, ROOM)
    for run in range(n_runs):
        clear(arms)
        stacks.n_ahead[:] = 0
        stacks.n_behind[:] = 0
        scores[:] = -math.inf
        level = -math.inf
        for snapshot in range(len(rounds)):
            horizon = rounds[snapshot]
            full = True
            while full:
                if halt[0]:
                    return HALTED
                level, full = raise_level(policy, src, log_failure, horizon, level, arms, scores, saved, stacks, rng)
                if full and stacks.ahead.shape[1] >= MOST_ROOM:
                    break
                if full:
                    stacks = enlarged(src, stacks)
            level = play_out(policy, src, log_failure, horizon, level, arms, scores, stacks, rng)
            if any_nan(scores):
                return BAD_SCORE
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@kernel
def leap_phases(policy: Any, laws: Laws, best: int, rounds: Counts, record: Record, halt: Marks, rng: Any) -> int:
    """Run a policy with phases, one block for each arm and phase; arguments as for `step_phases`."""
    n_runs, _, n_arms = record.pulls.shape
    arms = no_arms(n_arms, 0)
    chosen = np.empty(n_arms, np.bool_)
    for run in range(n_runs):
        clear_arms(arms)
        chosen[:] = True
        t, snapshot = 0, 0
        while snapshot < len(rounds):
            repeats = next_phase(policy, arms, t + 1, chosen, rng)
            if repeats < 1:
                return BAD_PHASE
            if halt[0]:
                return HALTED
            in_turn, played = int(chosen.sum()), 0
            length = repeats * in_turn if repeats <= rounds[-1] else rounds[-1]
            while played < length and snapshot < len(rounds):
                stretch = min(length - played, rounds[snapshot] - t)
                take_turns(arms, chosen, in_turn, played, played + stretch, laws, rng)
                played += stretch
                t += stretch
                if t == rounds[snapshot]:
                    write_down(record, run, snapshot, arms, laws, best, rng)
                    snapshot += 1
    return FINE


@kernel
def take_turns(arms: Arms, chosen: Marks, in_turn: int, start: int, stop: int, laws: Laws, rng: Any) -> None:
    """Pulls start…stop of a phase whose chosen arms go in turn, as one block per arm."""
    place = 0
    for i in range(len(chosen)):
        if chosen[i]:
            size = (stop - place + in_turn - 1) // in_turn - (start - place + in_turn - 1) // in_turn
            place += 1
            mean, variance = draw_block(laws, i, size, rng)
            arms.mean[i], arms.variance[i] = merge(arms.pulls[i], arms.mean[i], arms.variance[i], size, mean, variance)
            arms.pulls[i] += size
