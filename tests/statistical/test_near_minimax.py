"""`bernoulli-mv-kg` stays near the minimax regret on its worst pairs of coins; a test fails by chance 1e-6 at most."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from prudent import Bandit, simulate
from prudent.theory import minimax

RUNS = 20_000


@cache
def least():
    """The least possible regret in 64 rounds on the worst pair of coins."""
    return minimax(64, tolerance=0.01)


@pytest.mark.parametrize(("p", "q"), [(0.12, 0.998), (0.998, 0.12), (0.003, 0.872), (0.04, 0.85), (0.15, 0.96)])
def test_the_worst_regret_is_at_most_1_3_times_the_least_possible(p, q):
    bandit = Bandit([f"bernoulli({p})", f"bernoulli({q})"])
    runs = simulate(bandit, "bernoulli-mv-kg", risk="mean-variance(rho=0)", horizon=64, runs=RUNS, seed=1)
    regret = np.asarray(runs.regret())
    error = regret.std(ddof=1) / np.sqrt(RUNS)
    assert regret.mean() - stats.norm.isf(1e-6) * error < 1.3 * least().lower
    assert error < 2e-3 * 0.3


def test_exp_exp_does_not():
    """So the test above can fail."""
    bandit = Bandit(["bernoulli(0.17)", "bernoulli(1.0)"])
    runs = simulate(bandit, "exp-exp", risk="mean-variance(rho=0)", horizon=64, runs=RUNS, seed=1)
    regret = np.asarray(runs.regret())
    assert regret.mean() - stats.norm.isf(1e-6) * regret.std() / np.sqrt(RUNS) > 1.9 * least().upper
