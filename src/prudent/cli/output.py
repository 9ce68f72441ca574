"""What commands share: options, tables, numbers with error bars, progress."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from prudent.json_text import to_json

Command = Callable[..., Any]
Rows = Sequence[Mapping[str, str]]

EXAMPLE = 'An arm such as "gaussian(1.0, 0.05)"; give one per arm.'
RISK = "mean-variance(rho=1)"

arms_option = click.option("--arm", "arms", multiple=True, required=True, metavar="LAW", help=EXAMPLE)
risk_option = click.option("--risk", default=RISK, show_default=True, metavar="RISK", help="The risk measure.")
MOST_ROWS = 500
"""Rows of a table with frames, which take milliseconds each; longer tables are printed without."""

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


def with_error(mean: float | None, se: float | None) -> str:
    """`0.0698 ± 0.0001`: the mean to as many digits as its standard error supports, if it is more than rounding."""
    if mean is None or math.isnan(mean):
        return "–"
    if not se or not math.isfinite(mean) or not 1e-12 * abs(mean) <= se < math.inf:
        return f"{mean:.4g}"
    if not 1e-9 <= se < 1e15:  # too many digits to be read
        return f"{mean:.4g} ± {se:.2g}"
    digits = max(0, 1 - math.floor(math.log10(se)))
    return f"{mean:.{digits}f} ± {se:.{digits}f}"


def answer(as_json: bool, facts: Any, title: str, rows: Rows, **layout: Any) -> None:
    """Print the facts as JSON, or the rows as a table."""
    if as_json:
        click.echo(to_json(facts))
    else:
        print_rows(title, rows, **layout)


def print_rows(title: str, rows: Rows, *, left: Collection[str] = (), lines: bool = False) -> None:
    """A table with a column for every key of the first row, those of `left` flush left; `lines` between rows.

    Where that is too wide for the terminal, every row becomes a list of its own, so that no number is cut in two.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.measure import Measurement
    from rich.table import Table

    console = Console(width=None if Console().is_terminal else 240)  # into a file or pipe unfolded
    if len(rows) > MOST_ROWS:
        click.echo("\n".join([title, "", *plain_lines(rows, left, console.width)]))
        return
    table = Table(title=escape(title), show_lines=lines)
    for column in rows[0]:
        table.add_column(escape(column), justify="left" if column in left else "right")
    for row in rows:
        table.add_row(*map(escape, row.values()))
    if Measurement.get(console, console.options.update(max_width=10_000), table).minimum > console.width:
        table = Table(title=escape(title), show_header=False)
        for row in rows:
            for column, value in row.items():
                table.add_row(escape(column), escape(value))
            table.add_section()
    console.print(table)


def plain_lines(rows: Rows, left: Collection[str], width: int) -> Iterator[str]:
    """The rows without frames, in columns; or as lists, where columns are wider than that."""
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    wide = sum(widths.values()) + 2 * (len(widths) - 1) > width
    margin = max(map(len, widths))
    for row in [] if wide else [dict(zip(widths, widths, strict=True)), *rows]:
        cells = (text.ljust(widths[name]) if name in left else text.rjust(widths[name]) for name, text in row.items())
        yield "  ".join(cells).rstrip()
    for row in rows if wide else []:
        yield from (f"{name:{margin}}  {text}" for name, text in row.items())
        yield ""


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
