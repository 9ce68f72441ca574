"""Portfolios of 2,000 arms: seconds of a solve and of a learned run of 1,000 rounds.

No solve can do without reading the K × K numbers of a covariance once, and a run writes such a matrix some five times a
decision. Returns have a common factor, and there are half as many rows as arms: every estimate is singular.
"""

import time

import numpy as np

from prudent import EmpiricalJoint, PortfolioBandit, simulate_portfolio

ARMS, ROWS, ROUNDS = 2_000, 1_000, 1_000


def timed(call):
    start, cpu = time.perf_counter(), time.process_time()
    found = call()
    return found, f"{time.perf_counter() - start:.2f} s, {time.process_time() - cpu:.2f} s of the processor"


def main():
    rng = np.random.default_rng(0)
    rows = 0.0005 + 0.01 * (rng.normal(size=(ROWS, ARMS)) + rng.normal(size=(ROWS, 1)))
    bandit, took = timed(lambda: PortfolioBandit(EmpiricalJoint(rows)))
    print(f"{ARMS:,} arms, {ROWS:,} rows: law made in {took}")
    bandit.optimal(1.0)  # compiles
    _, took = timed(bandit.law.covariance.max)
    print(f"reading the covariance once: {took}")
    for settings in (
        {"rho": 0.0},
        {"rho": 1.0},
        {"rho": 1.0, "upper": 0.01},
        {"rho": 1.0, "upper": 0.1, "short": True},
    ):
        mix, took = timed(lambda settings=settings: bandit.optimal(**settings))
        print(f"solve {settings}: {took}; {len(mix.held)} arms have weight, KKT residual {mix.kkt_residual:.0e}")
    for policy in ("mc-empirical", "even"):
        for settings in ({}, {"upper": 0.01}):
            told = []
            how = {"horizon": ROUNDS, "runs": 1, "workers": 1, "progress": told.append, **settings}
            _, took = timed(lambda policy=policy, how=how: simulate_portfolio(bandit, policy, **how))
            print(f"{policy} {settings}, {ROUNDS:,} rounds: {took}; progress told {len(told)} times")


if __name__ == "__main__":
    main()
