"""How long do exact distributions for two coins take, and how many states a second is that?

    python benchmarks/exact.py [rounds …]

Processor time of the pass after compiling, and of the distribution of the regret. States are those of all rounds,
(n + 4 choose 4), whether the policy can reach them or not.
"""

import math
import sys
import time

from prudent import Bandit, simulate

COINS = Bandit(["bernoulli(0.3)", "bernoulli(0.6)"])
POLICIES = ("mv-lcb(c=1)", "ucb1", "mv-imed", "bernoulli-thompson", "thompson(sd=1)", "exp-exp")


def main() -> None:
    for policy in POLICIES:
        play(policy, 20)
    for n in [int(word) for word in sys.argv[1:]] or [100, 200]:
        for policy in POLICIES:
            started = time.process_time()
            found = play(policy, n)
            played = time.process_time()
            mean = found.regret().mean()
            ended = time.process_time()
            speed = math.comb(n + 4, 4) / (played - started)
            print(
                f"n = {n:5,}  {policy:20} {played - started:8.2f} s  {speed:8.2e} states/s"
                f"  regret {mean:.6f} in {ended - played:.2f} s",
                flush=True,
            )


def play(policy: str, n: int):  # type: ignore[no-untyped-def]
    return simulate(COINS, policy, risk="mean-variance(rho=0)", horizon=n, engine="exact")


if __name__ == "__main__":
    main()
