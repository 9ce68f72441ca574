"""The command `bounds`."""

from typing import Any

import click

from prudent.cli.output import answer, arms_option, json_option


@click.command()
@arms_option
@click.option("--rho", type=float, default=1.0, show_default=True, help="Tolerance for risk, ρ.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds in a run.")
@click.option("--delta", type=float, help="Failure probability; 1/n² by default.")
@json_option
def bounds(arms: tuple[str, ...], rho: float, horizon: float, delta: float | None, as_json: bool) -> None:
    """Print the theorems of the paper (Sani et al., 2012) for given arms, as printed there and as corrected."""
    from prudent.bandit import Bandit
    from prudent.risk.mean_variance import MeanVariance
    from prudent.theory import bounds as all_bounds

    values = all_bounds(Bandit(arms), MeanVariance(rho), horizon, delta)  # type: ignore[arg-type]
    facts, rows = [value.as_dict() for value in values], [bound_row(value) for value in values]
    title = "Bounds as printed in the paper, and corrected"
    answer(as_json, facts, title, rows, left=("result", "bounds", "remarks"), lines=True)


def bound_row(value: Any) -> dict[str, str]:
    """One result, with its failed conditions and remarks."""
    failed = [f"outside its assumptions: {text}" for text, holds in value.conditions if not holds]
    remarks = [*failed, *(["vacuous"] if value.vacuous else []), value.correction, value.note]
    numbers = ["–" if number is None else f"{number:.4g}" for number in (value.printed, value.corrected)]
    row = {"result": value.name, "bounds": value.quantity, "as printed": numbers[0], "corrected": numbers[1]}
    return {**row, "remarks": "; ".join(filter(None, remarks))}
