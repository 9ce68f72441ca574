"""How long a command will take, said before it starts if that is over an hour."""

import itertools
import math
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import progress_bar
from prudent.errors import PrudentError, check_integer
from prudent.text import number

if TYPE_CHECKING:
    from prudent.study import Labelled

LONG = 3600.0
"""Seconds above which one wants to know before."""

SMALL = 1_000_000
"""Rounds of all runs, times arms, that no policy needs so long for."""

FIRST, STEP, ENOUGH = 100, 8, 0.05
"""Rounds of the first run that is timed; how much longer the next one is; seconds that can be timed well."""

SAMPLE = 20
"""Cells of a study from which the time for all is estimated."""


def warn(text: str) -> None:
    """A remark on stderr."""
    click.echo(f"Warning: {text}", err=True)


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    for unit, size in (("years", 365.25 * 86_400.0), ("days", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= size * (2.0 if size > 3600.0 else 1.0):
            many = seconds / size
            return f"{number(float(f'{many:.3g}'), 3)} {unit}" if many < 1e6 else f"a million {unit} or more"
    return f"{number(seconds, 2)} s"


def warn_if_long(seconds: float, workers: int) -> None:
    """One line, if it takes over an hour."""
    if seconds > LONG:
        count = f"{workers} workers" if workers > 1 else "1 worker"
        warn(f"this will take about {duration(seconds)} with {count}; Ctrl-C stops it")


def warn_of_runs(
    plays: Sequence[Callable[..., Any]], arms: int, rounds: float | None, runs: float, workers: int | None
) -> None:
    """The time for `runs` runs of each of `plays`, which are called as `play(rounds, runs=1, workers=1)`.

    Arguments that are wrong are left to the real call to complain about.
    """
    from prudent.engine.streams import CHUNK
    from prudent.engine.threads import count_workers

    with suppress(PrudentError):
        threads = count_workers("estimate", workers)
        rounds = check_integer("estimate", "rounds", rounds, low=1, high=2**53)
        runs = check_integer("estimate", "runs", runs, low=1, high=2**53)
        if rounds * runs * arms * len(plays) < SMALL:
            return
        with progress_bar("estimating the time"):
            each = sum(seconds_of_run(play, rounds) for play in plays)
        busy = min(threads, math.ceil(runs / CHUNK))
        warn_if_long(each * runs / busy, busy)


def seconds_of_run(play: Callable[..., Any], rounds: int) -> float:
    """Seconds of one run: shorter ones are timed, ever longer, and the last two say how the time grows.

    It stays (leaping), grows as the rounds, or as a power of them (a score of all rewards so far); nothing is between.
    """
    few, last = min(rounds, FIRST), (0, 0.0)
    while True:
        try:
            taken = _timed(play, few)
        except PrudentError:  # a policy may be made for long runs only
            if few == rounds:
                raise
            few = min(STEP * few, rounds)
            continue
        if few == rounds:
            return taken
        if taken > ENOUGH and last[0]:
            growth = round(math.log(taken / last[1]) / math.log(few / last[0]))
            return taken * math.pow(rounds / few, max(0, growth))
        few, last = min(STEP * few, rounds), (few, taken)


def _timed(play: Callable[..., Any], rounds: int) -> float:
    """A second try where the first was slow: it may have compiled something, or the machine was busy."""
    taken = math.inf
    for _ in range(2):
        started = time.perf_counter()
        play(rounds, runs=1, workers=1)
        taken = min(taken, time.perf_counter() - started)
        if taken < ENOUGH:
            break
    return taken


def seconds_of_cells(cells: "Sequence[Labelled]", workers: int, *, threads: bool = True) -> float:
    """Seconds that cells take together, from timing a few, taken at random; 0 if they are too small to matter."""
    from prudent.study import forecast

    if sum(each.cell.horizon * each.cell.runs for each in cells) < 100 * SMALL:
        return 0.0
    some = random.Random(0).sample(cells, min(len(cells), SAMPLE))
    one_by_one = forecast(some, workers, threads=threads).seconds * min(workers, len(some)) / len(some) * len(cells)
    return one_by_one / min(workers, len(cells))


def warning_first(
    advance: Callable[[int], None], total: int, seconds: Callable[[], float], workers: int
) -> Callable[[int], None]:
    """`advance` for a study: its first call, with the cells finished before, says how long the others will take."""
    calls = itertools.count()

    def advance_and_warn(finished: int) -> None:
        advance(finished)
        if next(calls) == 0 and finished < total:
            warn_if_long(seconds() * (1.0 - finished / total), workers)

    return advance_and_warn
