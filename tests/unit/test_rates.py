"""Rates: exponents of power laws, with the errors they promise."""

import numpy as np
import pytest

from prudent.errors import PrudentError
from prudent.rates import end_slope, fit_slope


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
