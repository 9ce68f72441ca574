"""Confidence sequences: the closed form, symmetries, and what must follow from less data or less confidence."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from prudent import PrudentError
from prudent.confidence.anytime import (
    log_capital,
    mean_above,
    mean_below,
    mean_bounds,
    mean_variance_bounds,
    quantile_bounds,
    quantile_ranks,
    variance_bounds,
)

pulls = st.integers(1, 10_000)
fractions = st.floats(0.0, 1.0)
failures = st.floats(0.001, 0.5)
samples = st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=60)


def spread(mean, fraction):
    """A variance that rewards in [0, 1] of this mean can have."""
    return fraction * mean * (1.0 - mean)


@given(st.integers(1, 300), fractions, fractions)
def test_the_capital_is_its_integral(n, distance, variance):
    def integrand(bet):
        return math.exp(n * (bet * distance + (variance + distance**2) * (bet + math.log1p(-bet))))

    integral, _ = quad(integrand, 0.0, 1.0, epsabs=0.0, epsrel=1e-9, limit=200)
    assert log_capital(np.array(n), np.array(distance), np.array(variance)) == pytest.approx(
        math.log(integral), abs=1e-7
    )


@given(st.lists(st.floats(-1.0, 5.0), min_size=1, max_size=50), st.floats(0.0, 0.999))
def test_a_gambler_wins_no_less_than_the_exponential(deviations, bet):
    """exp(λξ + ξ²(λ + log(1−λ))) ≤ 1 + λξ for ξ ≥ −1, the inequality everything about the mean rests on."""
    xi = np.array(deviations)
    assert (np.exp(bet * xi + xi**2 * (bet + math.log1p(-bet))) <= 1.0 + bet * xi + 1e-12).all()


@given(pulls, fractions, fractions, failures, st.floats(-5.0, 5.0), st.floats(0.01, 10.0))
def test_intervals_move_and_stretch_with_the_rewards(n, mean, fraction, failure, shift, scale):
    variance = spread(mean, fraction)
    moved = (n, shift + scale * mean, scale**2 * variance, failure, shift, shift + scale)
    assert mean_bounds(*moved) == pytest.approx(
        [shift + scale * end for end in mean_bounds(n, mean, variance, failure, 0.0, 1.0)], abs=1e-6
    )
    assert variance_bounds(*moved) == pytest.approx(
        [scale**2 * end for end in variance_bounds(n, mean, variance, failure, 0.0, 1.0)], abs=1e-6 * scale**2
    )


@given(pulls, fractions, fractions, failures)
def test_intervals_hold_the_estimates_within_what_is_possible(n, mean, fraction, failure):
    variance = spread(mean, fraction)
    left, right = mean_bounds(n, mean, variance, failure, 0.0, 1.0)
    assert 0.0 <= left <= mean <= right <= 1.0
    smallest, largest = variance_bounds(n, mean, variance, failure, 0.0, 1.0)
    assert 0.0 <= smallest <= variance <= largest + 1e-12
    assert largest <= 0.25


@given(pulls, fractions, fractions, st.floats(1e-6, 0.49), fractions, st.floats(-5.0, 5.0), st.floats(0.01, 10.0))
def test_a_limit_is_excluded_if_it_lies_outside_the_interval_of_twice_the_failure(n, m, part, failure, at, low, reach):
    mean, variance, within = low + reach * m, reach**2 * spread(m, part), (low, low + reach)
    ends = mean_bounds(n, mean, variance, 2.0 * failure, *within)
    tried = [low + reach * at, *within, *(end + step * reach for end in ends for step in (-1e-8, 1e-8))]
    for limit in tried:
        if abs(limit - ends[0]) > 1e-9 * reach:
            assert mean_above(n, mean, variance, limit, failure, *within) == (limit < ends[0])
        if abs(limit - ends[1]) > 1e-9 * reach:
            assert mean_below(n, mean, variance, limit, failure, *within) == (limit > ends[1])


@given(pulls, fractions, fractions, failures)
def test_less_confidence_narrows_and_mirrored_rewards_mirror(n, mean, fraction, failure):
    variance = spread(mean, fraction)
    for bounds in (mean_bounds, variance_bounds):
        wide = bounds(n, mean, variance, failure, 0.0, 1.0)
        narrow = bounds(n, mean, variance, 1.5 * failure, 0.0, 1.0)
        assert wide[0] <= narrow[0] + 1e-12
        assert narrow[1] <= wide[1] + 1e-12
    left, right = mean_bounds(n, mean, variance, failure, 0.0, 1.0)
    assert mean_bounds(n, 1.0 - mean, variance, failure, 0.0, 1.0) == pytest.approx((1.0 - right, 1.0 - left), abs=1e-9)


@given(pulls, fractions, fractions, failures)
def test_the_cost_lies_where_variance_and_mean_put_it(n, mean, fraction, failure):
    statistics = (n, mean, spread(mean, fraction))
    assert mean_variance_bounds(*statistics, 0.0, failure, 0.0, 1.0) == variance_bounds(*statistics, failure, 0.0, 1.0)
    left, right = mean_bounds(*statistics, failure, 0.0, 1.0)
    assert mean_variance_bounds(*statistics, math.inf, failure, 0.0, 1.0) == (-right, -left)


@given(samples, st.floats(0.01, 0.99), failures)
def test_a_quantile_is_left_out_just_where_the_counts_say(rewards, quantile, failure):
    ordered = np.sort(rewards)
    low, high = quantile_bounds(ordered, quantile, failure)
    first, last = quantile_ranks(len(ordered), quantile, failure)
    assert 0 <= first < last <= len(ordered) + 1
    for x in np.concatenate([ordered, ordered + 0.01, [-2.0, 2.0]]):
        assert (low <= x) == ((ordered <= x).sum() >= first)
        assert (x <= high) == ((ordered < x).sum() < last)


def test_arrays_give_what_numbers_give():
    n, mean, variance = np.array([[1], [10], [1000]]), np.array([0.0, 0.3, 1.0]), np.array([0.0, 0.05, 0.0])
    for bounds in (mean_bounds, variance_bounds):
        low, high = bounds(n, mean, variance, 0.05, 0.0, 1.0)
        assert low.shape == high.shape == (3, 3)
        for i, j in np.ndindex(3, 3):
            assert (low[i, j], high[i, j]) == bounds(n[i, 0], mean[j], variance[j], 0.05, 0.0, 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"failure": 5}, r"failure must lie in \(0, 1\), got 5"),
        ({"pulls": 0}, "pulls must be at least 1"),
        ({"mean": 1.5}, r"mean must lie in \[0, 1\]"),
        ({"mean": math.nan}, "mean must lie"),
        ({"variance": -0.1}, "variance must lie between 0 and"),
        ({"variance": 0.3}, "or some reward left"),
        ({"variance": math.nan}, "variance must lie"),
        ({"mean": "a"}, "mean must be numbers, got 'a'"),
        ({"pulls": [1, 2, 3], "mean": [0.1, 0.2]}, r"must fit together, got the shapes \(3,\), \(2,\), \(\)"),
        ({"low": 2.0}, "low < high"),
        ({"high": math.inf}, "must be finite"),
    ],
)
def test_bad_statistics_are_refused(change, message):
    given = {"pulls": 10, "mean": 0.5, "variance": 0.1, "failure": 0.05, "low": 0.0, "high": 1.0} | change
    for bounds in (mean_bounds, variance_bounds):
        with pytest.raises(PrudentError, match=message):
            bounds(**given)


def test_bad_quantiles_are_refused():
    with pytest.raises(PrudentError, match=r"quantile must lie in \(0, 1\), got 1.0; 0.5 is the median"):
        quantile_bounds([0.0, 1.0], 1.0, 0.05)
    with pytest.raises(PrudentError, match="pulls must be at least 1"):
        quantile_bounds([], 0.5, 0.05)
    for rewards in ([0.3, 0.1], [math.nan], [[0.1], [0.2]]):
        with pytest.raises(PrudentError, match=r"ascending order; pass np.sort\(rewards\)"):
            quantile_bounds(rewards, 0.5, 0.05)


@pytest.mark.parametrize("rho", [-1.0, math.nan, None])
def test_bad_tolerances_are_refused(rho):
    with pytest.raises(PrudentError, match="confidence: rho must"):
        mean_variance_bounds(10, 0.5, 0.1, rho, 0.05, 0.0, 1.0)
