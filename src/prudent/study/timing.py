"""How long simulations take: learnt from finished cells, used to group small ones and to say how long a study takes;
of what is no cell, extrapolated from shorter runs.

Time per run is averaged by kind of cell (policy, engine, arms) and octave of the horizon. Between octaves seen it is
interpolated, a straight line on log scales; beyond them it grows as the horizon, below it stays.
"""

import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import Any, NamedTuple

import numpy as np

from prudent.base.errors import PrudentError, shown
from prudent.base.own_classes import taken_along
from prudent.compile.announce import NotCompiledError, nothing_compiled
from prudent.engine.streams import CHUNK
from prudent.engine.threads import count_workers
from prudent.study.cells import Cell, Labelled
from prudent.study.play import Task, code_version, play

OVERHEAD = 5e-4
"""Seconds a cell takes whatever its size: checks, streams, a row of results. Python's, so threads share it."""

TASK = 0.5
"""Seconds of work in a task; a crash loses the tasks in flight."""

CELLS_IN_A_TASK, VALUES_IN_A_TASK = 2_000, 1_000_000
"""The most a task holds, for the memory's sake."""

PROBES, PROBE, LONGEST_PROBE = 40, 0.01, 0.25
"""Cells tried of each kind; seconds to spend on each; seconds above which a run is not tried but extrapolated."""

SMALL_PULLS, PULL_SECONDS = 1_000_000, 1e-7
"""Pulls times arms that no policy takes long for; seconds of a pull where nothing better is known."""

SAMPLE = 20
"""Cells of a large study from which the time for all is estimated."""

FIRST_ROUNDS, RATIO, MIN_TIMED_SECONDS = 100, 8, 0.05
"""Rounds of the first run that is timed; how much longer the next one is; seconds that can be timed well."""

RUNGS = [10_000 * 8**i for i in range(15)]
"""Shorter horizons on the way to a long one, so that a run of hours is not tried unawares."""


class Times:
    """Seconds per run of each kind of cell, as far as known."""

    def __init__(self) -> None:
        self._known: dict[Any, dict[int, tuple[float, int]]] = defaultdict(dict)

    def learn(self, cell: Cell, seconds: float) -> None:
        """The cell took so long."""
        each = max(seconds - OVERHEAD, 1e-7) / cell.runs
        known, octave = self._known[cell.kind()], round(math.log2(cell.horizon))
        total, count = known.get(octave, (0.0, 0))
        known[octave] = (total + each, count + 1)  # at once: tasks are made in another thread

    def each(self, cell: Cell) -> float | None:
        """Seconds a run of the cell takes; None for a kind never seen."""
        known = self._known.get(cell.kind())
        if not known:
            return None
        octaves = sorted(known)
        x = math.log2(cell.horizon)
        logs = [math.log2(known[o][0] / known[o][1]) for o in octaves]
        return float(2.0 ** (np.interp(x, octaves, logs) + max(0.0, x - octaves[-1] - 0.5)))


def tasks(cells: Sequence[Labelled], times: Times, keep: str) -> Iterator[Task]:
    """The cells in tasks of about TASK seconds, as far as times are known when the task is asked for."""
    code = code_version()
    waiting: dict[str, Cell] = {}
    seconds, values = 0.0, 0
    for key, cell in ((each.key, each.cell) for each in cells):
        expected = times.each(cell)
        if expected is None:  # a kind not seen yet: the cell is a task of its own
            yield Task({key: cell}, keep, code, taken_along())
            continue
        waiting[key] = cell
        seconds += OVERHEAD + cell.runs * expected
        values += len(cell.bandit) * (cell.runs if keep == "runs" else 1)
        if seconds >= TASK or values >= VALUES_IN_A_TASK or len(waiting) >= CELLS_IN_A_TASK:
            yield Task(waiting, keep, code, taken_along())
            waiting, seconds, values = {}, 0.0, 0
    if waiting:
        yield Task(waiting, keep, code, taken_along())


class TimeEstimate(NamedTuple):
    """What a study will take, roughly, but for `uncompiled` kinds of cells, which are not counted in the seconds."""

    cells: int
    pulls: int
    seconds: float
    uncompiled: int = 0


def estimate_time(
    cells: Sequence[Labelled], workers: int, *, threads: bool = True, patience: float = math.inf, compiles: bool = True
) -> TimeEstimate:
    """The time for cells, from trying some of each kind with few runs. Leave out those that are finished.

    After `patience` seconds no more is tried: kinds that were not are taken to be as fast as the others. Without
    `compiles` kinds whose machine code is not on disk are only counted. Small studies are not worth a try.
    """
    if not isinstance(cells, Sequence) or not all(isinstance(each, Labelled) for each in cells):
        raise PrudentError(
            f"estimate_time: cells must be a list of cells with labels, such as Study.cells, got {shown(cells)}"
        )
    workers = count_workers("estimate_time", workers)
    until, times = time.monotonic() + patience, Times()
    kinds: dict[object, list[Cell]] = defaultdict(list)
    for each in sorted(cells, key=lambda each: (each.cell.horizon, each.key)):
        kinds[each.cell.kind()].append(each.cell)
    uncompiled: set[object] = set()
    with nullcontext() if compiles else nothing_compiled(), ThreadPoolExecutor(workers) as pool:
        for kind in sorted(kinds, key=lambda kind: -_pulls(kinds[kind])):
            try:
                if time.monotonic() < until or uncompiled:  # then all are counted, which is quick
                    _try(kinds[kind], times, pool, workers, until)
            except NotCompiledError:
                uncompiled.add(kind)
    counted = [alike for kind, alike in kinds.items() if kind not in uncompiled]
    known = [(_pulls(alike), seconds) for alike in counted if (seconds := _seconds(alike, times))]
    rate = sum(seconds for _, seconds in known) / max(sum(pulls for pulls, _ in known), 1) or PULL_SECONDS
    simulating = sum(_seconds(alike, times) or rate * _pulls(alike) for alike in counted)
    overhead = OVERHEAD * sum(map(len, counted))
    seconds = simulating / min(workers, max(len(cells), 1)) + (overhead if threads else overhead / workers)
    return TimeEstimate(len(cells), sum(map(_pulls, kinds.values())), seconds, len(uncompiled))


def _pulls(cells: list[Cell]) -> int:
    return sum(cell.runs * cell.horizon for cell in cells)


def _seconds(alike: list[Cell], times: Times) -> float | None:
    """Seconds that cells of a kind take one after another; None if none was tried."""
    if times.each(alike[0]) is None:
        return None
    runs = Counter[int]()
    for cell in alike:
        runs[cell.horizon] += cell.runs
    return sum(count * (times.each(alike[0]._replace(horizon=horizon)) or 0.0) for horizon, count in runs.items())


def _try(alike: list[Cell], times: Times, pool: ThreadPoolExecutor, workers: int, until: float) -> None:
    """Learn how long cells of a kind take, which come by their horizons."""
    shortest, longest = alike[0], alike[-1]
    if _pulls(alike) * len(longest.bandit) < SMALL_PULLS:
        play(Task({(few := shortest._replace(runs=1)).key(): few}, "summary", code_version()))  # is it compiled?
        return
    for horizon in [n for n in RUNGS if n < longest.horizon]:
        with suppress(PrudentError):  # a policy may be made for long horizons only
            _probe(longest._replace(horizon=horizon), times, pool, workers)
    for i in np.unique(np.linspace(0, len(alike) - 1, PROBES).astype(int)):
        if time.monotonic() < until or times.each(longest) is None:
            _probe(alike[i], times, pool, workers)


def _probe(cell: Cell, times: Times, pool: ThreadPoolExecutor, workers: int) -> None:
    """A few runs of the cell, more until they can be timed; none if shorter horizons say that one takes long.

    As many are tried at a time as there are workers, so that a busy machine is seen as such.
    """
    if (times.each(cell) or 0.0) > LONGEST_PROBE:
        return
    runs, seconds = 1, 0.0
    while seconds < PROBE and runs <= cell.runs:
        few = cell._replace(runs=runs)
        task = Task({few.key(): few}, "summary", code_version())
        seconds = float(np.mean([done.seconds[few.key()] for done in pool.map(play, [task] * workers)]))
        runs *= 4
    times.learn(few, seconds)


def seconds_of_sample(cells: Sequence[Labelled], workers: int, *, threads: bool = True) -> float:
    """Seconds that many cells take together, from trying some, taken at random; 0 if they are too small to matter."""
    if _pulls([each.cell for each in cells]) < 100 * SMALL_PULLS:
        return 0.0
    some = random.Random(0).sample(cells, min(len(cells), SAMPLE))
    share = len(cells) / len(some)
    one_by_one = estimate_time(some, workers, threads=threads).seconds * min(workers, len(some)) * share
    return one_by_one / min(workers, len(cells))


def seconds_of_runs(plays: Sequence[Callable[..., object]], rounds: int, runs: int, workers: int) -> tuple[float, int]:
    """Seconds of `runs` runs of each of `plays`, which are called as `play(rounds, runs=1, workers=1)`, and how many
    workers will be busy."""
    busy = min(workers, math.ceil(runs / CHUNK))
    return sum(seconds_of_run(play, rounds) for play in plays) * runs / busy, busy


def seconds_of_run(play: Callable[..., object], rounds: int) -> float:
    """Seconds of one run: shorter ones are timed, ever longer, and the last two say how the time grows.

    It stays (leaping), grows as the rounds, or as a power of them (a score of all rewards so far); nothing is between.
    """
    few, last = min(rounds, FIRST_ROUNDS), (0, 0.0)
    while True:
        try:
            taken = _timed(play, few)
        except PrudentError:  # a policy may be made for long runs only
            if few == rounds:
                raise
            few = min(RATIO * few, rounds)
            continue
        if few == rounds:
            return taken
        if taken > MIN_TIMED_SECONDS and last[0]:
            growth = round(math.log(taken / last[1]) / math.log(few / last[0]))
            return taken * math.pow(rounds / few, max(0, growth))
        few, last = min(RATIO * few, rounds), (few, taken)


def _timed(play: Callable[..., object], rounds: int) -> float:
    """A second try where the first was slow: it may have compiled something, or the machine was busy."""
    taken = math.inf
    for _ in range(2):
        started = time.perf_counter()
        play(rounds, runs=1, workers=1)
        taken = min(taken, time.perf_counter() - started)
        if taken < MIN_TIMED_SECONDS:
            break
    return taken
