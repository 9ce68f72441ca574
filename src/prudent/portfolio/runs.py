"""What simulated portfolios leave: the rewards' moments, the best mix's on the same draws, and the weights."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.errors import PrudentError
from prudent.portfolio.bandit import PortfolioBandit
from prudent.portfolio.policies.base import PortfolioPolicy
from prudent.portfolio.program import Mix
from prudent.regret import PseudoRegretParts
from prudent.risk.mean_variance import MeanVariance
from prudent.runs import mean_and_se

Array = NDArray[np.float64]

RESAMPLES = 1000
"""Resamples of the runs behind the band of a slope."""


class Band(NamedTuple):
    """A number with its 95 % band."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (round(number, 2) + 0.0 for number in self)  # no minus before a zero
        return f"{value:.2f} [{low:.2f}, {high:.2f}]"


@dataclass(frozen=True, eq=False)
class PortfolioRuns:
    """Many runs of one policy on one portfolio bandit; arrays have one entry per run, weights one row.

    `weights` is the mix a run held best at its end: the last it played other than to explore, and the even one before.

    `best` is the best fixed mix x*. Its rewards x*ᵀr are taken on the very draws the policy met: unlike the arms of the
    paper, which pay only when pulled, all arms pay each round whether seen or not, so no unobserved twins are needed.
    The law of either sequence is the same as with independent draws, hence so is the expected regret; its noise is far
    smaller.
    """

    bandit: PortfolioBandit
    policy: PortfolioPolicy
    risk: MeanVariance
    best: Mix
    horizon: int
    seed: int
    seconds: float
    reward_mean: Array
    reward_variance: Array
    best_mean: Array
    best_variance: Array
    gap: Array
    exploration: Array
    weights: Array
    average_weights: Array
    history: list["PortfolioRuns"] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.reward_mean)

    def __repr__(self) -> str:
        return f"<PortfolioRuns: {self.policy}, {len(self)} × {self.horizon:,} rounds, seed {self.seed}>"

    def at(self, horizon: int) -> "PortfolioRuns":
        """The same runs as they stood after an earlier round, one of the snapshots asked for."""
        for snapshot in self.history:
            if snapshot.horizon == horizon:
                return snapshot
        known = ", ".join(str(snapshot.horizon) for snapshot in self.history)
        raise PrudentError(f"at: horizon must be one of the snapshots {known}, got {horizon}; ask for it beforehand")

    def cost(self) -> Array:
        """The cost of the rewards received, as one sequence; variances are divided by n."""
        return self.risk.stats_cost(self.reward_mean, self.reward_variance)

    def regret(self) -> Array:
        """The true regret: the cost of the rewards received minus that of the best fixed mix on the same draws."""
        return self.cost() - self.risk.stats_cost(self.best_mean, self.best_variance)

    def pseudo_regret(self) -> Array:
        """The two parts of the expected regret together.

        The regret's mean is lower by 2 E[m ε] + E[v − v*]/n, with m the mean of x_tᵀμ, ε of the noise x_tᵀ(r_t − μ)
        and v of x_tᵀCx_t: O(1/n) up to logarithms for a learner whose mix settles, O(n^{−1/2}) at worst.
        """
        return self.gap + self.risk.variance_weight * self.exploration

    def pseudo_regret_parts(self) -> PseudoRegretParts:
        """(1/n) Σ_t (cost of x_t − cost of x*), and the variance over rounds of x_tᵀμ, both from the true moments."""
        return PseudoRegretParts(self.gap, self.exploration)

    def regret_slope(self, *, pseudo: bool = False, since: int = 1) -> Band:
        """The slope of the mean regret against n, both in logarithms, over the snapshots from round `since` on.

        The band is the middle 95 % over resamples of the runs; a policy's own snapshots move together, which
        resampling whole runs respects.
        """
        rounds = [snapshot.horizon for snapshot in self.history if snapshot.horizon >= since]
        values = [s.pseudo_regret() if pseudo else s.regret() for s in self.history if s.horizon >= since]
        return bootstrap_slope(rounds, values)

    def summary(self) -> dict[str, Any]:
        """Means and standard errors, as the command line prints them."""
        return {
            "policy": str(self.policy),
            "feedback": self.policy.feedback,
            "seconds": self.seconds,
            "regret": mean_and_se(self.regret()),
            "pseudo_regret": {name: float(part.mean()) for name, part in self.pseudo_regret_parts()._asdict().items()},
            "weights": mean_and_se(self.weights),
            "average_weights": mean_and_se(self.average_weights),
            "reward": {"mean": float(self.reward_mean.mean()), "variance": float(self.reward_variance.mean())},
        }


def bootstrap_slope(rounds: Sequence[int], regrets: Sequence[Array]) -> Band:
    """The exponent a of regret ~ nᵃ, fitted to the mean regrets in logarithms, with its 95 % band over resampled runs.

    `regrets` holds one array of runs for each of the `rounds`.
    """
    if len(rounds) < 2:
        raise PrudentError(f"regret_slope: needs two snapshots or more, got {len(rounds)}; pass snapshots=… beforehand")
    values = np.array(regrets)
    x = np.log(np.array(rounds, dtype=float))
    x -= x.mean()
    chosen = np.random.default_rng(0).integers(values.shape[1], size=(RESAMPLES, values.shape[1]))
    means = np.vstack([values.mean(1), values[:, chosen].mean(2).T])
    if means[0].min() <= 0.0:
        raise PrudentError("regret_slope: the mean regret is not above zero at every snapshot; take more runs")
    slopes = np.log(np.maximum(means, 1e-3 * means[0])) @ x / (x @ x)
    return Band(float(slopes[0]), *map(float, np.quantile(slopes[1:], [0.025, 0.975])))
