"""Logs that do not fit into memory: the time and the memory of `evaluate`, against one plain pass over the columns.

python benchmarks/large_logs.py [ROWS]      # 100 million by default, in files of 2 million, some 1.3 GB
"""

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from prudent import evaluate

ROWS_OF_A_FILE, DIFFERENT = 2_000_000, 10
PROPENSITIES = np.array([0.5, 0.3, 0.2])


def peak() -> float:
    """The most memory that this process had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def write(folder: Path, rows: int) -> None:
    """A log of three arms, as a service exports it. After ten files they repeat, since drawing takes the longest."""
    rng = np.random.default_rng(0)
    for number in range(-(-rows // ROWS_OF_A_FILE)):
        size = min(ROWS_OF_A_FILE, rows - number * ROWS_OF_A_FILE)
        path = folder / f"{number:03}.parquet"
        if number >= DIFFERENT and size == ROWS_OF_A_FILE:
            path.hardlink_to(folder / f"{number % DIFFERENT:03}.parquet")
            continue
        arms = rng.choice(3, size, p=PROPENSITIES)
        columns = {
            "decision": np.arange(size),
            "arm": np.array(["A", "B", "C"])[arms],
            "state": np.where(rng.random(size) < 0.98, "done", "expired"),
            "reward": rng.beta(2.0 + arms, 3.0).round(4),
            "propensity": PROPENSITIES[arms],
            "floor": np.full(size, 0.2),
        }
        pl.DataFrame(columns).write_parquet(path)


def timed(what: str, act) -> object:
    """What it gives; how long it took is printed."""
    wall, own = time.perf_counter(), time.process_time()
    found = act()
    seconds = f"{time.perf_counter() - wall:6.1f} s, {time.process_time() - own:6.1f} s of processor time"
    print(f"{what:34}{seconds}, at most {peak():.2f} GiB so far", flush=True)
    return found


def main() -> None:
    rows = int(float(sys.argv[1])) if sys.argv[1:] else 100_000_000
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder, rows)
        evaluate([folder / "000.parquet", folder / "001.parquet"], "B", support=(0, 1))  # compiles
        log = pl.scan_parquet(folder / "*.parquet")
        sums = pl.col("arm").max(), pl.col("state").max(), pl.col("reward").sum(), pl.col("propensity").sum()
        timed("one plain pass over its columns", lambda: log.select(*sums).collect(engine="streaming"))
        for policy in ("B", {"A": 0.5, "C": 0.5}):
            found: Any = timed(f"evaluate {policy}", lambda policy=policy: evaluate(folder, policy, support=(0, 1)))
            print(f"    {found.rounds:,} rounds by {found.method}: the mean is {found['mean'].estimate:.5f},", end="")
            print(f" {found['mean'].interval.low:.5f} to {found['mean'].interval.high:.5f}", flush=True)


if __name__ == "__main__":
    main()
