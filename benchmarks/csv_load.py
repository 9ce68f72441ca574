"""Large CSV files: seconds until each of those who read them is done.

Three columns of 10⁶ rows for a law, a portfolio and a pilot; 2,000 columns of 1,000 rows for a portfolio. Files are
made in a temporary folder.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

from prudent import Empirical, EmpiricalJoint
from prudent.plan import pilot


def made(folder, rows, columns):
    values = np.random.default_rng(0).normal(size=(rows, columns))
    path = folder / f"{columns}.csv"
    np.savetxt(path, values, delimiter=",", header=",".join(f"c{i}" for i in range(columns)), comments="", fmt="%.17g")
    return path


def main():
    with tempfile.TemporaryDirectory() as folder:
        long, wide = made(Path(folder), 10**6, 3), made(Path(folder), 1_000, 2_000)
        readers = {
            "empirical, 1 of 3 columns of 1,000,000 rows": lambda: Empirical.from_csv(long, "c0"),
            "portfolio, 3 columns of 1,000,000 rows": lambda: EmpiricalJoint.from_csv(long),
            "pilot, 3 columns of 1,000,000 rows": lambda: pilot(long),
            "portfolio, 2,000 columns of 1,000 rows": lambda: EmpiricalJoint.from_csv(wide),
        }
        for what, read in readers.items():
            start, cpu = time.perf_counter(), time.process_time()
            read()
            print(f"{what}: {time.perf_counter() - start:.1f} s, {time.process_time() - cpu:.1f} s of the processor")


if __name__ == "__main__":
    main()
