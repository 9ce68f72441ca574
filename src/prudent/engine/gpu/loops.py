"""The loop of one run, and the twins of a run, for a thread of a GPU; plain Python, so that the CPU compiles it too.

Arrays of the size of a run come from outside, because each target has its own way to make them.
"""

import math
from typing import Any, NamedTuple

from prudent.arms.sampling import Laws, draw, draw_block, include
from prudent.base.arrays import Array, Counts
from prudent.compile.types import helper, with_methods
from prudent.engine.gpu.generator import REWARDS, SCORES, TWINS, Philox
from prudent.engine.record import BAD_SCORE, FINE, Record
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.scoring import best_cost_of, score_of
from prudent.policies.ties import lowest


class Room(NamedTuple):
    """What a thread keeps of its run: of every arm the pulls, mean, variance and score, and normals left (`Philox`).

    `spare` has a place for each arm and one for rewards, `taken` a single one.
    """

    pulls: Counts
    mean: Array
    variance: Array
    scores: Array
    spare: Array
    taken: Any


@helper
def stream_of(key: Any, run: Any, owner: int, t: int, taken: Any, spare: Array, at: int) -> Any:
    """The stream of an owner in a round, from 0, of a run; a normal may be left from an even round to the next."""
    taken[0] = 0
    if t % 2 == 0:
        spare[at] = math.nan
    return with_methods(Philox(key, t, run, owner, taken, spare, at))


@helper
def step_run(
    policy: ReadyPolicy,
    rescored: bool,
    ties: bool,
    gaussian: bool,
    laws: Laws,
    rounds: Counts,
    record: Record,
    at: int,
    key: object,
    run: object,
    room: Room,
) -> int:
    """Play a run that `record` has at a place, with the streams of the `run`; returns a status.

    `rescored` tells whether every score changes in every round, `ties` whether scores can be equal, and `gaussian`
    whether all arms are: then a normal may be left for the next reward.
    """
    pulls, mean, variance, scores, spare, taken = room
    n_arms = len(pulls)
    for i in range(n_arms):
        pulls[i], mean[i], variance[i], scores[i], spare[i] = 0, 0.0, 0.0, -math.inf, math.nan
    t = 0
    for snapshot in range(len(rounds)):
        last = rounds[snapshot]
        while t < last:
            best_cost = best_cost_of(policy, room, None)
            pulled, low = 0, math.inf
            for i in range(n_arms):
                score = -math.inf if rescored else scores[i]
                if rescored and pulls[i] > 0:
                    rng = stream_of(key, run, SCORES + i, t, taken, spare, i)
                    score = score_of(policy, Arm(int(pulls[i]), mean[i], variance[i]), best_cost, t + 1, rng, None)
                    if math.isnan(score):
                        return BAD_SCORE
                if ties:
                    scores[i] = score
                elif score < low:
                    pulled, low = i, score
            if ties:
                pulled = lowest(scores, room)
            if not gaussian:
                spare[n_arms] = math.nan
            rng = stream_of(key, run, REWARDS, t, taken, spare, n_arms)
            reward = draw(laws, pulled, rng)
            t += 1
            count = int(pulls[pulled]) + 1
            m, v = include(count, mean[pulled], variance[pulled], reward)
            pulls[pulled], mean[pulled], variance[pulled] = count, m, v
            if not rescored:
                scores[pulled] = score_of(policy, Arm(count, m, v), 0.0, t, rng, None)
                if math.isnan(scores[pulled]):
                    return BAD_SCORE
        for i in range(n_arms):
            record.pulls[at, snapshot, i] = pulls[i]
            record.mean[at, snapshot, i] = mean[i]
            record.variance[at, snapshot, i] = variance[i]
    return FINE


@helper
def draw_twins(
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    at: int,
    i: int,
    key: object,
    run: object,
    taken: object,
    spare: Array,
) -> None:
    """Draw the twins of arm i in the run that `record` has at a place: for each snapshot, from its round's stream."""
    for snapshot in range(len(rounds)):
        mean, variance = record.mean[at, snapshot, i], record.variance[at, snapshot, i]
        if i != best:
            spare[0] = math.nan
            rng = stream_of(key, run, TWINS + i, rounds[snapshot], taken, spare, 0)
            mean, variance = draw_block(laws, best, record.pulls[at, snapshot, i], rng)
        record.twin_mean[at, snapshot, i] = mean
        record.twin_variance[at, snapshot, i] = variance
