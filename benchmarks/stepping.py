"""The stepping engine against a hand-written Numba loop and against river's own loop: ratios from one run.

    make bench

Every pair is timed in turns, the best of several; compile time is excluded.
"""

import random
import time
from collections.abc import Callable

import loops
import numpy as np
from river import bandit as river_bandit

from prudent import MVLCB, UCB1, Bandit, Gaussian, MeanVariance, simulate

HORIZON, RUNS, RIVER_ROUNDS = 10_000, 100, 20_000
CONFIGURATION_1 = (
    [0.1, 0.2, 0.23, 0.27, 0.32, 0.32, 0.34, 0.41, 0.43, 0.54, 0.55, 0.56, 0.67, 0.71, 0.79],
    [0.05, 0.34, 0.28, 0.09, 0.23, 0.72, 0.19, 0.14, 0.44, 0.53, 0.24, 0.36, 0.56, 0.49, 0.85],
)


def best(*functions: Callable[[], object], turns: int = 7) -> list[float]:
    """The shortest time of each function, taken in turns so that a busy machine slows all alike."""
    for function in functions:
        function()
    times = np.empty((turns, len(functions)))
    for turn in range(turns):
        for i, function in enumerate(functions):
            started = time.perf_counter()
            function()
            times[turn, i] = time.perf_counter() - started
    return list(times.min(0))


def river_ucb1(means: list[float], deviations: np.ndarray, rounds: int) -> None:
    """river's policy in river's way: pull, draw, update."""
    policy = river_bandit.UCB(delta=1, seed=1)
    draw = random.Random(1).gauss
    arms = list(range(len(means)))
    for _ in range(rounds):
        arm = policy.pull(arms)
        policy.update(arm, draw(means[arm], deviations[arm]))


def compare(means: list[float], variances: list[float]) -> None:
    """Print the two ratios for one set of Gaussian arms."""
    mu, sd = np.array(means), np.sqrt(variances)
    bandit = Bandit([Gaussian(m, v) for m, v in zip(means, variances, strict=True)])
    settings = {"risk": MeanVariance(0.0), "horizon": HORIZON, "runs": RUNS, "workers": 1, "engine": "stepping"}
    hand, engine, ours = best(
        lambda: loops.mv_lcb(mu, sd, 0.0, HORIZON**-2.0, HORIZON, RUNS, np.random.default_rng(1)),
        lambda: simulate(bandit, MVLCB(), **settings),
        lambda: simulate(bandit, UCB1(), **settings),
    )
    (theirs,) = best(lambda: river_ucb1(means, sd, RIVER_ROUNDS), turns=3)
    hand, engine, ours = (seconds / (HORIZON * RUNS) * 1e9 for seconds in (hand, engine, ours))
    theirs = theirs / RIVER_ROUNDS * 1e9
    print(f"K = {len(means)}, nanoseconds a round on one core")
    print(f"  MV-LCB: loop by hand {hand:.1f}, engine {engine:.1f}: {hand / engine:.2f} of its speed (target 0.8)")
    print(f"  UCB1: river {theirs:.0f}, engine {ours:.1f}: {theirs / ours:.0f} times its speed (target 100)")


if __name__ == "__main__":
    compare([1.0, 0.5], [0.05, 0.25])
    compare(*CONFIGURATION_1)
