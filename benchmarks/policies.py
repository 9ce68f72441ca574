"""Pulls per second and core of every policy that is stepped, on 15 arms: one run of the engine each.

    python benchmarks/policies.py [name …]

The paper's configuration 1 for policies of Gaussian rewards, 15 Bernoulli or beta arms for those of bounded ones. Best
of several turns, in processor time, so that a busy machine counts little; compile time is excluded. Policies that read
every reward slow down as rewards pile up: their horizon is shorter, and printed.
"""

import sys
import time
from typing import Any

from prudent import Bandit, Bernoulli, Beta, MeanVariance, simulate
from prudent.paper.problems import CONFIGURATION_1

K = 15
COINS = Bandit([Bernoulli((i + 1) / (K + 1)) for i in range(K)])
BETAS = Bandit([Beta(1.0 + i, float(K - i)) for i in range(K)])
LONG, SHORT, TURNS = 10_000, 1_000, 5

CASES: dict[str, tuple[Bandit, int]] = {
    **dict.fromkeys(["mv-lcb", "anytime-mv-lcb", "mv-ucb", "mv-dsee", "epsilon-greedy"], (CONFIGURATION_1, LONG)),
    **dict.fromkeys(["ucb1", "ucb-v", "thompson", "mts", "vts", "mvts"], (CONFIGURATION_1, LONG)),
    **dict.fromkeys(["kl-ucb", "bernoulli-thompson", "bernoulli-mvts"], (COINS, LONG)),
    **dict.fromkeys(["rho-mts(support=[0, 1])", "m-cvts(alpha=0.05, support=[0, 1])"], (COINS, LONG)),
    **dict.fromkeys(["b-cvts(alpha=0.05)", "cvar-ucb(alpha=0.05)", "u-ucb(alpha=0.05)"], (BETAS, SHORT)),
    **dict.fromkeys(["marab(alpha=0.05)", "entropic-lcb(lam=1)", "quantile-ucb(alpha=0.05)"], (BETAS, SHORT)),
    "npts": (BETAS, SHORT),
}


def pulls_per_second(policy: str, bandit: Bandit, horizon: int, runs: int) -> float:
    """Of the fastest turn, on one core."""
    settings: dict[str, Any] = {"risk": MeanVariance(1.0), "horizon": horizon, "workers": 1, "engine": "stepping"}
    simulate(bandit, policy, runs=1, **settings)
    times = []
    for _ in range(TURNS):
        started = time.process_time()
        simulate(bandit, policy, runs=runs, **settings)
        times.append(time.process_time() - started)
    return horizon * runs / min(times)


if __name__ == "__main__":
    print(f"K = {K}, one core")
    for policy, (bandit, horizon) in CASES.items():
        if not sys.argv[1:] or policy.partition("(")[0] in sys.argv[1:]:
            rate = pulls_per_second(policy, bandit, horizon, runs=200_000 // horizon)
            print(
                f"  {policy:36} n = {horizon:6,}: {rate / 1e6:6.2f} million pulls a second, {1e9 / rate:6.0f} ns a pull"
            )
