"""simulate(): what depends on what, and what must not."""

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from helpers.careless_policies import IdlePolicy
from prudent import MVLCB, AnytimeMVLCB, Bandit, Bernoulli, Deterministic, ExpExp, Gaussian, PrudentError, simulate
from prudent.compile.cache import fingerprint
from prudent.engine.streams import CHUNK

RISK = "mean-variance(rho=0)"


def same(a, b) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("pulls", "mean", "variance", "twin_mean")
    )


@pytest.mark.parametrize("engine", ["stepping", "auto"])
@pytest.mark.parametrize("policy", ["mv-lcb", "exp-exp", "ucb1", "epsilon-greedy"])
def test_workers_do_not_change_the_result(figure_2, policy, engine):
    one, eight = (
        simulate(figure_2, policy, risk=RISK, horizon=200, runs=3 * CHUNK + 1, seed=3, workers=workers, engine=engine)
        for workers in (1, 8)
    )
    assert same(one, eight)


def test_more_runs_keep_the_earlier_ones(figure_2):
    few, many = (simulate(figure_2, MVLCB(), risk=RISK, horizon=100, runs=runs) for runs in (CHUNK, 3 * CHUNK))
    assert np.array_equal(few.pulls, many.pulls[:CHUNK])


def test_seed_and_content_change_the_stream(figure_2):
    base = simulate(figure_2, MVLCB(), risk=RISK, horizon=100, runs=5, seed=1)
    assert not same(base, simulate(figure_2, MVLCB(), risk=RISK, horizon=100, runs=5, seed=2))
    assert not np.array_equal(
        base.mean, simulate(figure_2, MVLCB(c=5.001), risk=RISK, horizon=100, runs=5, seed=1).mean
    )


def test_two_deterministic_arms_are_pulled_in_turn():
    bandit = Bandit([Deterministic(0.0), Deterministic(1.0)])
    runs = simulate(bandit, MVLCB(), risk=RISK, horizon=1000, runs=5)
    assert (runs.regret() == 0.25).all()
    assert (runs.pulls == 500).all()
    odd = simulate(bandit, MVLCB(), risk=RISK, horizon=1001, runs=1)
    assert odd.regret() == pytest.approx((1001**2 - 1) / (4 * 1001**2), abs=1e-15)


@pytest.mark.parametrize("policy", [AnytimeMVLCB(), "round-robin", "epsilon-greedy(rho=0)"])
def test_snapshots_are_the_run_on_its_way(figure_2, policy):
    runs = simulate(figure_2, policy, risk=RISK, horizon=500, runs=30, snapshots=[10, 100])
    assert [earlier.horizon for earlier in runs.history] == [10, 100, 500]
    pulls = np.stack([earlier.pulls for earlier in runs.history])
    assert (pulls.sum(2) == np.array([[10], [100], [500]])).all()
    assert (np.diff(pulls, axis=0) >= 0).all()
    parts = runs.at(100).regret_parts()
    assert sum(parts) == pytest.approx(runs.at(100).regret(), abs=1e-12)
    with pytest.raises(PrudentError, match="10, 100, 500"):
        runs.at(50)


def test_twins_of_snapshots_grow_by_merging():
    """With deterministic arms the twins' statistics are known exactly."""
    bandit = Bandit([Deterministic(2.0), Deterministic(1.0)])
    runs = simulate(bandit, "round-robin", risk="mean-variance(rho=1)", horizon=100, runs=1, snapshots=range(1, 100))
    for earlier in runs.history[1:]:
        assert earlier.twin_mean[0].tolist() == [2.0, 2.0]
        assert earlier.twin_variance[0].tolist() == [0.0, 0.0]


def test_progress_counts_every_run(figure_2):
    finished = []
    simulate(figure_2, "ucb1", risk=RISK, horizon=10, runs=60, progress=finished.append)
    assert sum(finished) == 60


class Thrifty(NamedTuple):
    """A user's own policy: ten lines, no registration."""

    rho: float = 1.0

    def bonus(self, pulls):
        return 2.0 / pulls**0.5

    def score(self, arm):
        return arm.variance - self.rho * arm.mean - self.bonus(arm.pulls)


def test_a_users_own_policy_runs_compiled(figure_2):
    runs = simulate(figure_2, Thrifty(), risk=RISK, horizon=2000, runs=20)
    assert runs.pulls[:, 0].mean() > 1800


def test_the_fingerprint_follows_the_code():
    class Other(NamedTuple):
        rho: float = 1.0

        def bonus(self, pulls):
            return 3.0 / pulls**0.5

        def score(self, arm):
            return arm.variance - self.rho * arm.mean - self.bonus(arm.pulls)

    assert fingerprint(Thrifty) != fingerprint(Other)


class Undefined(NamedTuple):
    def score(self, arm):
        return arm.mean * np.nan


class UndefinedLater(NamedTuple):
    def score(self, arm, t):
        return np.nan if arm.mean < 0.7 else 1.0 * arm.pulls


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": 0}, "runs must be a whole number at least 1"),
        ({"horizon": 0}, "horizon must be a whole number"),
        ({"horizon": 1}, "horizon must be at least the number of arms, 2"),
        ({"horizon": 2.5}, "whole number"),
        ({"seed": -1}, "seed must be"),
        ({"workers": 0}, "workers must be"),
        ({"snapshots": [11]}, "snapshots must be a whole number from 1 to 10"),
        ({"engine": "warp"}, "engine must be"),
        ({"policy": "mvlcb"}, "did you mean mv-lcb"),
        ({"policy": 3.5}, "NamedTuple"),
        ({"policy": Undefined()}, "not a number"),
        ({"policy": UndefinedLater()}, "not a number"),
        ({"policy": MVLCB}, r"pass MVLCB\(\), not MVLCB"),
        ({"policy": MVLCB()._replace(delta=2.0)}, "delta must lie in"),
        ({"policy": IdlePolicy()}, "its phase chose no arm"),
        ({"policy": ExpExp(tau=11)}, "tau must be"),
        ({"risk": "mean-varianz"}, "did you mean mean-variance"),
    ],
)
def test_bad_input_stops_at_the_door(figure_2, change, message):
    settings = {"policy": MVLCB(), "risk": RISK, "horizon": 10, "runs": 2} | change
    policy = settings.pop("policy")
    with pytest.raises(PrudentError, match=message):
        simulate(figure_2, policy, **settings)


def test_memory_does_not_grow_with_the_horizon():
    code = """
import resource
from prudent import Bandit, Gaussian, simulate
bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
def peak(n):
    simulate(bandit, "mv-lcb", risk="mean-variance(rho=0)", horizon=n, runs=4, workers=1, engine="stepping")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
short = peak(100)
print(peak(2_000_000) - short)
"""
    grown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(grown) < 2_000  # kilobytes; two million rewards would take 16,000


def test_bernoulli_arms_play(figure_2):
    runs = simulate(Bandit([Bernoulli(0.9), Bernoulli(0.5)]), "mv-lcb(c=1)", risk=RISK, horizon=5000, runs=30)
    assert runs.pulls[:, 0].mean() > 3000


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("kl-ucb", r"kl-ucb\(.*\): is made for rewards in \[0, 1\], and these lie in \[-inf, inf\]; give low and high"),
        ("b-cvts(alpha=0.1, high=0.9)", r"made for rewards in \[-inf, 0.9\].*give high"),
        ("rho-mts(values=[0, 0.5])", r"made for rewards in \[0, 0.5\].*give values"),
        ("npts(best=0.5)", r"npts\(best=0.5\): best must be an end of the rewards' interval"),
    ],
)
def test_rewards_a_policy_was_not_told_of_are_refused(policy, message):
    arms = [Gaussian(0.5, 0.1)] * 2 if policy == "kl-ucb" else [Bernoulli(0.5), Bernoulli(0.6)]
    with pytest.raises(PrudentError, match=message):
        simulate(Bandit(arms), policy, risk="mean-variance(rho=1)", horizon=10, runs=1)


class Timed(NamedTuple):
    def score(self, arm, now):
        return arm.mean / now


class Heir(Timed):
    pass


@pytest.mark.parametrize(("policy", "got"), [(Timed(), r"\(arm, now\)"), (Heir(), r"\(\)")])
def test_a_score_the_engine_cannot_read_is_refused(policy, got):
    with pytest.raises(PrudentError, match=rf"score must take \(self, arm\), .* in the class itself; got {got}"):
        simulate(Bandit([Bernoulli(0.5)]), policy, risk="mean", horizon=10, runs=1)


@pytest.mark.parametrize(("bandit", "risk"), [("coin", "mean"), (Bandit([Bernoulli(0.5)]), 0.5)])
def test_what_is_no_bandit_or_no_risk_is_refused(bandit, risk):
    with pytest.raises(PrudentError, match=r"simulate: (bandit must be a Bandit|risk must be a risk measure)"):
        simulate(bandit, "ucb1", risk=risk, horizon=10, runs=1)
