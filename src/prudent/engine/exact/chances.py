"""The choices of a policy that tells their probabilities itself, in its method `chances`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent.base.arrays import Array, Counts
from prudent.base.errors import PrudentError
from prudent.compile.types import compilable, kernel
from prudent.engine.exact.lattice import Allocation, ArmStates, Lattice
from prudent.policies.contract import Arms
from prudent.policies.scoring import cost_of, costs_need_rewards

NO_CHANCES = "its chances must be at least 0 and add up to 1"
WRONG = 1e-9
"""Chances whose sum differs from 1 by more are wrong."""


class States(NamedTuple):
    """Mean, variance and estimated cost of an arm in each of its states, for kernels."""

    mean: Array
    variance: Array
    cost: Array


class Told(NamedTuple):
    """For two arms (prudent.engine.exact.pair): by the chances of both in each state. `arms` and `chances` are room for
    one state, `bad` is set where chances are none."""

    policy: Any
    first: States
    second: States
    arms: Arms
    chances: Array
    bad: Any

    def split(self, s: int, a: int, u: int, low: int, kept: Array, given: Array) -> None:
        i, j = s * (s + 1) // 2 + a, u * (u + 1) // 2 + low
        arms, chances = self.arms, self.chances
        arms.pulls[0], arms.pulls[1] = s, u
        arms.mean[0], arms.variance[0], arms.cost[0] = self.first.mean[i], self.first.variance[i], self.first.cost[i]
        for b in range(len(kept)):
            given[b] = 0.0
            if kept[b] > 0.0:
                arms.mean[1], arms.variance[1] = self.second.mean[j + b], self.second.variance[j + b]
                arms.cost[1] = self.second.cost[j + b]
                self.policy.chances(arms, s + u + 1, chances)
                if not (chances.min() >= 0.0 and abs(chances.sum() - 1.0) <= WRONG):
                    self.bad[0] = True
                given[b] = kept[b] * chances[1]
                kept[b] *= chances[0]


compilable(Told)


class ToldChances:
    """The choices of a policy with `chances`."""

    def __init__(self, owner: str, ready: Any, lattice: Lattice) -> None:
        if costs_need_rewards(ready):
            raise PrudentError(
                f"{owner}: its costs take every reward, not only mean and variance, which are all that chances get"
                ' here; use engine="auto"'
            )
        self.owner, self.ready, self.lattice = owner, ready, lattice
        self.states = {id(kind): self._states(kind) for kind in lattice.kinds}

    def _states(self, kind: ArmStates) -> States:
        return States(kind.mean, kind.variance, _costs(self.ready, kind.pulls, kind.mean, kind.variance))

    def at(self, t: int) -> None:
        """An allocation tells the round."""

    def of_pair(self, bad: Any) -> Told:
        """For two arms of two values."""
        first, second = (self.states[id(arm)] for arm in self.lattice.arms)
        return Told(self.ready, first, second, _room(2), np.zeros(2), bad)

    def check(self, bad: bool) -> None:
        """An error if there were chances that are none."""
        if bad:
            raise PrudentError(f"{self.owner}: {NO_CHANCES}")

    def shares(self, allocation: Allocation, weights: Array) -> Sequence[Array]:
        """The probability of each arm in the states of an allocation, whose weights these are."""
        possible = np.flatnonzero(weights)
        places = np.unravel_index(possible, weights.shape)
        own = [(self.states[id(self.lattice.arms[i])], self.lattice.arms[i].first[s]) for i, s in enumerate(allocation)]
        means, variances, costs = (
            np.array([table[which][begin + place] for (table, begin), place in zip(own, places, strict=True)])
            for which in range(3)
        )
        found = np.zeros((len(allocation), len(possible)))
        self.check(not _fill(self.ready, np.array(allocation), means, variances, costs, _room(len(allocation)), found))
        shares = np.zeros((len(allocation), weights.size))
        shares[:, possible] = found
        return [share.reshape(weights.shape) for share in shares]


def _room(n_arms: int) -> Arms:
    nothing = np.zeros(n_arms)
    alive = np.ones(n_arms, np.bool_)
    return Arms(np.zeros(n_arms, np.int64), nothing, nothing.copy(), nothing.copy(), alive, np.empty((n_arms, 0)))


@kernel
def _costs(policy: Any, pulls: Counts, mean: Array, variance: Array) -> Array:
    """The policy's estimate of an arm's cost in each state; ∞ before its first pull."""
    costs, alive = np.full(len(pulls), np.inf), np.ones(len(pulls), np.bool_)
    arms = Arms(pulls, mean, variance, costs, alive, np.empty((len(pulls), 0)))
    for state in range(len(pulls)):
        if pulls[state] > 0:
            costs[state] = cost_of(policy, arms, state)
    return costs


@kernel
def _fill(policy: Any, pulls: Counts, means: Array, variances: Array, costs: Array, arms: Arms, found: Array) -> bool:
    """The chances of each arm (rows) in each state (columns); whether they are some."""
    arms.pulls[:] = pulls
    chances = np.zeros(len(pulls))
    for state in range(found.shape[1]):
        for i in range(len(pulls)):
            arms.mean[i], arms.variance[i], arms.cost[i] = means[i, state], variances[i, state], costs[i, state]
        policy.chances(arms, arms.pulls.sum() + 1, chances)
        if not (chances.min() >= 0.0 and abs(chances.sum() - 1.0) <= WRONG):
            return False
        found[:, state] = chances
    return True
