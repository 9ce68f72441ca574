"""MV-IMED against what no learning policy can beat, its speed, and the worst case of the policies with budgets.

    python benchmarks/imed.py bound [--longest 10000000] [--runs 20]
    python benchmarks/imed.py correction [--runs 1000]
    python benchmarks/imed.py speed
    python benchmarks/imed.py worst [--runs 300]
    python benchmarks/imed.py divergence [--problems 100000]

bound: n times the regret over log n, divided by Σ (Δ + Γ²)/K, ± a standard error, on six problems: 1 is what no policy
that learns on all problems can stay below for ever. One set of runs serves all n, as `mv-imed` knows no horizon; short
horizons have ten times as many. correction: 100 × regret of the indices (s − 2)K + log s and sK + log s, in `mv-imed`
and in `prudent`, and the most pulls of other arms than the best one in any run. speed: rounds a second and core, by
stepping. worst: 100 × the largest mean regret over 20 problems with two arms, gaps from 0 to 0.15 and Γ = 1.1 or 0.55,
and the exponent of n. divergence: how far K of `finite-mv-imed` is from that of the lower bound on random problems, and
what each costs.
"""

import argparse
import math
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.random_divergences import Problem, divergences_of, random_problems
from prudent import Bandit, Bernoulli, Gaussian, simulate
from prudent.base.text import with_error
from prudent.confidence.divergence import bernoulli, gaussian
from prudent.paper.leaderboard.suites import COINS as RARE_COINS
from prudent.paper.leaderboard.suites import HUNDRED_ARMS
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATION_2, FIGURE_2, grid_bandit
from prudent.policies.contract import UNSET, Arm, Setting
from prudent.policies.mv_imed import gaussian_index
from prudent.policies.prudent import EXPLORED, Budgeted, widened
from prudent.policies.units import without_warning
from prudent.results.rates import end_slope
from prudent.risk.mean_variance import MeanVariance, mean_variance

COINS = Bandit([Bernoulli(p) for p in (0.9, 0.6, 0.5, 0.3)])
PROBLEMS = {
    "Figure 2": (FIGURE_2, 0.0),
    "Figure 2 ": (FIGURE_2, 1.0),
    "configuration 1": (CONFIGURATION_1, 0.0),
    "configuration 1 ": (CONFIGURATION_1, 1.0),
    "configuration 2": (CONFIGURATION_2, 10.0),
    "four coins": (COINS, 1.0),
}
WORST = ("exp-exp", "mv-lcb(c=1, unbiased=True)", "best-of-both", "mv-imed", "prudent")
GAPS = (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15)
GRID = [(mu_2, 0.25 - gap) for mu_2 in (0.4, 0.95) for gap in GAPS]


def constant(bandit: Bandit, rho: float) -> float:
    """Σ (Δ + Γ²)/K over all arms but the best."""
    risk = MeanVariance(rho)
    costs, best = bandit.costs(risk), bandit.best(risk)
    total = 0.0
    for i, law in enumerate(bandit.arms):
        if i != best:
            gap, distance = costs[i] - costs[best], law.mean - bandit.arms[best].mean
            if isinstance(law, Gaussian):
                price = gaussian(law.mean, law.variance, costs[best], rho)
            else:
                price = bernoulli(law.mean, costs[best], rho)
            total += (gap + distance**2) / price
    return float(total)


def bound(longest: int, runs: int) -> None:
    """A row per problem, a column per horizon."""
    horizons = [n for n in (10_000, 100_000, 1_000_000, 10_000_000) if n <= longest]
    print("problem", "ρ", "Σ", *(f"n = {n:,}" for n in horizons), "M rounds/s", sep="\t")
    for name, (bandit, rho) in PROBLEMS.items():
        policy, scale = ("bernoulli-mv-imed" if bandit is COINS else "mv-imed"), constant(bandit, rho)
        row, started = [], time.process_time()
        for some, count in ((horizons[:2], 10 * runs), (horizons[2:], runs)):
            if some:
                settings = {"risk": MeanVariance(rho), "horizon": some[-1], "runs": count, "snapshots": some[:-1]}
                found = simulate(bandit, policy, workers=1, **settings)
                for n in some:
                    values = n * found.at(n).regret() / math.log(n) / scale
                    row.append(_with_error(values))
        rounds = 10 * runs * horizons[:2][-1] + (runs * horizons[-1] if horizons[2:] else 0)
        speed = rounds / (time.process_time() - started) / 1e6
        print(name, f"{rho:g}", f"{scale:.2f}", *row, f"{speed:.1f}", sep="\t", flush=True)


class Imed(NamedTuple):
    """`mv-imed` with s less any number."""

    rho: float = UNSET
    less: float = 0.0

    def score(self, arm: Arm, best_cost: float) -> float:
        return gaussian_index(arm, best_cost, self.rho, self.less)

    def score_bound(self, low: Arm, high: Arm) -> float:
        return math.log(high.pulls)


class Budgets(NamedTuple):
    """`prudent` with s less any number."""

    rho: float = UNSET
    less: float = 0.0
    scale: float = math.inf

    def tuned(self, setting: Setting) -> "Budgets":
        return self._replace(scale=(setting.horizon or math.inf) / EXPLORED)

    phase, open = Budgeted.phase, Budgeted.open

    def evidence(self, arm: Arm, most: Arm, best_cost: float) -> float:
        if mean_variance(arm.mean, arm.variance, self.rho) <= best_cost:
            return gaussian_index(arm, best_cost, self.rho, self.less)
        wider = widened(arm, most)
        gained = 0.0 if math.isinf(self.rho) else wider.variance - arm.variance
        return gaussian_index(wider, best_cost + gained, self.rho, self.less)


NOISY = Bandit([Gaussian(0.0, 4.0), Gaussian(1.0, 4.0)])
STEADY = Bandit([Gaussian(1.0, 1.0), Gaussian(0.0, 0.1)])
CORRECTED = (
    (Imed, "means 0 and 1, variances 4", NOISY, math.inf, 100_000, 4),
    (Imed, "variances 1 and 0.1, means 1 and 0", STEADY, 10.0, 100_000, 4),
    *((Imed, "Figure 2", FIGURE_2, 0.0, n, 6) for n in (10_000, 100_000)),
    (Imed, "configuration 1", CONFIGURATION_1, 0.0, 100_000, 0.3),
    (Imed, "configuration 2", CONFIGURATION_2, 0.0, 100_000, 0.3),
    (Imed, "coins .01 … .1", RARE_COINS, 0.0, 10_000, 8),
    (Budgets, "means 0 and 1, variances 4", NOISY, math.inf, 100_000, 4),
    (Budgets, "variances 1 and 0.1, means 1 and 0", STEADY, 10.0, 100_000, 4),
    *((Budgets, "Figure 2", FIGURE_2, rho, 100_000, 6) for rho in (0.0, 1.0, 10.0)),
    *((Budgets, "configuration 1", CONFIGURATION_1, rho, 100_000, 0.3) for rho in (0.0, 1.0, 10.0)),
    (Budgets, "configuration 2", CONFIGURATION_2, 0.0, 100_000, 0.3),
    (Budgets, "configuration 1", CONFIGURATION_1, 1.0, 1_000, 4),
    (Budgets, "100 arms", HUNDRED_ARMS, 1.0, 10_000, 0.1),
    *((Budgets, "coins .01 … .1", RARE_COINS, rho, 10_000, 8) for rho in (0.0, 2.0)),
)
"""Policy, problem, ρ, horizon, and how many times as many runs."""


def correction(runs: int) -> None:
    """A row per policy and problem."""
    print("policy", "problem", "ρ", "n", "s − 2", "s", "most pulls", "", sep="\t")
    for kind, name, bandit, rho, n, times in CORRECTED:
        best, row, most = bandit.best(MeanVariance(rho)), [], []
        for less in (2.0, 0.0):
            settings = {"risk": MeanVariance(rho), "horizon": n, "runs": max(20, int(times * runs)), "workers": 1}
            found = simulate(bandit, kind(less=less), **settings)
            row.append(_with_error(100.0 * found.regret()))
            most.append(f"{(n - found.pulls[:, best]).max():,}")
        print("mv-imed" if kind is Imed else "prudent", name, f"{rho:g}", f"{n:,}", *row, *most, sep="\t", flush=True)


def _with_error(values: NDArray[np.float64]) -> str:
    return with_error(values.mean(), values.std(ddof=1) / math.sqrt(len(values)))


def speed() -> None:
    """Rounds a second and core where each is simulated, after a run that compiles."""
    for policy, bandit in (("mv-imed", FIGURE_2), ("mv-imed", CONFIGURATION_1), ("bernoulli-mv-imed", COINS)):
        for rho in (0.0, 1.0, 10.0):
            for n, runs in ((10_000, 50), (100_000, 20)):
                settings = {"risk": MeanVariance(rho), "horizon": n, "workers": 1, "engine": "stepping"}
                simulate(bandit, policy, runs=1, **settings)
                started = time.process_time()
                simulate(bandit, policy, runs=runs, **settings)
                rate = n * runs / (time.process_time() - started) / 1e6
                print(f"{policy}, K = {len(bandit)}, ρ = {rho:g}, n = {n:,}: {rate:.1f} million rounds a second")


def worst(runs: int) -> None:
    """A row per policy."""
    horizons = (1_000, 10_000, 100_000)
    print("policy", *(f"n = {n:,}" for n in horizons), "exponent", sep="\t")
    for policy in WORST:
        row = []
        for n in horizons:
            settings = {"risk": MeanVariance(0.0), "horizon": n, "runs": runs, "workers": 1}
            row.append(max(100.0 * simulate(grid_bandit(*at), policy, **settings).regret().mean() for at in GRID))
        print(policy, *(f"{regret:.2f}" for regret in row), f"{end_slope(horizons, row):.2f}", sep="\t", flush=True)


def _timed(side: int, problems: list[Problem]) -> tuple[list[float], float]:
    """K by one of the two computations, and microseconds each."""
    started = time.process_time()
    found = [divergences_of(problem)[side]() for problem in problems]
    return found, 1e6 * (time.process_time() - started) / len(problems)


def divergence(count: int) -> None:
    """One row."""
    problems = list(random_problems(seed=0, count=count))
    divergences_of(problems[0])[0]()  # compiles
    (policy, quick), (bound, slow) = (_timed(side, problems) for side in (0, 1))
    off = np.abs(np.array(policy) - np.array(bound)) / (np.array(bound) + 1e-3)
    print(f"{count:,} problems: largest difference {off.max():.1e} of K + 0.001, {int((off > 1e-9).sum())} above 1e-9;")
    print(f"{quick:.0f} µs and {slow:.0f} µs each")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("bound", "correction", "speed", "worst", "divergence"))
    parser.add_argument("--longest", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--problems", type=int, default=100_000)
    given = parser.parse_args()
    with without_warning():
        if given.part == "bound":
            bound(given.longest, given.runs or 20)
        elif given.part == "correction":
            correction(given.runs or 1_000)
        elif given.part == "speed":
            speed()
        elif given.part == "divergence":
            divergence(given.problems)
        else:
            worst(given.runs or 300)
