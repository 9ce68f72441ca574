"""What commands share: options, answers, progress."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import click

from prudent.cli.tables import Rows, print_rows
from prudent.json_text import to_json

Command = Callable[..., Any]

EXAMPLE = 'An arm such as "gaussian(1.0, 0.05)"; give one per arm.'
RISK = "mean-variance(rho=1)"

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
