"""Stepping with late rewards: the policy sees them only at the end of each batch of rounds.

The choices are those of an agent that is asked for a whole batch before it is told any of its rewards (docs: live).
Statistics are kept twice: as they are, which is what a run leaves, and as the policy has `seen` them. The loops stand
apart from those of `stepping`, so that rewards that are seen at once cost nothing more.
"""

import math
from typing import Any

import numpy as np

from prudent.arms.sampling import Laws, draw, include
from prudent.arrays import Array, Counts, Marks
from prudent.compiled import helper, in_kernels, kernel
from prudent.engine.record import (
    BAD_PHASE,
    BAD_SCORE,
    FINE,
    HALTED,
    Record,
    Statistics,
    clear,
    clear_arms,
    copy_statistics,
    no_arms,
    no_statistics,
    write_down,
)
from prudent.engine.stepping import next_phase
from prudent.policies.base import Arm
from prudent.policies.scoring import compares, cost_of, insert, keep, kept_of, own_cost, score_of
from prudent.policies.ties import arm_of, below


@helper
def least_busy(scores: Array, seen: Statistics, arms: Statistics) -> int:
    """The arm with the smallest score, ties to the one with the fewest rewards not seen yet, then the lowest number."""
    best = 0
    for i in range(1, len(scores)):
        one, other = arm_of(seen, i), arm_of(seen, best)
        less_busy = arms.pulls[i] - seen.pulls[i] < arms.pulls[best] - seen.pulls[best]
        if below(scores[i], one, scores[best], other) or (less_busy and not below(scores[best], other, scores[i], one)):
            best = i
    return best


@helper
def pull(laws: Laws, i: int, arms: Statistics, t: int, late: Array, rng: Any) -> None:
    """A reward of arm i in round t joins the statistics; it is written down in `late`, if there is room."""
    reward = draw(laws, i, rng)
    arms.pulls[i] += 1
    arms.mean[i], arms.variance[i] = include(arms.pulls[i], arms.mean[i], arms.variance[i], reward)
    if len(late) > 0:
        late[(t - 1) % len(late), 0], late[(t - 1) % len(late), 1] = i, reward


@helper
def show(arms: Statistics, late: Array, seen: Any, kept: Array) -> None:
    """The policy gets to see a batch: its rewards take their places among those kept, if any are."""
    for row in range(len(late)):
        i = int(late[row, 0])
        insert(kept, i, seen.pulls[i], late[row, 1])
        seen.pulls[i] += 1
    copy_statistics(arms, Statistics(seen.pulls, seen.mean, seen.variance))


@helper
def show_scorer(policy: Any, arms: Statistics, late: Array, seen: Statistics, kept: Array) -> None:
    """A policy that scores arms gets to see a batch: what its score asks for is kept."""
    for row in range(len(late)):
        i = int(late[row, 0])
        keep(policy, kept, i, seen.pulls[i], late[row, 1])
        seen.pulls[i] += 1
    copy_statistics(arms, seen)


def best_cost_of(policy: Any, seen: Statistics, kept: Array) -> float:
    """The smallest estimated cost of all arms with rewards, for a score that asks for it; 0 for others."""
    return _smallest_cost(policy, seen, kept) if compares(type(policy)) else 0.0


@in_kernels(best_cost_of)
def _best_cost_of(policy: Any, seen: Any, kept: Any) -> Any:
    if compares(policy.instance_class):
        return _smallest_cost
    return lambda policy, seen, kept: 0.0


@helper
def _smallest_cost(policy: Any, seen: Statistics, kept: Array) -> float:
    smallest = math.inf
    for i in range(len(seen.pulls)):
        if seen.pulls[i] > 0:
            smallest = min(smallest, own_cost(policy, arm_of(seen, i), kept_of(policy, kept, i, seen.pulls[i])))
    return smallest


@kernel
def batch_scores(
    policy: Any,
    clock_free: bool,
    batch: int,
    room: int,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Any,
) -> int:
    """Run a policy that scores arms; arguments as for `step_scores`, and the rounds of a batch."""
    n_runs, _, n_arms = record.pulls.shape
    arms, seen, scores = no_statistics(n_arms), no_statistics(n_arms), np.empty(n_arms)
    kept, late = np.zeros((n_arms, room)), np.empty((min(batch, rounds[-1]) if room > 0 else 0, 2))
    for run in range(n_runs):
        clear(arms)
        clear(seen)
        kept[:] = 0.0
        t, best_cost = 0, math.inf
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                if halt[0]:
                    return HALTED
                t += 1
                if (t - 1) % batch == 0:
                    best_cost = best_cost_of(policy, seen, kept)
                for i in range(n_arms):
                    if clock_free and (t - 1) % batch > 0:
                        continue  # scored at the start of the batch
                    scores[i] = -math.inf
                    if seen.pulls[i] > 0:
                        arm = Arm(seen.pulls[i], seen.mean[i], seen.variance[i])
                        scores[i] = score_of(policy, arm, best_cost, t, rng, kept_of(policy, kept, i, seen.pulls[i]))
                        if math.isnan(scores[i]):
                            return BAD_SCORE
                pull(laws, least_busy(scores, seen, arms), arms, t, late, rng)
                if t % batch == 0:
                    show_scorer(policy, arms, late, seen, kept)
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@kernel
def batch_phases(
    policy: Any, batch: int, room: int, laws: Laws, best: int, rounds: Counts, record: Record, halt: Marks, rng: Any
) -> int:
    """Run a policy of phases; arguments as for `step_phases`, and the rounds of a batch."""
    n_runs, _, n_arms = record.pulls.shape
    arms, seen, chosen = no_statistics(n_arms), no_arms(n_arms, room), np.empty(n_arms, np.bool_)
    late = np.empty((min(batch, room), 2))
    for run in range(n_runs):
        clear(arms)
        clear_arms(seen)
        chosen[:] = True
        t, snapshot = 0, 0
        while snapshot < len(rounds):
            repeats = next_phase(policy, seen, t + 1, chosen, rng)
            if repeats < 1:
                return BAD_PHASE
            while repeats > 0 and snapshot < len(rounds):
                if halt[0]:
                    return HALTED
                repeats -= 1
                for i in range(n_arms):
                    if chosen[i] and snapshot < len(rounds):
                        t += 1
                        pull(laws, i, arms, t, late, rng)
                        if t % batch == 0:
                            show(arms, late, seen, seen.rewards)
                            for j in range(n_arms):
                                if seen.pulls[j] > 0:
                                    seen.cost[j] = cost_of(policy, seen, j)
                        if t == rounds[snapshot]:
                            write_down(record, run, snapshot, arms, laws, best, rng)
                            snapshot += 1
    return FINE
