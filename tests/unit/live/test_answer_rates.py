"""Answers that get lost more often for one arm than for another: what is said, and how often it may be wrong."""

import numpy as np
import pytest
from scipy.stats import binom

from prudent import PrudentError
from prudent.confidence import anytime
from prudent.live.answer_rates import FAILURE, answer_rates

TIMES = np.unique(np.concatenate([np.arange(1, 121), np.geomspace(120, 3_000, 30).astype(int)]))


def test_two_arms_that_differ_are_named_in_a_sentence():
    found = answer_rates({"A": (1_000, 560), "B": (1_000, 345), "C": (40, 20), "D": (0, 0)})
    assert found.differ
    assert (found.less, found.more, found.level) == ("B", "A", 0.999)
    assert found.rates["D"] == (0.0, 1.0)
    for arm, (closed, answered) in {"A": (1_000, 560), "B": (1_000, 345), "C": (40, 20)}.items():
        assert found.rates[arm] == anytime.share_bounds(closed, answered / closed, 0.001 / 4)
    assert str(found) == (
        "B is answered less often than A: 27–42 % against 48–64 %; outcomes that are lost may differ from those that "
        "come, so find the reason before you compare these arms."
    )


def test_percents_have_the_digits_that_show_the_difference():
    found = answer_rates({0: (10**7, 100_000), 1: (10**7, 104_000)})
    assert str(found).startswith("arm 0 is answered less often than arm 1: 0.982–1.018 % against 1.022–1.058 %;")


def test_without_a_difference_nothing_is_claimed():
    for counts in ({}, {"A": (0, 0)}, {"A": (50, 0)}, {"A": (5, 5), "B": (5, 0)}):
        found = answer_rates(counts)
        assert not found.differ
        assert str(found) == "No arm is answered less often than another, as far as can be said."
    assert answer_rates({"A": (50, 0)}).rates["A"].low == 0.0
    assert answer_rates({"A": (50, 50)}).rates["A"].high == 1.0
    assert 0.0 < answer_rates({"A": (1, 1)}).rates["A"].low < 0.001  # one decision says something too


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"A": (3, 4)}, "answered must be at most closed, 3, got 4 for 'A'"),
        ({"A": (-1, 0)}, "closed must be a whole number at least 0, got -1"),
        ({"A": (1, 0.5)}, "answered must be a whole number"),
    ],
)
def test_counts_that_cannot_be_are_refused(counts, message):
    with pytest.raises(PrudentError, match=message):
        answer_rates(counts)
    with pytest.raises(PrudentError, match="failure must lie in"):
        answer_rates({"A": (1, 1)}, 5)
    with pytest.raises(PrudentError, match=r"share must lie in \[0, 1\]"):
        anytime.share_bounds(3, 1.5, 0.1)


def experiments_with_a_warning(rates, runs, repeated=1):
    """Of two arms, looked at all the time; with `repeated` a mutant counts every decision so often."""
    rng = np.random.default_rng(7)
    low, high = [], []
    for rate in rates:
        answered = (rng.random((runs, TIMES[-1]), np.float32) < rate).cumsum(1)[:, TIMES - 1]
        ends = anytime.share_bounds(repeated * TIMES, answered / TIMES, FAILURE / len(rates))
        low.append(ends[0])
        high.append(ends[1])
    return (np.min(high, axis=0) < np.max(low, axis=0)).any(1).sum()


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_equal_rates_hardly_ever_raise_a_warning(rate):
    """Of 2,000 experiments; a false alarm of this test has a probability below 1e-9."""
    assert experiments_with_a_warning((rate, rate), 2_000) <= binom.isf(1e-9, 2_000, FAILURE)


def test_decisions_counted_several_times_would_be_caught():
    assert experiments_with_a_warning((0.5, 0.5), 200, repeated=12) > binom.isf(1e-9, 200, FAILURE)


def test_different_rates_do():
    assert experiments_with_a_warning((0.9, 0.7), 100) == 100
