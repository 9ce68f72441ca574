"""Runs in a file and back; how bad runs may be; the regret along the path."""

import numpy as np
import pytest
from scipy import stats

from prudent import Bandit, PrudentError, Runs, simulate
from prudent.results.saving import ARRAYS
from prudent.results.tails import worst_of

ARMS = Bandit(["bernoulli(0.3)", "uniform(0, 1)"], ["coin", "even"])
SETTINGS = {"risk": "cvar(0.4)", "horizon": 60, "runs": 40, "engine": "interpreted", "workers": 1}


@pytest.fixture(scope="module")
def runs():
    return simulate(ARMS, "ucb1(range=2)", **SETTINGS, snapshots=[10, 30], keep="trajectory")


def test_saved_runs_are_the_same_runs(runs, tmp_path):
    again = Runs.load(runs.save(tmp_path / "runs.parquet"))
    for one, other in zip(runs.history, again.history, strict=True):
        assert one.horizon == other.horizon
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(runs.trajectory().rewards, again.trajectory().rewards)
    np.testing.assert_array_equal(runs.trajectory().arms, again.trajectory().arms)
    assert again.summary() == runs.summary()
    assert again.bandit.names == ("coin", "even")


def test_what_holds_code_is_refused_before_a_file_is_written(tmp_path):
    class Mine:
        n_arms = 2

        def reset(self, rng):
            self.rng = rng

        def pull(self, arm):
            return self.rng.random() * (arm + 1)

    world = simulate(Mine(), "random-arm", risk="mean", horizon=5, runs=2, workers=1)
    with pytest.raises(PrudentError, match="hold its code; save table"):
        world.save(tmp_path / "world.parquet")
    (tmp_path / "other").write_text("nothing")
    for path in ("other", "nowhere"):
        with pytest.raises(PrudentError, match="load: "):
            Runs.load(tmp_path / path)
    assert not (tmp_path / "world.parquet").exists()


def test_the_path_regret_compares_what_was_received_with_the_best_arm(runs):
    """[Cassel18]; by hand, from the sorted rewards: the worst 24 of 60 are the worst 40 %."""
    rewards = np.sort(runs.trajectory().rewards, axis=1)[:, :24].mean(1)
    np.testing.assert_allclose(runs.path_regret(), -rewards - -0.2, atol=1e-12)
    np.testing.assert_allclose(runs.path_regret("mean"), -runs.reward_mean() + 0.5)
    with pytest.raises(PrudentError, match=r'pass keep="trajectory"'):
        simulate(ARMS, "ucb1", **SETTINGS).path_regret()


def test_a_tail_is_a_share_with_an_exact_interval(runs):
    found = runs.tail(0.05, "gap_regret", level=0.9)
    hits = int((runs.gap_regret() > 0.05).sum())
    exact = stats.binomtest(hits, 40).proportion_ci(0.9, "exact")
    assert (found.value, found.low, found.high) == pytest.approx((hits / 40, exact.low, exact.high))
    with pytest.raises(PrudentError, match="unknown measure 'gap'; known: gap_regret"):
        runs.tail(0.05, "gap")


def test_the_worst_runs():
    values = np.arange(1000.0)
    assert worst_of("", values, 0.01)[::2] == (994.5, 10)
    assert worst_of("", values, 0.0015).mean == pytest.approx((999 + 0.5 * 998) / 1.5)
    assert worst_of("", values, 1.0).mean == values.mean()
    assert np.isnan(worst_of("", values, 1e-4).se)


def test_the_error_of_the_worst_runs_is_that_of_repeating():
    """The mean of 500 exponential numbers' worst tenth: 2,000 repetitions. False alarms: below 1e-6."""
    rng = np.random.default_rng(1)
    found = [worst_of("", rng.exponential(size=500), 0.1) for _ in range(2000)]
    means, errors = np.array([each.mean for each in found]), np.array([each.se for each in found])
    assert means.mean() == pytest.approx(1.0 + np.log(10.0), abs=0.03)
    assert errors.mean() == pytest.approx(means.std(), rel=0.1)
