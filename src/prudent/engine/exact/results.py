"""What is known exactly of a policy on a bandit: distributions of pulls, rewards and regret."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from prudent.bandit import Bandit
from prudent.base.arrays import Array, Counts
from prudent.base.errors import PrudentError
from prudent.engine.exact.distribution import Distribution
from prudent.engine.exact.lattice import Allocation, Lattice, Layer, compositions, place_of
from prudent.engine.exact.surface import RiskSurface, risk_surface
from prudent.policies.contract import Policy, spec
from prudent.results import regret as definitions
from prudent.results.runs import check_measure
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.mean_variance import MeanVariance

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class ExactResults:
    """The distributions that `simulate(…, engine="exact")` returns: those that the `Runs` of other engines sample.

    Methods have the names of those of `Runs` and return a `Distribution` each. `states` are the states at the horizon.

    Examples
    --------
    >>> from prudent import Bandit, Bernoulli, simulate
    >>> coins = Bandit([Bernoulli(0.9), Bernoulli(0.5)])
    >>> found = simulate(coins, "mv-lcb(c=1)", risk="mean-variance(rho=0)", horizon=30, engine="exact")
    >>> round(found.regret().mean(), 6), f"{found.regret().tail(0.2):.2g}"
    (0.0, '0')
    """

    bandit: Bandit
    policy: Policy
    risk: RiskMeasure
    horizon: int
    lattice: Lattice
    layer: Layer
    seconds: float
    engine: str = "exact"

    def __repr__(self) -> str:
        return f"<ExactResults: {spec(self.policy)}, {self.horizon:,} rounds, {self.states:,} states>"

    @property
    def states(self) -> int:
        """The states at the horizon that the policy can lead to."""
        return sum(int(np.count_nonzero(weights)) for weights in self.layer.values())

    @cached_property
    def pulls(self) -> tuple[Distribution, ...]:
        """How often each arm is pulled."""
        return tuple(
            self._of_pulls(self.allocations[:, i].astype(float), f"pulls of {name}")
            for i, name in enumerate(self.bandit.names)
        )

    def regret(self) -> Distribution:
        """The true regret (Definition 2): the cost of the rewards received minus that of n samples of the best arm,
        of which those pulled are seen and the others are its twins."""
        costs = self._costs(self.risk)
        return Distribution.of(costs[:, None] - costs[None, :], self._with_best, "regret")

    def gap_regret(self) -> Distribution:
        """(1/n) Σ T_i Δ_i."""
        gaps = self.bandit.gaps(self.risk)
        return self._of_pulls(definitions.gap_regret(self.allocations, gaps), "gap regret")

    def pseudo_regret(self, form: str = "definition-3") -> Distribution:
        """Definition 3, from the true means and gaps."""
        if not isinstance(self.risk, MeanVariance):
            raise PrudentError(f"pseudo_regret: defined for the mean-variance only, got {self.risk}; use gap_regret()")
        gaps = self.bandit.gaps(self.risk)
        parts = definitions.pseudo_regret_parts(self.allocations, self.bandit.means, gaps, self.risk, form)
        return self._of_pulls(parts.gap + parts.exploration, "pseudo-regret")

    def best_share(self) -> Distribution:
        """The share of the best arm in the pulls."""
        return self._of_pulls(self.allocations[:, self.bandit.best(self.risk)] / self.horizon, "best share")

    def reward_mean(self) -> Distribution:
        """The mean of the rewards received."""
        return Distribution.of(self._moments[0], self._totals, "reward mean")

    def reward_variance(self) -> Distribution:
        """The variance of the rewards received as one sequence."""
        return Distribution.of(self._moments[1], self._totals, "reward variance")

    def cost(self, risk: RiskMeasure | str | None = None) -> Distribution:
        """The cost of the rewards received, under the risk of these results or any other one."""
        return Distribution.of(
            self._costs(self.risk if risk is None else risks.make("cost", risk)), self._totals, "cost"
        )

    def measures(self) -> dict[str, Distribution]:
        """All of them, by name."""
        paper = {"pseudo_regret": self.pseudo_regret()} if isinstance(self.risk, MeanVariance) else {}
        return {
            "regret": self.regret(),
            **paper,
            "gap_regret": self.gap_regret(),
            "reward_mean": self.reward_mean(),
            "reward_variance": self.reward_variance(),
            "best_share": self.best_share(),
        }

    def summary(self) -> dict[str, Any]:
        """The mean of each measure and its standard deviation over runs, flat."""
        flat: dict[str, Any] = {"policy": spec(self.policy), "engine": self.engine, "seconds": self.seconds}
        for name, found in self.measures().items():
            flat[name], flat[f"{name}_sd"] = found.mean(), found.sd()
        return flat | {"pulls": [each.mean() for each in self.pulls], "pulls_sd": [each.sd() for each in self.pulls]}

    def table(self) -> "pl.DataFrame":
        """A row for each measure and for the pulls of each arm: mean, standard deviation, quantiles."""
        import polars as pl  # slow to import

        levels = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
        found = self.measures() | {each.what: each for each in self.pulls}
        return pl.DataFrame(
            [
                {"measure": name, "mean": each.mean(), "sd": each.sd()}
                | {f"{level:.0%}": each.quantile(level) for level in levels}
                for name, each in found.items()
            ]
        )

    def plot(self, measure: str | None = None, ax: Any = None, *, tail: bool = False) -> Any:
        """Draw the distribution of a measure, by default the regret; returns the axes."""
        measures = self.measures()
        return measures[check_measure("plot", measure, measures)].plot(ax, tail=tail)

    def risk_surface(self, points: int = 41) -> RiskSurface:
        """The expected regret of this policy on every pair of coins, from the same pass; for two coins."""
        return risk_surface(self.lattice, self.layer, self.risk, spec(self.policy), points)

    # What the distributions are made of.

    @cached_property
    def allocations(self) -> Counts:
        """The allocations of the rounds to the arms, a row each."""
        return np.array(list(self.layer), dtype=np.int64)

    def _of_pulls(self, values: Array, what: str) -> Distribution:
        return Distribution.of(values, self._allocated, what)

    def _state_law(self, arm: int, pulls: int) -> Array:
        """The probability of each state of an arm with so many pulls."""
        _, chances = self._atoms(arm)
        if len(chances) == 2:
            return np.asarray(stats.binom.pmf(np.arange(pulls + 1), pulls, chances[1]))
        return self.lattice.arms[arm].law(pulls, chances)

    def _atoms(self, arm: int) -> tuple[Array, Array]:
        """The values of an arm and their probabilities."""
        atoms = self.bandit.arms[arm].atoms()
        assert atoms is not None  # others have no lattice
        return atoms

    @cached_property
    def probabilities(self) -> Layer:
        """The probability of every state."""
        found: Layer = {}
        for allocation, weights in self.layer.items():
            laws = np.ix_(*(self._state_law(arm, pulls) for arm, pulls in enumerate(allocation)))
            found[allocation] = np.asarray(math.prod(laws, start=weights))
        return found

    @cached_property
    def _allocated(self) -> Array:
        """The probability of each allocation."""
        return np.array([probabilities.sum() for probabilities in self.probabilities.values()])

    @cached_property
    def _pooled(self) -> Counts:
        """The counts of all values that n rewards may have."""
        return compositions(self.horizon, len(self.lattice.union))

    @cached_property
    def _totals(self) -> Array:
        """The probability of the pooled counts of the rewards received."""
        sums: Array = np.zeros(len(self._pooled))
        for allocation, probabilities in self.probabilities.items():
            places = self.lattice.pooled(allocation).ravel()
            sums += np.bincount(places, probabilities.ravel(), len(sums))
        return sums

    @cached_property
    def _with_best(self) -> Array:
        """The probability of the pooled counts of the rewards received (rows) and of those of n samples of the best
        arm (columns). Its samples that were not seen are added one by one, to all that have as many at once."""
        best, size = self.bandit.best(self.risk), len(self._pooled)
        states, (_, chances) = self.lattice.arms[best], self._atoms(best)
        joint: Array = np.zeros((size, 1))
        for pulls in range(self.horizon + 1):
            if pulls > 0:
                joint = _one_more(joint, states.after(pulls - 1), chances, len(states.counts[pulls]))
            for allocation, probabilities in self._by_pulls[best].get(pulls, []):
                own = len(states.counts[pulls])
                rows = np.moveaxis(np.broadcast_to(self.lattice.pooled(allocation), probabilities.shape), best, 0)
                places = rows.reshape(own, -1) * own + np.arange(own)[:, None]
                flat = np.moveaxis(probabilities, best, 0).reshape(own, -1)
                joint += np.bincount(places.ravel(), flat.ravel(), size * own).reshape(size, own)
        wide: Array = np.zeros((size, size))
        wide[:, place_of(list(self.lattice.in_union(best, self.horizon).T))] = joint
        return wide

    @cached_property
    def _by_pulls(self) -> list[dict[int, list[tuple[Allocation, Array]]]]:
        """For every arm, the allocations with so many pulls of it, and the probabilities of their states."""
        found: list[dict[int, list[tuple[Allocation, Array]]]] = [{} for _ in self.bandit.arms]
        for allocation, probabilities in self.probabilities.items():
            for arm, pulls in enumerate(allocation):
                found[arm].setdefault(pulls, []).append((allocation, probabilities))
        return found

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Mean and variance of the pooled counts."""
        share, values = self._pooled / self.horizon, self.lattice.union
        mean = share @ values
        return mean, (share * (values - mean[:, None]) ** 2).sum(1)

    def _costs(self, risk: RiskMeasure) -> Array:
        """The cost of the pooled counts."""
        if risk.by_moments:
            return risk.stats_cost(*self._moments)
        share = self._pooled / self.horizon
        there = share > 0.0
        return np.array(
            [risk.weigh(self.lattice.union[here], row[here]) for row, here in zip(share, there, strict=True)]
        )


def _one_more(joint: Array, after: Counts, chances: Array, states: int) -> Array:
    """The same after one more sample of the best arm, whose state is the column."""
    following: Array = np.zeros((len(joint), states))
    for value, chance in enumerate(chances):
        following[:, after[:, value]] += chance * joint
    return following
