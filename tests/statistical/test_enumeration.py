"""Engines and `identify` against the exact law of each policy: ties are where a wrong comparison shows.

`benchmarks/enumeration.py` does the same with all cells and 40,000 runs.
"""

import os

import pytest

from helpers.exact_laws import bandits, commits, identified, rejects, simulated
from prudent import Bandit, Bernoulli, MeanVariance, simulate

RUNS = int(os.environ.get("PRUDENT_RUNS", "6000"))

FALSE_ALARM = 4.75
"""A cell is beyond so many standard errors by chance with probability 2e-6, one of the 50 here with 1e-4."""


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize(
    "policy",
    ["exp-exp", "mv-imed"]
    + [
        pytest.param(each, marks=pytest.mark.slow)
        for each in ("mv-dsee", "mv-lcb", "best-of-both", "bernoulli-mv-imed")
    ],
)
def test_the_exact_engine_has_the_law_of_the_enumeration(policy, which, order):
    if policy == "bernoulli-mv-imed" and which >= 3:
        return  # it is for two values
    bandit, rho, n = bandits(order)[which]
    n = n if policy == "exp-exp" else n * 2 // 3
    wanted = simulated(policy, bandit, rho, n)[0]
    found = simulate(bandit, policy, risk=MeanVariance(rho), horizon=n, engine="exact").pulls[0]
    assert (found.mean(), found.variance()) == pytest.approx((wanted.mean, wanted.variance), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("policy", "which"),
    [
        *(("epsilon-greedy", which) for which in range(5)),
        *(
            (policy, which)
            for policy in ("exp-exp", "mv-dsee", "mv-lcb", "best-of-both", "mv-imed")
            for which in (3, 4)
        ),
    ],
)
def test_engines_follow_the_exact_law(policy, which, order):
    """With coins the others are compared with the exact engine (test_exact_engine)."""
    bandit, rho, n = bandits(order)[which]
    n = 35 * n if policy == "exp-exp" else n * 2 // 3
    for cell in simulated(policy, bandit, rho, n):
        assert abs(cell.z(RUNS, seed=which)[1]) < FALSE_ALARM, cell.title


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("strategy", ["successive-rejects", "ucb-e"])
def test_identification_follows_the_exact_law(strategy, which, order):
    bandit, rho, n = bandits(order)[which]
    (cell,) = identified(strategy, bandit, rho, 2 * n if strategy == "successive-rejects" else n * 2 // 3)
    assert abs(cell.z(RUNS, seed=which)[1]) < FALSE_ALARM, cell.title


@pytest.mark.parametrize(
    ("arms", "n", "kept"), [((0.95, 0.9), 1_000, 0.8231), ((0.98, 0.97), 10_000, 0.7502), ((0.3, 0.7), 10_000, 0.5344)]
)
def test_the_enumeration_agrees_with_another_one(arms, n, kept):
    """The probabilities that ExpExp keeps arm 0, ρ = 0, as somebody else has found them."""
    assert commits(Bandit([Bernoulli(p) for p in arms]), 0.0, n) == pytest.approx(kept, abs=5e-5)


def test_the_error_of_successive_rejects_is_the_one_known():
    """Four Bernoulli arms, budget 200, ρ = 1: somebody else's 40,000 runs had the error 0.3126, ± 0.0023."""
    four = Bandit([Bernoulli(p) for p in (0.5, 0.45, 0.4, 0.3)])
    assert 1.0 - rejects(four, 1.0, 200) == pytest.approx(0.3126, abs=4 * 0.0023)
