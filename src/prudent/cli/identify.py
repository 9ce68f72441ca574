"""The command `identify`."""

import json
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import arms_option, print_rows, progress_bar, with_error

if TYPE_CHECKING:
    from prudent.bandit import Bandit


@click.command()
@arms_option
@click.option("--risk", default="mean-variance(rho=1)", show_default=True, metavar="RISK", help="The risk measure.")
@click.option("--strategy", "strategies", multiple=True, required=True, metavar="STRATEGY", help="May be repeated.")
@click.option("--budget", type=float, default=None, metavar="N", help="Number of pulls; or give --delta.")
@click.option("--delta", type=float, default=None, metavar="D", help="Probability of a wrong answer; or give --budget.")
@click.option("--runs", type=float, default=500, show_default=True, metavar="RUNS", help="Independent searches.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option("--most-pulls", type=float, default=None, help="With --delta, where a search ends undecided; 1e7.")
@click.option("--workers", type=int, default=None, help="Threads; all cores by default. Never changes the result.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def identify(
    arms: tuple[str, ...], risk: str, strategies: tuple[str, ...], runs: float, as_json: bool, **settings: Any
) -> None:
    """Search for the best arm, and print how often the answer is wrong and how many pulls it took."""
    from prudent.bandit import Bandit
    from prudent.identification.simulation import identify as search
    from prudent.policies.base import strategies as registered
    from prudent.risk.base import risks

    bandit, measure = Bandit(arms), risks.parse(risk)
    searchers = [registered.parse(text) for text in strategies]
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
    title = f"{len(bandit)} arms, {measure}, {results[0].setting()}, {len(results[0]):,} runs (± standard error)"
    print_rows(title, [search_row(bandit, row) for row in summaries], left=("strategy",))


def search_row(bandit: "Bandit", row: dict[str, Any]) -> dict[str, str]:
    """The columns of one strategy."""
    error, regret = row["error_probability"], row["simple_regret"]
    errors = row["pulls_se"] or [None] * len(bandit)
    return {
        "strategy": row["strategy"],
        "error probability": with_error(error["value"], error["se"]),
        "95 % interval": f"{error['low']:.3g} – {error['high']:.3g}",
        "undecided": f"{row['undecided']:.3g}",
        "simple regret": "–" if regret is None else with_error(regret, row["simple_regret_se"]),
        "pulls": with_error(row["stopping_time"], row["stopping_time_se"]),
        **{f"pulls, {bandit.names[i]}": with_error(row["pulls"][i], errors[i]) for i in range(min(len(bandit), 4))},
    }
