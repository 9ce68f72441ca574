"""With which probabilities a policy that scores arms pulls each of them, in every state of a layer.

A score of one arm alone is computed once for each state of that arm; the arm of smallest score is pulled, as
prudent.policies.ties says. A score that compares with the best cost is computed in each state of all arms. Scores of
drawn numbers give probabilities (prudent.engine.exact.draws).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.base.arrays import Array, Counts
from prudent.base.errors import PrudentError
from prudent.compile.types import kernel
from prudent.engine.exact.chances import ToldChances
from prudent.engine.exact.draws import DrawnScores
from prudent.engine.exact.lattice import Allocation, ArmStates, Lattice
from prudent.engine.record import BAD_SCORE, COMPLAINTS
from prudent.policies.contract import Arm
from prudent.policies.scoring import compares, keep, kept_of, needs_no_clock, own_cost, room_for, score_inputs, score_of
from prudent.policies.ties import below, rounding

Chosen = NDArray[np.int8]
"""The arm pulled in each state."""


class Known(NamedTuple):
    """What is known of an arm in each of its states, for kernels."""

    values: Array
    counts: Counts
    mean: Array
    variance: Array
    cost: Array
    as_best: Array
    """For policies that compare: their estimate of the arm's cost, and its score where that is the smallest one."""


Bounds = tuple[Array, Array]
"""Scores less and plus what rounding may have moved them, for each state of an arm. A score is below another one if its
upper bound is below the lower one of the other (prudent.policies.ties)."""


class Scores:
    """The choices of a policy whose score draws no random number."""

    def __init__(self, owner: str, ready: Any, lattice: Lattice) -> None:
        self.owner, self.ready, self.lattice = owner, ready, lattice
        self.room = room_for(ready, lattice.horizon)
        self.compared = compares(type(ready))
        self.clock_free = needs_no_clock(type(ready))
        self.known = {id(kind): self._known(kind) for kind in lattice.kinds}
        self.bounds: dict[int, Bounds] = {}

    def _known(self, kind: ArmStates) -> Known:
        """What is known of an arm of this kind."""
        none = np.zeros(0)
        known = Known(kind.values, kind.all_counts, kind.mean, kind.variance, none, none)
        if not self.compared:
            return known
        costs = np.asarray(_cost_states(self.ready, self.room, known))
        own = np.asarray(_score_states(self.ready, self.room, known, np.arange(len(costs)), costs, 0))
        return known._replace(cost=costs, as_best=own)

    def at(self, t: int) -> None:
        """Get ready for round t."""
        if not self.compared and not (self.bounds and self.clock_free):
            self.bounds = {id(kind): self._bounds(kind, t) for kind in self.lattice.kinds}

    def all_bounds(self) -> tuple[Counts, Array, Array]:
        """Of all rounds, for two arms: where those of a round begin, the lower ones of the first arm, the upper ones of
        the second."""
        n = self.lattice.horizon
        if self.clock_free:
            self.at(1)
            start = np.zeros(n + 2, np.int64)
            found = {key: ([low], [high]) for key, (low, high) in self.bounds.items()}
        else:
            found = {id(kind): ([], []) for kind in self.lattice.kinds}
            start = np.zeros(n + 2, np.int64)
            for t in range(1, n + 1):
                self.at(t)
                for key, both in self.bounds.items():
                    for part, own in zip(found[key], both, strict=True):
                        part.append(own)
                start[t + 1] = start[t] + len(both[0])
        first, second = (id(arm) for arm in self.lattice.arms)
        return start, np.concatenate(found[first][0]), np.concatenate(found[second][1])

    def comparison(self) -> tuple[Any, Array, Known, Known]:
        """For two arms: the policy, room for rewards, and what is known of each arm."""
        first, second = (self.known[id(arm)] for arm in self.lattice.arms)
        return self.ready, np.zeros((1, self.room)), first, second

    def check(self, bad: bool) -> None:
        """An error if there was a score that is no number."""
        if bad:
            raise PrudentError(f"{self.owner}: {COMPLAINTS[BAD_SCORE]}")

    def shares(self, allocation: Allocation, weights: Array) -> Sequence[Array]:
        """The probability of each arm in the states of an allocation, whose weights these are."""
        chosen = self._compared(allocation, weights) if self.compared else self._lowest(allocation)
        return [chosen == arm for arm in range(len(allocation))]

    def _lowest(self, allocation: Allocation) -> Chosen:
        """The arm of smallest score, ties to the lowest number."""
        arms = self.lattice.arms
        low, high = (
            np.ix_(*(self.bounds[id(arms[i])][side][arms[i].part(pulls)] for i, pulls in enumerate(allocation)))
            for side in (0, 1)
        )
        chosen: Chosen = np.zeros(np.broadcast_shapes(*(each.shape for each in low)), np.int8)
        least: Any = low[0]
        for arm in range(1, len(arms)):
            lower = high[arm] < least
            chosen[np.broadcast_to(lower, chosen.shape)] = arm
            least = np.where(lower, low[arm], least)
        return chosen

    def _compared(self, allocation: Allocation, weights: Array) -> Chosen:
        """The arm of lowest score, which takes the smallest cost of all arms in that state."""
        if 0 in allocation:
            return np.full(weights.shape, allocation.index(0), np.int8)
        arms, possible = self.lattice.arms, np.flatnonzero(weights)
        places = np.unravel_index(possible, weights.shape)
        states = [arms[i].first[pulls] + places[i] for i, pulls in enumerate(allocation)]
        costs = np.min([self.known[id(arms[i])].cost[state] for i, state in enumerate(states)], axis=0)
        scores = np.array([self._scores(arms[i], state, 0, costs) for i, state in enumerate(states)])
        means, variances = (
            np.array([getattr(arms[i], name)[s] for i, s in enumerate(states)]) for name in ("mean", "variance")
        )
        chosen = np.zeros(weights.size, np.int8)
        chosen[possible] = _lowest_scores(scores, np.array(allocation), means, variances)
        return chosen.reshape(weights.shape)

    def _bounds(self, kind: ArmStates, t: int) -> Bounds:
        """Of the states in which an arm may be before round t, or before any round for a score without a clock."""
        # Before round t no arm has t pulls or more.
        states = np.arange(int(kind.first[self.lattice.horizon if self.clock_free else t]))
        return _bounds_of(self._scores(kind, states, t), self.known[id(kind)])

    def _scores(self, kind: ArmStates, states: Counts, t: int, best_costs: Array | None = None) -> Array:
        costs = np.zeros(len(states)) if best_costs is None else best_costs
        scores = _score_states(self.ready, self.room, self.known[id(kind)], states, costs, t)
        self.check(bool(np.isnan(scores).any()))
        return np.asarray(scores)


def choices(owner: str, ready: Any, lattice: Lattice) -> "Scores | DrawnScores | ToldChances":
    """The choices of a policy that decides round by round, or an error that says why they are not known exactly."""
    if not hasattr(ready, "score"):
        return ToldChances(owner, ready, lattice)
    inputs = score_inputs(type(ready))
    if "rng" in inputs:
        raise PrudentError(
            f"{owner}: its score draws at random by itself, so that the probabilities of its choices are not known;"
            ' declare the law in draws (prudent.policies.contract), or use engine="auto"'
        )
    return DrawnScores(owner, ready, lattice) if "draws" in inputs else Scores(owner, ready, lattice)


@kernel
def _score_states(policy: Any, room: int, known: Any, states: Counts, costs: Array, t: int) -> Array:
    """The score of an arm in each of these states; −∞ before its first pull."""
    scores, kept = np.empty(len(states)), np.zeros((1, room))
    for i in range(len(states)):
        scores[i] = _score_in(policy, kept, known, states[i], costs[i], t)
    return scores


@kernel
def _score_in(policy: Any, kept: Any, known: Any, state: int, cost: float, t: int) -> float:
    """The score of an arm in this state; −∞ before its first pull."""
    pulls = known.counts[state].sum()
    if pulls == 0:
        return -math.inf
    keep_all(policy, kept, known.values, known.counts[state])
    return score_of(policy, _arm_in(known, state), cost, t, 0, kept_of(policy, kept, 0, pulls))


@kernel
def _arm_in(known: Any, state: int) -> Arm:
    return Arm(known.counts[state].sum(), known.mean[state], known.variance[state])


@kernel
def _cost_states(policy: Any, room: int, known: Any) -> Array:
    """The policy's estimate of an arm's cost in each state; ∞ before its first pull."""
    costs, kept = np.full(len(known.counts), math.inf), np.zeros((1, room))
    for state in range(len(costs)):
        pulls = known.counts[state].sum()
        if pulls > 0:
            keep_all(policy, kept, known.values, known.counts[state])
            costs[state] = own_cost(policy, _arm_in(known, state), kept_of(policy, kept, 0, pulls))
    return costs


@kernel
def _bounds_of(scores: Array, known: Any) -> Bounds:
    """Scores less and plus what rounding may have moved them."""
    low, high = scores.copy(), scores.copy()
    for i in range(len(scores)):
        if math.isfinite(scores[i]):
            moved = rounding(scores[i], _arm_in(known, i))
            low[i] -= moved
            high[i] += moved
    return low, high


@kernel
def keep_all(policy: Any, kept: Any, values: Array, counts: Counts) -> None:
    """Hand over the rewards of a state, for a score that asks for them."""
    kept[:] = 0.0
    if kept.shape[1] > 0:
        seen = 0
        for value in range(len(values)):
            for _ in range(counts[value]):
                keep(policy, kept, 0, seen, values[value])
                seen += 1


@kernel
def _lowest_scores(scores: Array, pulls: Counts, mean: Array, variance: Array) -> Chosen:
    """The arm of smallest score in each state, ties to the lowest number; arrays are (arm, state)."""
    chosen = np.zeros(scores.shape[1], np.int8)
    for state in range(scores.shape[1]):
        best = 0
        for i in range(1, scores.shape[0]):
            arm, other = (
                Arm(pulls[i], mean[i, state], variance[i, state]),
                Arm(pulls[best], mean[best, state], variance[best, state]),
            )
            if below(scores[i, state], arm, scores[best, state], other):
                best = i
        chosen[state] = best
    return chosen
