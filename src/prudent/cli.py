"""The command line. Thin: it reads arguments, calls the library, prints. Heavy imports wait for their command."""

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prudent import cli_plan, cli_study
from prudent.errors import PrudentError

if TYPE_CHECKING:
    from prudent.bandit import Bandit


class Commands(click.Group):
    """A group whose bad input ends in one line on stderr and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PrudentError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(2)


@click.group(cls=Commands)
@click.version_option(package_name="prudent")
def main() -> None:
    """Risk-averse bandits: plan a trial, run it live, report its risk."""


def arms_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The arms, shared by commands."""
    text = 'An arm such as "gaussian(1.0, 0.05)"; give one per arm.'
    return click.option("--arm", "arms", multiple=True, required=True, metavar="LAW", help=text)(command)


@main.command()
@arms_option
@click.option("--risk", default="mean-variance(rho=1)", show_default=True, metavar="RISK", help="The risk measure.")
@click.option("--policy", "policies", multiple=True, required=True, metavar="POLICY", help="A policy; may be repeated.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds in a run.")
@click.option("--runs", type=float, default=500, show_default=True, metavar="RUNS", help="Independent runs.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--engine", default="auto", show_default=True, help="auto, stepping or leaping.")
@click.option("--workers", type=int, default=None, help="Threads; all cores by default. Never changes the result.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def simulate(
    arms: tuple[str, ...],
    risk: str,
    policies: tuple[str, ...],
    horizon: float,
    runs: float,
    as_json: bool,
    **settings: Any,
) -> None:
    """Play policies on a bandit and print their regret, with error bars."""
    from prudent.bandit import Bandit
    from prudent.engine import simulate as play
    from prudent.policies import registry as policy_registry
    from prudent.risk import registry as risk_registry

    bandit, measure = Bandit(arms), risk_registry.parse(risk)
    # Every name is read before the first run, so that a typo in the last policy does not cost the others' time.
    players = [policy_registry.parse(text) for text in policies]
    with progress_bar("simulate", len(players) * runs) as advance:
        results = [
            play(bandit, player, risk=measure, horizon=horizon, runs=runs, progress=advance, **settings)  # type: ignore[arg-type]
            for player in players
        ]
    summaries = [result.summary() for result in results]
    if as_json:
        facts = {"horizon": results[0].horizon, "runs": len(results[0]), "seed": settings["seed"], "risk": str(measure)}
        click.echo(json.dumps({**facts, "policies": summaries}))
        return
    print_summaries(bandit, str(measure), results[0].horizon, len(results[0]), summaries)


def print_summaries(bandit: "Bandit", risk: str, horizon: int, runs: int, summaries: list[dict[str, Any]]) -> None:
    """One row per policy."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=f"{len(bandit)} arms, {risk}, {horizon:,} rounds, {runs:,} runs (± standard error)")
    rows = [summary_row(bandit, row) for row in summaries]
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "policy" else "right")
    for row in rows:
        table.add_row(*map(escape, row.values()))
    print_table(table)


def summary_row(bandit: "Bandit", summary: dict[str, Any]) -> dict[str, str]:
    """The columns of one policy; what its risk measure does not define is left out."""
    row = {"policy": summary["policy"]}
    if summary["regret"]:
        row["regret"] = with_error(**summary["regret"])
    if summary["regret_parts"]:
        row |= {part: f"{value:.3g}" for part, value in summary["regret_parts"].items()}
        row["pseudo-regret"] = with_error(**summary["pseudo_regret"])
    else:
        row["gap regret"] = with_error(**summary["gap_regret"])
    row["reward mean"], row["reward variance"] = (f"{summary['reward'][part]:.4g}" for part in ("mean", "variance"))
    pulls = summary["pulls"]
    errors = pulls["se"] or [None] * len(bandit)
    shown = range(min(len(bandit), 4))
    return row | {f"pulls, {bandit.names[i]}": with_error(pulls["mean"][i], errors[i]) for i in shown}


@main.command()
@arms_option
@click.option("--risk", default="mean-variance(rho=1)", show_default=True, metavar="RISK", help="The risk measure.")
@click.option("--strategy", "strategies", multiple=True, required=True, metavar="STRATEGY", help="May be repeated.")
@click.option("--budget", type=float, default=None, metavar="N", help="Pulls in all; or give --delta.")
@click.option("--delta", type=float, default=None, metavar="D", help="Failure probability; or give --budget.")
@click.option("--runs", type=float, default=500, show_default=True, metavar="RUNS", help="Independent searches.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--most-pulls", type=float, default=None, help="With --delta, where a search ends undecided; 1e7.")
@click.option("--workers", type=int, default=None, help="Threads; all cores by default. Never changes the result.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def identify(
    arms: tuple[str, ...], risk: str, strategies: tuple[str, ...], runs: float, as_json: bool, **settings: Any
) -> None:
    """Search for the best arm, and print how often the answer is wrong and what it cost to find."""
    from prudent.bandit import Bandit
    from prudent.identification import identify as search
    from prudent.identification import registry as strategy_registry
    from prudent.risk import registry as risk_registry

    bandit, measure = Bandit(arms), risk_registry.parse(risk)
    searchers = [strategy_registry.parse(text) for text in strategies]
    with progress_bar("identify", len(searchers) * runs) as advance:
        results = [
            search(bandit, searcher, risk=measure, runs=runs, progress=advance, **settings)  # type: ignore[arg-type]
            for searcher in searchers
        ]
    summaries = [result.summary() for result in results]
    if as_json:
        asked = {"budget": results[0].budget, "delta": results[0].delta, "runs": len(results[0])}
        facts = {**asked, "seed": settings["seed"], "risk": str(measure)}
        click.echo(json.dumps({**facts, "strategies": summaries}))
        return
    print_searches(bandit, f"{measure}, {results[0].setting()}, {len(results[0]):,} runs", summaries)


def print_searches(bandit: "Bandit", title: str, summaries: list[dict[str, Any]]) -> None:
    """One row per strategy."""
    from rich.markup import escape
    from rich.table import Table

    shown = min(len(bandit), 4)
    table = Table(title=f"{len(bandit)} arms, {title} (± standard error)")
    for column in ("strategy", "error probability", "95 % interval", "undecided", "simple regret", "pulls"):
        table.add_column(column, justify="left" if column == "strategy" else "right")
    for i in range(shown):
        table.add_column(f"pulls, {bandit.names[i]}", justify="right")
    for row in summaries:
        error, regret, total, pulls = (
            row[name] for name in ("error_probability", "simple_regret", "stopping_time", "pulls")
        )
        errors = pulls["se"] or [None] * len(bandit)
        table.add_row(
            escape(row["strategy"]),
            with_error(error["value"], error["se"]),
            f"{error['low']:.3g} – {error['high']:.3g}",
            f"{row['undecided']:.3g}",
            "–" if regret is None else with_error(regret["mean"], regret["se"]),
            with_error(total["mean"], total["se"]),
            *(with_error(pulls["mean"][i], errors[i]) for i in range(shown)),
        )
    print_table(table)


@main.command()
@arms_option
@click.option("--rho", type=float, default=1.0, show_default=True, help="Tolerance for risk.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds in a run.")
@click.option("--delta", type=float, default=None, help="Failure probability; 1/n² by default.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def bounds(arms: tuple[str, ...], rho: float, horizon: float, delta: float | None, as_json: bool) -> None:
    """Print the seed's lemmas and theorems for given arms, as printed there and corrected."""
    from prudent.bandit import Bandit
    from prudent.risk import MeanVariance
    from prudent.theory import bounds as all_bounds

    values = all_bounds(Bandit(arms), MeanVariance(rho), horizon, delta)  # type: ignore[arg-type]
    if as_json:
        click.echo(json.dumps([value.as_dict() for value in values]))
        return
    print_bounds(values)


def print_bounds(values: list[Any]) -> None:
    """One row per result, its failed conditions and remarks below it."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Bounds as printed in the seed, and corrected", show_lines=True)
    for column in ("result", "bounds", "as printed", "corrected", "remarks"):
        table.add_column(column, justify="right" if column in ("as printed", "corrected") else "left")
    for value in values:
        failed = [f"outside its assumptions: {text}" for text, holds in value.conditions if not holds]
        remarks = [*failed, *(["vacuous"] if value.vacuous else []), value.correction, value.note]
        numbers = ("–" if number is None else f"{number:.4g}" for number in (value.printed, value.corrected))
        table.add_row(*map(escape, (value.name, value.quantity, *numbers, "; ".join(filter(None, remarks)))))
    print_table(table)


@main.command()
@click.argument("name", required=False)
@click.option("--runs", type=int, default=500, show_default=True, help="Runs per point.")
@click.option("--quick", is_flag=True, help="50 runs per point.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--workers", type=int, default=None, help="Threads; all cores by default. Never changes the result.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("results/paper"), show_default=True)
def paper(name: str | None, out: Path, quick: bool, **settings: Any) -> None:
    """Reproduce the seed: every figure and claim in one report, or one figure by NAME, or `claims`.

    Finished parts are kept: run again after an interruption, and it goes on from there.
    """
    from prudent import paper as seed
    from prudent.errors import check_integer
    from prudent.paper.measure import Desk

    settings["runs"] = 50 if quick else check_integer("paper", "runs", settings["runs"], low=2, hint="for error bars")
    if name == "claims":
        with progress_bar("claims", seed.count_claims()) as advance:
            rows = seed.check_claims(Desk(out, progress=advance, **settings))
        print_ledger(rows)
        return
    started, sections = time.perf_counter(), []
    for figure in [name] if name else seed.FIGURES:
        with progress_bar(figure, seed.count_cells(figure)) as advance:
            desk = Desk(out, progress=advance, **settings)
            sections.append(seed.make(figure, desk))
        for path in sections[-1].files():
            click.echo(path)
        if name is None:
            seed.write_report(desk, sections, [], time.perf_counter() - started)
    if name is None:
        with progress_bar("claims", seed.count_claims()) as advance:
            desk = Desk(out, progress=advance, **settings)
            ledger = seed.check_claims(desk)
        click.echo(seed.write_report(desk, sections, ledger, time.perf_counter() - started))


def print_ledger(rows: list[Any]) -> None:
    """One row per claim."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=f"{len(rows)} claims of the seed", show_lines=True)
    for column in ("place", "claim", "verdict", "evidence"):
        table.add_column(column)
    for row in rows:
        table.add_row(*map(escape, (row.place, row.statement, row.verdict, row.evidence)))
    print_table(table)


@main.command()
@click.argument("returns", type=click.Path(path_type=Path))
@click.option("--column", "columns", multiple=True, help="A column to use; may be repeated. All of numbers by default.")
@click.option("--rho", type=float, default=1.0, show_default=True, help="Tolerance for risk; inf minds only the mean.")
@click.option("--short", is_flag=True, help="Allow negative weights.")
@click.option("--upper", type=float, default=None, help="The largest weight of an arm.")
@click.option("--feedback", default="full", show_default=True, help="full, semi-bandit or bandit.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds in a run.")
@click.option("--runs", type=float, default=20, show_default=True, metavar="RUNS", help="Independent runs.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--workers", type=int, default=None, help="Threads; all cores by default. Never changes the result.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="A folder for figures and portfolio.json.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def portfolio(returns: Path, columns: tuple[str, ...], out: Path | None, as_json: bool, **settings: Any) -> None:
    """From a CSV of returns, one row per period, to the efficient frontier and the mix a learner finds.

    Rows are resampled independently: any dependence from one period to the next is ignored.
    """
    from prudent.portfolio import EmpiricalJoint, PortfolioBandit, study

    bandit = PortfolioBandit(EmpiricalJoint.from_csv(returns, columns or None))
    bounds = {name: settings[name] for name in ("upper", "short")}
    with progress_bar("portfolio", settings["runs"]) as advance:
        learned = study.learn(bandit, progress=advance, **settings)
    facts = study.facts(learned, **bounds)
    made = []
    if out is not None:
        made = study.draw(learned, out, **bounds)
        (out / "portfolio.json").write_text(json.dumps(facts))
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
    table = Table(title=title)
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


def with_error(mean: float, se: float | None) -> str:
    """`0.0698 ± 0.0001`: the mean to as many digits as its standard error supports."""
    if not se:
        return f"{mean:.4g}"
    digits = max(0, 1 - math.floor(math.log10(se)))
    return f"{mean:.{digits}f} ± {se:.{digits}f}"


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


for more in (*cli_study.COMMANDS, *cli_plan.COMMANDS):
    main.add_command(more)


if __name__ == "__main__":
    main()
