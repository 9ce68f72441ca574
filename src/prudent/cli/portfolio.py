"""The command `portfolio`."""

import json
from pathlib import Path
from typing import Any

import click

from prudent.cli.output import print_rows, progress_bar, with_error


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
    """One row per arm that has weight, then what the mixes earn."""
    best, learned = facts["best"], facts["learned"]
    pairs = {arm: (best["weights"][arm], learned["weights"][arm]) for arm in facts["arms"]}
    shown = {arm: [f"{x:.3f}" for x in pair] for arm, pair in pairs.items() if max(map(abs, pair)) >= 0.0005}
    for moment in ("mean", "variance"):
        shown[f"{moment} of rewards"] = [f"{x:.4g}" for x in (best[moment], learned[f"reward_{moment}"])]
    rows = [{"arm": name, "best mix": one, "learned mix": other} for name, (one, other) in shown.items()]
    regret = with_error(learned["regret"], learned["regret_se"])
    title = f"{learned['policy']}, {facts['horizon']:,} rounds, {facts['runs']:,} runs: regret {regret}"
    print_rows(title, rows, left=("arm",))
