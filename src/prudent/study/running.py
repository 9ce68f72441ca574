"""run(): simulate what a folder does not hold yet."""

import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path

from prudent.bandit import Bandit
from prudent.base.errors import PrudentError, shown
from prudent.engine.threads import count_workers
from prudent.policies.contract import Policy, spec
from prudent.policies.learners import is_learner
from prudent.policies.units import PUBLISHED, fitted, warn_of_size
from prudent.study.backends import Backend, WorkerLostError, choose_backend
from prudent.study.cells import Cell, Labelled
from prudent.study.expand import checked_cells
from prudent.study.play import Done
from prudent.study.spec import Study
from prudent.study.store import Complain, Store, now
from prudent.study.timing import Times, tasks

LOSSES = 5
"""How often in a row a process may die before anything is finished."""


def run(
    study: Study | Sequence[Labelled | Cell],
    out: Path | str,
    *,
    keep: str = "summary",
    workers: int | None = None,
    backend: str = "threads",
    progress: Callable[[int], object] = lambda _: None,
    complain: Complain = lambda text: warnings.warn(text, stacklevel=3),
) -> Store:
    """Simulate every cell that `out` does not hold yet, and keep it there; the same numbers on all backends.

    Stopped at any moment, it continues from there when called again.

    Parameters
    ----------
    study
        A study, or a list of cells of one seed.
    out
        The folder.
    keep
        For a list of cells, what is stored of each: "summary", or "runs" as well.
    workers, backend
        How many "threads" (all cores by default) or "processes"; or the address of a Dask scheduler, "tcp://host:8786".
    progress, complain
        Called with the number of cells just finished, and with what was found damaged.

    Examples
    --------
    >>> from prudent.study import Study, run
    >>> study = Study({"easy": ["gaussian(1, 0.05)", "gaussian(0.5, 0.25)"]}, ["mv-lcb"], ["variance"], [100], runs=20)
    >>> run(study, "results").table()["policy"].to_list()
    ['mv-lcb']
    """
    for name, function in (("progress", progress), ("complain", complain)):
        if not callable(function):
            raise PrudentError(f"run: {name} must be a function, got {shown(function)}; leave it out if there is none")
    count = count_workers("run", workers)
    opens = choose_backend(backend)
    store, started, begun = Store(out), now(), time.perf_counter()
    if isinstance(study, Study):
        cells, keep = study.cells, study.keep
        for policy, bandit in _first_met(cells):
            warn_of_size(spec(policy), fitted(policy, PUBLISHED), bandit)
    else:
        cells = checked_cells("run", study)
    with opens(count, complain) as chosen:  # before anything is written: it may be refused
        store.begin(cells, keep, study.as_dict() if isinstance(study, Study) else None)
        finished = store.finished(complain)
        # Keys are as good as random, so the cells done at any time are a fair sample, and the time left is honest.
        rest = (each for each in cells if each.key not in finished)
        left = {each.key: each for each in sorted(rest, key=lambda each: each.key)}
        asked = len(left)
        progress(len({each.key for each in cells}) - asked)
        with closing(_done(left, keep, chosen, complain)) as parts:
            for done in parts:
                store.add(done.part)
                progress(len(done.seconds))
    facts = {"started": started, "seconds": round(time.perf_counter() - begun, 3), "cells": asked}
    store.log({**facts, "backend": backend, "workers": count})
    return store


def _first_met(cells: list[Labelled]) -> list[tuple[Policy, Bandit]]:
    """Every policy that runs as published, once, and the first arms that it meets."""
    first = {id(each.cell.policy): each.cell for each in reversed(cells) if each.cell.scale is None}
    return [(cell.policy, cell.bandit) for cell in reversed(first.values()) if not is_learner(cell.policy)]


def _done(left: dict[str, Labelled], keep: str, backend: Backend, complain: Complain) -> Generator[Done]:
    """Tasks as they are done, repeated where a worker was lost; the cells done leave `left`."""
    times, losses = Times(), 0
    while left:
        try:
            for done in backend(tasks(list(left.values()), times, keep)):
                yield done
                for key, seconds in done.seconds.items():
                    times.learn(left.pop(key).cell, seconds)
                losses = 0
        except WorkerLostError as error:
            losses += 1
            if losses > LOSSES:
                raise PrudentError(f"run: processes keep dying: {error}; take fewer workers or smaller cells") from None
            complain(f"a process died, its cells are simulated again: {error}")
