"""The compiled search: a strategy says what to pull, until it has seen enough.

Where mean and variance determine the risk, the pulls of a phase come as one block, whose law is known for many arms:
then a strategy of few phases costs the same for any budget.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import Laws, draw, draw_block, include, merge
from prudent.base.arrays import Counts, Marks
from prudent.compile.types import kernel
from prudent.engine.record import BAD_COST, BAD_PHASE, FINE, HALTED, clear_arms, no_arms
from prudent.policies.contract import Arms
from prudent.policies.helpers import cheapest
from prudent.policies.scoring import insert

FIRST_ROOM = 256


class Found(NamedTuple):
    """What a search leaves: per run the answer (−1: no arm), whether it was sure, and the pulls of each arm."""

    recommended: Counts
    decided: Marks
    pulls: Counts

    @classmethod
    def empty(cls, runs: int, n_arms: int) -> "Found":
        return cls(np.empty(runs, np.int64), np.empty(runs, np.bool_), np.empty((runs, n_arms), np.int64))

    def part(self, runs: slice) -> "Found":
        """A view of some of the runs."""
        return Found._make(array[runs] for array in self)


@kernel
def search(
    strategy: Any, risk: Any, keep: bool, laws: Laws, most_pulls: int, found: Found, halt: Marks, rng: Generator
) -> int:
    """Search in every run until the strategy ends, or would exceed `most_pulls` and stays undecided.

    Costs are estimated by `risk`; `keep` says whether that takes single rewards. Soon after `halt[0]` is set it ends.
    """
    n_runs, n_arms = found.pulls.shape
    arms = no_arms(n_arms, FIRST_ROOM if keep else 0)
    chosen = np.empty(n_arms, np.bool_)
    for run in range(n_runs):
        clear_arms(arms)
        chosen[:] = True
        rounds, total = 0, 0
        while True:
            if halt[0]:
                return HALTED
            repeats = strategy.phase(arms, rounds + 1, chosen, rng)
            if repeats == 0:
                break
            if repeats < 0 or not chosen.any():
                return BAD_PHASE
            total += min(repeats, most_pulls + 1) * chosen.sum()  # FOREVER times the arms would wrap around
            if total > most_pulls:
                break
            if keep and rounds + repeats > arms.rewards.shape[1]:
                arms = _with_room(arms, rounds + repeats)
            for i in range(n_arms):
                if chosen[i]:
                    _pull(arms, keep, laws, i, repeats, rng)
                    arms.cost[i] = risk.estimate(arms.mean[i], arms.variance[i], arms.rewards[i, : arms.pulls[i]])
                    if math.isnan(arms.cost[i]):
                        return BAD_COST
            rounds += repeats
        for i in range(n_arms):  # one by one: Numba takes a second to compile an assignment of arrays
            found.pulls[run, i] = arms.pulls[i]
        found.recommended[run] = cheapest(arms)
        found.decided[run] = total <= most_pulls
    return FINE


@kernel
def _pull(arms: Arms, keep: bool, laws: Laws, i: int, times: int, rng: Generator) -> None:
    """Pull arm i and note what it gave."""
    before = arms.pulls[i]
    arms.pulls[i] += times
    if not keep and times > 1:
        mean, variance = draw_block(laws, i, times, rng)
        arms.mean[i], arms.variance[i] = merge(before, arms.mean[i], arms.variance[i], times, mean, variance)
        return
    for s in range(before, before + times):
        reward = draw(laws, i, rng)
        arms.mean[i], arms.variance[i] = include(s + 1, arms.mean[i], arms.variance[i], reward)
        if keep:
            if times == 1:
                insert(arms.rewards, i, s, reward)
            else:
                arms.rewards[i, s] = reward
    if keep and times > 1:  # cheaper than as many insertions
        arms.rewards[i, : before + times].sort()


@kernel
def _with_room(arms: Arms, needed: int) -> Arms:
    """The same arms with more room for rewards, at least twice as much."""
    room = arms.rewards.shape[1]
    larger = np.empty((arms.rewards.shape[0], max(2 * room, needed)))
    rewards = arms.rewards  # by name, because the tuple would count references in the loop
    for i in range(len(rewards)):
        for s in range(room):
            larger[i, s] = rewards[i, s]
    return Arms(arms.pulls, arms.mean, arms.variance, arms.cost, arms.alive, larger)
