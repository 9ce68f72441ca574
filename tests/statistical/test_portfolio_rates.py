"""How fast mixes are learned, and the law of the regret. Streams are fixed; limits state their false-alarm rates."""

import numpy as np
import pytest
from scipy.stats import norm

from prudent import MultivariateGaussian, MultivariateT, PortfolioBandit, simulate_portfolio
from prudent.results.rates import bootstrap_slope

SPREAD = np.array([[1.0, 0.3, 0.0], [0.3, 0.6, -0.1], [0.0, -0.1, 0.4]])
BANDIT = PortfolioBandit(MultivariateGaussian([0.5, 0.3, 0.1], SPREAD))
HORIZONS = [10**3, 3 * 10**4, 10**6]
FALSE_ALARM = norm.isf(1e-7)


@pytest.mark.parametrize("law", [BANDIT.law, MultivariateT(9.0, [0.5, 0.3, 0.1], SPREAD)], ids=["gaussian", "t"])
def test_the_expected_regret_of_a_fixed_mix(law):
    """E[R_n] = cost(x) − cost(x*) − (xᵀCx − x*ᵀCx*)/n for a mix that never changes."""
    bandit = PortfolioBandit(law)
    runs = simulate_portfolio(bandit, "even", rho=1.0, horizon=12, runs=4000, seed=1)
    even = np.full(3, 1.0 / 3.0)
    inflation = (even @ law.covariance @ even - runs.best.variance) / 12
    expected = bandit.cost(even, 1.0) - runs.best.cost - inflation
    error = runs.regret().std() / np.sqrt(len(runs))
    assert abs(runs.regret().mean() - expected) < FALSE_ALARM * error
    assert inflation > FALSE_ALARM * error / 3  # the correction itself is not lost in the noise


def test_with_full_information_regret_is_log_n_over_n_with_a_known_constant():
    """n E[R_n] grows by ((s − 1)(ρ²/4 + v*) + ρ²A/4) + (A(ρ²/4 + v*) + ρ²A²/4) per unit of log n: gap and exploration.

    To first order x̂ − x* = ½ G e, with G the inverse of C on moves that sum to zero and e the error of ρμ̂ − 2Ĉx*, of
    covariance (ρ²C + 4v*C + 4Cx*x*ᵀC)/t for Gaussian arms; s arms have weight, v* = x*ᵀCx*, A = μᵀGμ. A mix used until
    rounds have grown by 5 % costs 0.05/log 1.05 times that. Two-sided at 1e-7; 10³ rounds are far enough.
    """
    rho, first, last = 1.0, 10**3, 10**6
    runs = simulate_portfolio(BANDIT, "mc-empirical", rho=rho, horizon=last, runs=60, snapshots=[first], seed=4)
    assert runs.best.held == (0, 1, 2)
    inverse = np.linalg.inv(SPREAD)
    g = inverse - np.outer(inverse.sum(1), inverse.sum(0)) / inverse.sum()
    a, v = BANDIT.law.mean @ g @ BANDIT.law.mean, runs.best.variance
    expected = (2 + a) * (rho**2 / 4 + v) + rho**2 * a * (1 + a) / 4
    measured = (last * runs.regret() - first * runs.at(first).regret()) / np.log(last / first)
    error = measured.std() / np.sqrt(len(runs))
    assert abs(measured.mean() - expected * 0.05 / np.log(1.05)) < norm.isf(5e-8) * error < 0.3 * expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "start", "low", "high"), [("mc-ucb", 10**3, -1.05, -0.7), ("mc-ete", 10**5, -0.42, -0.30)]
)
def test_regret_falls_at_the_rate_of_the_feedback(policy, start, low, high):
    """Nearly 1/n where arms are seen, since the cost is quadratic around an optimum; n^{−1/3} where the mix alone is.

    The limits are several widths of the measured band away from the measured slope. MC-ETE's exploration, n^{−1/3},
    outgrows its estimation error, n^{−2/3}, only late.
    """
    rounds = [start, 10 * start, 100 * start, 1000 * start]
    runs = simulate_portfolio(BANDIT, policy, rho=1.0, horizon=rounds[-1], runs=12, snapshots=rounds, seed=2)
    slope = runs.regret_slope(pseudo=True)
    assert low < slope.low <= slope.value <= slope.high < high
    assert np.abs(runs.weights.mean(0) - runs.best.weights).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["mc-empirical", "mc-ucb"])
def test_the_hardest_means_for_each_horizon_give_the_root(policy):
    """Mean only, two arms whose means differ by 1/√n: n rounds cannot tell them apart, and regret is n^{−1/2}."""
    regrets = []
    for n in HORIZONS:
        bandit = PortfolioBandit(MultivariateGaussian([n**-0.5, 0.0], np.eye(2)))
        regrets.append(simulate_portfolio(bandit, policy, rho=np.inf, horizon=n, runs=40, seed=3).pseudo_regret())
    slope = bootstrap_slope(HORIZONS, regrets)
    assert -0.65 < slope.low <= slope.value <= slope.high < -0.35
