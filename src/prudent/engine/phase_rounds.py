"""The phases of a policy that decides by phases: round by round, or a block for each arm.

As in prudent.engine.score_rounds there is one loop for all, of which the compiler leaves out what is None.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import (
    BERNOULLI,
    GAUSSIAN,
    TABLED,
    Laws,
    draw,
    draw_block,
    include,
    merge,
    tabled,
)
from prudent.base.arrays import Counts, Marks
from prudent.compile.types import helper, kernel
from prudent.engine.late import show
from prudent.engine.record import (
    BAD_PHASE,
    FINE,
    HALTED,
    Past,
    Record,
    Statistics,
    clear,
    clear_arms,
    no_arms,
    no_statistics,
    write_down,
)
from prudent.engine.score_rounds import begin
from prudent.policies.contract import FOREVER, Arms, ReadyPolicy
from prudent.policies.helpers import answer, choose_only
from prudent.policies.scoring import cost_of, insert


@helper
def next_phase(policy: ReadyPolicy, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
    """Ask the policy for its next phase; returns the repetitions, fewer than 1 if something is wrong.

    The arms chosen before have new rewards, so their costs are estimated again. A policy that is done has its answer
    pulled to the end.
    """
    pulls, cost = arms.pulls, arms.cost
    for i in range(len(chosen)):
        if chosen[i] and pulls[i] > 0:
            cost[i] = cost_of(policy, arms, i)
    repeats = policy.phase(arms, t, chosen, rng)
    if repeats == 0:
        best = answer(arms)
        if best >= 0:
            choose_only(chosen, best)
            return FOREVER
    return repeats if chosen.any() else -1


@kernel
def play_phases(
    policy: ReadyPolicy,
    room: int,
    blocks: bool | None,
    batch: int | None,
    past: Past | None,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Generator,
) -> int:
    """Run a policy of phases; `rounds` are the snapshots, the last one the horizon. Returns a status.

    `room` is how many rewards of an arm there may be to keep: the horizon, or 0 if its costs need none. With `blocks`
    the rewards of an arm in a phase are drawn at once; `batch` and `past` are as for `play_scores`. Soon after
    `halt[0]` is set it ends.
    """
    n_runs, _, n_arms = record.pulls.shape
    kind, start, table = laws.kind, laws.start, laws.table
    known = no_arms(n_arms, room)
    kept = known.rewards
    arms = Statistics(known.pulls, known.mean, known.variance) if batch is None else no_statistics(n_arms)
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    chosen, due = np.empty(n_arms, np.bool_), np.empty(n_arms, np.int64)
    if batch is not None:
        late = np.empty((min(batch, room), 2))
    elapsed = 0 if past is None else past.elapsed
    for run in range(n_runs):
        clear_arms(known)
        chosen[:] = True
        t, snapshot, left = 0, 0, 0
        if batch is not None:
            clear(arms)
        if past is not None:
            begin(past, run, n_runs, arms, laws)
            left = begin_phase(policy, past, known, due, chosen)
        while snapshot < len(rounds):
            if left == 0:
                left = next_phase(policy, known, elapsed + t + 1, chosen, rng)
                if left < 1:
                    return BAD_PHASE
                if past is not None:
                    for i in range(n_arms):
                        due[i] = left if chosen[i] else 0
            if blocks is not None:
                if halt[0]:
                    return HALTED
                in_turn, played = int(chosen.sum()), 0
                length = left * in_turn if left <= rounds[-1] else rounds[-1]
                while played < length and snapshot < len(rounds):
                    stretch = min(length - played, rounds[snapshot] - t)
                    take_turns(arms, chosen, in_turn, played, played + stretch, laws, rng)
                    played += stretch
                    t += stretch
                    if t == rounds[snapshot]:
                        write_down(record, run, snapshot, arms, laws, best, rng)
                        snapshot += 1
                left = 0
            else:
                # Arms go in turn; from the middle of a phase the one due most often is first.
                while left > 0 and snapshot < len(rounds):
                    if halt[0]:
                        return HALTED
                    for i in range(n_arms):
                        its_turn = chosen[i] if past is None else due[i] >= left
                        if its_turn and snapshot < len(rounds):
                            if kind[i] == GAUSSIAN:
                                reward = table[start[i]] + table[start[i] + 1] * rng.standard_normal()
                            elif kind[i] == BERNOULLI:
                                reward = 1.0 if rng.random() < table[start[i]] else 0.0
                            elif kind[i] == TABLED:
                                reward = tabled(table, start[i], rng)
                            elif past is not None:  # `PairLaws`
                                at = start[i]
                                reward = table[at + 4] if rng.random() < table[at + 2] else table[at + 5]
                            else:
                                reward = draw(laws, i, rng)
                            if batch is None:
                                if room > 0:
                                    insert(kept, i, pulls[i], reward)
                            elif len(late) > 0:
                                late[t % len(late), 0], late[t % len(late), 1] = i, reward
                            pulls[i] += 1
                            mean[i], variance[i] = include(pulls[i], mean[i], variance[i], reward)
                            t += 1
                            if batch is not None and t % batch == 0:
                                show(policy, arms, late, known)
                            if t == rounds[snapshot]:
                                write_down(record, run, snapshot, arms, laws, best, rng)
                                snapshot += 1
                    left -= 1
    return FINE


@helper
def begin_phase(policy: ReadyPolicy, past: Past, arms: Arms, due: Counts, chosen: Marks) -> int:
    """From the middle of a phase: the arms due, alive and chosen, and what they cost; how often one is due at most."""
    for i in range(len(chosen)):
        due[i], chosen[i], arms.alive[i] = past.due[i], past.chosen[i], past.alive[i]
        arms.cost[i] = math.inf
        if arms.pulls[i] > 0:
            arms.cost[i] = cost_of(policy, arms, i)
    return int(due.max())


@kernel
def take_turns(arms: Any, chosen: Marks, in_turn: int, first: int, end: int, laws: Laws, rng: Generator) -> None:
    """The pulls of a phase from the `first` to before the `end`, whose chosen arms go in turn, as one block per arm."""
    place = 0
    for i in range(len(chosen)):
        if chosen[i]:
            size = (end - place + in_turn - 1) // in_turn - (first - place + in_turn - 1) // in_turn
            place += 1
            mean, variance = draw_block(laws, i, size, rng)
            arms.mean[i], arms.variance[i] = merge(arms.pulls[i], arms.mean[i], arms.variance[i], size, mean, variance)
            arms.pulls[i] += size
