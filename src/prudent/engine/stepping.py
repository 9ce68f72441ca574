"""The stepping engine: every round is simulated.

One loop is for policies that score arms, one for policies with phases. Both run compiled, and interpreted through
`.py_func` with the same numbers, because Numba draws bit for bit as NumPy does.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prudent.arms.sampling import GAUSSIAN, Laws, draw, include
from prudent.compiled import keep, kernel, rewards_of, score_of
from prudent.engine.record import Record, write_down
from prudent.policies import Arm, Arms

FINE, BAD_SCORE, BAD_PHASE = range(3)


@kernel
def step_scores(
    policy: Any,
    clock_free: bool,
    room: int,
    laws: Laws,
    best: int,
    rounds: NDArray[np.int64],
    record: Record,
    rng: Any,
) -> int:
    """Run a policy that scores arms; `rounds` are the snapshots, the last one the horizon. Returns a status.

    `room` is how many rewards of an arm there may be to keep: the horizon, or 0 for a policy that asks for none.
    Memory grows with what is kept.
    """
    n_runs, _, n_arms = record.pulls.shape
    # In the loop, arrays go by name and Gaussian draws, the commonest, stand in line: passing the tuples on would
    # count references in every round.
    kind, start, table = laws.kind, laws.start, laws.table
    pulls, mean, variance = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    arms = Arms(pulls, mean, variance)
    scores = np.empty(n_arms)
    kept = np.empty((n_arms, room))
    for run in range(n_runs):
        clear(arms)
        scores[:] = -math.inf
        t = 0
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                t += 1
                if not clock_free:
                    for i in range(n_arms):
                        if pulls[i] > 0:
                            rewards = rewards_of(policy, kept, i, pulls[i])
                            scores[i] = score_of(policy, Arm(pulls[i], mean[i], variance[i]), t, rng, rewards)
                            if math.isnan(scores[i]):
                                return BAD_SCORE
                pulled = 0
                for i in range(1, n_arms):
                    if scores[i] < scores[pulled]:
                        pulled = i
                if kind[pulled] == GAUSSIAN:
                    reward = table[start[pulled]] + table[start[pulled] + 1] * rng.standard_normal()
                else:
                    reward = draw(laws, pulled, rng)
                keep(policy, kept, pulled, pulls[pulled], reward)
                pulls[pulled] += 1
                mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
                if clock_free:
                    arm = Arm(pulls[pulled], mean[pulled], variance[pulled])
                    scores[pulled] = score_of(policy, arm, t, rng, rewards_of(policy, kept, pulled, pulls[pulled]))
                if math.isnan(scores[pulled]):
                    return BAD_SCORE
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@kernel
def step_phases(policy: Any, laws: Laws, best: int, rounds: NDArray[np.int64], record: Record, rng: Any) -> int:
    """Run a policy with phases; `rounds` are the snapshots, the last one the horizon. Returns a status."""
    n_runs, _, n_arms = record.pulls.shape
    kind, start, table = laws.kind, laws.start, laws.table
    pulls, mean, variance = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    arms = Arms(pulls, mean, variance)
    chosen = np.empty(n_arms, np.bool_)
    for run in range(n_runs):
        clear(arms)
        chosen[:] = True
        t, snapshot = 0, 0
        while snapshot < len(rounds):
            repeats = policy.phase(arms, t + 1, chosen, rng)
            if repeats < 1 or not chosen.any():
                return BAD_PHASE
            while repeats > 0 and snapshot < len(rounds):
                repeats -= 1
                for i in range(n_arms):
                    if chosen[i] and snapshot < len(rounds):
                        pulls[i] += 1
                        if kind[i] == GAUSSIAN:
                            reward = table[start[i]] + table[start[i] + 1] * rng.standard_normal()
                        else:
                            reward = draw(laws, i, rng)
                        mean[i], variance[i] = include(pulls[i], mean[i], variance[i], reward)
                        t += 1
                        if t == rounds[snapshot]:
                            write_down(record, run, snapshot, arms, laws, best, rng)
                            snapshot += 1
    return FINE


@kernel
def clear(arms: Arms) -> None:
    """No pulls yet."""
    arms.pulls[:] = 0
    arms.mean[:] = 0.0
    arms.variance[:] = 0.0
