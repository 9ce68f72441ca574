"""The command `paper`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    pass


@click.command()
@click.argument("name", required=False)
@click.option("--runs", type=int, default=500, show_default=True, help="Runs for each point.")
@click.option("--quick", is_flag=True, help="50 runs for each point.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option("--workers", type=int, default=None, help="Threads; all cores by default. Never changes the result.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("results/paper"), show_default=True)
def paper(name: str | None, out: Path, quick: bool, **settings: Any) -> None:
    """Reproduce Sani et al. (2012): every figure and claim in one report, or one figure by NAME, or `claims`.

    `leaderboard`, only by name, compares the policies of the literature on the paper's configurations.

    Finished parts are kept, so after an interruption the same command continues from there.
    """
    from prudent import paper as figures
    from prudent.errors import check_integer
    from prudent.paper.measure import Desk

    settings["runs"] = 50 if quick else check_integer("paper", "runs", settings["runs"], low=2, hint="for error bars")
    if name == "claims":
        with progress_bar("claims", figures.count_claims()) as advance:
            rows = figures.check_claims(Desk(out, progress=advance, **settings))
        print_ledger(rows)
        return
    started, sections = time.perf_counter(), []
    for figure in [name] if name else figures.FIGURES:
        with progress_bar(figure, figures.count_cells(figure)) as advance:
            desk = Desk(out, progress=advance, **settings)
            sections.append(figures.make(figure, desk))
        for path in sections[-1].files():
            click.echo(path)
        if name is None:
            figures.write_report(desk, sections, [], time.perf_counter() - started)
    if name is None:
        with progress_bar("claims", figures.count_claims()) as advance:
            desk = Desk(out, progress=advance, **settings)
            ledger = figures.check_claims(desk)
        click.echo(figures.write_report(desk, sections, ledger, time.perf_counter() - started))


def print_ledger(rows: list[Any]) -> None:
    """One row per claim."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=f"{len(rows)} claims of the paper", show_lines=True)
    for column in ("place", "claim", "verdict", "evidence"):
        table.add_column(column)
    for row in rows:
        table.add_row(*map(escape, (row.place, row.statement, row.verdict, row.evidence)))
    print_table(table)
