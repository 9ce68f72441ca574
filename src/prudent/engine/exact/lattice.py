"""The lattice of counts: how often each arm has paid each of its values.

A state holds, for every arm, the counts of its values. A layer holds all states after t rounds, as one array for every
allocation (s₁, …, s_K) of the rounds to the arms; axis i of that array runs over the counts of arm i. The arrays hold

    W(x) = P(the policy allocates (s₁, …, s_K) | the first sᵢ rewards of each arm have the counts x),

which no law of the arms enters, and which lies between 0 and 1, so that nothing overflows and every digit is kept. The
last reward of arm i is the value v with probability (count of v)/sᵢ, so that a state gives its weight on to the states
of the next layer with these factors.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from prudent.base.arrays import Array, Counts
from prudent.compile.types import kernel

Allocation = tuple[int, ...]
Layer = dict[Allocation, Array]


def compositions(total: int, parts: int) -> Counts:
    """All ways to write a total as a sum of so many counts, a row each, in the order of `place_of`."""
    if parts == 1:
        return np.array([[total]], dtype=np.int64)
    rows = [compositions(total - last, parts - 1) for last in range(total + 1)]
    lasts = np.repeat(np.arange(total + 1), [len(row) for row in rows])
    return np.column_stack([np.concatenate(rows), lasts])


def place_of(counts: Sequence[Any]) -> Any:
    """The row of these counts (an array for each value) among the compositions of their total."""
    total, place = counts[0], 0
    for parts, count in enumerate(counts[1:], start=1):
        total = total + count
        place = place + _binomial(total + parts, parts) - _binomial(total - count + parts, parts)
    return place


def _binomial(n: Any, k: int) -> Any:
    """n choose k, for an array n and a small k."""
    product = 1
    for i in range(k):
        product = product * (n - i) // (i + 1)
    return product


class ArmStates:
    """The counts that an arm with these values may have after 0, 1, …, `horizon` pulls, and what they say of it."""

    def __init__(self, values: Array, horizon: int) -> None:
        self.values, self.horizon = values, horizon
        self.counts = [compositions(s, len(values)) for s in range(horizon + 1)]
        sizes = np.array([len(rows) for rows in self.counts])
        self.first = np.concatenate([[0], np.cumsum(sizes)])
        self.pulls: Counts = np.repeat(np.arange(horizon + 1), sizes)

    @cached_property
    def all_counts(self) -> Counts:
        """The counts of all states, those with fewer pulls first."""
        return np.concatenate(self.counts)

    @cached_property
    def mean(self) -> Array:
        """The mean of the rewards in each state; 0 before the first."""
        return np.asarray((self.all_counts @ self.values) / np.maximum(self.pulls, 1))

    @cached_property
    def variance(self) -> Array:
        """The variance of the rewards in each state, exactly 0 where they are all equal."""
        n = np.maximum(self.pulls, 1)
        pairs = np.zeros(len(n))
        for i, x in enumerate(self.values):  # Σ_{u<v} c_u c_v (x_u − x_v)² / s², which cancels nothing
            for j, y in enumerate(self.values[:i]):
                pairs += self.all_counts[:, i] * self.all_counts[:, j] * (x - y) ** 2
        return pairs / (n * n)

    def part(self, pulls: int) -> slice:
        """Where the states with so many pulls are among all."""
        return slice(int(self.first[pulls]), int(self.first[pulls + 1]))

    def after(self, pulls: int) -> Counts:
        """The state (among those with one pull more) after each value, a row for each state with so many pulls."""
        counts = self.counts[pulls]
        steps = np.eye(len(self.values), dtype=np.int64)
        return np.column_stack([place_of(list((counts + step).T)) for step in steps])

    def share(self, pulls: int) -> Array:
        """The share of that value among the rewards then seen, in the form of `after`."""
        return np.asarray((self.counts[pulls] + 1) / (pulls + 1.0))

    def later(self, pulls: int, more: int) -> Array:
        """The probability of the counts in each state given those after `more` pulls, in any order: a matrix."""
        if more == 0:
            return np.eye(len(self.counts[pulls]))
        before, then = self.counts[pulls], self.counts[pulls + more]
        log = _LOG_FACTORIALS.up_to(pulls + more)
        rest = then[None, :, :] - before[:, None, :]
        possible = (rest >= 0).all(2)
        rest = np.maximum(rest, 0)
        logs = (log[then][None, :, :] - log[before][:, None, :] - log[rest]).sum(2)
        logs -= log[pulls + more] - log[pulls] - log[more]
        return np.where(possible, np.exp(logs), 0.0)

    def law(self, pulls: int, probabilities: Array) -> Array:
        """The probability of each state with so many pulls, for an arm that pays its values with these."""
        counts, log = self.counts[pulls], _LOG_FACTORIALS.up_to(pulls)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(counts > 0, counts * np.log(probabilities), 0.0) - log[counts]
        return np.exp(log[pulls] + terms.sum(1))


class _LogFactorials:
    def __init__(self) -> None:
        self._known = np.zeros(1)

    def up_to(self, n: int) -> Array:
        """log 0!, …, log n!, and perhaps more."""
        if len(self._known) <= n:
            self._known = np.array([math.lgamma(i + 1.0) for i in range(2 * n + 1)])
        return self._known


_LOG_FACTORIALS = _LogFactorials()


class Lattice:
    """The states of several arms; arms with the same values share theirs."""

    def __init__(self, values: Sequence[Array], horizon: int) -> None:
        self.horizon = horizon
        kinds: dict[tuple[float, ...], ArmStates] = {}
        for each in values:
            if tuple(each) not in kinds:
                kinds[tuple(each)] = ArmStates(np.asarray(each, dtype=float), horizon)
        self.arms = [kinds[tuple(each)] for each in values]
        self.kinds = list(kinds.values())
        self.union: Array = np.unique(np.concatenate([np.asarray(each) for each in values]))

    def __len__(self) -> int:
        return len(self.arms)

    def start(self) -> Layer:
        """Before the first round."""
        return {(0,) * len(self): np.ones((1,) * len(self))}

    def in_union(self, arm: int, pulls: int) -> Counts:
        """The counts of an arm's states with so many pulls, a column for each value that any arm has."""
        states = self.arms[arm]
        wide = np.zeros((len(states.counts[pulls]), len(self.union)), np.int64)
        wide[:, np.searchsorted(self.union, states.values)] = states.counts[pulls]
        return wide

    def pooled(self, allocation: Allocation) -> Counts:
        """The place of the counts of all arms together, of every state of an allocation that has all the rounds."""
        columns: list[Any] = [0] * len(self.union)
        for arm, pulls in enumerate(allocation):
            axes = tuple(i for i in range(len(self)) if i != arm)
            wide = self.in_union(arm, pulls)
            columns = [column + np.expand_dims(wide[:, u], axes) for u, column in enumerate(columns)]
        return np.asarray(place_of(columns))


def advance(lattice: Lattice, layer: Layer, shares: Callable[[Allocation, Array], Sequence[Array]]) -> Layer:
    """The next layer, if the policy pulls the arms in each state with the probabilities `shares`; empties this one."""
    following: Layer = {}
    for allocation in list(layer):
        weights = layer.pop(allocation)
        for arm, share in enumerate(shares(allocation, weights)):
            given = weights * share
            if given.any():
                give_on(lattice, following, allocation, arm, given)
    return following


def give_on(lattice: Lattice, following: Layer, allocation: Allocation, arm: int, given: Array) -> None:
    """Add what the states of an allocation give on by one pull of an arm."""
    states, pulls = lattice.arms[arm], allocation[arm]
    there = (*allocation[:arm], pulls + 1, *allocation[arm + 1 :])
    shape = (*given.shape[:arm], len(states.counts[pulls + 1]), *given.shape[arm + 1 :])
    if there not in following:
        following[there] = np.zeros(shape)
    before, behind = math.prod(shape[:arm]), math.prod(shape[arm + 1 :])
    target = following[there].reshape(before, shape[arm], behind)
    spread(given.reshape(before, given.shape[arm], behind), states.after(pulls), states.share(pulls), target)


@kernel
def spread(given: Array, after: Counts, share: Array, target: Array) -> None:
    """Add to each state of the target its share of what the states before it give; arrays are (…, arm, …)."""
    for before in range(given.shape[0]):
        for state in range(given.shape[1]):
            for value in range(after.shape[1]):
                then, factor = after[state, value], share[state, value]
                for behind in range(given.shape[2]):
                    target[before, then, behind] += factor * given[before, state, behind]
