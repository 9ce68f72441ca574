"""The leaping engine against the hand-written Numba loop, both on all cores, and its growth with the horizon.

    python benchmarks/leaping.py

Ratios come from one run; every pair is timed in turns, the best of several; compile time is excluded. At horizons
where the loop would take minutes it does fewer runs, because its time for a round does not depend on their number.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import loops
import numpy as np

from prudent import MVLCB, Bandit, ExpExp, Gaussian, MeanVariance, simulate
from prudent.engine.threads import usable_cores

CORES = usable_cores()
FIGURE_2 = ([1.0, 0.5], [0.05, 0.25])
EQUAL = ([1.5, 0.4], [0.25, 0.25])
CONFIGURATION_2 = (
    [0.1, 0.2, 0.27, 0.32, 0.41, 0.49, 0.55, 0.59, 0.645, 0.678, 0.69, 0.71, 0.72, 0.765, 0.79],
    [0.05, 0.0725, 0.09, 0.11, 0.145, 0.19, 0.24, 0.28, 0.36, 0.413, 0.445, 0.498, 0.53, 0.72, 0.854],
)
CASES = [
    ("Figure 2", FIGURE_2, 0.0, 10_000, 10),
    ("Figure 2", FIGURE_2, 0.0, 250_000, 60),
    ("Figure 2", FIGURE_2, 0.0, 10_000_000, 1000),
    ("two arms, Δ = 0, Γ = 1.1", EQUAL, 0.0, 250_000, 25),
    ("configuration 2", CONFIGURATION_2, 1.0, 250_000, 30),
]


def by_hand(arms, rho, horizon, runs) -> float:
    """Seconds a run of the loop on all cores."""
    mu, sd = np.array(arms[0]), np.sqrt(arms[1])

    def share(core: int) -> None:
        loops.mv_lcb(mu, sd, rho, horizon**-2.0, horizon, runs, np.random.default_rng(core))

    return timed(lambda: list(pool.map(share, range(CORES)))) / (CORES * runs)


def by_leaping(arms, rho, horizon, runs, policy=None, failure=0.0, workers=None) -> float:
    """Seconds a run of the engine, on all cores by default."""
    bandit = Bandit([Gaussian(m, v) for m, v in zip(*arms, strict=True)])
    settings = {
        "risk": MeanVariance(rho),
        "horizon": horizon,
        "engine": "leaping",
        "bound_failure": failure,
        "workers": workers,
    }
    return timed(lambda: simulate(bandit, policy or MVLCB(), runs=runs, **settings)) / runs


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def main() -> None:
    by_hand(FIGURE_2, 0.0, 100, 1)
    for failure in (0.0, 1e-15):
        by_leaping(FIGURE_2, 0.0, 1000, 100, failure=failure)
    print(f"MV-LCB on {CORES} cores, microseconds a run")
    for name, arms, rho, horizon, target in CASES:
        rounds = 40_000_000 if len(arms[0]) == 2 else 10_000_000
        loop_runs = max(1, rounds // horizon // CORES)
        pairs = [(by_hand(arms, rho, horizon, loop_runs), by_leaping(arms, rho, horizon, 2000)) for _ in range(5)]
        loop, leap = np.min(pairs, axis=0) * 1e6
        print(
            f"  {name}, n = {horizon:g}: loop {loop:.0f}, leaping {leap:.1f}: {loop / leap:.0f} times (target {target})"
        )
    print("growth of a run's cost from n = 1e5 to 1e8")
    for name, arms, rho in (
        ("Figure 2", FIGURE_2, 0.0),
        ("Δ = 0", EQUAL, 0.0),
        ("configuration 2", CONFIGURATION_2, 1.0),
    ):
        for failure, target in ((0.0, 30), (1e-15, 10)):
            short, long = (
                min(by_leaping(arms, rho, horizon, 500, failure=failure) for _ in range(3)) * 1e6
                for horizon in (10**5, 10**8)
            )
            kind = "exact" if failure == 0.0 else "1e-15"
            print(f"  {name}, {kind}: {short:.1f} to {long:.0f} µs, {long / short:.1f} times (target {target})")
    for horizon in (10**4, 10**9):
        exp_exp = min(by_leaping(FIGURE_2, 0.0, horizon, 40_000, ExpExp(), workers=1) for _ in range(3)) * 1e6
        print(f"ExpExp, n = {horizon:g}: {exp_exp:.2f} µs a run on one core (target 3)")


if __name__ == "__main__":
    with ThreadPoolExecutor(CORES) as pool:
        main()
