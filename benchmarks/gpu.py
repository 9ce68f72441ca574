"""What a GPU does a second, which of its kernels is faster, and how long compiling takes; docs/gpu.md has the figures.

`python benchmarks/gpu.py` on a machine with a GPU: three minutes on an NVIDIA H200 with nothing compiled.
"""

import argparse
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from prudent import Bandit, Gaussian, simulate
from prudent.arms import encode
from prudent.engine.gpu import device, playing
from prudent.engine.record import FINE, Record
from prudent.policies.binding import bind
from prudent.policies.contract import Setting, policies
from prudent.risk.base import risks

FIGURE_2 = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
MEANS = (0.1, 0.2, 0.23, 0.27, 0.32, 0.32, 0.34, 0.41, 0.43, 0.54, 0.55, 0.56, 0.67, 0.71, 0.79)
VARIANCES = (0.05, 0.34, 0.28, 0.09, 0.23, 0.72, 0.19, 0.14, 0.44, 0.53, 0.24, 0.36, 0.56, 0.49, 0.85)
CONFIGURATION_1 = Bandit([Gaussian(*law) for law in zip(MEANS, VARIANCES, strict=True)])
ROWS = (
    ("mv-lcb", FIGURE_2, 9.4e9, 5.6e10),
    ("thompson(sd=1)", CONFIGURATION_1, 2.2e9, 6.7e9),
    ("mts(sd=1)", CONFIGURATION_1, 2.2e9, 5.5e9),
    ("mvts(sd=1)", CONFIGURATION_1, 1.0e9, 1.5e9),
)
"""Policies, and the pulls a second that a first trial reached on an H200 with 5,000 and with 100,000 runs."""

THOMPSON = ("thompson(sd=1)", "mts(sd=1)", "vts(sd=1)", "mvts(sd=1)", "cvar-ts(sd=1, alpha=0.1)", "srts(sd=1)")
RULE = (("thompson(sd=1)", True), ("mvts(sd=1)", True), ("ucb1", True), ("mv-lcb", False))


def player(bandit: Bandit, spec: str, horizon: int, lanes: bool, block: int) -> Any:
    """The function that plays runs of a policy."""
    risk = risks.parse("sharpe" if spec.startswith("srts") else "mean-variance(rho=1)")
    ready = bind(policies.parse(spec), Setting.of(bandit, risk, horizon))
    laws, rounds = encode(bandit.arms), np.array([horizon])
    return playing.player(ready, laws, bandit.best(risk), rounds, len(bandit), 1, lanes=lanes, block=block)


def speed(bandit: Bandit, spec: str, runs: int, lanes: bool, block: int = playing.BLOCK) -> tuple[float, float]:
    """Pulls a second, of two launches the faster, and the seconds of the first launch, short and with compiling."""
    record, best = Record.empty(runs, 1, len(bandit)), 0.0
    horizon = min(100_000, max(10_000, int((2e10 if len(bandit) < 5 else 4e8) / runs)))
    started = time.perf_counter()
    assert player(bandit, spec, 100, lanes, block)(0, record) == FINE
    first = time.perf_counter() - started
    play = player(bandit, spec, horizon, lanes, block)
    for _ in range(2):
        started = time.perf_counter()
        assert play(0, record) == FINE
        best = max(best, runs * horizon / (time.perf_counter() - started))
    return best, first


def table() -> None:
    """Pulls a second as `simulate` runs them."""
    print("\npolicy            arms      runs  kernel   pulls/s   first trial   ratio   first launch, s")
    for spec, bandit, few, many in ROWS:
        for runs, before in ((5_000, few), (100_000, many)):
            rescored = spec != "mv-lcb"
            lanes = playing.takes_lanes(len(bandit), runs, rescored)
            reached, first = speed(bandit, spec, runs, lanes)
            name = "lanes" if lanes else "threads"
            print(
                f"{spec:16} {len(bandit):5} {runs:9,}  {name:7} {reached:9.2e} {before:13.1e} {reached / before:7.2f}"
                f" {first:10.1f}",
                flush=True,
            )


def rule(blocks: tuple[int, ...]) -> None:
    """Both kernels by the number of arms and runs."""
    print(
        "\npolicy            arms      runs   threads     lanes   faster   the rule   pulls/s; by block " + str(blocks)
    )
    for spec, rescored in RULE:
        for n_arms in (2, 5, 15, 32):
            bandit = Bandit([Gaussian(0.05 * i, 0.2) for i in range(n_arms)])
            for runs in (500, 5_000, 20_000, 100_000):
                found = [[speed(bandit, spec, runs, lanes, block)[0] for block in blocks] for lanes in (False, True)]
                threads, lanes = max(found[0]), max(found[1])
                faster = "lanes" if lanes > threads else "threads"
                taken = "lanes" if playing.takes_lanes(n_arms, runs, rescored) else "threads"
                each = "  ".join(" ".join(f"{x:.2e}" for x in row) for row in found)
                print(
                    f"{spec:16} {n_arms:5} {runs:9,}  {threads:8.2e}  {lanes:8.2e}  {faster:8} {taken:8}  {each}",
                    flush=True,
                )


def thompson() -> None:
    """All Thompson policies of moments on configuration 1, by `simulate`."""
    print("\npolicy                       seconds for 5,000 runs of 100,000 rounds on configuration 1")
    total = 0.0
    for spec in THOMPSON:
        risk = {"srts": "sharpe", "cvar": "cvar(alpha=0.1)"}.get(spec[:4], "mean-variance(rho=1)")
        asked: dict[str, Any] = {"risk": risk, "horizon": 100_000, "engine": "gpu"}
        simulate(CONFIGURATION_1, spec, runs=5_000, **asked | {"horizon": 100})
        runs = simulate(CONFIGURATION_1, spec, runs=5_000, **asked)
        total += runs.seconds
        print(f"{spec:28} {runs.seconds:7.3f}   gap regret {runs.gap_regret().mean():.4f}", flush=True)
    print(f"{'together':28} {total:7.3f}")


def beside() -> None:
    """The same on two cores of this machine, by the other engines; pulls a second, compiling left out."""
    print("\npolicy            arms   engine     pulls/s on two cores")
    for spec, bandit, *_ in ROWS:
        for engine in ("stepping", "leaping") if spec == "mv-lcb" else ("stepping",):
            asked: dict[str, Any] = {"risk": "mean-variance(rho=1)", "engine": engine, "workers": 2}
            count = 20_000 if engine == "leaping" else 100
            simulate(bandit, spec, runs=100, horizon=1_000, **asked)
            seconds = simulate(bandit, spec, runs=count, horizon=100_000, **asked).seconds
            print(f"{spec:16} {len(bandit):5}   {engine:9} {count * 1e5 / seconds:9.2e}", flush=True)


def again() -> None:
    """What the first launch takes in a new process, which may compile, and in the next, which finds machine code."""
    print("\nfirst launch in a new process, and in the next:", flush=True)
    folder = os.path.dirname(os.path.abspath(__file__))
    code = f"import sys; sys.path.insert(0, {folder!r}); import gpu; print(round(gpu.first_launch(), 2), 's')"
    for _ in range(2):
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def first_launch() -> float:
    """Seconds of a short simulation, the second of this process; the first, of another policy, starts the GPU."""
    asked: dict[str, Any] = {"risk": "mean-variance(rho=1)", "horizon": 100, "runs": 100, "engine": "gpu"}
    simulate(FIGURE_2, "mv-lcb", **asked)
    return simulate(CONFIGURATION_1, "mvts(sd=1)", **asked).seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", default=str(playing.BLOCK), help="threads of a block to try, such as 32,64,128")
    parser.add_argument("--only", default="again,table,thompson,beside,rule", help="which parts, by name")
    given = parser.parse_args()
    device.require()
    parts = given.only.split(",")
    for name in parts:
        if name == "rule":
            rule(tuple(int(size) for size in given.blocks.split(",")))
        else:
            {"table": table, "thompson": thompson, "beside": beside, "again": again}[name]()
