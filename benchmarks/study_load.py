"""How large studies load: the first mistakes, a dry run, and the second run of a finished study.

    python benchmarks/study_load.py [CELLS ...]

For each number of cells, by default 100,000 and 1,000,000, every cell has a bandit of its own, which is the slowest
kind of study. Prints wall and processor seconds, and peak memory. The finished study is made up: one cell is simulated,
and its numbers stand for all, since what is measured is how the folder is read and not what it holds.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from prudent import PrudentError
from prudent.study import Store, Study, estimate_time, load, run
from prudent.study.cells import labels_table
from prudent.study.play import Task, code_version, play, to_bytes
from prudent.study.schema import FACTS

TOML = """\
runs = 1
horizons = [100]
risks = ["mean-variance(rho=1)"]
policies = ["mv-lcb"]

[ranges]
mu = {{ from = 0.0, to = 1.0, steps = {steps} }}
variance = {{ from = 0.1, to = 1.0, steps = 100 }}

[bandits.pair]
arms = ["gaussian(1.0, 0.05)", "gaussian({{mu}}, {{variance}})"]
"""


def timed(what: str, act: Callable[[], Any]) -> Any:
    """What `act` returns or raises, and how long that takes."""
    wall, processor = time.perf_counter(), time.process_time()
    try:
        found = act()
    except PrudentError as error:
        found = error
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {what:42} {wall:7.2f} s, {processor:7.2f} s of the processor, peak {peak:,.0f} MB", flush=True)
    return found


def finish(study: Study, folder: Path) -> None:
    """Make up a folder in which all cells are finished."""
    store, cells = Store(folder), study.cells
    store.begin(cells, study.keep, study.as_dict())
    done = play(Task({cells[0].key: cells[0].cell}, study.keep, code_version()))
    row = pl.read_parquet(done.part).drop(*FACTS)
    store.add(to_bytes(labels_table(cells).select(*FACTS).join(row, how="cross"), code_version()))


def measure(size: int, folder: Path) -> None:
    """All figures for so many cells."""
    path, text = folder / "study.toml", TOML.format(steps=size // 100)
    for what, old, new in (("an unused range", "[ranges]", "[ranges]\nx = [1]"), ("a misspelt policy", "lcb", "lbc")):
        path.write_text(text.replace(old, new))
        assert isinstance(timed(what, lambda: load(path)), PrudentError)
    path.write_text(text)
    study = timed("reading the file", lambda: load(path))
    timed("the estimate of --dry-run", lambda: estimate_time(study.cells, 1))
    finish(study, folder / "out")
    timed("the second run of a finished study", lambda: run(load(path), folder / "out"))
    timed("its table", lambda: Store(folder / "out").table())


def main(*sizes: int) -> None:
    for size in sizes or (100_000, 1_000_000):
        print(f"{size:,} cells")
        with tempfile.TemporaryDirectory() as folder:
            measure(size, Path(folder))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
