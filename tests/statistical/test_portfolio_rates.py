"""How fast mixes are learned, and the law of the regret. Streams are fixed; limits state their false-alarm rates."""

import numpy as np
import pytest
from scipy.stats import norm

from prudent.portfolio import MultivariateGaussian, MultivariateT, PortfolioBandit, fit_slope, simulate_portfolio

pytest.importorskip("piqp")

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


@pytest.mark.parametrize(
    ("policy", "start", "low", "high"),
    [("mc-empirical", 10**3, -1.05, -0.8), ("mc-ucb", 10**3, -1.05, -0.7), ("mc-ete", 10**5, -0.42, -0.30)],
)
def test_regret_falls_at_the_rate_of_the_feedback(policy, start, low, high):
    """log n / n where arms are seen, since the cost is quadratic around an optimum; n^{−1/3} where the mix alone is.

    The limits are several widths of the measured band away from the measured slope. MC-ETE's exploration, n^{−1/3},
    outgrows its estimation error, n^{−2/3}, only late.
    """
    rounds = [start, 10 * start, 100 * start, 1000 * start]
    runs = simulate_portfolio(BANDIT, policy, rho=1.0, horizon=rounds[-1], runs=25, snapshots=rounds, seed=2)
    slope = runs.regret_slope(pseudo=True)
    assert low < slope.low <= slope.slope <= slope.high < high
    assert np.abs(runs.weights.mean(0) - runs.best.weights).max() < 0.02


@pytest.mark.parametrize("policy", ["mc-empirical", "mc-ucb"])
def test_the_hardest_means_for_each_horizon_give_the_root(policy):
    """Mean only, two arms whose means differ by 1/√n: n rounds cannot tell them apart, and regret is n^{−1/2}."""
    regrets = []
    for n in HORIZONS:
        bandit = PortfolioBandit(MultivariateGaussian([n**-0.5, 0.0], np.eye(2)))
        regrets.append(simulate_portfolio(bandit, policy, rho=np.inf, horizon=n, runs=40, seed=3).pseudo_regret())
    slope = fit_slope(HORIZONS, regrets)
    assert -0.65 < slope.low <= slope.slope <= slope.high < -0.35
