"""Against independent numbers: `reference.json`, made by a plain loop of another program.

The streams are fixed, so that chance has no say: a comparison that passes will pass until the code changes. Each allows
4 combined standard errors. That is narrower than the 1e-6 of tests with a false-alarm rate: a change that draws other
numbers of the same law would fail a comparison with probability 6e-5, and should then be looked at.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from prudent import MVLCB, Bandit, ExpExp, FixedArm, Gaussian, MeanVariance, RoundRobin, simulate
from prudent.results.regret import expected_regret

CELLS = json.loads((Path(__file__).parent / "reference.json").read_text())["cells"]


def name(cell) -> str:
    return f"{cell['algo']}, {len(cell['mu'])} arms, rho {cell['rho']:g}, n {cell['n']}"


@pytest.mark.parametrize("engine", ["stepping", "leaping"])
@pytest.mark.parametrize("cell", CELLS, ids=name)
def test_regret_and_pulls_meet_the_reference(cell, engine):
    bandit = Bandit([Gaussian(mean, variance) for mean, variance in zip(cell["mu"], cell["var"], strict=True)])
    policy = MVLCB() if cell["algo"] == "mv-lcb" else ExpExp(tau=cell["tau"])
    risk = MeanVariance(cell["rho"])
    runs = simulate(bandit, policy, risk=risk, horizon=cell["n"], runs=1000, seed=11, engine=engine)
    close(runs.regret(), cell["regret_mean"], cell["regret_se"])
    close(runs.pulls, np.array(cell["pulls_mean"]), np.array(cell["pulls_se"]))


@pytest.mark.parametrize("rho", [0.0, 0.7, 10.0])
@pytest.mark.parametrize("policy", [RoundRobin(), FixedArm(1)])
def test_expected_regret_of_a_fixed_allocation(policy, rho):
    bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25), Gaussian(0.8, 1.0)])
    risk = MeanVariance(rho)
    runs = simulate(bandit, policy, risk=risk, horizon=50, runs=40_000, seed=5)
    expected = expected_regret(runs.pulls[0], bandit.means, bandit.variances, bandit.best(risk), risk)
    close(runs.regret(), expected, 0.0)


def close(values, mean, error) -> None:
    own = values.std(0, ddof=1) / np.sqrt(len(values))
    assert (np.abs(values.mean(0) - mean) <= 4.0 * np.hypot(own, error) + 1e-12).all()
