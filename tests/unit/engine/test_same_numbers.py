"""What is asked about a run besides its question changes no number of it (docs: conventions, randomness).

A run depends on seed, arms, risk, policy, horizon and engine. A snapshot, a kept trajectory, a progress bar, another
policy, another number of runs or workers does not touch it.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from prudent import (
    Bandit,
    Bernoulli,
    Beta,
    Deterministic,
    Empirical,
    Gaussian,
    simulate,
)

BANDITS = {
    "gaussian": Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25), Gaussian(0.9, 0.2)]),
    "coins": Bandit([Bernoulli(0.4), Bernoulli(0.6)]),
    "drawn one by one": Bandit([Beta(2.0, 3.0), Beta(3.0, 2.0), Deterministic(0.4)]),
    "observed values": Bandit([Empirical([0.1, 0.4, 0.4, 0.9]), Empirical([0.2, 0.3, 0.8])]),
}
POLICIES = ["mv-lcb", "exp-exp", "mvts"]
ASKED = {"risk": "mean-variance(rho=1)", "horizon": 300, "runs": 60, "seed": 4, "engine": "stepping"}
ARRAYS = ("pulls", "mean", "variance", "twin_mean", "twin_variance")


def assert_same(one, other):
    for name in ARRAYS:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert_array_equal(one.regret(), other.regret())


@pytest.mark.parametrize("bandit", BANDITS.values(), ids=BANDITS)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_snapshot_changes_nothing(bandit, policy):
    plain = simulate(bandit, policy, **ASKED)
    few = simulate(bandit, policy, snapshots=[70, 200], **ASKED)
    many = simulate(bandit, policy, snapshots=[10, 70, 120, 200, 290], **ASKED)
    assert_same(plain, few)
    assert_same(plain, many)
    for n in (70, 200):
        assert_same(few.at(n), many.at(n))


@pytest.mark.parametrize("policy", ["mv-lcb", "exp-exp"])
def test_nor_does_it_with_batches(policy):
    bandit = BANDITS["gaussian"]
    assert_same(simulate(bandit, policy, batch=7, **ASKED), simulate(bandit, policy, batch=7, snapshots=[70], **ASKED))


def test_nor_does_it_with_common_random_numbers():
    bandit, many = BANDITS["drawn one by one"], [10, 70, 200]
    plain = simulate(bandit, "mv-lcb", common=True, **ASKED)
    few, more = (simulate(bandit, "mv-lcb", common=True, snapshots=each, **ASKED) for each in ([70], many))
    assert_same(plain, few)
    assert_same(plain, more)
    assert_same(few.at(70), more.at(70))


def test_nor_does_it_where_rounds_are_interpreted():
    bandit = BANDITS["coins"]
    asked = ASKED | {"engine": "interpreted", "runs": 5}
    few, many = (simulate(bandit, "mv-lcb", snapshots=each, **asked) for each in ([70], [10, 70, 200]))
    assert_same(simulate(bandit, "mv-lcb", **asked), few)
    assert_same(few.at(70), many.at(70))
    assert_same(few, many)


@pytest.mark.parametrize("bandit", BANDITS.values(), ids=BANDITS)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_kept_trajectory_changes_nothing(bandit, policy):
    plain = simulate(bandit, policy, snapshots=[70], **ASKED)
    for keep in ("trajectory", 3):
        kept = simulate(bandit, policy, snapshots=[70], keep=keep, **ASKED)
        assert_same(plain, kept)
        assert_same(plain.at(70), kept.at(70))


def test_neither_do_progress_other_policies_more_runs_or_workers():
    bandit, told = BANDITS["gaussian"], []
    plain = simulate(bandit, "mv-lcb", snapshots=[70], workers=1, **ASKED)
    assert_same(plain, simulate(bandit, "mv-lcb", snapshots=[70], progress=told.append, workers=3, **ASKED))
    assert sum(told) == ASKED["runs"]
    assert_same(plain, simulate(bandit, ["exp-exp", "mv-lcb"], snapshots=[70], **ASKED)["mv-lcb"])
    more = simulate(bandit, "mv-lcb", snapshots=[70], **ASKED | {"runs": 130})
    assert_array_equal(more.twin_mean[:60], plain.twin_mean)
    assert_array_equal(more.at(70).twin_mean[:60], plain.at(70).twin_mean)


def test_twins_of_an_earlier_snapshot_have_the_law_of_those_at_the_horizon():
    """A mutant that draws as many twins as at the horizon, or those of another arm, is far outside."""
    bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    asked = ASKED | {"runs": 2_000}
    early = simulate(bandit, "round-robin", snapshots=[40], **asked).at(40)
    ended = simulate(bandit, "round-robin", **asked | {"horizon": 40})
    for runs in (early, ended):
        assert runs.twin_mean[:, 1].mean() == pytest.approx(1.0, abs=6.0 * np.sqrt(0.05 / 20 / 2_000))
        assert runs.twin_mean[:, 1].var() == pytest.approx(0.05 / 20, rel=6.0 * np.sqrt(2.0 / 2_000))
        assert runs.twin_variance[:, 1].mean() == pytest.approx(0.05 * 19 / 20, rel=0.05)
        assert_array_equal(runs.twin_mean[:, 0], runs.mean[:, 0])
