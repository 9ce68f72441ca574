"""The command `bounds`."""

from typing import Any

import click

from prudent.base.text import count, number
from prudent.cli.output import answer, arms_option, json_option, progress_bar


@click.command(short_help="Print what the theorems guarantee.")
@arms_option
@click.option("--rho", type=float, default=1.0, show_default=True, help="Tolerance for risk, ρ.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds in a run.")
@click.option("--delta", type=float, help="Failure probability; 1/n² by default.")
@click.option("--support", nargs=2, type=float, metavar="LOW HIGH", help="Lower bound over all laws on an interval.")
@click.option("--values", metavar="X,Y,…", help="Lower bound over all laws on these values.")
@json_option
def bounds(arms: tuple[str, ...], rho: float, horizon: float, as_json: bool, **options: Any) -> None:
    """Print the theorems of the paper (Sani et al., 2012) for given arms, as printed there and as corrected.

    A bound is informative if it is below the largest value that is possible; the table has the smallest N from which
    on it does. The lower bound of these arms supposes that arms may have any law of their own family, Gaussian or
    Bernoulli, unless --support or --values says which laws there may be.
    """
    from prudent.bandit import Bandit
    from prudent.risk.mean_variance import MeanVariance
    from prudent.theory import bounds as all_bounds
    from prudent.theory import horizons

    bandit, risk, delta, support = Bandit(arms), MeanVariance(rho), options["delta"], options["support"]
    model = None if options["values"] is None else as_numbers(options["values"])
    with progress_bar("bounds"):
        values = all_bounds(bandit, risk, horizon, delta, support, model)  # type: ignore[arg-type]
        found = horizons(bandit, risk, delta)
    telling = [found.get(value.name, (None, None)) for value in values]
    facts = [{**value.as_dict(), **horizon_facts(*pair)} for value, pair in zip(values, telling, strict=True)]
    rows = [bound_row(value, *pair) for value, pair in zip(values, telling, strict=True)]
    title = "Bounds: printed, corrected, and smallest informative n"
    answer(as_json, facts, title, rows, left=("result", "bounds", "remarks"))


def as_numbers(text: str) -> list[float]:
    """The numbers between commas."""
    from prudent.base.errors import PrudentError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        hint = "write --values 0,0.5,1"
        raise PrudentError(f"bounds: values must be numbers with commas between them, got {text!r}; {hint}") from None


def bound_row(value: Any, printed: Any, corrected: Any) -> dict[str, str]:
    """One result, with its failed conditions and remarks, and the horizons at which it is informative."""
    failed = [f"outside its assumptions: {text}" for text, holds in value.conditions if not holds]
    later = f"as printed, it is informative from n = {shown(printed)}" if printed and printed != corrected else ""
    remarks = [*failed, *(["vacuous"] if value.vacuous else []), value.correction, value.note, later]
    numbers = {"as printed": number(value.printed), "corrected": number(value.corrected)}
    row = {"result": value.name, "bounds": value.quantity, **numbers}
    return {**row, "from n =": shown(corrected), "remarks": "; ".join(filter(None, remarks))}


def shown(horizons: Any) -> str:
    """`82,323`, with the last n if there is one."""
    if horizons is None:
        return "–"
    return " to ".join(count(n) for n in horizons if n is not None) or "never"


def horizon_facts(printed: Any, corrected: Any) -> dict[str, Any]:
    """For JSON: null where a result has no limit, and else the first and last n, null if there is none."""
    names = "says_something_as_printed", "says_something"
    pairs = zip(names, (printed, corrected), strict=True)
    return {name: found and {"from": found.first, "to": found.last} for name, found in pairs}
