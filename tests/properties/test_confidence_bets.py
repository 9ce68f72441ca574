"""Bets against candidates: what must follow from symmetry, from more confidence and from the bets being fair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import PrudentError
from prudent.confidence import always, betting

samples = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40)
failures = st.floats(0.001, 0.5)


def known(rewards, low=0.0, high=1.0):
    """Ledger, pulls and mean after some rewards."""
    ledger, mean = betting.no_bets(), 0.0
    for n, reward in enumerate(rewards):
        betting.include(ledger, n, mean, reward, low, high)
        mean += (reward - mean) / (n + 1)
    return ledger, len(rewards), mean


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


@given(samples, failures)
def test_rewards_seen_in_a_mirror_have_mirrored_intervals(rewards, failure):
    plain, mirrored = known(rewards), known([1.0 - reward for reward in rewards])
    low, high = betting.mean_bounds(*plain, failure, 0.0, 1.0)
    assert betting.mean_bounds(*mirrored, failure, 0.0, 1.0) == pytest.approx((1.0 - high, 1.0 - low), abs=1e-6)
    variances = [betting.variance_bounds(*each, failure, 0.0, 1.0) for each in (plain, mirrored)]
    assert variances[0] == pytest.approx(variances[1], abs=1e-6)


@given(samples, failures, failures)
def test_they_hold_the_mean_and_widen_with_confidence(rewards, first, second):
    ledger, pulls, mean = known(rewards)
    wide, narrow = (betting.mean_bounds(ledger, pulls, mean, f, 0.0, 1.0) for f in sorted((first, second)))
    assert wide[0] <= narrow[0] <= mean + 1e-12
    assert mean - 1e-12 <= narrow[1] <= wide[1]
    wide, narrow = (betting.variance_bounds(ledger, pulls, mean, f, 0.0, 1.0) for f in sorted((first, second)))
    assert 0.0 <= wide[0] <= narrow[0] <= narrow[1] <= wide[1] <= 0.25


@given(samples, failures, st.floats(0.0, 10.0))
def test_a_cost_lies_between_the_corners_of_mean_and_variance(rewards, failure, rho):
    at, within = known(rewards), (failure, 0.0, 1.0)
    left, right = betting.mean_bounds(*at, failure / 2.0, 0.0, 1.0)
    least, most = betting.variance_bounds(*at, *within)
    cost = betting.mean_variance_bounds(*at, rho, *within)
    assert cost == pytest.approx((least - rho * right, most - rho * left), abs=1e-9)
    left, right = betting.mean_bounds(*at, *within)
    assert betting.mean_variance_bounds(*at, np.inf, *within) == (-right, -left)


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
    ledger, pulls, mean = known([low + reach * reward for reward in rewards], low, high)
    ends = betting.mean_bounds(ledger, pulls, mean, 2.0 * failure, low, high)
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
        assert always.mean_above(1, 0.5, 0.0, limit, 0.1, 0.0, 1.0) is (limit < 0.0)
        assert always.mean_below(1, 0.5, 0.0, limit, 0.1, 0.0, 1.0) is (limit > 1.0)


@pytest.mark.parametrize(
    ("change", "message"), [({"failure": 5}, "failure must lie in"), ({"pulls": 0}, "pulls must be at least 1")]
)
def test_a_limit_is_asked_about_with_care(change, message):
    given = {"pulls": 1, "limit": 0.4, "failure": 0.1, "low": 0.0, "high": 1.0, **change}
    for ask in (betting.mean_above, betting.mean_below):
        with pytest.raises(PrudentError, match=message):
            ask(betting.no_bets(), **given)
    for ask in (always.mean_above, always.mean_below):
        with pytest.raises(PrudentError, match=message):
            ask(mean=0.5, variance=0.0, **given)


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 1.0)), min_size=1, max_size=6), st.floats(0.0, 1.0))
def test_every_bet_is_fair(law, centre):
    """The mean of what a bet returns: exactly its price for the mean, and no more than it for a smaller variance."""
    values, weights = np.array(law).T
    weights = weights / weights.sum()
    mean = (weights * values).sum()
    variance = (weights * (values - mean) ** 2).sum()
    assert betting.LOG_WEIGHTS.size == betting.THETA.size
    assert np.exp(betting.LOG_WEIGHTS).sum() == pytest.approx(1.0, abs=1e-12)
    for row in (0, 1):
        returned = (weights * (1.0 + betting.KAPPA[row][:, None] * values)).sum(1)
        assert returned == pytest.approx(1.0 + betting.KAPPA[row] * mean)
    moved = np.clip(centre, 1.0 - betting.REACH, betting.REACH)
    outcomes = 1.0 + betting.KAPPA[3][:, None] * (values - moved[:, None]) ** 2
    assert (outcomes > 0.0).all()
    assert ((weights * outcomes).sum(1) <= 1.0 + betting.KAPPA[3] * variance + 1e-12).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ledger": np.zeros(69)}, r"ledger must hold 70 finite numbers, got the shape \(69,\); begin with no_bets"),
        ({"ledger": np.full(70, np.nan)}, "ledger must hold 70 finite numbers"),
        ({"pulls": 0}, "pulls must be at least 1"),
        ({"mean": np.inf}, "mean must be finite, got inf"),
        ({"mean": [0.5, 0.5], "pulls": [1, 2, 3]}, "ledger, pulls and mean must fit together"),
        ({"failure": 5}, "failure must lie in"),
        ({"high": np.inf}, "low and high must be finite"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    given = {"ledger": betting.no_bets(), "pulls": 1, "mean": 0.5, "failure": 0.1, "low": 0.0, "high": 1.0}
    with pytest.raises(PrudentError, match=message):
        betting.variance_bounds(**{**given, **change})
