"""What simulated portfolios leave: the rewards' moments, the best mix's on the same draws, and the weights."""

from dataclasses import dataclass
from typing import Any

from prudent.base.arrays import Array
from prudent.portfolio.bandit import PortfolioBandit
from prudent.portfolio.policies.base import PortfolioPolicy
from prudent.portfolio.program import Mix
from prudent.results.rates import Band, bootstrap_slope
from prudent.results.regret import PseudoRegretParts
from prudent.results.runs import Rounds, averages
from prudent.risk.mean_variance import MeanVariance


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PortfolioRuns(Rounds):
    """Many runs of one policy on one portfolio bandit; arrays have one entry per run, weights one row.

    `weights` is the mix a run held best at its end: the last it played other than to explore, and the even one before.

    `best` is the best fixed mix x*. Its rewards x*ᵀr are taken on the very draws the policy met: unlike the arms of the
    paper, which pay only when pulled, all arms pay each round whether seen or not, so no unobserved twins are needed.
    The law of either sequence is the same as with independent draws, hence so is the expected regret; its noise is far
    smaller.

    Examples
    --------
    >>> from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
    >>> bandit = PortfolioBandit(MultivariateGaussian([0.1, 0.2], [[0.04, 0.01], [0.01, 0.09]]))
    >>> runs = simulate_portfolio(bandit, "mc-empirical", rho=0.5, horizon=1_000, runs=5)
    >>> runs.regret().shape
    (5,)
    """

    bandit: PortfolioBandit
    policy: PortfolioPolicy
    risk: MeanVariance
    best: Mix
    reward_mean: Array
    reward_variance: Array
    best_mean: Array
    best_variance: Array
    gap: Array
    exploration: Array
    weights: Array
    average_weights: Array

    def __repr__(self) -> str:
        return f"<PortfolioRuns: {self.policy}, {len(self)} × {self.horizon:,} rounds, seed {self.seed}>"

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

    def measures(self) -> dict[str, Array]:
        """One value per run of everything that is measured."""
        regrets = {"regret": self.regret(), "gap": self.gap, "exploration": self.exploration}
        return regrets | {"reward_mean": self.reward_mean, "reward_variance": self.reward_variance}

    def summary(self) -> dict[str, Any]:
        """Means and standard errors, flat (`averages`), as the command line prints them."""
        facts = {"policy": str(self.policy), "feedback": self.policy.feedback, "seconds": self.seconds}
        mixes = averages({"weights": self.weights, "average_weights": self.average_weights})
        return {**facts, **averages(self.measures()), **mixes}
