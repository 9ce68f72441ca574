"""The field's policies as laws: posteriors, learning, and the numbers their papers print.

Streams are fixed. A Kolmogorov–Smirnov test fails below 1e-6, its false-alarm rate. Published means are met within 4
combined standard errors, theirs taken as printed.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, binom, invgamma, kstest, norm

from prudent import MTS, MVTS, MVUCB, NPTS, VTS, Bandit, Bernoulli, Beta, Gaussian, Law, MeanVariance, simulate
from prudent.paper.problems import CONFIGURATION_1
from prudent.policies import BCVTS, Arm, BernoulliMVTS, BernoulliThompson, MaRaB, Thompson
from prudent.risk import RiskMeasure

INF = math.inf
FALSE_ALARM = 1e-6
DRAWS = 20_000

# Posteriors

ARM = Arm(7, 0.3, 0.4)
COIN = Arm(10, 0.3, 0.21)
VARIANCE = invgamma(4.0, scale=0.5 + 3.5 * 0.4)
"""The arm's posterior variance: α = ½ + 7/2, β = ½ + 7 · 0.4/2."""


@pytest.mark.parametrize(
    ("policy", "arm", "law"),
    [
        (MTS(INF), ARM, norm(-0.3, math.sqrt(1 / 7))),
        (VTS(0.0), ARM, VARIANCE),
        (MVTS(0.0), ARM, VARIANCE),
        (MVTS(INF), ARM, norm(-0.3, math.sqrt(1 / 7))),
        (Thompson(2.0), ARM, norm(-0.3, math.sqrt(2 / 7))),
    ],
)
def test_scores_follow_the_posterior(policy: Any, arm: Arm, law: Any) -> None:
    rng = np.random.default_rng(1)
    assert kstest([policy.score(arm, rng) for _ in range(DRAWS)], law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("policy", [BernoulliThompson(), BernoulliMVTS(INF)])
def test_probabilities_follow_the_beta_posterior(policy: Any) -> None:
    rng = np.random.default_rng(2)
    assert kstest([-policy.score(COIN, rng) for _ in range(DRAWS)], beta(4, 8).cdf).pvalue > FALSE_ALARM


def test_mean_and_variance_are_drawn_independently() -> None:
    """Var(1/τ − ρθ) = Var(1/τ) + ρ²/s; the mean of squares of 20,000 draws is within 5 of its standard errors."""
    rng = np.random.default_rng(3)
    scores = np.array([MVTS(2.0).score(ARM._replace(pulls=40), rng) for _ in range(DRAWS)])
    variance = invgamma(20.5, scale=0.5 + 20 * 0.4)
    squares = (scores - (variance.mean() - 2.0 * 0.3)) ** 2
    assert abs(squares.mean() - (variance.var() + 4.0 / 40)) < 5 * squares.std() / math.sqrt(DRAWS)


def test_b_cvts_draws_only_the_tail_of_a_dirichlet_law() -> None:
    rng = np.random.default_rng(4)
    rewards = np.sort(rng.random(30))
    arm = Arm(30, rewards.mean(), rewards.var())
    ours = [-BCVTS(0.2).score(arm, rng, rewards) for _ in range(DRAWS)]
    values, weights = np.append(rewards, 1.0), rng.dirichlet(np.ones(31), DRAWS)
    below = np.cumsum(weights, axis=1)
    theirs = (np.diff(np.minimum(below, 0.2), prepend=0.0) * values).sum(1) / 0.2
    assert kstest(ours, theirs).pvalue > FALSE_ALARM


# Learning

GAUSSIAN = Bandit([Gaussian(0.2, 0.5), Gaussian(0.9, 0.1), Gaussian(0.5, 0.25)])
COINS = Bandit([Bernoulli(0.2), Bernoulli(0.9), Bernoulli(0.5)])
BETAS = Bandit([Beta(2.0, 6.0), Beta(8.0, 2.0), Beta(4.0, 4.0)])
"""The middle arm is best for every risk and level below."""

LEARNERS = [
    *((name, GAUSSIAN, 1_000) for name in ("mv-ucb", "mv-dsee", "mv-dsee(rule=log, a=20)", "mts", "vts", "mvts")),
    ("thompson", GAUSSIAN, 1_000),
    *((name, COINS, 1_000) for name in ("thompson(variance=0.25)", "bernoulli-thompson", "bernoulli-mvts", "kl-ucb")),
    *((name, COINS, 300) for name in ("mv-ucb(b=1)", "mv-dsee", "npts", "rho-mts")),
    *((name, BETAS, 300) for name in ("npts", "kl-ucb", "rho-mts(support=[0.2, 0.4, 0.6, 0.8, 1])")),
    *((f"{name}(alpha=0.5)", COINS, 300) for name in ("b-cvts", "m-cvts", "cvar-ucb", "u-ucb", "quantile-ucb")),
    *((f"{name}(alpha=0.3)", BETAS, 300) for name in ("b-cvts", "cvar-ucb", "quantile-ucb")),
    ("u-ucb(alpha=0.3)", BETAS, 1_000),  # its width carries 1/α
    *(("entropic-lcb(lam=2)", bandit, 300) for bandit in (COINS, BETAS)),
]


@pytest.mark.parametrize(("policy", "bandit", "early"), LEARNERS)
def test_the_best_arm_takes_over(policy: str, bandit: Bandit, early: int) -> None:
    """Its share of the pulls is above 0.9 after ten times as many rounds, and larger than before."""
    runs = simulate(bandit, policy, risk=MeanVariance(1.0), horizon=10 * early, runs=20, snapshots=[early])
    first, last = (at.pulls[:, 1].mean() / at.horizon for at in runs.history)
    assert last > max(first, 0.9)


def test_marab_may_stay_with_a_worse_arm_for_good() -> None:
    """The better arm's first reward is 0 with probability 0.1; its pessimistic CVaR is then the smallest for ever."""
    bandit = Bandit([Bernoulli(0.9), Beta(50.0, 50.0)])
    pulls = simulate(bandit, MaRaB(0.5), risk=MeanVariance(INF), horizon=500, runs=1_000).pulls
    assert (pulls[:, 0] == 1).sum() >= binom.ppf(1e-9, 1_000, 0.1)


# Published numbers


@pytest.mark.parametrize(
    ("policy", "rho", "published", "error"),
    [(MTS(), 1.0, 831, 26), (MVTS(), 1.0, 948, 33), (MVUCB(), 1.0, 4019, 25), (VTS(), 0.001, 44, 7)],
)
def test_zhu_and_tan(policy: Any, rho: float, published: float, error: float) -> None:
    """Configuration 1, n = 30,000: n (variance − ρ mean − best cost) of the rewards as one sequence ([Zhu20])."""
    n, risk = 30_000, MeanVariance(rho)
    runs = simulate(CONFIGURATION_1, policy, risk=risk, horizon=n, runs=100, engine="stepping")
    mean = (runs.pulls * runs.mean).sum(1) / n
    variance = (runs.pulls * (runs.variance + (runs.mean - mean[:, None]) ** 2)).sum(1) / n
    best = min(risk.cost(arm) for arm in CONFIGURATION_1.arms)
    agrees(n * (variance - rho * mean - best), published, error)


@dataclass(frozen=True)
class Blend(RiskMeasure):
    """−(mean/2 − variance + the mean of the best `tail` fraction), the cost of [Chang22]'s first experiment."""

    tail: float = 0.05

    name = "blend"

    def cost(self, law: Law) -> float:
        lower = law.lower_tail_mean(1.0 - self.tail)
        best = (law.mean - (1.0 - self.tail) * lower) / self.tail
        return -(0.5 * law.mean - law.variance + best)

    def weigh(self, values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
        mean = (weights * values).sum()
        variance = (weights * (values - mean) ** 2).sum()
        left, best = self.tail, 0.0
        for i in range(len(values) - 1, -1, -1):
            mass = min(left, weights[i])
            best += mass * values[i]
            left -= mass
        return -(0.5 * mean - variance + best / self.tail)


def test_chang_and_tan() -> None:
    """Three beta arms, n = 5,000: Σ T_i Δ_i, 6.40 ± 0.18 on sorted rewards (their code leaves them unsorted: 3.74)."""
    arms = [Beta(1.0, 3.0), Beta(3.0, 3.0), Beta(3.0, 1.0)]
    runs = simulate(Bandit(arms), NPTS(), risk=Blend(), horizon=5_000, runs=32)
    costs = np.array([Blend().cost(arm) for arm in arms])
    agrees((runs.pulls * (costs - costs.min())).sum(1), 6.40, 0.18)


def agrees(regrets: NDArray[np.float64], published: float, error: float) -> None:
    own = regrets.std() / math.sqrt(len(regrets))
    assert abs(regrets.mean() - published) < 4.0 * math.hypot(own, error)
