"""run(): play what a study's folder does not hold yet."""

import os
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any

from prudent.errors import PrudentError, check_integer
from prudent.study.backends import WorkerLostError, cluster, local
from prudent.study.cells import Entry
from prudent.study.costs import Costs, tasks
from prudent.study.play import Done
from prudent.study.spec import Study
from prudent.study.store import Store, now

LOSSES = 5
"""How often in a row a process may die before anything is finished."""


def run(
    study: Study,
    out: Path | str,
    *,
    workers: int | None = None,
    backend: str = "threads",
    address: str | None = None,
    progress: Callable[[int], Any] = lambda _: None,
    complain: Callable[[str], Any] = lambda text: warnings.warn(text, stacklevel=3),
) -> Store:
    """Play every cell of the study that `out` does not hold yet, and keep it there; the same numbers on all backends.

    `workers` threads or processes (all cores by default), or the Dask cluster at `address`. Stopped at any moment, it
    goes on from there when called again. `progress` is called with the number of cells just finished, `complain` with
    what was found damaged.
    """
    entries, store, started, begun = study.entries, Store(out), now(), time.perf_counter()
    store.begin(study, entries)
    finished = store.finished(complain)
    # Keys are as good as random, so the cells done at any time are a fair sample, and the time left is honest.
    open_cells = {entry.key: entry for entry in sorted(entries, key=lambda entry: entry.key)}
    progress(len(open_cells.keys() & finished))
    for key in finished:
        open_cells.pop(key, None)
    asked = len(open_cells)
    with closing(_played(open_cells, study.keep, backend, default_workers(workers), address, complain)) as played:
        for done in played:
            store.add(done.part)
            progress(len(done.keys))
    facts = {"started": started, "seconds": round(time.perf_counter() - begun, 3), "cells": asked}
    store.log({**facts, "backend": "cluster" if address else backend, "workers": default_workers(workers)})
    return store


def _played(
    open_cells: dict[str, Entry],
    keep: str,
    backend: str,
    workers: int,
    address: str | None,
    complain: Callable[[str], Any],
) -> Generator[Done]:
    """Tasks as they are done, played again where a worker was lost; the cells done leave `open_cells`."""
    costs, losses = Costs(), 0
    while open_cells:
        todo = tasks(list(open_cells.values()), costs, keep)
        try:
            for done in cluster(todo, address) if address else local(todo, backend, workers):
                yield done
                for key, seconds in zip(done.keys, done.seconds, strict=True):
                    costs.learn(open_cells.pop(key).cell, seconds)
                losses = 0
        except WorkerLostError as error:
            losses += 1
            if losses > LOSSES:
                raise PrudentError(f"run: processes keep dying: {error}; take fewer workers or smaller cells") from None
            complain(f"a process died, its cells are played again: {error}")


def default_workers(workers: int | None) -> int:
    """All cores this process may use, unless said otherwise."""
    return len(os.sched_getaffinity(0)) if workers is None else check_integer("run", "workers", workers, low=1)
