"""The compiled search: a strategy says what to pull, until it has seen enough.

Where mean and variance determine the risk, the pulls of a phase come as one block, whose law is known for many arms:
then a strategy of few phases costs the same for any budget.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.arms.sampling import Laws, draw, draw_block, include, merge
from prudent.compiled import insert, kernel
from prudent.identification.base import Evidence, cheapest

FINE, BAD_COST, BAD_PHASE = range(3)
FIRST_ROOM = 256


class Found(NamedTuple):
    """What a search leaves: per run the answer (−1: no arm will do), whether it was sure, and the pulls of each arm."""

    recommended: NDArray[np.int64]
    decided: NDArray[np.bool_]
    pulls: NDArray[np.int64]

    def part(self, runs: slice) -> "Found":
        """A view of some of the runs."""
        return Found._make(array[runs] for array in self)


@kernel
def explore(strategy: Any, risk: Any, by_moments: bool, laws: Laws, most_pulls: int, found: Found, rng: Any) -> int:
    """Search in every run until the strategy ends, or would exceed `most_pulls` and stays undecided."""
    n_runs, n_arms = found.pulls.shape
    rewards = np.empty((n_arms, 0 if by_moments else FIRST_ROOM))
    mean, variance, cost = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    chosen, alive = np.empty(n_arms, np.bool_), np.empty(n_arms, np.bool_)
    for run in range(n_runs):
        pulls = found.pulls[run]
        pulls[:] = 0
        mean[:] = 0.0
        variance[:] = 0.0
        cost[:] = math.inf
        alive[:] = True
        arms = Evidence(pulls, mean, variance, cost, alive, rewards)
        rounds, total = 0, 0
        while True:
            repeats = strategy.phase(arms, rounds, chosen)
            if repeats == 0:
                break
            if repeats < 0 or not chosen.any():
                return BAD_PHASE
            total += repeats * chosen.sum()
            if total > most_pulls:
                break
            if not by_moments and rounds + repeats > rewards.shape[1]:
                rewards = _grown(rewards, rounds + repeats)
                arms = Evidence(pulls, mean, variance, cost, alive, rewards)
            for i in range(n_arms):
                if chosen[i]:
                    _pull(arms, by_moments, laws, i, repeats, rng)
                    cost[i] = risk.estimate(mean[i], variance[i], rewards[i, : pulls[i]])
                    if math.isnan(cost[i]):
                        return BAD_COST
            rounds += repeats
        found.recommended[run] = cheapest(arms)
        found.decided[run] = total <= most_pulls
    return FINE


@kernel
def _pull(arms: Evidence, by_moments: bool, laws: Laws, i: int, times: int, rng: Any) -> None:
    """Pull arm i and note what it gave."""
    before = arms.pulls[i]
    arms.pulls[i] += times
    if by_moments and times > 1:
        mean, variance = draw_block(laws, i, times, rng)
        arms.mean[i], arms.variance[i] = merge(before, arms.mean[i], arms.variance[i], times, mean, variance)
        return
    for s in range(before, before + times):
        reward = draw(laws, i, rng)
        arms.mean[i], arms.variance[i] = include(s + 1, arms.mean[i], arms.variance[i], reward)
        if not by_moments:
            if times == 1:
                insert(arms.rewards, i, s, reward)
            else:
                arms.rewards[i, s] = reward
    if not by_moments and times > 1:  # cheaper than as many insertions
        arms.rewards[i, : before + times].sort()


@kernel
def _grown(rewards: NDArray[np.float64], needed: int) -> NDArray[np.float64]:
    """More room for rewards, at least twice as much."""
    room = rewards.shape[1]
    larger = np.empty((rewards.shape[0], max(2 * room, needed)))
    larger[:, :room] = rewards
    return larger
