"""Whether an arm's rewards have changed: what is kept, what is said, and how often that is false."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from prudent.engine.python.arm import ArmState, include_reward
from prudent.live import drift
from prudent.live.drift import Change, Mark, Marks

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks/changes.py"))
LAWS, first_alarms = SCRIPT["LAWS"], SCRIPT["first_alarms"]


def watch(rewards, failure=0.01, support=(0.0, 1.0)):
    """The first change that is found, and after how many rewards."""
    marks, arm = Marks(), ArmState()
    sums = np.cumsum(rewards), np.cumsum(np.square(rewards))
    for n in range(1, len(rewards) + 1):  # faster than `include_reward`, and the same
        arm.pulls, arm.mean = n, float(sums[0][n - 1] / n)
        arm.variance = max(0.0, float(sums[1][n - 1] / n - arm.mean**2))
        marks.include(arm)
        if n % drift.EVERY == 0 and (found := marks.change(arm, failure, support)) is not None:
            return found, n
    return None, len(rewards)


def test_marks_are_few_and_far_between():
    marks, arm = Marks(), ArmState()
    for _ in range(1000):
        include_reward(arm, 0.5, 0.0, 1.0)
        marks.include(arm)
    assert [mark.pulls for mark in marks.marks] == [40, 60, 90, 135, 203, 305, 458, 687]
    assert marks.marks[0] == Mark(40, 0.5, 0.0)


def test_what_came_after_a_mark_follows_from_both_ends():
    rewards = np.random.default_rng(0).random(500)
    then, now = (100, rewards[:100].mean(), rewards[:100].var()), (500, rewards.mean(), rewards.var())
    found = drift.after(then, now, (0.0, 1.0))
    assert found == pytest.approx((400, rewards[100:].mean(), rewards[100:].var()), rel=1e-12)


def test_a_shift_of_a_standard_deviation_is_found():
    rng = np.random.default_rng(1)
    found, n = watch(np.concatenate([rng.beta(4.0, 4.0, 600), np.clip(rng.beta(4.0, 4.0, 600) + 1.0 / 6.0, 0.0, 1.0)]))
    assert found.what == "mean"
    assert 0.3 < found.low <= 0.5 <= found.high < 0.6 < found.after
    assert 600 < n <= 1000
    assert 400 < found.since < n


def test_a_change_of_the_spread_alone_is_found_in_both_directions():
    rng = np.random.default_rng(2)
    narrow, wide = rng.beta(40.0, 40.0, 2000), (rng.random(2000) < 0.5).astype(float)
    for rewards in (np.concatenate([narrow, wide]), np.concatenate([wide, narrow])):
        found, n = watch(rewards)
        assert found.what == "spread"
        assert 2000 < n <= 2200
        assert not found.low <= found.after <= found.high


def test_it_says_what_has_changed():
    assert str(Change("mean", 1366, 0.3, 0.34, 0.45)) == (
        "their mean lay between 0.3 and 0.34 for the first 1,366, and is 0.45 since then"
    )
    assert Change("mean", 40, 1.0, 2.0, 3.0).negative() == Change("mean", 40, -2.0, -1.0, -3.0)
    assert Change("spread", 40, 1.0, 2.0, 3.0).negative() == Change("spread", 40, 1.0, 2.0, 3.0)
    assert "typical distance" in str(Change("spread", 40, 1.0, 2.0, 3.0))


def test_units_and_support_change_nothing():
    rng = np.random.default_rng(3)
    rewards = np.concatenate([rng.beta(4, 4, 400), np.clip(rng.beta(4, 4, 800) + 0.2, 0, 1)])
    first, n = watch(rewards)
    second, m = watch(100.0 * rewards - 30.0, support=(-30.0, 70.0))
    assert n == m
    assert second.after == pytest.approx(100.0 * first.after - 30.0)


def test_without_bounds_nothing_is_said():
    rewards = np.concatenate([np.zeros(500), np.ones(500)])
    assert watch(rewards, support=(-np.inf, np.inf))[0] is None
    assert watch(rewards)[0] is not None


def test_rewards_far_from_zero_are_no_alarm():
    """Sums lose digits there; what is lost is not taken for a change."""
    rng, marks, arm = np.random.default_rng(4), Marks(), ArmState()
    for n in range(1, 3001):
        include_reward(arm, 1e9 + float(rng.random()), 1e9, 1e9 + 1.0)
        marks.include(arm)
        assert n % 20 or marks.change(arm, 0.01, (1e9, 1e9 + 1.0)) is None


def test_many_experiments_at_once_are_judged_as_one_by_one():
    rewards = np.random.default_rng(6).random((3, 400))
    rewards[0, 200:] = 0.9
    alone = [watch(row) for row in rewards]
    together = first_alarms(rewards, 0.01)
    assert alone[0][0] is not None
    assert together.tolist() == [n if found is not None else 0 for found, n in alone]


@pytest.mark.parametrize("law", LAWS)
def test_an_alarm_is_false_no_more_often_than_said(law):
    """The long run is benchmarks/changes.py."""
    runs, failure = 300, 0.05
    alarms = first_alarms(LAWS[law](np.random.default_rng(5), (runs, 500)), failure)
    assert (alarms > 0).sum() <= binom.isf(1e-9, runs, failure)


def test_limits_without_a_margin_would_be_noticed(monkeypatch):
    """A mutant: as if the law before the mark were known without error."""
    runs, failure = 300, 0.05
    margin = drift.limits_at

    def none(then, failure, support):
        return np.array([then[1], then[1], then[2], then[2]]) + 0.0 * margin(then, failure, support)

    monkeypatch.setattr(drift, "limits_at", none)
    alarms = first_alarms(LAWS["coin"](np.random.default_rng(5), (runs, 500)), failure)
    assert (alarms > 0).sum() > binom.isf(1e-9, runs, failure)
