"""The Bayes-optimal policy for two arms whose rewards are 0 or 1."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from prudent.base.arrays import Array, Counts, Marks
from prudent.base.errors import PrudentError, as_float, check_integer, check_list, check_number, shown
from prudent.compile.types import helper
from prudent.policies.coin_table import Bits, best_response, row_starts, table_starts
from prudent.policies.contract import UNSET, Arms, Setting, policies
from prudent.policies.helpers import choose_only, need_horizon
from prudent.risk.base import RiskMeasure

MOST_ROUNDS = 400
"""A table of more rounds takes more than 140 MB."""

Pairs = tuple[tuple[float, float, float], ...]


@policies.add("optimal", binary=True, arms=2, rounds=MOST_ROUNDS)
class Optimal(NamedTuple):
    """The policy of least expected cost of all n rewards under a prior, for two arms that pay 0 or 1 ([Jacko19]; docs:
    minimax).

    The cost of n rewards depends on their number of ones alone. So with V_n the cost, and p̂_i the probability of a one
    given the counts,

        V_t = min_i p̂_i V_{t+1}(one of arm i) + (1 − p̂_i) V_{t+1}(zero of arm i)

    is the least cost that any policy can expect from there, and the policy pulls the arm that has it. All decisions are
    computed before the first round, in about n⁴/24 steps, and take n⁴/192 bytes: 42 MB and half a second for n = 300.

    `prior` has the parameters of independent Beta distributions, (a, b) for both arms or (a₁, b₁, a₂, b₂).
    A finite prior is given by `pairs` ((p₁, p₂, weight), …) instead. With `quantile` = α the policy maximises the
    α-quantile of the number of ones, and no risk measure matters. Assumes two arms, rewards that are `high` or `low`
    (1 or 0), and a known horizon of at most 400 rounds.

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

    def tuned(self, setting: Setting) -> "Tabulated":
        if setting.n_arms > 2:
            raise PrudentError(f"optimal: it is for two arms, got {setting.n_arms}; use bernoulli-mv-imed or prudent")
        n = check_integer("optimal", "horizon", need_horizon("optimal", setting), low=1, high=MOST_ROUNDS)
        if setting.n_arms == 1:
            return Tabulated(np.zeros(0, np.uint8), np.zeros((0, 0), np.int64), self.low, self.high)
        plan = self._best(n, costs_of_totals(self.risk, n, self.low, self.high))
        return Tabulated(plan.table, plan.starts, self.low, self.high)

    def expected_cost(self, risk: RiskMeasure, horizon: int) -> float:
        """The least expected cost of so many rewards of 0 or 1 under the prior, which this policy has."""
        n = check_integer("optimal", "horizon", horizon, low=1, high=MOST_ROUNDS)
        return self._best(n, costs_of_totals(risk, n, 0.0, 1.0)).value

    def _best(self, n: int, costs: Array) -> "Plan":
        pairs: Any = tuple(tuple(pair) for pair in self.pairs)  # text has lists
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
        n1, n2 = int(arms.pulls[0]), int(arms.pulls[-1])
        if len(arms.pulls) == 1 or n1 + n2 >= len(self.starts) - 1:  # nothing to choose, or no round left to choose for
            choose_only(chosen, int(arms.pulls.argmax()))
            return 1
        # Other rewards break the model, and must not break the table.
        s1, s2 = ones(arms, 0, self.low, self.high), ones(arms, 1, self.low, self.high)
        byte = self.table[self.starts[n1 + n2, n1] + s1 * ((n2 + 8) // 8) + s2 // 8]
        choose_only(chosen, 0 if (byte >> (s2 % 8)) & 1 else 1)
        return 1


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
    starts, lowest = table_starts(n), min(costs)
    if (size := max(costs) - lowest) == 0.0:
        size = 1.0
    # From 1 to 2, so that ties are judged on one scale.
    value, table = best_response(last_layer(n, prior, pairs, (np.array(costs) - lowest) / size + 1.0), n, starts)
    return Plan(lowest + size * (value - 1.0), table, starts)


def last_layer(n: int, prior: tuple[float, ...], pairs: Pairs, costs: Array) -> Array:
    """E[cost; s₁, s₂ | n₁] under the prior, in the form of `best_response`."""
    offset = row_starts(n)
    layer = np.empty(offset[n + 1])
    p, q, weights = (np.array([pair[i] for pair in pairs]) for i in range(3))
    for n1 in range(n + 1):
        ones_of_both = np.add.outer(np.arange(n1 + 1), np.arange(n - n1 + 1))
        if pairs:
            seen = binomials(n1, p) * (weights / weights.sum()) @ binomials(n - n1, q).T
        else:
            seen = np.outer(_beta_binomials(n1, prior[:2]), _beta_binomials(n - n1, prior[-2:]))
        layer[offset[n1] : offset[n1 + 1]] = (seen * costs[ones_of_both]).ravel()
    return layer


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
