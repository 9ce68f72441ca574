"""The risk of a policy on every pair of coins."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_integer
from prudent.engine.exact.lattice import Lattice, Layer
from prudent.risk.base import RiskMeasure
from prudent.risk.mean_variance import MeanVariance, mean_variance

if TYPE_CHECKING:
    import polars as pl

COINS = (0.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class RiskSurface:
    """The expected regret of a policy on two coins: `regret[i, j]` where they show 1 with `p[i]` and `p[j]`.

    What n tosses of one coin cost on average is subtracted, for the coin for which that is less (docs: minimax). The
    true regret takes the coin of least cost. That is another one only for ρ > 0 and where costs differ by less than
    1/(4n): there this regret is larger, by less than that.

    Examples
    --------
    >>> from prudent import Bandit, simulate
    >>> coins = Bandit(["bernoulli(0.5)", "bernoulli(0.5)"])
    >>> found = simulate(coins, "exp-exp", risk="mean-variance(rho=0)", horizon=30, engine="exact")
    >>> surface = found.risk_surface(points=11)
    >>> surface.regret.shape
    (11, 11)
    """

    policy: str
    risk: MeanVariance
    horizon: int
    p: Array
    regret: Array

    def __repr__(self) -> str:
        return f"<RiskSurface: {self.policy}, {self.horizon:,} rounds, worst {self.worst()[0]:.4g}>"

    def worst(self) -> tuple[float, float, float]:
        """The largest regret on the grid, and the pair of coins that has it."""
        i, j = np.unravel_index(np.argmax(self.regret), self.regret.shape)
        return float(self.regret[i, j]), float(self.p[i]), float(self.p[j])

    def table(self) -> "pl.DataFrame":
        """A row for each pair."""
        import polars as pl  # slow to import

        first, second = np.meshgrid(self.p, self.p, indexing="ij")
        return pl.DataFrame({"p": first.ravel(), "q": second.ravel(), "regret": self.regret.ravel()})

    def plot(self, ax: Any = None, *, high: float | None = None) -> Any:
        """Draw the map, colours from 0 to `high`; returns the axes."""
        import matplotlib.pyplot as plt  # slow to import

        ax = plt.subplots()[1] if ax is None else ax
        drawn = ax.pcolormesh(self.p, self.p, self.regret.T, vmin=0.0, vmax=high, shading="nearest")
        ax.figure.colorbar(drawn, ax=ax, label="expected regret")
        ax.set_xlabel("p of the first coin")
        ax.set_ylabel("p of the second coin")
        ax.set_title(self.policy)
        ax.set_aspect("equal")
        return ax


def risk_surface(lattice: Lattice, layer: Layer, risk: RiskMeasure, policy: str, points: int) -> RiskSurface:
    """The expected regret from the weights of the last layer, on a grid of so many probabilities for each coin."""
    if not isinstance(risk, MeanVariance) or len(lattice) != 2 or any(tuple(a.values) != COINS for a in lattice.arms):
        raise PrudentError("risk_surface: it is for two arms that pay 0 or 1, under a mean-variance")
    p = np.linspace(0.0, 1.0, check_integer("risk_surface", "points", points, low=2, high=1001))
    n = lattice.horizon
    costs = total_costs(risk, n)
    expected = np.zeros((len(p), len(p)))
    for (first, second), weights in layer.items():
        ones = np.arange(first + 1)[:, None] + np.arange(second + 1)
        laws = [stats.binom.pmf(np.arange(pulls + 1), pulls, p[:, None]) for pulls in (first, second)]
        expected += laws[0] @ (weights * costs[ones]) @ laws[1].T
    alone = expected_cost(risk, p, n)
    return RiskSurface(policy, risk, n, p, expected - np.minimum(alone[:, None], alone[None, :]))


def total_costs(risk: MeanVariance, n: int) -> Array:
    """The cost of n rewards of which 0, 1, …, n are ones."""
    m = np.arange(n + 1) / n
    return np.array([mean_variance(x, x * (1.0 - x), risk.rho) for x in m])


def expected_cost(risk: MeanVariance, p: Array, n: int) -> Array:
    """E MV̂ of n tosses of coins, (1 − 1/n) p(1 − p) − ρp."""
    return -p if math.isinf(risk.rho) else (1.0 - 1.0 / n) * p * (1.0 - p) - risk.rho * p
