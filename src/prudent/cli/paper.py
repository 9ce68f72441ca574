"""The command `paper`."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from prudent.cli.output import FILE, print_rows, progress_bar, run_options


@click.command()
@click.argument("name", required=False)
@run_options(500, "Runs for each point.")
@click.option("--quick", is_flag=True, help="50 runs for each point.")
@click.option("--out", type=FILE, default=Path("results/paper"), show_default=True)
def paper(name: str | None, out: Path, quick: bool, **options: Any) -> None:
    """Reproduce the paper (Sani et al., 2012): every figure and claim in one report, one figure by NAME, or `claims`.

    `leaderboard`, only by name, compares policies of the literature on the paper's configurations.

    Finished simulations are kept: run it again after an interruption, and it continues from there.
    """
    from prudent import paper as whole
    from prudent.errors import check_integer
    from prudent.paper.making import Settings, count_cells, make

    options["runs"] = 50 if quick else check_integer("paper", "runs", options["runs"], low=2, hint="for error bars")
    settings, started = Settings(out, **options), time.perf_counter()
    if name == "claims":
        for title, table in check(settings).tables().items():
            rows = table.drop("how it was checked")
            print_rows(title, rows.to_dicts(), left=rows.columns, lines=True)
        return
    sections = []
    for figure in [whole.figure(each) for each in ([name] if name else whole.FIGURES)]:
        with progress_bar(figure.name, count_cells(figure)) as advance:
            sections.append(make(figure, replace(settings, progress=advance)))
        for path in sections[-1].files():
            click.echo(path)
        if name is None:
            whole.write_report(settings, sections, None, time.perf_counter() - started)
    if name is None:
        click.echo(whole.write_report(settings, sections, check(settings), time.perf_counter() - started))


def check(settings: Any) -> Any:
    """The ledger of claims, filled in."""
    from prudent.paper import claims
    from prudent.paper.claims.ledger import check_ledger, count_cells

    with progress_bar("claims", count_cells([*claims.CLAIMS, *claims.REMARKS])) as advance:
        return check_ledger(replace(settings, progress=advance), claims.CLAIMS, claims.REMARKS)
