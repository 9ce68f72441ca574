"""What a draw from a table of quantiles costs against a Gaussian one: alone, and in a round of stepping.

    python benchmarks/laws.py [--draws 2000000] [--rounds 2000000]

Times are processor time, the least of five tries, all in one run.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from prudent import Bandit, FromQuantile, Gamma, Gaussian, Laplace, LogNormal, Pareto, Poisson, simulate
from prudent.arms import sampling
from prudent.arms.base import encode


def larger_of_two(rng: Any) -> float:
    return max(rng.random(), rng.random())  # type: ignore[no-any-return]


LAWS = {
    "gaussian": Gaussian(0.0, 1.0),
    "log-normal": LogNormal(0.0, 0.5),
    "gamma": Gamma(2.0, 1.0),
    "laplace": Laplace(0.0, 1.0),
    "pareto": Pareto(3.0, 1.0),
    "poisson": Poisson(3.0),
    "own quantiles": FromQuantile(np.sqrt, support=(0.0, 1.0)),
    "own draw": FromQuantile(np.sqrt, support=(0.0, 1.0), draw=larger_of_two),
}


def least(act: Callable[[], Any]) -> float:
    act()
    times = []
    for _ in range(5):
        since = time.process_time()
        act()
        times.append(time.process_time() - since)
    return min(times)


warnings.simplefilter("ignore")  # the policies assume another range, which matters to regret and not to time


def main() -> None:
    described = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    described.add_argument("--draws", type=int, default=2_000_000)
    described.add_argument("--rounds", type=int, default=2_000_000)
    options = described.parse_args()
    rewards, rng = np.empty(options.draws), np.random.default_rng(1)
    base: list[float] = []
    heads = "a draw", "ratio", "a round, one arm leads", "ratio", "a round, equal arms", "ratio"
    print(f"{'':16}{heads[0]:>12}{heads[1]:>8}{heads[2]:>26}{heads[3]:>8}{heads[4]:>26}{heads[5]:>8}")
    for name, law in LAWS.items():
        # A second law keeps the kernels general, as they are where arms differ.
        laws = encode([law, Poisson(1.0)])
        worse = Gaussian(law.mean - 1.0, 1.0 + law.variance)
        found = [
            least(lambda laws=laws: sampling.draw_many(laws, 0, rewards, rng)) / options.draws,  # type: ignore[misc]
            least(partial(play, Bandit([law, worse]), options.rounds)) / options.rounds,
            least(partial(play, Bandit([law, law]), options.rounds)) / options.rounds,
        ]
        base = base or found
        cells = [f"{1e9 * value:9.1f} ns{value / at:8.2f}" for value, at in zip(found, base, strict=True)]
        print(f"{name:16}{cells[0]}{'':14}{cells[1]}{'':14}{cells[2]}", flush=True)


def play(bandit: Bandit, rounds: int) -> Any:
    risk, policy = "mean-variance(rho=1)", "mv-lcb(range=1)"
    return simulate(bandit, policy, risk=risk, horizon=rounds // 20, runs=20, engine="stepping", workers=1)


if __name__ == "__main__":
    main()
