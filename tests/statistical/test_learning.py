"""Policies of the literature as laws: posteriors and learning. (test_published.py: the numbers of their papers.)

Streams are fixed. A Kolmogorov–Smirnov test fails below 1e-6, its false-alarm rate.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom, invgamma, kstest, norm

from prudent import (
    BCVTS,
    MTS,
    MVTS,
    VTS,
    Bandit,
    Bernoulli,
    BernoulliMVTS,
    BernoulliThompson,
    Beta,
    Empirical,
    Gaussian,
    MaRaB,
    MeanVariance,
    Thompson,
    simulate,
)
from prudent.policies.contract import Arm
from prudent.policies.contract import policies as registry
from prudent.policies.scoring import score_of

INF = math.inf
FALSE_ALARM = 1e-6
DRAWS = 20_000

# Posteriors

ARM = Arm(7, 0.3, 0.4)
COIN = Arm(10, 0.3, 0.21)
VARIANCE = invgamma(4.0, scale=0.5 + 3.5 * 0.4)
"""The arm's posterior variance: α = ½ + 7/2, β = ½ + 7 · 0.4/2."""


def scored(policy: Any, arm: Arm, rng: np.random.Generator) -> float:
    return score_of(policy, arm, 0.0, 1, rng, None)


@pytest.mark.parametrize(
    ("policy", "arm", "law"),
    [
        (MTS(INF, 1.0), ARM, norm(-0.3, math.sqrt(1 / 7))),
        (VTS(0.0, 1.0), ARM, VARIANCE),
        (MVTS(0.0, 1.0), ARM, VARIANCE),
        (MVTS(INF, 1.0), ARM, norm(-0.3, math.sqrt(1 / 7))),
        (Thompson(2.0), ARM, norm(-0.3, math.sqrt(4 / 7))),
    ],
)
def test_scores_follow_the_posterior(policy: Any, arm: Arm, law: Any) -> None:
    rng = np.random.default_rng(1)
    assert kstest([scored(policy, arm, rng) for _ in range(DRAWS)], law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("policy", [BernoulliThompson(0.0, 1.0), BernoulliMVTS(INF, 0.0, 1.0)])
def test_probabilities_follow_the_beta_posterior(policy: Any) -> None:
    rng = np.random.default_rng(2)
    assert kstest([-scored(policy, COIN, rng) for _ in range(DRAWS)], beta(4, 8).cdf).pvalue > FALSE_ALARM


def test_mean_and_variance_are_drawn_independently() -> None:
    """Var(1/τ − ρθ) = Var(1/τ) + ρ²/s; the mean of squares of 20,000 draws is within 5 of its standard errors."""
    rng = np.random.default_rng(3)
    scores = np.array([scored(MVTS(2.0, 1.0), ARM._replace(pulls=40), rng) for _ in range(DRAWS)])
    variance = invgamma(20.5, scale=0.5 + 20 * 0.4)
    squares = (scores - (variance.mean() - 2.0 * 0.3)) ** 2
    assert abs(squares.mean() - (variance.var() + 4.0 / 40)) < 5 * squares.std() / math.sqrt(DRAWS)


def test_b_cvts_draws_only_the_tail_of_a_dirichlet_law() -> None:
    rng = np.random.default_rng(4)
    rewards = np.sort(rng.random(30))
    arm = Arm(30, rewards.mean(), rewards.var())
    ours = [-BCVTS(0.2, 1.0).score(arm, rng, rewards) for _ in range(DRAWS)]
    values, weights = np.append(rewards, 1.0), rng.dirichlet(np.ones(31), DRAWS)
    below = np.cumsum(weights, axis=1)
    theirs = (np.diff(np.minimum(below, 0.2), prepend=0.0) * values).sum(1) / 0.2
    assert kstest(ours, theirs).pvalue > FALSE_ALARM


# Learning

GAUSSIAN = Bandit([Gaussian(0.2, 0.5), Gaussian(0.9, 0.1), Gaussian(0.5, 0.25)])
COINS = Bandit([Bernoulli(0.2), Bernoulli(0.9), Bernoulli(0.5)])
BETAS = Bandit([Beta(2.0, 6.0), Beta(8.0, 2.0), Beta(4.0, 4.0)])
STEPS = Bandit([Empirical([0.0, 0.0, 0.5]), Empirical([0.5, 1.0, 1.0]), Empirical([0.0, 0.5, 1.0])])
"""The middle arm is best for every risk and level below."""

SEED_POLICIES = ("mv-lcb(c=1)", "anytime-mv-lcb(c=1)", "bernstein-mv-lcb", "exp-exp", "best-of-both", "ucb1", "ucb-v")
LEARNERS = [
    *((name, bandit, 1_000) for name in SEED_POLICIES for bandit in (GAUSSIAN, COINS)),
    *((name, bandit, 1_000) for name in ("mv-dsee(rule=log, a=20)", "mts", "mvts") for bandit in (GAUSSIAN, COINS)),
    *((name, GAUSSIAN, 1_000) for name in ("mv-ucb", "mv-dsee", "thompson")),
    *((name, GAUSSIAN, 1_000) for name in ("mv-imed", "prudent")),
    *((name, COINS, 300) for name in ("bernoulli-mv-imed", "prudent")),
    ("finite-mv-imed(values=[0, 0.5, 1])", STEPS, 300),
    ("vts", GAUSSIAN, 1_000),  # at ρ = 1 it is greedy in the mean, and one coin in ten starts with a 0
    *((name, COINS, 1_000) for name in ("thompson(sd=0.5)", "bernoulli-thompson", "bernoulli-mvts", "kl-ucb")),
    *((name, COINS, 300) for name in ("mv-ucb(b=1)", "mv-dsee", "npts", "rho-mts")),
    *((name, BETAS, 300) for name in ("npts", "kl-ucb", "rho-mts(values=[0, 0.2, 0.4, 0.6, 0.8, 1])")),
    *((f"{name}(alpha=0.5)", COINS, 300) for name in ("b-cvts", "m-cvts", "cvar-ucb", "u-ucb", "quantile-ucb")),
    *((f"{name}(alpha=0.3)", BETAS, 300) for name in ("b-cvts", "cvar-ucb", "quantile-ucb")),
    ("m-cvts(alpha=0.5, values=[0, 0.5, 1])", STEPS, 300),
    ("u-ucb(alpha=0.3)", BETAS, 1_000),  # its width carries 1/α
    *(("mean-cvar-lcb(alpha=0.5, weight=0.5)", bandit, 300) for bandit in (COINS, BETAS)),
    *(("entropic-lcb(lam=2)", bandit, 300) for bandit in (COINS, BETAS)),
    *((name, COINS, 300) for name in ("ucb-tuned", "w-ucb(risk=proportional-hazard(0.5))")),
    *((name, GAUSSIAN, 300) for name in ("normal-ucb", "cvar-ts(alpha=0.3)", "srts")),
    ("npts-sg", GAUSSIAN, 200),
    ("r-ucb(power=1, sd=0.5)", GAUSSIAN, 300),
    ("robust-ucb(size=0.95)", COINS, 2_500),  # its width is 4√2 times that of UCB1
    ("rs-etc-m", COINS, 300),
]
NO_LEARNERS = {"fixed-arm", "random-arm", "round-robin", "epsilon-greedy", "marab", "optimal", "bernoulli-mv-kg"}
NO_LEARNERS |= {"discounted", "sliding-window"}
"""Yardsticks; one that goes on exploring for ever, as do the last two, because they forget; one that may stay with a
worse arm (below); two for a known number of rounds, compared with the least possible regret in test_near_minimax and
tests/unit/policies."""


def test_every_policy_that_learns_is_tried() -> None:
    ours = {name for name in registry.names() if registry.get(name).factory.__module__.startswith("prudent.")}
    assert {name.split("(")[0] for name, _, _ in LEARNERS} == ours - NO_LEARNERS


def is_tried_on_others(policy: str) -> bool:
    """Whether a policy also learns on arms that are no Gaussians, for which fewer kernels are compiled."""
    name = policy.partition("(")[0]
    return any(other.partition("(")[0] == name for other, bandit, _ in LEARNERS if bandit is not GAUSSIAN)


@pytest.mark.parametrize(
    ("policy", "bandit", "early"),
    [
        pytest.param(*each, marks=[pytest.mark.slow] if each[1] is GAUSSIAN and is_tried_on_others(each[0]) else [])
        for each in LEARNERS
    ],
)
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
