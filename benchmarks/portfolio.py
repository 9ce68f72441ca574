"""Portfolios: `solve` against the solver PIQP (`pip install piqp`), and the time of a learned run. Prints ratios.

PIQP is asked for 1e-9, about the accuracy that `solve` must show; `solve` also checks its input, goes on to rounding
error and reports the KKT residual. The two take turns in one process, and the best of many rounds counts. Problems are
of three kinds: few arms have weight, most have, and an upper limit of 3/K holds many of them.
"""

import time

import numpy as np
import piqp

from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
from prudent.portfolio import solve

KINDS = {"few arms": (1.0, None), "most arms": (0.01, None), "upper limits": (1.0, 3.0)}
"""ρ, and the upper limit of a weight in units of 1/K."""


def direct(covariance, mean, rho, upper):
    arms = len(mean)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-9
    low, high = np.zeros(arms), np.full(arms, np.inf if upper is None else upper)
    solver.setup(2.0 * covariance, -rho * mean, np.ones((1, arms)), np.ones(1), None, None, None, low, high)
    solver.solve()
    return solver.result.x


def ours(covariance, mean, rho, upper):
    return solve(covariance, mean, rho, upper=upper)


def problem(arms, seed):
    rng = np.random.default_rng(seed)
    returns = rng.normal(size=(2 * arms, arms))
    return returns.T @ returns / (2 * arms), 0.3 * rng.normal(size=arms)


def best_time(function, problems, settings, seconds=0.05):
    least, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for covariance, mean in problems:
            function(covariance, mean, *settings)
        least = min(least, (time.perf_counter() - start) / len(problems))
    return least


def main():
    for arms in (15, 100):
        problems = [problem(arms, seed) for seed in range(20)]
        for kind, (rho, share) in KINDS.items():
            settings = rho, None if share is None else share / arms
            mixes = [ours(covariance, mean, *settings) for covariance, mean in problems]
            turns = [[best_time(function, problems, settings) for function in (direct, ours)] for _ in range(40)]
            bare, own = np.min(turns, axis=0)
            print(
                f"K = {arms}, {kind}: piqp {bare * 1e6:.1f} µs, solve {own * 1e6:.1f} µs, ratio {own / bare:.2f};"
                f" {np.mean([len(mix.held) for mix in mixes]):.0f} arms have weight, largest KKT residual"
                f" {max(mix.kkt_residual for mix in mixes):.1e}"
            )
    covariance, mean = problem(15, 0)
    bandit = PortfolioBandit(MultivariateGaussian(mean, covariance))
    for policy in ("mc-empirical", "mc-ucb", "mc-ete", "vertices", "mc-empirical(growth=0)"):
        for horizon in (10**4, 10**6):
            if horizon > 10**4 and policy in ("vertices", "mc-empirical(growth=0)"):
                continue  # these decide every round
            runs = simulate_portfolio(bandit, policy, rho=1.0, horizon=horizon, runs=3, workers=1)
            print(f"K = 15, {policy}, {horizon:,} rounds: {runs.seconds / len(runs) * 1e3:.0f} ms a run on one core")


if __name__ == "__main__":
    main()
