"""What a study adds to its simulations: tiny cells, wall time against the time of bare `simulate` calls, memory.

    python benchmarks/studies.py [CELLS] [WORKERS]

Prints milliseconds a cell in all, those of the bare calls one after another, the difference, and peak memory.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from prudent import simulate
from prudent.study import Study, run


def tiny(cells: int) -> Study:
    """One run of ten rounds a cell; arms, ρ, policies and horizons vary."""
    steps = max(cells // 100, 2)
    return Study(
        bandits={"pair": ["gaussian(1.0, 0.05)", "gaussian({mu}, 0.25)"]},
        risks=["mean-variance(rho={rho})"],
        policies=["exp-exp", "ucb1"],
        horizons=list(range(10, 20)),
        runs=1,
        ranges={"mu": {"from": 0.0, "to": 1.0, "steps": steps}, "rho": [0.0, 0.5, 1.0, 1.5, 2.0]},
    )


def main(cells: int = 100_000, workers: int = 2) -> None:
    study = tiny(cells)
    with tempfile.TemporaryDirectory() as folder:
        run(tiny(200), Path(folder) / "warm", workers=workers)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        store = run(study, Path(folder) / "study", workers=workers)
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        parts = len(list(store.parts.iterdir()))
    sample = [each.cell for each in study.cells[:: max(cells // 2000, 1)]]
    started = time.perf_counter()
    for cell in sample:
        facts = {"horizon": cell.horizon, "runs": cell.runs, "workers": 1}
        simulate(cell.bandit, cell.policy, risk=cell.risk, **facts)
    bare = (time.perf_counter() - started) / len(sample)
    count = len(study.cells)
    print(f"{count:,} cells, {workers} threads: {seconds:.1f} s, {parts} parts")
    print(f"{1e3 * seconds / count:.3f} ms a cell; bare simulate {1e3 * bare:.3f} ms; the study adds ", end="")
    print(f"{1e3 * (seconds / count - bare):.3f} ms")
    print(f"memory before {before / 1024:.0f} MB, peak {peak / 1024:.0f} MB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
