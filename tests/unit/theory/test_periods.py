"""Several rewards of one arm: exact sums against each other and against draws."""

import math
from decimal import Decimal, localcontext
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from prudent import (
    Bernoulli,
    Beta,
    CVaR,
    Deterministic,
    Empirical,
    Entropic,
    Exponential,
    Gaussian,
    MeanVariance,
    Mixture,
    ProportionalHazard,
    PrudentError,
    Semivariance,
    StudentT,
    Uniform,
    VaR,
    period_cost,
)
from prudent.risk.base import risks as registry
from prudent.theory import periods

grids = st.lists(st.integers(-8, 8), min_size=1, max_size=12).map(lambda places: np.array(places) * 0.25)


@given(grids, st.integers(1, 12))
def test_the_fft_is_the_convolution(values, times):
    law = Empirical(values)
    found, mass = periods.sum_on_lattice(law, times)
    distinct, shares = law.atoms()
    places = np.rint(4.0 * (distinct - distinct[0])).astype(int)
    once = np.bincount(places, shares)
    direct = np.ones(1)
    for _ in range(times):
        direct = np.convolve(direct, once)
    at = np.rint(4.0 * (found - times * distinct[0])).astype(int)
    assert 4.0 * (found - times * distinct[0]) == pytest.approx(at, abs=1e-9)
    spread = np.zeros(len(direct))
    spread[at] = mass
    assert np.abs(spread - direct).max() < 1e-14
    assert mass.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("times", [1, 2, 30, 1_000])
def test_sums_of_bernoulli_rewards_are_binomial(times):
    values, mass = periods.sum_on_lattice(Bernoulli(0.3), times)
    assert np.abs(mass - stats.binom.pmf(values, times, 0.3)).max() < 1e-14
    for alpha in (0.01, 0.5):
        assert period_cost(Bernoulli(0.3), VaR(alpha), times) == (-stats.binom.ppf(alpha, times, 0.3), 0.0)


@pytest.mark.parametrize("success", [0.3, 0.001])
@pytest.mark.parametrize("times", [1_000, 100_000])
def test_rounding_misplaces_little_mass(times, success):
    values, mass = periods.sum_on_lattice(Bernoulli(success), times)
    assert np.abs(mass - stats.binom.pmf(values, times, success)).sum() < 1e-14 * times


@pytest.mark.parametrize(("r", "times"), [(0.1, 60), (0.2, 200), (0.1, 700)])
def test_a_measure_that_counts_the_rarest_sums_has_an_exact_cost(r, times):
    """g(p) = p^r of fair coins, in sixty digits: −n + Σ g(P(S ≤ k)); a transform loses all P below 1e-16."""
    with localcontext(prec=60):
        below = list(accumulate(Decimal(math.comb(times, k)) / 2**times for k in range(times)))
        exact = float(sum(p ** Decimal(str(r)) for p in below) - times)
    found = period_cost(Bernoulli(0.5), ProportionalHazard(r), times)
    assert found.cost == pytest.approx(exact, rel=1e-12)
    assert found.error == 0.0


def test_the_rounding_of_a_transform_is_in_the_error(monkeypatch):
    exact = period_cost(Bernoulli(0.5), ProportionalHazard(0.2), 200).cost
    monkeypatch.setattr(periods, "SHORT_LATTICE", 100)
    found = period_cost(Bernoulli(0.5), ProportionalHazard(0.2), 200)
    assert 1e-4 < abs(found.cost - exact) < found.error
    assert period_cost(Bernoulli(0.5), VaR(0.1), 200).error == 0.0, "which sees no mass of 1e-13"


def test_sums_of_gaussians_are_gaussian():
    assert period_cost(Gaussian(0.5, 0.25), CVaR(0.1), 16) == (CVaR(0.1).cost(Gaussian(8.0, 4.0)), 0.0)
    assert period_cost(Deterministic(0.5), CVaR(0.1), 16) == (-8.0, 0.0)
    assert period_cost(Mixture([Deterministic(0.5), Deterministic(0.5)]), CVaR(0.1), 16) == (-8.0, 0.0)


@pytest.mark.parametrize("risk", [MeanVariance(1.3), MeanVariance(math.inf), Entropic(0.7)], ids=str)
@pytest.mark.parametrize("law", [Bernoulli(0.3), Empirical([-1.0, 0.0, 0.0, 2.0])], ids=str)
def test_an_additive_measure_adds(risk, law):
    for times in (1, 2, 7):
        assert risk.weigh(*periods.sum_on_lattice(law, times)) == pytest.approx(times * risk.cost(law), rel=1e-12)
        assert period_cost(law, risk, times).cost == pytest.approx(times * risk.cost(law))


@pytest.mark.parametrize("name", registry.names())
def test_the_measures_that_add_say_so(name):
    risk, law = registry.parse(name), Empirical([-1.0, -0.5, 0.0, 0.0, 2.0])
    adds = math.isclose(risk.weigh(*periods.sum_on_lattice(law, 3)), 3.0 * risk.cost(law), rel_tol=1e-9)
    assert adds == risk.additive


@pytest.mark.parametrize("risk", [CVaR(0.1), VaR(0.3), Semivariance(3.0)], ids=str)
def test_drawn_sums_agree_with_exact_ones(risk):
    """Exponential rewards add up to a gamma law; 6 standard errors: by chance once in 5e8."""
    times, exact = 4, stats.gamma(4, scale=0.5)
    found = period_cost(Exponential(0.5), risk, times, samples=200_000)
    grid = exact.ppf((np.arange(200_000) + 0.5) / 200_000)
    assert 0.0 < found.error < 0.02
    assert abs(found.cost - risk.sample_cost(grid)) < 6.0 * found.error


def test_the_standard_error_is_the_spread_of_the_cost():
    """Over 60 seeds; χ² with 59 degrees of freedom leaves (0.4, 1.9)² with probability below 1e-7."""
    found = [period_cost(Uniform(0.0, 1.0), CVaR(0.2), 3, samples=2_000, seed=seed) for seed in range(60)]
    ratio = np.std([each.cost for each in found], ddof=1) / np.mean([each.error for each in found])
    assert 0.4 < ratio < 1.9


def test_draws_repeat_with_the_seed():
    once, again = (period_cost(Beta(2.0, 3.0), CVaR(0.2), 3, samples=500, seed=7) for _ in range(2))
    assert once == again != period_cost(Beta(2.0, 3.0), CVaR(0.2), 3, samples=500, seed=8)


def test_values_off_any_small_lattice_are_drawn():
    scattered = Empirical(np.random.default_rng(0).random(30))
    assert periods.sum_on_lattice(scattered, 2) is None
    assert period_cost(scattered, CVaR(0.2), 2, samples=1_000).error > 0.0
    assert periods.sum_on_lattice(Bernoulli(0.5), periods.MAX_LATTICE) is None
    values, mass = periods.sum_on_lattice(Empirical([0.1, 0.3, 0.7]), 1)
    assert values == pytest.approx([0.1, 0.3, 0.7])
    assert mass == pytest.approx([1.0 / 3.0] * 3)


def test_values_that_differ_by_rounding_are_one():
    law = Empirical([0.3, 0.1 + 0.2, 1.0])
    assert len(np.unique(law.values)) == 3
    values, mass = periods.sum_on_lattice(law, 2)
    assert values == pytest.approx([0.6, 1.3, 2.0])
    assert mass == pytest.approx([4.0 / 9.0, 4.0 / 9.0, 1.0 / 9.0])


def test_the_best_arm_changes_with_the_periods():
    safe, bold, risk = Gaussian(0.5, 0.01), Gaussian(1.0, 1.0), CVaR(0.05)
    assert period_cost(safe, risk, 1) < period_cost(bold, risk, 1)
    assert period_cost(safe, risk, 100) > period_cost(bold, risk, 100)


def test_bad_periods_are_refused():
    for times in (0, -1, 1.5, "two"):
        with pytest.raises(PrudentError, match="period_cost: periods must be a whole number"):
            period_cost(Bernoulli(0.5), CVaR(), times)
    with pytest.raises(PrudentError, match="samples must be a whole number at least 200"):
        period_cost(Uniform(0.0, 1.0), CVaR(), 2, samples=10)
    with pytest.raises(PrudentError, match="seed must be a whole number at least 0, got -1"):
        period_cost(Uniform(0.0, 1.0), CVaR(), 2, seed=-1)
    with pytest.raises(PrudentError, match="would take 100,000 times as many draws; pass fewer samples"):
        period_cost(Bernoulli(0.5), CVaR(), 10**8)


def test_a_sum_without_the_moment_is_refused_though_samples_have_a_cost():
    for law, risk in ((StudentT(1.0), CVaR(0.1)), (StudentT(2.0), MeanVariance(1.0)), (Exponential(1.0), VaR(1.0))):
        with pytest.raises(PrudentError, match=r"has no (mean|variance|largest reward)"):
            period_cost(law, risk, 3)
    assert period_cost(StudentT(1.0), VaR(0.1), 3, samples=1_000).error > 0.0
