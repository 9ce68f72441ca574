"""The stepping engine: every round is simulated.

One loop is for policies that score arms, one for policies with phases. Both run compiled, and interpreted through
`.py_func` with the same numbers, because Numba draws bit for bit as NumPy does.
"""

import math
from typing import Any

import numpy as np

from prudent.arms.sampling import BERNOULLI, GAUSSIAN, TABLED, Laws, draw, include, may_tie, tabled
from prudent.arrays import Counts, Marks
from prudent.compiled import helper, kernel
from prudent.engine.record import (
    BAD_PHASE,
    BAD_SCORE,
    FINE,
    HALTED,
    Record,
    Statistics,
    clear,
    clear_arms,
    no_arms,
    write_down,
)
from prudent.policies.base import FOREVER, Arm, Arms
from prudent.policies.helpers import answer, choose_only
from prudent.policies.scoring import cost_of, insert, keep, kept_of, score_of
from prudent.policies.ties import lowest


@kernel
def step_scores(
    policy: Any,
    clock_free: bool,
    room: int,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Any,
) -> int:
    """Run a policy that scores arms; `rounds` are the snapshots, the last one the horizon. Returns a status.

    `room` is how many numbers of an arm there may be to keep (`room_for`), 0 for a policy that asks for none. Memory
    grows with what is kept. Soon after `halt[0]` is set it ends.
    """
    n_runs, _, n_arms = record.pulls.shape
    # In the loop, arrays go by name and the commonest draws stand in line: passing the tuples on would count
    # references in every round.
    kind, start, table = laws.kind, laws.start, laws.table
    pulls, mean, variance = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    arms = Statistics(pulls, mean, variance)
    scores, ties = np.empty(n_arms), may_tie(laws, n_arms)
    kept = np.zeros((n_arms, room))
    for run in range(n_runs):
        clear(arms)
        kept[:] = 0.0
        scores[:] = -math.inf
        t = 0
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                if halt[0]:
                    return HALTED
                t += 1
                if not clock_free:
                    for i in range(n_arms):
                        if pulls[i] > 0:
                            seen = kept_of(policy, kept, i, pulls[i])
                            scores[i] = score_of(policy, Arm(pulls[i], mean[i], variance[i]), 0.0, t, rng, seen)
                            if math.isnan(scores[i]):
                                return BAD_SCORE
                pulled = 0
                if ties:
                    pulled = lowest(scores, arms)
                else:
                    for i in range(1, n_arms):
                        if scores[i] < scores[pulled]:
                            pulled = i
                if kind[pulled] == GAUSSIAN:
                    reward = table[start[pulled]] + table[start[pulled] + 1] * rng.standard_normal()
                elif kind[pulled] == BERNOULLI:
                    reward = 1.0 if rng.random() < table[start[pulled]] else 0.0
                elif kind[pulled] == TABLED:
                    reward = tabled(table, start[pulled], rng)
                else:
                    reward = draw(laws, pulled, rng)
                keep(policy, kept, pulled, pulls[pulled], reward)
                pulls[pulled] += 1
                mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
                if clock_free:
                    arm = Arm(pulls[pulled], mean[pulled], variance[pulled])
                    seen = kept_of(policy, kept, pulled, pulls[pulled])
                    scores[pulled] = score_of(policy, arm, 0.0, t, rng, seen)
                if math.isnan(scores[pulled]):
                    return BAD_SCORE
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@helper
def next_phase(policy: Any, arms: Arms, t: int, chosen: Marks, rng: Any) -> int:
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
def step_phases(
    policy: Any, room: int, laws: Laws, best: int, rounds: Counts, record: Record, halt: Marks, rng: Any
) -> int:
    """Play a policy of phases; `rounds` are the snapshots, the last one the horizon. Returns a status.

    `room` is how many rewards of an arm there may be to keep: the horizon, or 0 if its costs need none. Soon after
    `halt[0]` is set it ends.
    """
    n_runs, _, n_arms = record.pulls.shape
    kind, start, table = laws.kind, laws.start, laws.table
    arms = no_arms(n_arms, room)
    pulls, mean, variance, kept = arms.pulls, arms.mean, arms.variance, arms.rewards
    chosen = np.empty(n_arms, np.bool_)
    for run in range(n_runs):
        clear_arms(arms)
        chosen[:] = True
        t, snapshot = 0, 0
        while snapshot < len(rounds):
            repeats = next_phase(policy, arms, t + 1, chosen, rng)
            if repeats < 1:
                return BAD_PHASE
            while repeats > 0 and snapshot < len(rounds):
                if halt[0]:
                    return HALTED
                repeats -= 1
                for i in range(n_arms):
                    if chosen[i] and snapshot < len(rounds):
                        if kind[i] == GAUSSIAN:
                            reward = table[start[i]] + table[start[i] + 1] * rng.standard_normal()
                        elif kind[i] == BERNOULLI:
                            reward = 1.0 if rng.random() < table[start[i]] else 0.0
                        elif kind[i] == TABLED:
                            reward = tabled(table, start[i], rng)
                        else:
                            reward = draw(laws, i, rng)
                        if room > 0:
                            insert(kept, i, pulls[i], reward)
                        pulls[i] += 1
                        mean[i], variance[i] = include(pulls[i], mean[i], variance[i], reward)
                        t += 1
                        if t == rounds[snapshot]:
                            write_down(record, run, snapshot, arms, laws, best, rng)
                            snapshot += 1
    return FINE
