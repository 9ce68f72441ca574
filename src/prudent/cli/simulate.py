"""The commands `simulate` and `bounds`."""

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import arms_option, print_rows, progress_bar, with_error

if TYPE_CHECKING:
    from prudent.bandit import Bandit

SHOWN = ("regret", "gap", "exploration", "twins", "pseudo_regret", "gap_regret", "reward_mean", "reward_variance")
MOST_ARMS = 4
"""Arms whose pulls the table shows; the JSON has all."""


@click.command()
@arms_option
@click.option("--risk", default="mean-variance(rho=1)", show_default=True, metavar="RISK", help="The risk measure.")
@click.option("--policy", "policies", multiple=True, required=True, metavar="POLICY", help="A policy; may be repeated.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds of a run.")
@click.option("--runs", type=float, default=500, show_default=True, metavar="RUNS", help="Independent runs.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
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
    """Simulate policies on a bandit and print their regret per round, with error bars."""
    from prudent.bandit import Bandit
    from prudent.engine.simulation import simulate as play
    from prudent.policies.base import policies as policy_registry
    from prudent.risk.base import risks as risk_registry

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
    size = f"{results[0].horizon:,} rounds, {len(results[0]):,} runs (± standard error)"
    rows = [summary_row(bandit, summary) for summary in summaries]
    print_rows(f"{len(bandit)} arms, {measure}, {size}", rows, left=("policy",))


def summary_row(bandit: "Bandit", summary: dict[str, Any]) -> dict[str, str]:
    """The columns of one policy; what its risk measure does not define is left out."""
    row = {"policy": summary["policy"]}
    for name in SHOWN:
        if (mean := summary[name]) is not None and (name != "gap_regret" or summary["regret"] is None):
            shown = with_error(mean, summary[f"{name}_se"]) if name.endswith("regret") else f"{mean:.3g}"
            row[name.replace("_", " ")] = shown
    errors = summary["pulls_se"] or [None] * len(bandit)
    pulls = zip(bandit.names, summary["pulls"], errors, strict=True)
    return row | {f"pulls, {name}": with_error(mean, error) for name, mean, error in islice(pulls, MOST_ARMS)}


@click.command()
@arms_option
@click.option("--rho", type=float, default=1.0, show_default=True, help="Tolerance for risk, ρ.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds in a run.")
@click.option("--delta", type=float, default=None, help="Failure probability; 1/n² by default.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def bounds(arms: tuple[str, ...], rho: float, horizon: float, delta: float | None, as_json: bool) -> None:
    """Print the lemmas and theorems of Sani et al. (2012) for given arms, as printed there and as corrected."""
    from prudent.bandit import Bandit
    from prudent.risk.mean_variance import MeanVariance
    from prudent.theory import bounds as all_bounds

    values = all_bounds(Bandit(arms), MeanVariance(rho), horizon, delta)  # type: ignore[arg-type]
    if as_json:
        click.echo(json.dumps([value.as_dict() for value in values]))
        return
    title = "Bounds as printed in the paper, and corrected"
    print_rows(title, list(map(bound_row, values)), left=("result", "bounds", "remarks"), lines=True)


def bound_row(value: Any) -> dict[str, str]:
    """One result, with its failed conditions and remarks."""
    failed = [f"outside its assumptions: {text}" for text, holds in value.conditions if not holds]
    remarks = [*failed, *(["vacuous"] if value.vacuous else []), value.correction, value.note]
    numbers = ["–" if number is None else f"{number:.4g}" for number in (value.printed, value.corrected)]
    row = {"result": value.name, "bounds": value.quantity, "as printed": numbers[0], "corrected": numbers[1]}
    return {**row, "remarks": "; ".join(filter(None, remarks))}
