"""The loop of a GPU's thread, compiled for the CPU with the same generator, has the law of stepping."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from helpers.gpu_thread_on_cpu import play_runs, played
from prudent import Bandit, Beta, Gaussian, Uniform, simulate
from prudent.arms import encode
from prudent.policies.binding import bind
from prudent.policies.contract import Setting, policies
from prudent.risk.base import risks

RUNS = 4_000
TWO = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
OTHERS = Bandit([Uniform(0.3, 0.8), Beta(2.0, 3.0), Gaussian(0.4, 0.1)])
RISK = "mean-variance(rho=1)"


def ready(policy, bandit):
    return bind(policies.parse(policy), Setting.of(bandit, risks.parse(RISK), 100))


@pytest.mark.parametrize(
    ("bandit", "policy"),
    [
        (TWO, "mvts(sd=1)"),
        pytest.param(TWO, "mv-lcb", marks=pytest.mark.slow),
        pytest.param(OTHERS, "thompson(sd=1)", marks=pytest.mark.slow),
    ],
)
def test_law_is_that_of_stepping(bandit, policy):
    assert bandit.best(risks.parse(RISK)) == 0
    record = played(ready(policy, bandit), encode(bandit.arms), [30, 100], len(bandit), slice(0, RUNS))
    runs = simulate(bandit, policy, risk=RISK, horizon=100, snapshots=[30], runs=RUNS, engine="stepping")
    for at, here in enumerate((runs.at(30), runs)):
        for name in ("pulls", "mean", "variance", "twin_mean", "twin_variance"):
            for i in range(len(bandit)):
                values = getattr(record, name)[:, at, i], getattr(here, name)[:, i]
                assert ks_2samp(*values, method="asymp").pvalue > 1e-6


def test_interpreted_it_gives_the_same_numbers():
    policy, laws = ready("mvts(sd=1)", TWO), encode(TWO.arms)
    compiled = played(policy, laws, [30, 100], 2, slice(0, 3))
    with np.errstate(over="ignore"):
        interpreted = played(policy, laws, [30, 100], 2, slice(0, 3), loop=play_runs.py_func)
    assert (interpreted.pulls == compiled.pulls).all()
    assert np.allclose(interpreted.mean, compiled.mean, rtol=1e-12)
