"""MV-IMED against what no learning policy can beat, its speed, and the worst case of the policies with budgets.

    python benchmarks/imed.py bound [--longest 10000000] [--runs 20]
    python benchmarks/imed.py speed
    python benchmarks/imed.py worst [--runs 300]

bound: n times the regret over log n, divided by Σ (Δ + Γ²)/K, ± a standard error, on six problems: 1 is what no policy
that learns on all problems can stay below for ever. One set of runs serves all n, as `mv-imed` knows no horizon; short
horizons have ten times as many. speed: rounds a second and core, by stepping. worst: 100 × the largest mean regret over
20 problems with two arms, gaps from 0 to 0.15 and Γ = 1.1 or 0.55, and the exponent of n.
"""

import argparse
import math
import time

from prudent import Bandit, Bernoulli, Gaussian, simulate
from prudent.confidence.divergence import bernoulli, gaussian
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATION_2, FIGURE_2, grid_bandit
from prudent.policies.units import without_warning
from prudent.rates import end_slope
from prudent.risk.mean_variance import MeanVariance
from prudent.text import with_error

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
                    row.append(with_error(values.mean(), values.std(ddof=1) / math.sqrt(count)))
        rounds = 10 * runs * horizons[:2][-1] + (runs * horizons[-1] if horizons[2:] else 0)
        speed = rounds / (time.process_time() - started) / 1e6
        print(name, f"{rho:g}", f"{scale:.2f}", *row, f"{speed:.1f}", sep="\t", flush=True)


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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("bound", "speed", "worst"))
    parser.add_argument("--longest", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int)
    given = parser.parse_args()
    with without_warning():
        if given.part == "bound":
            bound(given.longest, given.runs or 20)
        elif given.part == "speed":
            speed()
        else:
            worst(given.runs or 300)
