"""Behind a leader runs have the law of stepping: one cell for each kind of score, compared as in test_leaping.py.

`python benchmarks/leaders.py law` compares 40,000 runs in many more cells, and `… mutants` shows that it can fail.
"""

import math

import numpy as np
import pytest
from scipy import stats

from prudent import Bandit, Bernoulli, Gaussian, MeanVariance, simulate

RUNS = 2_000
FALSE_ALARM = 1e-6
FIGURE_2 = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
COINS = Bandit([Bernoulli(0.97), Bernoulli(0.5), Bernoulli(0.02)])
CELLS = [
    ("mvts", FIGURE_2, 1.0, (300,)),
    ("ucb1", FIGURE_2, 1.0, ()),
    ("mv-imed", FIGURE_2, 0.0, (300,)),
    ("bernoulli-mvts", COINS, 0.3, ()),
]
COMPARISONS = sum(3 * len(bandit) * (1 + len(snapshots)) for _, bandit, _, snapshots in CELLS)


QUICK = {"mvts", "ucb1"}
"""One score that is drawn and one that is not; every kind takes long to compile."""


@pytest.mark.parametrize(
    ("policy", "bandit", "rho", "snapshots"),
    [pytest.param(*cell, id=cell[0], marks=[] if cell[0] in QUICK else [pytest.mark.slow]) for cell in CELLS],
)
def test_behind_a_leader_runs_have_the_law_of_stepping(policy, bandit, rho, snapshots):
    settings = {"risk": MeanVariance(rho), "horizon": 2_000, "runs": RUNS, "snapshots": snapshots, "seed": 20}
    leaping, stepping = (simulate(bandit, policy, engine=engine, **settings) for engine in ("leaping", "stepping"))
    for one, other in zip(leaping.history, stepping.history, strict=True):
        assert (one.pulls.sum(1) == one.horizon).all()
        for field in ("pulls", "mean", "variance"):
            for a, b in zip(getattr(one, field).T, getattr(other, field).T, strict=True):
                assert p_value(a, b) > FALSE_ALARM / COMPARISONS


def p_value(a, b) -> float:
    """At least the probability of so large a distance under one law, for 458 runs or more [WeiDudley12]."""
    a, b = (np.rint(values * (1e9 / math.pi)) for values in (a, b))
    distance = stats.ks_2samp(a, b, method="asymp").statistic
    return min(1.0, 2.0 * math.exp(-len(a) * distance**2))
