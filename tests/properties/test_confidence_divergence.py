"""The smallest divergence to a law that is good enough: closed forms against numerical minima, and what they obey."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from prudent.confidence.divergence import bernoulli, gaussian

numbers = st.floats(-3.0, 3.0)
variances = st.floats(1e-3, 10.0)
tolerances = st.floats(1e-2, 100.0) | st.sampled_from([0.0, math.inf])
gaps = st.floats(1e-2, 10.0)


def own_cost(mean: float, variance: float, rho: float) -> float:
    return -mean if math.isinf(rho) else variance - rho * mean


def between(mean, variance, other_mean, other_variance):
    """KL of two Gaussian laws."""
    return 0.5 * (np.log(other_variance / variance) + (variance + (mean - other_mean) ** 2) / other_variance - 1.0)


def least_gaussian(mean: float, variance: float, cost: float, rho: float) -> float:
    """The minimum on the boundary of the good laws, by a fine grid of deviations and a search around its best."""

    def there(log_deviation):
        v = variance * np.exp(2.0 * log_deviation)
        if rho == 0.0:
            return between(mean, variance, mean, cost) + 0.0 * v
        return (
            between(mean, variance, mean, v) + 0.5 * (mean - (-cost if math.isinf(rho) else (v - cost) / rho)) ** 2 / v
        )

    grid = np.linspace(-15.0, 15.0, 3001)
    near = grid[np.argmin(there(grid))]
    return minimize_scalar(there, bounds=(near - 0.02, near + 0.02), method="bounded", options={"xatol": 1e-9}).fun


@given(numbers, variances, tolerances, gaps)
def test_the_gaussian_form_is_the_numerical_minimum(mean, variance, rho, gap):
    cost = own_cost(mean, variance, rho) - gap
    assume(rho > 0.0 or cost > 1e-3)
    assert gaussian(mean, variance, cost, rho) == pytest.approx(
        least_gaussian(mean, variance, cost, rho), rel=1e-6, abs=1e-11
    )


@given(st.floats(0.01, 0.99), st.sampled_from([0.0, 0.3, 1.0, 1.7, 20.0, math.inf]), st.floats(0.0, 1.0))
def test_the_bernoulli_form_is_the_numerical_minimum(p, rho, share):
    q = np.linspace(0.0, 1.0, 100_001)[1:-1]
    costs = -q if math.isinf(rho) else q * (1.0 - q) - rho * q
    own = own_cost(p, p * (1.0 - p), rho)
    cost = own - share * (own - costs.min())  # such that some q is good enough
    divergences = p * np.log(p / q) + (1.0 - p) * np.log((1.0 - p) / (1.0 - q))
    least = divergences[costs <= cost].min(initial=math.inf)
    assume(least < 4.0)  # beyond, the grid is too coarse
    assert bernoulli(p, cost, rho) == pytest.approx(least, abs=2e-3)


@given(numbers, variances, tolerances, gaps, st.floats(1e-3, 1e3))
def test_units_and_shifts_change_nothing(mean, variance, rho, gap, unit):
    cost = own_cost(mean, variance, rho) - gap
    scaled = cost * unit if math.isinf(rho) else cost * unit**2
    first = gaussian(mean, variance, cost, rho)
    assert gaussian(mean * unit, variance * unit**2, scaled, rho * unit) == pytest.approx(first, rel=1e-6)
    shift = 1.0 if math.isinf(rho) else rho
    assert gaussian(mean + 1.0, variance, cost - shift, rho) == pytest.approx(first, rel=1e-6)


@given(numbers, variances, st.floats(1e-2, 100.0), gaps, gaps)
def test_better_laws_are_farther_away(mean, variance, rho, gap, more):
    cost = own_cost(mean, variance, rho) - gap
    assert 0.0 < gaussian(mean, variance, cost, rho) < gaussian(mean, variance, cost - more, rho)
    assert gaussian(mean, variance, cost + gap, rho) == pytest.approx(0.0, abs=1e-12)
    assert gaussian(mean, variance, cost + 2.0 * gap, rho) == 0.0


@given(numbers, variances, st.floats(0.05, 0.95))
def test_extreme_tolerances_are_limits(mean, variance, share):
    calm = share * variance
    assert gaussian(mean, variance, calm, 1e-12) == pytest.approx(gaussian(mean, variance, calm, 0.0), rel=1e-6)
    better = mean + math.sqrt(variance) * share
    only_mean = gaussian(mean, variance, -better, math.inf)
    assert gaussian(mean, variance, -1e9 * better, 1e9) == pytest.approx(only_mean, rel=1e-4)
    assert gaussian(mean, variance, -1e200 * better, 1e200) == pytest.approx(only_mean, rel=1e-9)
    assert only_mean == pytest.approx(0.5 * math.log(1.0 + share**2), rel=1e-9)


def test_small_gaps_keep_their_digits():
    """KL is then a quadratic form: g²/(4v² + 2ρ²v) for Gaussian laws, g²/2p(1−p)(1−ρ−2p)² for Bernoulli laws."""
    assert gaussian(0.0, 2.0, 2.0 - 1e-7, 3.0) == pytest.approx(1e-14 / (16.0 + 36.0), rel=1e-5)
    assert bernoulli(0.3, 0.21 - 1e-7, 0.0) == pytest.approx(1e-14 / (2.0 * 0.21 * 0.4**2), rel=1e-5)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (gaussian(0.0, 1.0, -1.0, 0.0), math.inf),  # no variance is below 0
        (gaussian(0.0, 1.0, 0.0, 0.0), math.inf),
        (gaussian(0.0, 0.0, -1.0, 1.0), math.inf),  # a constant is never seen with another law
        (gaussian(0.0, 0.0, -1.0, math.inf), math.inf),
        (gaussian(0.0, 0.0, 1.0, math.inf), 0.0),
        (gaussian(0.0, 1e-320, -1.0, 1.0), math.inf),
        (bernoulli(0.5, -1.0, 1.0), math.inf),  # only a certain success costs as little
        (bernoulli(0.5, -1.1, 1.0), math.inf),
        (bernoulli(0.5, -1.0, math.inf), math.inf),
        (bernoulli(0.0, -0.5, math.inf), math.log(2.0)),  # zeros alone may come from a fair coin
        (bernoulli(1.0, -1.5, 1.0), math.inf),
        (bernoulli(0.5, 0.0, math.inf), 0.0),
    ],
)
def test_the_ends(law, expected):
    assert law == pytest.approx(expected)


@pytest.mark.parametrize("variance", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("rho", [0.0, 1e-200, 1e-30, 1.0, 1e30, 1e200, math.inf])
@pytest.mark.parametrize("cost", [-1e50, -1.0, -1e-30, 0.0, 1e-120])
def test_extreme_numbers_give_a_number(variance, rho, cost):
    assert gaussian(0.0, variance, cost, rho) >= 0.0


@pytest.mark.parametrize("rho", [1e-8, 1e-12, 1e-15])
def test_a_tiny_rho_is_nearly_none(rho):
    """One of the two forms of the shift would divide rounding errors by ρ."""
    costs = np.arange(1, 97) / 97.0
    assert [gaussian(0.0, 1.0, cost, rho) for cost in costs] == pytest.approx(
        [gaussian(0.0, 1.0, cost, 0.0) for cost in costs], rel=1e-11
    )
