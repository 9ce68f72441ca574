"""Leaping behind a leader: its law against stepping, whether the comparison can fail, and its speed.

    python benchmarks/leaders.py law [--runs 40000] [--only ucb1,mvts]
    python benchmarks/leaders.py mutants
    python benchmarks/leaders.py speed [--only ucb1,mvts]

`law` compares pulls, means and variances of every arm at every snapshot, by Kolmogorov-Smirnov with a bound on the
p-value [WeiDudley12]; all comparisons together fail a correct engine with probability 1e-6 at most. `mutants` does so
in a copy of the source with a mistake in it. `speed` prints the time of a run on one core by both engines.
"""

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import stats

from prudent import Bandit, Bernoulli, Gaussian, simulate

ROOT = Path(__file__).resolve().parents[1]
FALSE_ALARM = 1e-6
MEANS = [0.1, 0.2, 0.23, 0.27, 0.32, 0.32, 0.34, 0.41, 0.43, 0.54, 0.55, 0.56, 0.67, 0.71, 0.79]
VARIANCES = [0.05, 0.34, 0.28, 0.09, 0.23, 0.72, 0.19, 0.14, 0.44, 0.53, 0.24, 0.36, 0.56, 0.49, 0.85]
BANDITS = {
    "Figure 2": Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)]),
    "odd": Bandit([Gaussian(0.3, 1.0), Gaussian(0.5, 0.01), Gaussian(0.45, 0.2)]),
    "easy": Bandit([Gaussian(0.0, 0.3), Gaussian(2.0, 0.1), Gaussian(1.0, 0.05)]),
    "tie": Bandit([Gaussian(0.5, 0.25)] * 2),
    "K = 15": Bandit([Gaussian(4.0 * mean, variance) for mean, variance in zip(MEANS, VARIANCES, strict=True)]),
    "configuration 1": Bandit([Gaussian(mean, variance) for mean, variance in zip(MEANS, VARIANCES, strict=True)]),
    "hard": Bandit([Gaussian(0.5, 0.25), Gaussian(0.4, 0.25)]),
    "coins": Bandit([Bernoulli(0.97), Bernoulli(0.5), Bernoulli(0.02)]),
    "equal coins": Bandit([Bernoulli(0.7), Bernoulli(0.7)]),
}
DRAWN = ["thompson", "mts", "vts", "mvts"]
CLOCKED = ["ucb1", "ucb-v", "mv-ucb", "anytime-mv-lcb", "mv-imed"]
COINS = ["bernoulli-thompson", "bernoulli-mvts(rho=0.3)", "kl-ucb", "ucb1", "ucb-v"]
CELLS = [
    *((policy, name, 2_000, (50, 600)) for policy in DRAWN + CLOCKED for name in ("Figure 2", "odd", "easy", "tie")),
    *((policy, name, 200, ()) for policy in DRAWN + CLOCKED for name in ("Figure 2", "easy")),
    *((policy, name, n, ()) for policy in COINS for name in ("coins", "equal coins") for n in (200, 2_000)),
    *((policy, "K = 15", 2_000, ()) for policy in ("thompson", "mvts", "ucb1", "mv-imed")),
    *((policy, "Figure 2", 20_000, ()) for policy in ("thompson", "mvts", "mts", "ucb1", "mv-ucb", "mv-imed")),
]
"""Policy, bandit, horizon, snapshots."""

MUTANTS = {
    "a rate 20 % too small": (
        (
            "boxes.py",
            r"    return rival_rate\((.*)\)\n",
            "    found = rival_rate(\\1)\n    return 0.8 * found[0], found[1], found[2]\n",
        ),
    ),
    "a waiting time drawn again if it lies beyond the block": (
        (
            "drawn.py",
            r"( +)wait = (decided \+ .*)\n",
            "\\g<0>\\1wait = wait if wait < size else \\2\n",
        ),
    ),
    "a waiting time kept when rates change": (
        ("drawn.py", r"    made, decided, new = 0, 0, True\n", "\\g<0>    kept = -1.0\n"),
        (
            "drawn.py",
            r"( +)wait = decided (.*)\n",
            "\\1wait = decided + kept if kept >= 0.0 else decided \\2\n\\1kept = wait - size\n",
        ),
    ),
    "a block that begins outside of the region": (
        ("drawn.py", r"room = room_in\(region, now\)", "room = region.growth"),
    ),
}


def law(runs: int, only: list[str]) -> bool:
    """Print the smallest p-value of every cell; whether all are large enough."""
    cells = [cell for cell in CELLS if not only or cell[0] in only]
    count = sum(3 * len(BANDITS[name].arms) * (1 + len(snapshots)) for _, name, _, snapshots in CELLS)
    print(f"{len(cells)} cells of {runs:,} runs, {count} comparisons in all cells, limit {FALSE_ALARM / count:.1e}")
    agrees = True
    for policy, name, horizon, snapshots in cells:
        settings = {"risk": "mean-variance(rho=1)", "horizon": horizon, "runs": runs, "snapshots": snapshots}
        leaping, stepping = (
            simulate(BANDITS[name], policy, engine=engine, seed=20, **settings) for engine in ("leaping", "stepping")
        )
        found = {
            p_value(a, b): f"{field} of arm {i + 1} after {one.horizon:,} rounds"
            for one, other in zip(leaping.history, stepping.history, strict=True)
            for field in ("pulls", "mean", "variance")
            for i, (a, b) in enumerate(zip(getattr(one, field).T, getattr(other, field).T, strict=True))
        }
        least = min(found)
        agrees = agrees and least > FALSE_ALARM / count
        print(f"{policy:24} {name:16} n = {horizon:<7,} p ≥ {least:.2g} ({found[least]})", flush=True)
    return agrees


def p_value(a: np.ndarray, b: np.ndarray) -> float:
    """A bound on the p-value, ties or not."""
    a, b = (np.rint(values * (1e9 / math.pi)) for values in (a, b))
    distance = stats.ks_2samp(a, b, method="asymp").statistic
    return min(1.0, 2.0 * math.exp(-len(a) * distance**2))


def mutants() -> bool:
    """Whether every mistake is caught, by the comparison of laws or by the test of the leader's rates."""
    caught = []
    for title, changes in MUTANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "src", Path(folder) / "src", ignore=shutil.ignore_patterns("__pycache__"))
            for file, pattern, replacement in changes:
                path = Path(folder) / "src" / "prudent" / "engine" / "leap" / file
                text, times = re.subn(pattern, replacement, path.read_text())
                assert times == 1, (title, pattern, times)
                path.write_text(text)
            settings = {"env": os.environ | {"PYTHONPATH": f"{folder}/src"}, "capture_output": True, "cwd": ROOT}
            again = [sys.executable, __file__, "law", "--only", "thompson,mvts,bernoulli-thompson"]
            tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
            tests += ["tests/unit/policies/test_posteriors.py"]
            by = [subprocess.run(command, check=False, **settings).returncode for command in (tests, again)]
            caught.append(any(by))
            print(f"{title}: test {'fails' if by[0] else 'passes'}, law {'differs' if by[1] else 'agrees'}", flush=True)
    return all(caught)


def speed(only: list[str]) -> None:
    """Print the time of a run on one core by both engines, and their ratio. A round of stepping takes as long in a long
    run as in a short one, so it is timed at 20,000 rounds at most."""
    for policy in only or DRAWN + CLOCKED:
        for name in ("Figure 2", "hard", "tie", "configuration 1"):
            step = seconds(policy, name, 20_000, "stepping") / 20_000
            for horizon in (20_000, 100_000, 1_000_000):
                one = seconds(policy, name, horizon, "leaping")
                ratio = f"ratio {step * horizon / one:.2f}"
                print(f"{policy:15} {name:16} n = {horizon:<10,} {1e6 * one:10,.1f} µs, {ratio}", flush=True)
        times = [seconds(policy, "Figure 2", 10**power, "leaping") for power in (5, 8)]
        print(f"{policy}: on Figure 2 from 1e5 to 1e8 rounds {times[1] / times[0]:.1f} times the time", flush=True)


def seconds(policy: str, name: str, horizon: int, engine: str) -> float:
    """The time of a run, the shortest of five, in so many runs that the call itself does not count."""
    settings = {"risk": "mean-variance(rho=1)", "horizon": horizon, "workers": 1, "engine": engine}
    runs, least, spent = 4, math.inf, 0.0
    simulate(BANDITS[name], policy, runs=1, **settings)
    for attempt in range(5):
        while attempt == 0 and spent < 0.1:
            runs *= 2
            started = time.process_time()
            simulate(BANDITS[name], policy, runs=runs, **settings)
            spent = time.process_time() - started
        started = time.process_time()
        simulate(BANDITS[name], policy, runs=runs, **settings)
        least = min(least, (time.process_time() - started) / runs)
    return least


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["law", "mutants", "speed"])
    parser.add_argument("--runs", type=int, default=40_000)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    only = [name for name in asked.only.split(",") if name]
    if asked.what == "speed":
        speed(only)
    else:
        sys.exit(0 if (mutants() if asked.what == "mutants" else law(asked.runs, only)) else 1)
