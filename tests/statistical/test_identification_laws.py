"""Best-arm identification against what is known of it: exact error probabilities, published bounds and numbers.

Streams are fixed. A claim P ≤ p allows `binom.isf(1e-9, runs, p)` events; an exact probability must lie in the Clopper–
Pearson interval of level 1 − 1e-9. Each fails a correct library with probability 1e-9.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom, norm

from prudent import Bandit, Bernoulli, Beta, Gaussian, MeanVariance, RiskMeasure, Uniform, VaR, identify

FALSE_ALARM = 1e-9
MEAN = MeanVariance(math.inf)
BUDGETED = ["uniform", "successive-rejects", "sequential-halving", "ucb-e"]


@dataclass(frozen=True)
class Median(RiskMeasure):
    """Minus the lower median, with the band of Dvoretzky, Kiefer, Wolfowitz and Massart."""

    name = "own-median"

    def cost(self, law):
        return -law.quantile(0.5)

    def weigh(self, values, weights):
        return -values[np.searchsorted(np.cumsum(weights), 0.5 - 1e-12)]

    def bounds(self, pulls, mean, variance, rewards, failure, low, high):
        margin = math.sqrt(math.log(2.0 / failure) / (2.0 * pulls))
        first, last = math.floor((0.5 - margin) * pulls) - 1, math.ceil((0.5 + margin) * pulls)
        return -(rewards[last] if last < pulls else high), -(rewards[first] if first >= 0 else low)


@dataclass(frozen=True)
class SharpMeanVariance(RiskMeasure):
    """σ² − ρμ; one reward moves V − ρμ̂ by (1 + ρ)/s at most on [0, 1], which gives the interval, if it is `honest`."""

    rho: float
    honest: float = 1.0

    name = "own-mean-variance"
    by_moments = True

    def cost(self, law):
        return law.variance - self.rho * law.mean

    def weigh(self, values, weights):
        mean = (weights * values).sum()
        return (weights * (values - mean) ** 2).sum() - self.rho * mean

    def estimate(self, mean, variance, rewards):
        return variance - self.rho * mean

    def bounds(self, pulls, mean, variance, rewards, failure, low, high):
        if pulls < 2:
            return -1.0 - self.rho, 1.0
        width = self.honest * (1.0 + self.rho) * math.sqrt(math.log(2.0 / failure) / (2.0 * pulls))
        centre = variance * pulls / (pulls - 1) - self.rho * mean
        return centre - width, centre + width


# Fixed budget


def test_the_error_of_uniform_allocation_is_exact_for_bernoulli_arms() -> None:
    """Arm 2 is taken for the better arm 1 if it has more successes; a tie goes to arm 1."""
    p, q, each = 0.6, 0.5, 20
    found = identify(Bandit([Bernoulli(p), Bernoulli(q)]), "uniform", risk=MEAN, budget=2 * each, runs=20_000)
    wins = np.arange(each + 1)
    exact = float((binom.pmf(wins, each, q) * binom.cdf(wins - 1, each, p)).sum())
    share = found.error_probability(1.0 - FALSE_ALARM)
    assert share.low <= exact <= share.high
    assert found.simple_regret().mean() == pytest.approx((p - q) * share.value)


def test_the_error_of_uniform_allocation_is_exact_for_gaussian_means() -> None:
    found = identify(Bandit([Gaussian(0.5, 0.2), Gaussian(0.4, 0.3)]), "uniform", risk=MEAN, budget=50, runs=20_000)
    share = found.error_probability(1.0 - FALSE_ALARM)
    assert share.low <= norm.sf(0.1 / math.sqrt((0.2 + 0.3) / 25)) <= share.high


@pytest.mark.parametrize("laws", [[Bernoulli, 0.9, 0.5, 0.45, 0.4], [Bernoulli, 0.5, 0.25, 0.2, 0.1, 0.1]])
def test_successive_rejects_keeps_its_bound(laws) -> None:
    """Theorem 2 of [Audibert10], with budgets for which it allows an error of a tenth to a half."""
    make, *means = laws
    bandit = Bandit([make(mean) for mean in means])
    k_arms, gaps = len(means), np.sort(bandit.gaps(MEAN))
    h2 = max(i / gaps[i - 1] ** 2 for i in range(2, k_arms + 1))
    logbar = 0.5 + sum(1.0 / i for i in range(2, k_arms + 1))
    for allowed in (0.5, 0.1):
        budget = k_arms + math.ceil(logbar * h2 * math.log(k_arms * (k_arms - 1) / (2.0 * allowed)))
        bound = k_arms * (k_arms - 1) / 2 * math.exp(-(budget - k_arms) / (logbar * h2))
        found = identify(bandit, "successive-rejects", risk=MEAN, budget=budget, runs=5_000)
        assert found.wrong().sum() <= binom.isf(FALSE_ALARM, len(found), bound)


@pytest.mark.parametrize("strategy", BUDGETED)
@pytest.mark.parametrize("risk", ["mean-variance(rho=1)", "mean-variance(rho=inf)"])
def test_a_larger_budget_errs_less(strategy: str, risk: str) -> None:
    bandit = Bandit([Gaussian(0.5, 0.1), Gaussian(0.3, 0.2), Gaussian(0.2, 0.2), Gaussian(0.0, 0.3)])
    small, large = (
        identify(bandit, strategy, risk=risk, budget=budget, runs=5_000).error_probability(1.0 - FALSE_ALARM)
        for budget in (16, 160)
    )
    assert large.high < small.low


# Fixed confidence

CLOSE = [Bernoulli(0.5), Bernoulli(0.45), Beta(0.4, 0.3)]
SURE = [
    ("lucb", SharpMeanVariance(1.0), CLOSE),
    ("lucb", SharpMeanVariance(0.0), [Bernoulli(0.4), Uniform(0.0, 1.0), Uniform(0.0, 0.5)]),
    ("lucb", Median(), [Uniform(0.0, 1.0), Beta(1.0, 3.0), Beta(3.0, 1.5)]),
    ("qlucb", VaR(0.5), [Uniform(0.0, 1.0), Beta(1.0, 3.0), Beta(3.0, 1.5)]),
    ("va-lucb(limit=0.26)", MEAN, CLOSE),
    ("va-lucb(limit=0.15)", MEAN, [Bernoulli(0.6), Beta(2.0, 2.0), Uniform(0.0, 0.8)]),
    ("va-lucb(limit=0.05)", MEAN, [Bernoulli(0.5), Uniform(0.0, 1.0)]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "risk", "laws"), SURE, ids=[f"{row[0]}-{i}" for i, row in enumerate(SURE)])
def test_a_confident_search_errs_with_probability_delta_at_most(strategy, risk, laws) -> None:
    found = identify(Bandit(laws), strategy, risk=risk, delta=0.05, runs=200)
    assert found.decided.all()
    assert found.wrong().sum() <= binom.isf(FALSE_ALARM, len(found), 0.05)


def test_that_rule_finds_intervals_that_are_too_narrow() -> None:
    found = identify(Bandit(CLOSE), "lucb", risk=SharpMeanVariance(1.0, honest=0.05), delta=0.05, runs=200)
    assert found.wrong().sum() > binom.isf(FALSE_ALARM, len(found), 0.05)


@pytest.mark.parametrize("strategy", ["lucb", "va-lucb(limit=0.25)"])
def test_more_confidence_takes_more_pulls(strategy: str) -> None:
    """At the end the radii reach the gap, so a hundredth of δ costs log(100)/2Δ² more pulls of either arm at least."""
    bandit, risk = Bandit([Bernoulli(0.7), Bernoulli(0.3)]), MEAN if strategy != "lucb" else SharpMeanVariance(0.5)
    few, many = (identify(bandit, strategy, risk=risk, delta=delta, runs=100).stopping_time() for delta in (0.1, 0.001))
    assert (many.mean() - few.mean()) > 6 * math.hypot(few.std(), many.std()) / 10
