"""Leaping and stepping have one law: pulls, means, variances and regret of many runs, compared by Kolmogorov-Smirnov.

For two samples of n ≥ 458 each, P(D ≥ d) ≤ 2 exp(−n d²) whatever the common law, ties or not [WeiDudley12]; so every
p-value here is an upper bound, and all COMPARISONS together fail a correct engine with probability FALSE_ALARM at most.

`make deep` takes 2,000 runs a cell; PRUDENT_RUNS=40000 pytest tests/statistical/test_leaping.py is the full suite.
"""

import math
import os
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from helpers.careless_policies import MONOTONE, Odd
from prudent import (
    MVLCB,
    Bandit,
    Bernoulli,
    BernsteinMVLCB,
    Deterministic,
    Empirical,
    ExpExp,
    FixedArm,
    Gaussian,
    MeanVariance,
    RandomArm,
    RoundRobin,
    simulate,
)
from prudent.policies.contract import spec

RUNS = int(os.environ.get("PRUDENT_RUNS", "2000"))
FALSE_ALARM = 1e-6
COMPARISONS = 5_000
HORIZON = 2_000

POLICIES = [MVLCB(), MVLCB.sharp(), BernsteinMVLCB()]
RHOS = [0.0, 0.7, 10.0]


def gaussians(n_arms: int, rho: float, gap: bool) -> Bandit:
    """Different means; variances that make all costs equal, or not."""
    means = 0.5 + 0.04 * np.arange(n_arms) / (1.0 + rho)
    slope = -2.0 if gap else rho
    return Bandit([Gaussian(mean, 0.1 + slope * (mean - means[-1 if gap else 0])) for mean in means])


def bernoullis(n_arms: int, rho: float, gap: bool) -> Bandit:
    """Successes spread out, or all alike; where the cost is p(0.3 − p), 0.1 and 0.2 cost the same too."""
    if gap:
        return Bandit([Bernoulli(p) for p in np.linspace(0.9, 0.3, n_arms)])
    return Bandit([Bernoulli((0.1, 0.2)[i % 2] if rho == 0.7 else 0.4) for i in range(n_arms)])


class Cell(NamedTuple):
    policy: tuple
    bandit: Bandit
    rho: float
    horizon: int = HORIZON
    snapshots: tuple = ()
    bound_failure: float = 0.0
    name: str = ""

    @property
    def comparisons(self) -> int:
        return (3 * len(self.bandit) + 1) * (1 + len(self.snapshots))


def title(cell: Cell) -> str:
    return f"{spec(cell.policy)}, {cell.name or cell.bandit}, rho {cell.rho:g}, n {cell.horizon}"


INDICES = [
    Cell(policy, arms(n_arms, rho, gap), rho, name=f"{n_arms} {arms.__name__}{', gaps' if gap else ''}")
    for arms in (gaussians, bernoullis)
    for n_arms in (2, 3, 15)
    for rho in RHOS
    for gap in (False, True)
    for policy in POLICIES
]


FIGURE_2 = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
MIXED = Bandit(
    [Gaussian(0.4, 0.2), Bernoulli(0.4), Empirical([0.0, 0.3, 0.3, 1.0]), Deterministic(0.5), Gaussian(0.6, 0.0)]
)
LONG = 20_000
OTHERS = [
    Cell(MVLCB(), MIXED, 0.3),
    Cell(MVLCB.sharp(), MIXED, math.inf),
    Cell(Odd(MONOTONE), FIGURE_2, 0.5),
    Cell(Odd(MONOTONE), MIXED, 0.5),
    Cell(MVLCB(), FIGURE_2, 0.0, LONG, name="Figure 2"),
    Cell(MVLCB.sharp(), Bandit([Gaussian(0.0, 0.2), Gaussian(0.1, 0.2)]), 0.0, LONG),
    Cell(MVLCB.sharp(), Bandit([Bernoulli(0.5), Bernoulli(0.4)]), 0.0, LONG),
    Cell(MVLCB.sharp(), Bandit([Empirical([0.0, 0.2, 0.9])] * 2), 1.0, LONG),
    # With tighter bounds, which blocks of more than 200 rewards meet.
    Cell(MVLCB(), FIGURE_2, 0.0, LONG, (), 1e-15, "Figure 2, bound_failure"),
    Cell(MVLCB.sharp(), Bandit([Gaussian(0.0, 0.2), Gaussian(0.1, 0.2)]), 0.0, LONG, (), 1e-15, "tie, bound_failure"),
    # Snapshots on the way, the first where every arm was pulled once.
    Cell(MVLCB(), FIGURE_2, 0.0, HORIZON, (2, 3, 100, 1_999), name="Figure 2, snapshots"),
    Cell(MVLCB.sharp(), gaussians(15, 0.7, True), 0.7, HORIZON, (15, 600, 1_200), name="15 arms, snapshots"),
    Cell(MVLCB.sharp(), bernoullis(3, 0.0, False), 0.0, HORIZON, (100, 1_000), name="3 equal Bernoullis, snapshots"),
]
PHASES = [
    Cell(policy, bandit, 0.7, 500, (7, 250))
    for bandit in (gaussians(3, 0.7, True), MIXED)
    for policy in (
        ExpExp(),
        ExpExp(explore="successive-rejects", rule="appendix"),
        ExpExp(explore="ucb-e"),
        RoundRobin(),
        RandomArm(),
        FixedArm(1),
    )
]


def test_the_comparisons_are_as_many_as_paid_for():
    assert sum(cell.comparisons for cell in INDICES + OTHERS + PHASES) <= COMPARISONS
    assert RUNS >= 458


def is_quick(cell: Cell) -> bool:
    """Cells whose kernels other tests compile as well, with few arms and with many."""
    return isinstance(cell.policy, MVLCB) and len(cell.bandit) != 3


@pytest.mark.parametrize("cell", [cell for cell in INDICES if is_quick(cell)], ids=title)
def test_an_index_leaps_as_it_steps(cell, record_property):
    agree(cell, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("cell", [cell for cell in INDICES if not is_quick(cell)], ids=title)
def test_other_indices_leap_as_they_step(cell, record_property):
    agree(cell, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("cell", OTHERS, ids=title)
def test_other_arms_horizons_bounds_and_snapshots(cell, record_property):
    agree(cell, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("cell", PHASES, ids=title)
def test_phases_leap_as_they_step(cell, record_property):
    agree(cell, record_property)


def agree(cell: Cell, record_property) -> None:
    leaping, stepping = (
        simulate(
            cell.bandit,
            cell.policy,
            risk=MeanVariance(cell.rho),
            horizon=cell.horizon,
            runs=RUNS,
            snapshots=cell.snapshots,
            bound_failure=cell.bound_failure,
            engine=engine,
            seed=18,
        )
        for engine in ("leaping", "stepping")
    )
    smallest, where = 1.0, ""
    for one, other in zip(leaping.history, stepping.history, strict=True):
        for what, (a, b) in pairs(one, other).items():
            p = p_value(a, b)
            if p < smallest:
                smallest, where = p, f"{what} at {one.horizon}"
    record_property("p", smallest)
    assert smallest > FALSE_ALARM / COMPARISONS, where


def pairs(one, other):
    """What is compared: one number a run from each engine, by name."""
    found = {"regret": (one.regret(), other.regret())}
    for field in ("pulls", "mean", "variance"):
        a, b = getattr(one, field), getattr(other, field)
        found |= {f"{field} of arm {i}": (a[:, i], b[:, i]) for i in range(a.shape[1])}
    return found


def p_value(a, b) -> float:
    # Fractions that differ by rounding only count as equal; the grid is irrational, so that no fraction lies between.
    a, b = (np.rint(values * (1e9 / math.pi)) for values in (a, b))
    distance = stats.ks_2samp(a, b, method="asymp").statistic
    return min(1.0, 2.0 * math.exp(-RUNS * distance**2))


def test_the_comparison_can_tell():
    """A width larger by a tenth moves the pulls enough to be seen."""
    runs = [
        simulate(FIGURE_2, policy, risk=MeanVariance(0.0), horizon=HORIZON, runs=RUNS)
        for policy in (MVLCB(c=1.0), MVLCB(c=1.1))
    ]
    assert p_value(runs[0].pulls[:, 1], runs[1].pulls[:, 1]) < FALSE_ALARM / COMPARISONS
