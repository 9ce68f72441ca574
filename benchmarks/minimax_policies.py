"""How far policies are above the minimax regret of two coins: `python benchmarks/minimax_policies.py 64 128 64@0.5`.

A number is n, and what follows an @ is ρ, else 0. Each row has the largest regret on a grid of pairs, with the arms in
random order, and its ratio to the lower end of `theory.minimax`. The regret comes from the exact engine.
"""

import sys

from prudent import Bandit, simulate
from prudent.risk.mean_variance import MeanVariance
from prudent.theory import minimax

POINTS = 41
POLICIES = (
    *("bernoulli-mv-kg", "exp-exp", "mv-lcb", "mv-lcb(c=1, unbiased=True)", "mv-imed", "best-of-both", "prudent"),
    "optimal",
)
COINS = Bandit(["bernoulli(0.3)", "bernoulli(0.6)"])


def worst(policy, horizon, rho):
    """The largest regret with the arms in random order."""
    found = simulate(COINS, policy, risk=MeanVariance(rho), horizon=horizon, engine="exact").risk_surface(POINTS)
    return ((found.regret + found.regret.T) / 2.0).max()


if __name__ == "__main__":
    for given in sys.argv[1:] or ("64",):
        rounds, _, tolerance = given.partition("@")
        horizon, rho = int(rounds), float(tolerance or 0.0)
        least = minimax(horizon, rho).lower
        for policy in POLICIES:
            regret = worst(policy, horizon, rho)
            print(f"{given:>8} {policy:28} {regret:.4f} {regret / least:6.2f}", flush=True)
