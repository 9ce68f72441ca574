"""How far policies are above the minimax regret of two coins: `python benchmarks/minimax_policies.py 64 128 64@0.5`.

A number is n, and what follows an @ is ρ, else 0. Each row has the largest regret on a grid of pairs, with the arms in
random order, and its ratio to the lower end of `theory.minimax`. The regret comes from the exact engine.
`bernoulli-mv-kg` breaks ties at random, so its choices are asked for both ways here.
"""

import sys

import numpy as np

from prudent import Bandit, BernoulliMVKG, simulate
from prudent.compile.types import kernel
from prudent.policies.binding import bind
from prudent.policies.coin_table import row_starts
from prudent.policies.contract import Arms, Setting
from prudent.policies.units import PUBLISHED
from prudent.risk.mean_variance import MeanVariance
from prudent.theory import minimax
from prudent.theory.coins.game import CoinGame

POINTS = 41
OTHERS = ("exp-exp", "mv-lcb", "mv-lcb(c=1, unbiased=True)", "mv-imed", "best-of-both", "prudent", "optimal")
COINS = Bandit(["bernoulli(0.3)", "bernoulli(0.6)"])


@kernel
def follow_random_ties(policy, horizon):
    """`prudent.policies.coin_table.follow` for a policy whose ties are broken by a fair coin."""
    offset = row_starts(horizon)
    layer = np.zeros(offset[horizon + 1])
    layer[0] = 1.0
    pulls, mean = np.zeros(2, np.int64), np.zeros(2)
    arms = Arms(pulls, mean, np.zeros(2), np.zeros(2), np.ones(2, np.bool_), np.empty((2, 0)))
    for t in range(horizon):
        for n1 in range(t, -1, -1):
            n2, stride = t - n1, horizon - n1 + 1
            pulls[0], pulls[1] = n1, n2
            for s1 in range(n1, -1, -1):
                here, zero = offset[n1] + s1 * stride, offset[n1 + 1] + s1 * (stride - 1)
                one, share = zero + stride - 1, (s1 + 1.0) / (n1 + 1.0)
                for s2 in range(n2 + 1):
                    mean[0], mean[1] = s1 / max(n1, 1), s2 / max(n2, 1)
                    second = 0.5 * (policy.pulled(arms, True) + policy.pulled(arms, False))
                    given = layer[here + s2] * (1.0 - second)
                    layer[one + s2] += share * given
                    layer[zero + s2] += ((n1 + 2.0) / (n1 + 1.0) - share) * given
                    layer[here + s2] -= given
                layer[here + n2 + 1] = layer[here + n2]
                for s2 in range(n2, 0, -1):
                    kept = (n2 + 1.0 - s2) * layer[here + s2] + s2 * layer[here + s2 - 1]
                    layer[here + s2] = kept / (n2 + 1.0)
    return layer


def worst_of_random_ties(horizon, rho):
    """The largest regret of `bernoulli-mv-kg`, in either order of the coins."""
    ready = bind(BernoulliMVKG(low=0.0, high=1.0), Setting.of(COINS, MeanVariance(rho), horizon, PUBLISHED))
    game = CoinGame(horizon, rho)
    coefficients = game.coefficients(follow_random_ties(ready, horizon))
    return game.surface(coefficients, np.linspace(0.0, 1.0, POINTS)).max()


def worst(policy, horizon, rho):
    """The largest regret with the arms in random order."""
    found = simulate(COINS, policy, risk=MeanVariance(rho), horizon=horizon, engine="exact").risk_surface(POINTS)
    return ((found.regret + found.regret.T) / 2.0).max()


if __name__ == "__main__":
    for given in sys.argv[1:] or ("64",):
        rounds, _, tolerance = given.partition("@")
        horizon, rho = int(rounds), float(tolerance or 0.0)
        least = minimax(horizon, rho).lower
        rows = {"bernoulli-mv-kg": worst_of_random_ties(horizon, rho)}
        rows |= {policy: worst(policy, horizon, rho) for policy in OTHERS if policy != "optimal" or horizon <= 400}
        for policy, regret in rows.items():
            print(f"{given:>8} {policy:28} {regret:.4f} {regret / least:6.2f}", flush=True)
