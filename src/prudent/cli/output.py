"""What commands share: options, answers, progress, and a warning of what takes long."""

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import click

from prudent.base.errors import PrudentError, check_integer
from prudent.base.json_text import to_json
from prudent.base.text import counted, duration
from prudent.cli.tables import Rows, print_rows

Command = Callable[..., object]

EXAMPLE = 'An arm such as "gaussian(1.0, 0.05)"; give one per arm.'
RISK = "mean-variance(rho=1)"

LONG = 3600.0
"""Seconds above which one wants to know before."""

SMALL_PULLS = 1_000_000
"""Rounds of all runs, times arms, that no policy needs so long for."""

arms_option = click.option("--arm", "arms", multiple=True, required=True, metavar="LAW", help=EXAMPLE)
risk_option = click.option("--risk", default=RISK, show_default=True, metavar="RISK", help="The risk measure.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON with every number instead of a table.")


def all_of(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """One decorator for several options, which the help lists in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def run_options(runs: int, meaning: str) -> Callable[[Command], Command]:
    """How often to simulate and how; `runs` is the default."""
    return all_of(
        click.option("--runs", type=float, default=runs, show_default=True, metavar="RUNS", help=meaning),
        click.option("--seed", type=int, default=0, show_default=True, help="Random seed."),
        click.option("--workers", type=int, help="Threads; all cores by default. Never changes the result."),
    )


def answer(as_json: bool, facts: Any, title: str, rows: Rows, *, left: Collection[str] = ()) -> None:
    """Print the facts as JSON, or the rows as a table."""
    if as_json:
        click.echo(to_json(facts))
    else:
        print_rows(title, rows, left=left)


@contextmanager
def progress_bar(title: str, total: float | None = None) -> Iterator[Callable[[int], None]]:
    """A bar with the remaining time on stderr, if that is a terminal; yields advance(finished).

    Without a total the bar only shows that something is being done.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(title, total=total)
        yield lambda finished: bars.update(task, advance=finished)


def warn(text: str) -> None:
    """A remark on stderr."""
    click.echo(f"Warning: {text}", err=True)


def warn_if_long(seconds: float, workers: int) -> None:
    """One line, if it takes over an hour."""
    if seconds > LONG:
        warn(f"this will take about {duration(seconds)} with {counted(workers, 'worker')}; Ctrl-C stops it")


def warn_of_runs(
    plays: Sequence[Callable[..., Any]], arms: int, rounds: float | None, runs: float, workers: int | None
) -> None:
    """Say how long `runs` runs of each of `plays` take, which are called as `play(rounds, runs=1, workers=1)`.

    Arguments that are wrong are left to the real call to complain about.
    """
    from prudent.engine.threads import count_workers

    with suppress(PrudentError):
        threads = count_workers("estimate", workers)
        rounds = check_integer("estimate", "rounds", rounds, low=1, high=2**53)
        runs = check_integer("estimate", "runs", runs, low=1, high=2**53)
        if rounds * runs * arms * len(plays) < SMALL_PULLS:
            return
        from prudent.study.timing import seconds_of_runs  # which imports polars

        with progress_bar("estimating the time"):
            seconds, busy = seconds_of_runs(plays, rounds, runs, threads)
        warn_if_long(seconds, busy)


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
