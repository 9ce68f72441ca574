"""What commands share: options, tables, numbers with error bars, progress."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click


def arms_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The arms, shared by commands."""
    text = 'An arm such as "gaussian(1.0, 0.05)"; give one per arm.'
    return click.option("--arm", "arms", multiple=True, required=True, metavar="LAW", help=text)(command)


def with_error(mean: float, se: float | None) -> str:
    """`0.0698 ± 0.0001`: the mean to as many digits as its standard error supports, if it is more than rounding."""
    if not se or se < 1e-12 * abs(mean):
        return f"{mean:.4g}"
    digits = max(0, 1 - math.floor(math.log10(se)))
    return f"{mean:.{digits}f} ± {se:.{digits}f}"


def print_rows(
    title: str, rows: Sequence[Mapping[str, str]], *, left: Collection[str] = (), lines: bool = False
) -> None:
    """A table with a column for every key of the first row, those of `left` flush left; `lines` between rows."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), show_lines=lines)
    for column in rows[0]:
        table.add_column(escape(column), justify="left" if column in left else "right")
    for row in rows:
        table.add_row(*map(escape, row.values()))
    print_table(table)


def print_table(table: Any) -> None:
    """To a terminal at its width; into a file or pipe unfolded."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=240)
    console.print(table)


@contextmanager
def progress_bar(title: str, total: float) -> Iterator[Callable[[int], None]]:
    """A bar with the remaining time on stderr, if that is a terminal; yields advance(finished)."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not Console(stderr=True).is_terminal) as bars:
        task = bars.add_task(title, total=total)

        def advance(finished: int) -> None:
            bars.update(task, advance=finished)

        yield advance
