"""The command `portfolio`."""

import json
from pathlib import Path
from typing import Any

import click

from prudent.cli.output import print_table, progress_bar, with_error


@click.command()
@click.argument("returns", type=click.Path(path_type=Path))
@click.option("--column", "columns", multiple=True, help="A column to use; may be repeated. Default: all with numbers.")
@click.option("--rho", type=float, default=1.0, show_default=True, help="Tolerance for risk; inf means mean only.")
@click.option("--short", is_flag=True, help="Allow negative weights.")
@click.option("--upper", type=float, default=None, help="The largest weight of an arm.")
@click.option("--feedback", default="full", show_default=True, help="What is seen: full, semi-bandit or bandit.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds in a run.")
@click.option("--runs", type=float, default=20, show_default=True, metavar="RUNS", help="Independent runs.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option("--workers", type=int, default=None, help="Threads; all cores by default. Never changes the result.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="A folder for figures and portfolio.json.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def portfolio(returns: Path, columns: tuple[str, ...], out: Path | None, as_json: bool, **settings: Any) -> None:
    """Compute the efficient frontier of a CSV of returns, one row per period, and the mix that a learner finds.

    Rows are resampled independently, so any dependence of one period on the next is ignored.
    """
    from prudent.files import write
    from prudent.portfolio import EmpiricalJoint, PortfolioBandit, report

    bandit = PortfolioBandit(EmpiricalJoint.from_csv(returns, columns or None))
    limits = {name: settings[name] for name in ("upper", "short")}
    with progress_bar("portfolio", settings["runs"]) as advance:
        learned = report.learn(bandit, progress=advance, **settings)
    facts = report.facts(learned, **limits)
    made = []
    if out is not None:
        made = report.draw(learned, out, **limits)
        write(out / "portfolio.json", json.dumps(facts))
    if as_json:
        click.echo(json.dumps(facts))
        return
    print_mixes(facts)
    for path in made:
        click.echo(path)


def print_mixes(facts: dict[str, Any]) -> None:
    """One row per arm that has weight."""
    from rich.markup import escape
    from rich.table import Table

    best, learned = facts["best"], facts["learned"]
    regret = with_error(learned["regret"]["mean"], learned["regret"]["se"])
    title = f"{learned['policy']}, {facts['horizon']:,} rounds, {facts['runs']:,} runs: regret {regret}"
    table = Table(title=title, min_width=len(title))
    for column in ("arm", "best weight", "learned weight"):
        table.add_column(column, justify="left" if column == "arm" else "right")
    for arm in facts["arms"]:
        pair = best["weights"][arm], learned["weights"][arm]
        if max(map(abs, pair)) >= 0.0005:
            table.add_row(escape(arm), *(f"{weight:.3f}" for weight in pair))
    table.add_section()
    table.add_row("mean of rewards", f"{best['mean']:.4g}", f"{learned['reward']['mean']:.4g}")
    table.add_row("variance of rewards", f"{best['variance']:.4g}", f"{learned['reward']['variance']:.4g}")
    print_table(table)
