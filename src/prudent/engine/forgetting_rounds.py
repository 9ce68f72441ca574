"""Every round of a policy that forgets (prudent.policies.forgetting), one after the other.

What is remembered of an arm is kept beside what it gave: the number of rewards that count, which is a fraction if they
are discounted, their mean and variance, and counts of values for a score that asks for them. Scores of all arms change
with every round, since every round fades what is known of them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import BERNOULLI, GAUSSIAN, TABLED, Laws, draw, include, may_tie, tabled
from prudent.base.arrays import Array, Counts, Marks
from prudent.compile.types import absorbed, helper, kernel
from prudent.engine.record import BAD_SCORE, FINE, HALTED, Record, clear, no_statistics, write_down
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.scoring import best_cost_of, keep, kept_of, room_for, score_of, unkeep
from prudent.policies.ties import lowest


class Remembered(NamedTuple):
    """Per arm how many rewards count, their mean and variance."""

    pulls: Array
    mean: Array
    variance: Array


def forgetting(ready: Any) -> tuple[float | None, int | None, int]:
    """The arguments of `play_forgetting` that follow the policy inside."""
    window = ready.window or None
    return None if window else ready.discount, window, room_for(ready.policy, 0)


@kernel
def play_forgetting(
    policy: ReadyPolicy,
    discount: float | None,
    window: int | None,
    room: int,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Generator,
) -> int:
    """Run a policy that forgets by a discount or after a window of rounds; one of them is None. Returns a status.

    `room` is how many values it counts, else 0; `rounds` are the snapshots. Soon after `halt[0]` is set it ends.
    """
    n_runs, _, n_arms = record.pulls.shape
    kind, start, table = laws.kind, laws.start, laws.table
    arms, scores, ties = no_statistics(n_arms), np.empty(n_arms), may_tie(laws, n_arms)
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    weight, near, spread = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    seen, kept = Remembered(weight, near, spread), np.zeros((n_arms, room))
    if window is not None:
        who, what = np.empty(window, np.int64), np.empty(window)
        sums, squares = np.empty(n_arms), np.empty(n_arms)
    for run in range(n_runs):
        clear(arms)
        clear(seen)
        kept[:] = 0.0
        t, at, clock, centre = 0, 0, 0.0, 0.0
        if window is not None:
            sums[:] = 0.0
            squares[:] = 0.0
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                if halt[0]:
                    return HALTED
                t += 1
                if window is not None:
                    clock = float(min(t, window))
                best_cost = best_cost_of(policy, seen, kept)
                pulled = 0
                for i in range(n_arms):
                    if weight[i] > 0.0:
                        known = kept_of(policy, kept, i, 0)
                        scores[i] = score_of(policy, Arm(weight[i], near[i], spread[i]), best_cost, clock, rng, known)
                        if math.isnan(scores[i]):
                            return BAD_SCORE
                    else:
                        scores[i] = -math.inf
                    if scores[i] < scores[pulled]:
                        pulled = i
                if ties:
                    pulled = lowest(scores, seen)
                if kind[pulled] == GAUSSIAN:
                    reward = table[start[pulled]] + table[start[pulled] + 1] * rng.standard_normal()
                elif kind[pulled] == BERNOULLI:
                    reward = 1.0 if rng.random() < table[start[pulled]] else 0.0
                elif kind[pulled] == TABLED:
                    reward = tabled(table, start[pulled], rng)
                else:
                    reward = draw(laws, pulled, rng)
                pulls[pulled] += 1
                mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
                if discount is not None:
                    fade(weight, kept, discount)
                    weight[pulled] += 1.0
                    near[pulled], spread[pulled] = include(weight[pulled], near[pulled], spread[pulled], reward)
                    clock = 0.0
                    for i in range(n_arms):
                        clock += weight[i]
                if window is not None:
                    if t == 1:
                        centre = reward
                    if t > window:
                        old = who[at]
                        unkeep(policy, kept, old, what[at])
                        settle(weight, near, spread, sums, squares, centre, old, what[at], -1.0)
                    settle(weight, near, spread, sums, squares, centre, pulled, reward, 1.0)
                    who[at], what[at] = pulled, reward
                    at += 1
                    if at == window:
                        at, centre = 0, reward
                        again(weight, near, spread, sums, squares, centre, who, what)
                keep(policy, kept, pulled, 0, reward)
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@absorbed
def fade(weight: Array, kept: Array, discount: float) -> None:
    """All that is remembered counts `discount` times as much."""
    for i in range(len(weight)):
        weight[i] *= discount
        for j in range(kept.shape[1]):
            kept[i, j] *= discount


@absorbed
def settle(
    weight: Array,
    mean: Array,
    variance: Array,
    sums: Array,
    squares: Array,
    centre: float,
    i: int,
    reward: float,
    sign: float,
) -> None:
    """A reward of arm i comes into the window or leaves it. Without a branch, since nobody foresees which arm an old
    reward is of. Sums are of distances from the centre, which is a reward, and of their squares."""
    above = reward - centre
    weight[i] += sign
    sums[i] += sign * above
    squares[i] += sign * above * above
    share = 1.0 / max(weight[i], 1.0)
    beyond = sums[i] * share
    mean[i] = centre + beyond
    variance[i] = max(squares[i] * share - beyond * beyond, 0.0)


@helper
def again(
    weight: Array,
    mean: Array,
    variance: Array,
    sums: Array,
    squares: Array,
    centre: float,
    who: Counts,
    what: Array,
) -> None:
    """All of it from the rewards of a full window, about a new centre, so that rounding does not add up."""
    for i in range(len(sums)):
        weight[i], sums[i], squares[i] = 0.0, 0.0, 0.0
    for at in range(len(who)):
        i, above = who[at], what[at] - centre
        weight[i] += 1.0
        sums[i] += above
        squares[i] += above * above
    for i in range(len(sums)):
        share = 1.0 / max(weight[i], 1.0)
        mean[i] = centre + sums[i] * share
        variance[i] = max(squares[i] * share - (sums[i] * share) ** 2, 0.0)
