"""The game behind the minimax regret of two coins: nature picks the coins, the learner a policy.

The regret of a policy on coins p, q is E MV̂_n − min(e(p), e(q)), where e(p) = (1 − 1/n) p(1 − p) − ρp is what n tosses
of one coin are expected to cost. Any mixture of policies counts, and so does the mixture with the coins exchanged. So
priors here hold unordered pairs, each in both orders with half its weight.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import special

from prudent.base.arrays import Array
from prudent.policies.coin_table import best_response, follow, row_starts, table_starts
from prudent.policies.optimal import binomials

GRAIN = 4096
"""Probabilities and weights of priors are whole multiples of 1/4096, so that exact arithmetic can repeat everything."""


class Prior(NamedTuple):
    """Pairs of coins and their weights, all in units of 1/GRAIN."""

    p: tuple[int, ...]
    q: tuple[int, ...]
    weight: tuple[int, ...]

    @classmethod
    def of(cls, p: Array, q: Array, weight: Array) -> "Prior":
        """The nearest prior of whole units; pairs that get no weight are left out."""
        whole = [np.round(GRAIN * np.asarray(each)).astype(int) for each in (p, q, np.asarray(weight) / np.sum(weight))]
        kept = whole[2] > 0
        return cls(*(tuple(int(x) for x in each[kept]) for each in whole))

    def pairs(self) -> tuple[tuple[float, float, float], ...]:
        """Both orders of every pair, as `Optimal` takes them."""
        total = 2 * sum(self.weight)
        there = [(p / GRAIN, q / GRAIN, w / total) for p, q, w in zip(*self, strict=True)]
        return tuple(there + [(q, p, w) for p, q, w in there])


class Response(NamedTuple):
    """The least expected regret under a prior, and the expected cost of the policy that has it, whatever the coins.

    The cost on coins p, q is Σ c_ij Bernstein_i(p) Bernstein_j(q), of degree n in each: c_ij is the expected cost if i
    of the first n tosses of one coin are ones, and j of those of the other.
    """

    value: float
    coefficients: Array


class CoinGame:
    """The game for n rounds and one tolerance of risk."""

    def __init__(self, horizon: int, rho: float) -> None:
        self.horizon, self.rho = horizon, rho
        totals = np.arange(horizon + 1) / horizon
        self.costs = totals * (1.0 - totals) - rho * totals
        self.starts = table_starts(horizon)

    def alone(self, p: Array) -> Array:
        """What n tosses of one coin are expected to cost."""
        return (1.0 - 1.0 / self.horizon) * p * (1.0 - p) - self.rho * p

    def respond(self, prior: Prior) -> Response:
        """The best response to a prior."""
        n, offset = self.horizon, row_starts(self.horizon)
        p, q, weights = np.array(prior.pairs()).T
        best = np.minimum(self.alone(p), self.alone(q))
        shift = 1.0 - self.costs.min() + best.max()  # above 0, so that ties are judged on one scale
        layer = np.empty(offset[n + 1])
        for n1 in range(n + 1):
            first, second = binomials(n1, p) * weights, binomials(n - n1, q)
            paid = (first @ second.T) * self._totals(n1) - (first * (best - shift)) @ second.T
            layer[offset[n1] : offset[n1 + 1]] = paid.ravel()
        value, table = best_response(layer, n, self.starts)
        return Response(value - shift, self.coefficients(follow(n, self.starts, table)))

    def _totals(self, n1: int) -> Array:
        """The cost by the ones of both coins, if n₁ tosses are of the first."""
        return np.asarray(self.costs[np.add.outer(np.arange(n1 + 1), np.arange(self.horizon - n1 + 1))])

    def coefficients(self, layer: Array) -> Array:
        """Of the cost, averaged over both orders of the coins, from the weights of the last layer (docs: exact)."""
        n, offset = self.horizon, row_starts(self.horizon)
        total = np.zeros((n + 1, n + 1))
        for n1 in range(n + 1):
            paid = layer[offset[n1] : offset[n1 + 1]].reshape(n1 + 1, n - n1 + 1) * self._totals(n1)
            total += self._elevation[n1] @ paid @ self._elevation[n - n1].T
        return (total + total.T) / 2.0

    @cached_property
    def _elevation(self) -> list[Array]:
        """From degree k to degree n, for k = 0, …, n: P(s ones among the first k tosses | i among n)."""
        n = self.horizon
        factorial = special.gammaln(np.arange(n + 1) + 1.0)
        found = []
        for k in range(n + 1):
            ones, seen = np.arange(n + 1)[:, None], np.arange(k + 1)
            rest = ones - seen
            ways = factorial[k] - factorial[seen] - factorial[k - seen]
            ways = ways + factorial[n - k] - factorial[rest] - factorial[n - k - rest]
            log = ways - (factorial[n] - factorial[ones] - factorial[n - ones])
            found.append(np.where((rest >= 0) & (rest <= n - k), np.exp(log), 0.0))
        return found

    def regret(self, coefficients: Array, p: Array, q: Array) -> Array:
        """The regret on pairs of coins."""
        n = self.horizon
        cost = np.asarray((coefficients.T @ binomials(n, p) * binomials(n, q)).sum(0))
        return cost - np.minimum(self.alone(p), self.alone(q))

    def surface(self, coefficients: Array, p: Array) -> Array:
        """The regret on all pairs of these coins."""
        basis, alone = binomials(self.horizon, p), self.alone(p)
        return np.asarray(basis.T @ coefficients @ basis - np.minimum(alone[:, None], alone))

    def against_first(self, coefficients: Array) -> Array:
        """The coefficients of the cost minus that of n tosses of the first coin: a polynomial, and nowhere above the
        regret. By symmetry its largest value is that of the regret."""
        return coefficients - self.costs[:, None]
