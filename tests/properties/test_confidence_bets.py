"""Bets against candidates: what must follow from symmetry, from more confidence and from the bets being fair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import PrudentError
from prudent.confidence import anytime, betting

samples = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40)
failures = st.floats(0.001, 0.5)


def known(rewards, low=0.0, high=1.0, rho=0.0):
    """Ledger and pulls after some rewards."""
    ledger, mean = betting.no_bets(rho), 0.0
    for n, reward in enumerate(rewards):
        betting.include(ledger, n, mean, reward, low, high, rho)
        mean += (reward - mean) / (n + 1)
    return ledger, len(rewards)


@given(samples, failures, st.floats(-5.0, 5.0), st.floats(0.01, 10.0))
def test_intervals_move_and_stretch_with_the_rewards(rewards, failure, shift, scale):
    moved = [shift + scale * reward for reward in rewards]
    within = failure, shift, shift + scale
    plain, other = known(rewards), known(moved, *within[1:])
    for bounds, expected in (
        (betting.mean_bounds, lambda end: shift + scale * end),
        (betting.variance_bounds, lambda end: scale**2 * end),
    ):
        wanted = [float(expected(end)) for end in bounds(*plain, failure, 0.0, 1.0)]
        assert bounds(*other, *within) == pytest.approx(wanted, abs=1e-6 * max(scale, scale**2))


@given(samples, st.sampled_from([0.0, 0.4]))
def test_rewards_entered_at_once_are_those_entered_one_by_one(rewards, rho):
    counts = np.unique([1, len(rewards) // 2 + 1, len(rewards)])
    wanted = [known(rewards[:count], rho=rho)[0] for count in counts]
    assert betting.entered(np.array(rewards), counts, 0.0, 1.0, rho) == pytest.approx(np.array(wanted), abs=1e-9)


@given(samples, failures)
def test_rewards_seen_in_a_mirror_have_mirrored_intervals(rewards, failure):
    plain, mirrored = known(rewards), known([1.0 - reward for reward in rewards])
    low, high = betting.mean_bounds(*plain, failure, 0.0, 1.0)
    assert betting.mean_bounds(*mirrored, failure, 0.0, 1.0) == pytest.approx((1.0 - high, 1.0 - low), abs=1e-6)
    variances = [betting.variance_bounds(*each, failure, 0.0, 1.0) for each in (plain, mirrored)]
    assert variances[0] == pytest.approx(variances[1], abs=1e-6)


@given(samples, failures, failures)
def test_they_hold_the_mean_and_widen_with_confidence(rewards, first, second):
    (ledger, pulls), mean = known(rewards), np.mean(rewards)
    wide, narrow = (betting.mean_bounds(ledger, pulls, f, 0.0, 1.0) for f in sorted((first, second)))
    assert wide[0] <= narrow[0] <= mean + 1e-12
    assert mean - 1e-12 <= narrow[1] <= wide[1]
    wide, narrow = (betting.variance_bounds(ledger, pulls, f, 0.0, 1.0) for f in sorted((first, second)))
    assert 0.0 <= wide[0] <= narrow[0] <= narrow[1] <= wide[1] <= 0.25


@given(samples, failures, st.floats(0.0, 10.0), st.floats(-5.0, 5.0), st.floats(0.01, 10.0))
def test_a_cost_stretches_with_the_rewards_and_lies_where_a_cost_can_be(rewards, failure, rho, shift, scale):
    """Rewards moved by s and stretched by a have the cost a²σ² − ρ(s + aμ)."""
    low, high = betting.mean_variance_bounds(*known(rewards, rho=rho), rho, failure, 0.0, 1.0)
    assert -rho - 1e-12 <= low <= high <= 0.25
    moved = [shift + scale * reward for reward in rewards]
    other = known(moved, shift, shift + scale, scale * rho)
    ends = betting.mean_variance_bounds(*other, scale * rho, failure, shift, shift + scale)
    wanted = [float(scale**2 * end - scale * rho * shift) for end in (low, high)]
    assert ends == pytest.approx(wanted, abs=1e-6 * (1.0 + rho) * max(scale, scale**2))
    left, right = betting.mean_bounds(*known(rewards), failure, 0.0, 1.0)
    assert betting.mean_variance_bounds(*known(rewards), np.inf, failure, 0.0, 1.0) == (-right, -left)


@given(samples, failures)
def test_a_large_tolerance_leaves_little_but_the_mean(rewards, failure):
    """σ²/ρ − μ has nearly the bets of −μ; the interval of the mean behind it takes a tenth of the failure."""
    rho = 1e9
    low, high = betting.mean_variance_bounds(*known(rewards, rho=rho), rho, failure, 0.0, 1.0)
    left, right = betting.mean_bounds(*known(rewards), failure * (1.0 - anytime.MEAN_SHARE), 0.0, 1.0)
    assert (low / rho, high / rho) == pytest.approx((-right, -left), abs=1e-6)


@given(st.lists(samples, min_size=2, max_size=4), failures)
def test_several_ledgers_at_once_have_the_bounds_of_each(several, failure):
    alone = [known(rewards) for rewards in several]
    stacked = [np.array(part) for part in zip(*alone, strict=True)]
    for bounds in (betting.mean_bounds, betting.variance_bounds):
        together = np.transpose(bounds(*stacked, failure, 0.0, 1.0))
        assert together == pytest.approx(np.array([bounds(*each, failure, 0.0, 1.0) for each in alone]), abs=1e-12)


@given(samples, st.floats(0.001, 0.49), st.floats(0.0, 1.0), st.floats(-5.0, 5.0), st.floats(0.01, 10.0))
def test_a_limit_is_excluded_if_it_lies_outside_the_interval_of_twice_the_failure(rewards, failure, at, low, reach):
    """Up to the search's 2⁻⁴⁸; where the limit is nearer to an end than that, either answer is right."""
    high = low + reach
    ledger, pulls = known([low + reach * reward for reward in rewards], low, high)
    ends = betting.mean_bounds(ledger, pulls, 2.0 * failure, low, high)
    tried = [low + reach * at, low, high, *(end + step * reach for end in ends for step in (-1e-9, 0.0, 1e-9))]
    for limit in tried:
        if abs(limit - ends[0]) > 1e-10 * reach:
            assert betting.mean_above(ledger, pulls, limit, failure, low, high) == (limit < ends[0])
        if abs(limit - ends[1]) > 1e-10 * reach:
            assert betting.mean_below(ledger, pulls, limit, failure, low, high) == (limit > ends[1])


def test_limits_beyond_the_support_need_no_bets():
    ledger = known([0.5])[0]
    for limit in (-0.1, 1.1):
        assert betting.mean_above(ledger, 1, limit, 0.1, 0.0, 1.0) is (limit < 0.0)
        assert betting.mean_below(ledger, 1, limit, 0.1, 0.0, 1.0) is (limit > 1.0)
        assert anytime.mean_above(1, 0.5, 0.0, limit, 0.1, 0.0, 1.0) is (limit < 0.0)
        assert anytime.mean_below(1, 0.5, 0.0, limit, 0.1, 0.0, 1.0) is (limit > 1.0)


@pytest.mark.parametrize(
    ("change", "message"), [({"failure": 5}, "failure must lie in"), ({"pulls": 0}, "pulls must be at least 1")]
)
def test_a_limit_is_asked_about_with_care(change, message):
    given = {"pulls": 1, "limit": 0.4, "failure": 0.1, "low": 0.0, "high": 1.0, **change}
    for ask in (betting.mean_above, betting.mean_below):
        with pytest.raises(PrudentError, match=message):
            ask(betting.no_bets(), **given)
    for ask in (anytime.mean_above, anytime.mean_below):
        with pytest.raises(PrudentError, match=message):
            ask(mean=0.5, variance=0.0, **given)


laws = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 1.0)), min_size=1, max_size=6)


@given(laws, st.floats(0.0, 1.0), st.sampled_from([0.0, 0.3, 1.0, 7.0]))
def test_every_bet_is_fair(law, centre, rho):
    """What one reward adds, in the mean over its distribution, to each capital: exactly its price for the mean of X or
    of 1 − X, and for the cost c from below, around a centre, that for c + (μ − centre)²; from above at most c's."""
    values, weights = np.array(law).T
    weights = weights / weights.sum()
    mean = (weights * values).sum()
    cost = (weights * (values - mean) ** 2).sum() - rho * mean
    assert np.exp(betting.LOG_WEIGHTS).sum() == pytest.approx(1.0, abs=1e-12)
    returned = 0.0
    for value, weight in zip(values, weights, strict=True):
        ledger = betting.no_bets(rho)
        betting.include(ledger, 10**9, centre, value, 0.0, 1.0, rho)  # the running mean is the centre, but for 1e-9
        places = len(ledger) // betting.BETS
        returned += weight * np.exp(ledger[: places * betting.BETS].reshape(places, betting.BETS))
    x = np.linspace(0.0, 1.0, 2_001)
    x = np.append(x, [min(centre + rho / 2.0, 1.0), max((1.0 - rho) / 2.0, 0.0)])
    floor, largest = ((x - centre) ** 2 - rho * x).min(), (x * (1.0 - x) - rho * x).max()
    assert (returned > 0.0).all()
    for row, is_mean in ((0, mean), (1, 1.0 - mean), (-2, (cost + (mean - centre) ** 2 - floor) / (1.0 + rho))):
        assert returned[row] == pytest.approx(1.0 + betting.KAPPA * is_mean, rel=1e-4, abs=1e-6)
    at_most = 1.0 + betting.KAPPA * (largest - cost) / (largest + rho)
    assert (returned[-1] <= at_most * (1.0 + 1e-4) + 1e-6).all()
    around = 1.0 + betting.KAPPA * (largest - cost - (mean - centre) ** 2) / (largest + rho)
    assert returned[-1, 0] == pytest.approx(around[0], rel=1e-6)  # small bets need not move the centre


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"ledger": np.zeros(69)},
            r"ledger must hold 70 or 105 finite numbers, got the shape \(69,\); begin with no_b",
        ),
        ({"ledger": np.full(70, np.nan)}, "ledger must hold 70 or 105 finite numbers"),
        ({"pulls": 0}, "pulls must be at least 1"),
        ({"ledger": np.zeros((2, 70)), "pulls": [1, 2, 3]}, "ledger and pulls must fit together"),
        ({"failure": 5}, "failure must lie in"),
        ({"high": np.inf}, "low and high must be finite"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    given = {"ledger": betting.no_bets(), "pulls": 1, "failure": 0.1, "low": 0.0, "high": 1.0}
    with pytest.raises(PrudentError, match=message):
        betting.variance_bounds(**{**given, **change})


def test_a_cost_needs_the_ledger_of_its_own_tolerance():
    with pytest.raises(
        PrudentError, match=r"ledger must hold 105 numbers for rho=2, got 70; begin with no_bets\(rho=2"
    ):
        betting.mean_variance_bounds(betting.no_bets(), 1, 2.0, 0.1, 0.0, 1.0)
