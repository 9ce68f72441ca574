"""Intervals hold the true cost as often as they say, for every measure on five laws.

Streams are fixed, so a test passes always or never; were they not, each would fail a correct interval with probability
1e-9 at most.
"""

import numpy as np
import pytest
from scipy import stats

from prudent import Bernoulli, Beta, CVaR, Empirical, Law, MeanVariance, Mixture, RiskMeasure, Uniform
from prudent.confidence import fixed_n
from prudent.risk.base import risks as registry

LAWS = [
    Beta(2.0, 3.0),
    Bernoulli(0.3),
    Uniform(0.0, 1.0),
    Mixture([Beta(1.0, 9.0), Bernoulli(0.5), Uniform(0.6, 0.9)]),
    Empirical([0.0, 0.0, 0.1, 0.35, 0.35, 0.9]),
]
RISKS = [
    *(registry.parse(name) for name in registry.names() if name != "semivariance"),
    *map(registry.parse, ("semivariance(0.6)", "var(0.5)", "cvar(0.3)", "mean-variance(0.1)", "loss-averse(3, 0.5)")),
]
RUNS, FAILURE = 500, 0.3


def misses(risk: RiskMeasure, law: Law, size: int, method: str = "bounds") -> int:
    rng, cost, missed = np.random.default_rng(12), risk.cost(law), 0
    for x in np.sort(law.sample(rng, RUNS * size).reshape(RUNS, size), 1):
        low, high = getattr(risk, method)(size, x.mean(), x.var(), x, FAILURE, 0.0, 1.0)
        missed += not low - 1e-12 <= cost <= high + 1e-12
    return missed


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_intervals_hold_the_cost(risk: RiskMeasure, law: Law) -> None:
    for size in (3, 60):
        assert misses(risk, law, size) <= stats.binom.isf(1e-9, RUNS, FAILURE)


@pytest.mark.parametrize("law", [Beta(2.0, 3.0), Uniform(0.0, 1.0), Beta(0.5, 0.5)], ids=str)
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_the_older_interval_holds_the_cost_of_continuous_laws(law: Law, alpha: float) -> None:
    assert misses(CVaR(alpha), law, 60, "brown_bounds") <= stats.binom.isf(1e-9, RUNS, FAILURE)


@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_sixteen_times_the_rewards_narrow_the_interval(risk: RiskMeasure) -> None:
    """By 4 where the width falls as 1/√n; proportional hazards, whose g is steep at 0, fall as n^(−1/4)."""
    law, rng = LAWS[0], np.random.default_rng(3)
    few, many = (risk.interval(law.sample(rng, size), support=(0.0, 1.0)) for size in (1_000, 16_000))
    assert many.high - many.low < 0.55 * (few.high - few.low)


@pytest.mark.slow
@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_an_interval_too_sure_of_itself_is_caught(risk: RiskMeasure) -> None:
    """Every reward counted 256 times over: an interval too narrow misses more often than allowed, on some law."""

    class Rash:
        name, cost = risk.name, risk.cost

        def bounds(self, pulls, mean, variance, rewards, *others):  # type: ignore[no-untyped-def]
            return risk.bounds(256 * pulls, mean, variance, np.repeat(rewards, 256), *others)

    limit = stats.binom.isf(1e-9, RUNS, FAILURE)
    assert any(misses(Rash(), law, 12) > limit for law in LAWS)


@pytest.mark.parametrize(("pulls", "failure", "rho"), [(1_000, 0.05, 1.0), (10_000, 0.01, 0.3)])
def test_the_interval_of_the_mean_variance_is_that_of_bounded_differences_at_a_large_variance(pulls, failure, rho):
    """centre ± (1+ρ)√(log(4/δ)/2n) of docs/paper/theory.md on [0, 1], where half of δ is left for it; in units too."""
    width = (1.0 + rho) * np.sqrt(np.log(4.0 / failure) / (2.0 * pulls))
    for unit in (1.0, 20.0):
        centre = unit**2 * (0.16 * pulls / (pulls - 1.0) - rho * 0.2)
        law = 0.2 * unit, 0.16 * unit**2, np.empty(0), failure, 0.0, unit
        low, high = MeanVariance(rho * unit).bounds(pulls, *law)
        assert (low, high) == pytest.approx((centre - unit**2 * width, centre + unit**2 * width))


@pytest.mark.parametrize(("pulls", "failure"), [(1, 0.1), (20, 0.05), (400, 0.01)])
def test_the_interval_of_the_mean_is_the_better_of_two_formulas(pulls, failure):
    """Hoeffding's and the empirical Bernstein bound, each two-sided with half of the failure, on [0, 4]."""
    hoeffding = 4.0 * np.sqrt(np.log(2.0 / (failure / 2.0)) / (2.0 * pulls))
    for variance in (0.0, 0.05, 4.0):  # the second bound is the better one at the first two, for 400 rewards
        width = hoeffding
        if pulls > 1:
            log_term = np.log(4.0 / (failure / 2.0))
            bernstein = np.sqrt(2.0 * variance * log_term / (pulls - 1.0)) + 28.0 * log_term / (3.0 * (pulls - 1.0))
            width = min(hoeffding, bernstein)
        found = fixed_n.mean_bounds(pulls, 2.0, variance, failure, 0.0, 4.0)
        assert found == pytest.approx((max(0.0, 2.0 - width), min(4.0, 2.0 + width)))
