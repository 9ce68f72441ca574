"""The Bayes-optimal policy for two arms whose rewards are 0 or 1."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from prudent.base.arrays import Array, Counts, Marks
from prudent.base.errors import PrudentError, as_float, check_integer, check_list, check_number, shown
from prudent.base.memory import check_memory
from prudent.compile.types import helper
from prudent.policies.coin_table import Bits, best_response, least_costs, row_starts, table_starts
from prudent.policies.contract import UNSET, Arms, Setting, policies
from prudent.policies.helpers import choose_only, need_horizon
from prudent.risk.base import RiskMeasure

MOST_ROUNDS = 1_000
"""One decision takes half a minute with so many rounds left, and a table of all 5.2 GB."""

TABLED = 400
"""For more rounds, whose table takes more than 140 MB, an agent computes each decision when it is due."""

TIED = 1e-11
"""Costs that are computed when they are due are tied if their shares differ by less, because that is their rounding."""

Pairs = tuple[tuple[float, float, float], ...]


@policies.add("optimal", binary=True, arms=2, rounds=TABLED)
class Optimal(NamedTuple):
    """The policy of least expected cost of all n rewards under a prior, for two arms that pay 0 or 1 ([Jacko19]; docs:
    minimax).

    The cost of n rewards depends on their number of ones alone. So with V_n the cost, and p̂_i the probability of a one
    given the counts,

        V_t = min_i p̂_i V_{t+1}(one of arm i) + (1 − p̂_i) V_{t+1}(zero of arm i)

    is the least cost that any policy can expect from there, and the policy pulls the arm that has it. All decisions are
    computed before the first round, in about n⁴/24 steps, and take n⁴/192 bytes: 42 MB and half a second for n = 300.
    An agent for more than 400 rounds computes each decision from the present counts instead.

    `prior` has the parameters of independent Beta distributions, (a, b) for both arms or (a₁, b₁, a₂, b₂).
    A finite prior is given by `pairs` ((p₁, p₂, weight), …) instead. With `quantile` = α the policy maximises the
    α-quantile of the number of ones, and no risk measure matters. Assumes two arms, rewards that are `high` or `low`
    (1 or 0), and a known horizon of at most 1,000 rounds.

    Examples
    --------
    >>> from prudent import Agent, Optimal
    >>> agent = Agent(Optimal(), arms=["a", "b"], horizon=50, support=(0, 1), risk="mean")
    >>> agent.ask()
    'a'
    """

    risk: RiskMeasure = UNSET
    prior: tuple[float, ...] = (1.0, 1.0)
    pairs: Pairs = ()
    quantile: float = 0.0
    low: float = UNSET
    high: float = UNSET

    def tuned(self, setting: Setting) -> "Tabulated | Recomputed":
        if setting.n_arms > 2:
            raise PrudentError(f"optimal: it is for two arms, got {setting.n_arms}; use bernoulli-mv-imed or prudent")
        n = check_integer("optimal", "horizon", need_horizon("optimal", setting), low=1, high=MOST_ROUNDS)
        if setting.n_arms == 1:
            return Tabulated(np.zeros(0, np.uint8), np.zeros((0, 0), np.int64), self.low, self.high)
        if n <= TABLED:
            return self.tabulated(n, self.risk)
        if setting.bandit is not None or self.quantile > 0.0:
            raise PrudentError(
                f"optimal: horizon must be at most {TABLED} here, got {n:,}, since its table grows like n⁴; take"
                f' engine="exact", or an agent without a quantile, for up to {MOST_ROUNDS:,}'
            )
        costs = on_one_scale(tuple(costs_of_totals(self.risk, n, self.low, self.high))).costs
        return Recomputed(self.prior, _texts(self.pairs), costs, self.low, self.high)

    def tabulated(self, n: int, risk: RiskMeasure) -> "Tabulated":
        """All decisions for so many rounds, once `low` and `high` are known."""
        check_integer("optimal", "horizon", n, low=1, high=MOST_ROUNDS)
        check_memory("optimal", n**4 / 192 / 8 + n**3 / 6, f"a table of {n:,} rounds")
        plan = self._best(n, costs_of_totals(risk, n, self.low, self.high))
        return Tabulated(plan.table, plan.starts, self.low, self.high)

    def expected_cost(self, risk: RiskMeasure, horizon: int) -> float:
        """The least expected cost of so many rewards of 0 or 1 under the prior, which this policy has."""
        n = check_integer("optimal", "horizon", horizon, low=1, high=MOST_ROUNDS)
        costs = costs_of_totals(risk, n, 0.0, 1.0)
        if self.quantile > 0.0:
            return self._best(n, costs).value
        scaled = on_one_scale(tuple(costs))
        return scaled.back(min(least_costs(n, *factors(n, self.prior, _texts(self.pairs)), scaled.costs)))

    def _best(self, n: int, costs: Array) -> "Plan":
        pairs = _texts(self.pairs)
        if self.quantile == 0.0:
            return best_plan(n, self.prior, pairs, tuple(costs))
        # The largest total that is reached with probability 1 − α or more, by bisection.
        reached, missed = 0, n + 1
        plan = best_plan(n, self.prior, pairs, (0.0,) * (n + 1))
        while missed - reached > 1:
            total = (reached + missed) // 2
            aimed = best_plan(n, self.prior, pairs, tuple(float(s < total) for s in range(n + 1)))
            if aimed.value <= self.quantile:
                reached, plan = total, aimed._replace(value=-float(total))
            else:
                missed = total
        return plan

    def check(self) -> None:
        check_number("optimal", "quantile", self.quantile, low=0.0, high=1.0, open_high=True, hint="0.5 is the median")
        prior = check_list("optimal", "prior", self.prior, "two or four numbers above 0, the parameters of Beta")
        if len(prior) not in (2, 4) or not all(0.0 < as_float("optimal", "prior", x) < np.inf for x in prior):
            raise PrudentError(
                f"optimal: prior must hold two or four numbers above 0, the parameters of Beta, got {shown(self.prior)}"
            )
        for pair in check_list("optimal", "pairs", self.pairs, "a list of (p₁, p₂, weight)"):
            numbers = [as_float("optimal", "pairs", x) for x in pair] if isinstance(pair, (tuple, list)) else []
            if len(numbers) != 3 or not (min(numbers) >= 0.0 and max(numbers[:2]) <= 1.0 and 0.0 < numbers[2] < np.inf):
                raise PrudentError(
                    f"optimal: pairs must hold (p₁, p₂, weight), probabilities and a weight above 0, got {shown(pair)}"
                )


class Tabulated(NamedTuple):
    """Decisions looked up in a table."""

    table: Bits
    starts: Counts
    low: float
    high: float

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        choose_only(chosen, self.pulled(arms))
        return 1

    def chances(self, arms: Arms, t: int, chances: Array) -> None:
        chances[:] = 0.0
        chances[self.pulled(arms)] = 1.0

    def pulled(self, arms: Arms) -> int:
        n1, n2 = int(arms.pulls[0]), int(arms.pulls[-1])
        if len(arms.pulls) == 1 or n1 + n2 >= len(self.starts) - 1:  # nothing to choose, or no round left to choose for
            return int(arms.pulls.argmax())
        # Other rewards break the model, and must not break the table.
        s1, s2 = ones(arms, 0, self.low, self.high), ones(arms, 1, self.low, self.high)
        byte = self.table[self.starts[n1 + n2, n1] + s1 * ((n2 + 8) // 8) + s2 // 8]
        return 0 if (byte >> (s2 % 8)) & 1 else 1


class Recomputed(NamedTuple):
    """Decisions computed when they are due, from the counts so far, for an agent. `costs` are those of 0, …, n ones."""

    prior: tuple[float, ...]
    pairs: Pairs
    costs: Array
    low: float
    high: float

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        choose_only(chosen, self.pulled(arms))
        return 1

    def pulled(self, arms: Arms) -> int:
        left = len(self.costs) - 1 - int(arms.pulls.sum())
        if left <= 0:
            return int(arms.pulls.argmax())
        seen = [ones(arms, i, self.low, self.high) for i in range(2)]
        missed = [int(arms.pulls[i]) - seen[i] for i in range(2)]
        prior = [self.prior[:2], self.prior[-2:]]
        after = tuple(float(x) for (a, b), s, f in zip(prior, seen, missed, strict=True) for x in (a + s, b + f))
        sides = factors(left, after, likelihoods(self.pairs, seen, missed))
        first, second = least_costs(left, *sides, self.costs[sum(seen) : sum(seen) + left + 1])
        return 0 if first <= second * (1.0 + TIED) else 1


def likelihoods(pairs: Pairs, seen: Sequence[int], missed: Sequence[int]) -> Pairs:
    """A finite prior after so many ones and zeros of each coin; the same if they cannot be, which no prior foresaw."""
    if not pairs:
        return pairs
    table = np.array(pairs)
    logs = np.log(table[:, 2]) + sum(
        special.xlogy(seen[i], table[:, i]) + special.xlog1py(missed[i], -table[:, i]) for i in range(2)
    )
    if np.isneginf(logs).all():
        return pairs
    weights = np.exp(logs - logs.max())
    return tuple((p, q, w) for (p, q, _), w in zip(pairs, weights.tolist(), strict=True))


def _texts(pairs: Any) -> Pairs:
    """A prior as it was given: text has lists."""
    return tuple(tuple(pair) for pair in pairs)


class Scaled(NamedTuple):
    """Costs from 1 to 2, so that ties are judged on one scale."""

    costs: Array
    lowest: float
    size: float

    def back(self, cost: float) -> float:
        return self.lowest + self.size * (cost - 1.0)


def on_one_scale(costs: tuple[float, ...]) -> Scaled:
    lowest = min(costs)
    size = max(costs) - lowest or 1.0
    return Scaled((np.array(costs) - lowest) / size + 1.0, lowest, size)


@helper
def ones(arms: Arms, arm: int, low: float, high: float) -> int:
    """The number of an arm's rewards that were `high`."""
    share = (arms.mean[arm] - low) / (high - low)
    return int(min(1.0, max(0.0, share)) * arms.pulls[arm] + 0.5) if arms.pulls[arm] > 0 else 0


def costs_of_totals(risk: Any, n: int, low: float, high: float) -> Array:
    """The cost of n rewards of which 0, 1, …, n are `high` and the others `low`."""
    shares, length = np.arange(n + 1) / n, high - low
    if risk.by_moments:
        return np.array([risk.estimate(low + length * x, length * length * x * (1.0 - x), np.empty(0)) for x in shares])
    values = np.array([low, high])
    inner = [risk.weigh(values, np.array([1.0 - x, x])) for x in shares[1:-1]]
    ends = [risk.weigh(np.array([end]), np.ones(1)) for end in (low, high)]
    return np.array([ends[0], *inner, ends[1]])


class Plan(NamedTuple):
    """The least expected cost, and the decisions that have it."""

    value: float
    table: Bits
    starts: Counts


@lru_cache(maxsize=4)  # agents of one trial are made ready again and again
def best_plan(n: int, prior: tuple[float, ...], pairs: Pairs, costs: tuple[float, ...]) -> Plan:
    """The best plan for n rounds if `costs` are those of 0, …, n ones in all."""
    starts, scaled = table_starts(n), on_one_scale(costs)
    value, table = best_response(last_layer(n, prior, pairs, scaled.costs), n, starts)
    return Plan(scaled.back(value), table, starts)


def last_layer(n: int, prior: tuple[float, ...], pairs: Pairs, costs: Array) -> Array:
    """E[cost; s₁, s₂ | n₁] under the prior, in the form of `best_response`."""
    offset, (left, right) = row_starts(n), factors(n, prior, pairs)
    layer = np.empty(offset[n + 1])
    begins = np.cumsum(np.arange(n + 2))
    for n1 in range(n + 1):
        ones_of_both = np.add.outer(np.arange(n1 + 1), np.arange(n - n1 + 1))
        first, second = (side[:, begins[k] : begins[k + 1]] for side, k in ((left, n1), (right, n - n1)))
        layer[offset[n1] : offset[n1 + 1]] = (first.T @ second * costs[ones_of_both]).ravel()
    return layer


def factors(n: int, prior: tuple[float, ...], pairs: Pairs) -> tuple[Array, Array]:
    """The prior as a sum of products: the probabilities of the states of each coin (prudent.policies.coin_table)."""
    if pairs:
        p, q, weights = (np.array([pair[i] for pair in pairs]) for i in range(3))
        left, right = ([binomials(k, coin).T for k in range(n + 1)] for coin in (p, q))
        return np.concatenate(left, 1) * (weights / weights.sum())[:, None], np.concatenate(right, 1)
    sides = [[_beta_binomials(k, own) for k in range(n + 1)] for own in (prior[:2], prior[-2:])]
    return np.concatenate(sides[0])[None, :], np.concatenate(sides[1])[None, :]


def binomials(n: int, p: Array) -> Array:
    """The probabilities of 0, …, n ones (rows) in n tosses of each coin (columns)."""
    ones = np.arange(n + 1)[:, None]
    log = special.gammaln(n + 1) - special.gammaln(ones + 1) - special.gammaln(n - ones + 1)
    return np.asarray(np.exp(log + special.xlogy(ones, p) + special.xlog1py(n - ones, -p)))


def _beta_binomials(n: int, prior: tuple[float, ...]) -> Array:
    """The same for a coin drawn from a Beta distribution."""
    (a, b), ones = prior, np.arange(n + 1)
    log = special.gammaln(n + 1) - special.gammaln(ones + 1) - special.gammaln(n - ones + 1)
    return np.asarray(np.exp(log + special.betaln(a + ones, b + n - ones) - special.betaln(a, b)))
