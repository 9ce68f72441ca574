"""Portfolios: `solve` against PIQP called directly, and the time of a learned run. Prints ratios from one process.

PIQP is asked for 1e-9 when called directly, about the accuracy that `solve` must show; `solve` also checks its input,
refines to rounding error and reports the KKT residual. The two take turns, and the best of many rounds counts.
"""

import time

import numpy as np
import piqp

from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
from prudent.portfolio import solve


def direct(covariance, mean, rho):
    arms = len(mean)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-9
    low, high = np.zeros(arms), np.full(arms, np.inf)
    solver.setup(2.0 * covariance, -rho * mean, np.ones((1, arms)), np.ones(1), None, None, None, low, high)
    solver.solve()
    return solver.result.x


def problem(arms, seed):
    rng = np.random.default_rng(seed)
    returns = rng.normal(size=(2 * arms, arms))
    return returns.T @ returns / (2 * arms), 0.3 * rng.normal(size=arms)


def best_time(function, problems, seconds):
    least, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for covariance, mean in problems:
            function(covariance, mean, 1.0)
        least = min(least, (time.perf_counter() - start) / len(problems))
    return least


def main():
    for arms in (15, 100):
        problems = [problem(arms, seed) for seed in range(20)]
        solve(*problems[0], 1.0)
        turns = [(best_time(direct, problems, 0.5), best_time(solve, problems, 0.5)) for _ in range(6)]
        bare, ours = np.min(turns, axis=0)
        print(f"K = {arms}: piqp {bare * 1e6:.1f} µs, solve {ours * 1e6:.1f} µs, ratio {ours / bare:.2f}")
        print(f"  largest KKT residual {max(solve(*p, 1.0).kkt_residual for p in problems):.1e}")
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
