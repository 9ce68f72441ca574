"""Rates: exponents of power laws, with the errors they promise."""

import numpy as np
import pytest

from prudent import PrudentError
from prudent.results.rates import Band, Slope, bootstrap_slope, end_slope, fit_slope


def test_the_slope_between_two_ends_is_the_exponent_of_a_power_law():
    assert end_slope([10, 50, 1_000], [n**-0.5 for n in (10, 3, 1_000)]) == pytest.approx(-0.5)


def test_slope_of_a_power_law_is_its_exponent_whatever_the_errors():
    n = np.array([1e2, 1e3, 1e4, 1e6])
    y = 3.0 * n ** (-1 / 3)
    for se in (y * 0.01, y * np.array([0.1, 0.01, 0.05, 0.2]), np.zeros(4)):
        assert fit_slope(n, y, se).value == pytest.approx(-1 / 3, abs=1e-12)


def test_slope_error_is_the_spread_of_fitted_slopes():
    rng = np.random.default_rng(0)
    n, share = np.geomspace(1e3, 1e8, 11), np.linspace(0.01, 0.05, 11)
    y = n ** (-1 / 3)
    fits = [fit_slope(n, y * np.exp(share * rng.standard_normal(11)), share * y) for _ in range(2000)]
    values = np.array([fit.value for fit in fits])
    exact = fit_slope(n, y, share * y).se
    # The variance of 2000 slopes over its expectation is χ²/1999; 6.1 standard deviations are a false alarm in 10⁹.
    assert values.var(ddof=1) / exact**2 == pytest.approx(1.0, abs=6.1 * np.sqrt(2 / 1999))
    assert abs(values.mean() + 1 / 3) < 6.1 * exact / np.sqrt(2000)


def test_slope_error_grows_when_points_scatter_by_more_than_their_errors():
    n = np.array([1e2, 1e3, 1e4, 1e5])
    y = n**-0.5 * np.array([1.0, 1.3, 0.8, 1.1])
    assert fit_slope(n, y, y * 1e-3).se > 50 * fit_slope(n, n**-0.5, n**-0.5 * 1e-3).se


@pytest.mark.parametrize("y", [[1.0, 0.5], [1.0, 0.5, 0.0]])
def test_slope_needs_three_positive_values(y):
    with pytest.raises(PrudentError, match="at least 3 positive values"):
        fit_slope([1.0, 2.0, 3.0][: len(y)], y, y)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_slope_and_error_do_not_depend_on_the_unit(scale):
    n, y = np.array([1e2, 1e3, 1e4, 1e5]), np.array([1.0, 0.4, 0.09, 0.03])
    errors = y * np.array([0.1, 0.02, 0.3, 0.1])
    assert fit_slope(n, scale * y, scale * errors) == pytest.approx(fit_slope(n, y, errors), rel=1e-9)


def test_one_error_of_zero_leaves_all_points_the_same_weight():
    n, y = np.array([1e2, 1e3, 1e4, 1e5]), np.array([1.0, 0.4, 0.09, 0.03])
    line, covariance = np.polyfit(np.log(n), np.log(y), 1, cov=True)
    found = fit_slope(n, y, y * np.array([0.1, 0.0, 0.3, 0.1]))
    assert found == pytest.approx((line[0], np.sqrt(covariance[0, 0])))


def test_resampled_runs_give_the_slope_of_the_means_and_a_band():
    """Runs that share a factor have one slope, whatever is resampled; others have a band around that of the means."""
    n = np.array([10, 100, 1_000])
    factors = np.array([1.0, 2.0, 4.0])
    assert bootstrap_slope(n, [k**-0.7 * factors for k in n]) == pytest.approx((-0.7, -0.7, -0.7))
    noisy = [k**-0.7 * factors * np.exp([0.0, 0.1 * i, -0.2 * i]) for i, k in enumerate(n)]
    value, low, high = bootstrap_slope(n, noisy)
    # With points at equal distances the slope of least squares is that between the ends.
    assert value == pytest.approx(end_slope(n, [regrets.mean() for regrets in noisy]))
    each = [end_slope(n, [regrets[i] for regrets in noisy]) for i in range(3)]
    assert min(each) - 1e-9 <= low < value < high <= max(each) + 1e-9
    with pytest.raises(PrudentError, match="needs two snapshots or more, got 1"):
        bootstrap_slope([10], [factors])
    with pytest.raises(PrudentError, match="not above zero at every snapshot"):
        bootstrap_slope([10, 20], [factors, factors - factors.mean()])


def test_a_zero_has_no_minus():
    assert str(Band(-0.001, -0.004, 0.5)) == "0.00 [0.00, 0.50]"
    assert str(Slope(-0.00001, 0.25)) == "0.00 ± 0.25"
    assert str(Slope(-1e-17, 3e-17)) == "0"
