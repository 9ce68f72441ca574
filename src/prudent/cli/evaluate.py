"""The command `evaluate`."""

import re
from pathlib import Path
from typing import Any

import click

from prudent.cli.output import answer, json_option, progress_bar
from prudent.cli.paths import FILE, check_file
from prudent.cli.tables import print_text

POLICY = 'An arm of the log, probabilities as in "A=0.9,B=0.1", or a policy, which is replayed.'
FLOOR = "The smallest probability that the log's policy could give an arm, if its propensities vary."
METHOD = "weights, doubly-robust or arms. Default: weights, or arms without propensities or chances."
SHARES = re.compile(r"[^=(),]+=[^=(),]+(?:,[^=(),]+=[^=(),]+)*")


@click.command(short_help="Evaluate a policy on the log of another.")
@click.argument("log", type=FILE, metavar="LOG")
@click.option("--policy", required=True, metavar="POLICY", help=POLICY)
@click.option("--risk", "risks", multiple=True, metavar="RISK", help="A risk measure; may be repeated. Default: cvar.")
@click.option("--rho", type=float, help="Tolerance for risk, ρ, in the unit of outcomes: adds mean-variance.")
@click.option("--quantile", "quantiles", multiple=True, type=float, help="A level, such as 0.05; may be repeated.")
@click.option("--support", nargs=2, type=float, metavar="LOW HIGH", help="Smallest and largest outcome possible.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence of each interval.")
@click.option("--method", metavar="METHOD", help=METHOD)
@click.option("--floor", type=float, help=FLOOR)
@click.option("--unit", default="", help="The unit of outcomes, such as EUR; only for text.")
@click.option("--smaller-is-better", is_flag=True, help="For waiting times and losses.")
@click.option("--group", metavar="COLUMN", help="The column of arms. Default: arm or action.")
@click.option("--outcome", metavar="COLUMN", help="The column of outcomes. Default: reward.")
@click.option("--propensity", metavar="COLUMN", help="The column of propensities. Default: propensity or pscore.")
@click.option("--time", metavar="COLUMN", help="A column that puts the rows in order, if they are not.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of a replay.")
@click.option("--out", type=FILE, help="Draw the distribution of outcomes: a name that ends in .svg, .png or .pdf.")
@json_option
def evaluate(log: Path, policy: str, out: Path | None, as_json: bool, **options: Any) -> None:
    """Say what a policy would have received, from a log of what another one chose.

    LOG is a file of CSV or Parquet, or a folder of the latter, such as `prudent trial export` writes. It has a row for
    each round: the arm, its outcome, and the propensity, which is the probability with which the arm was taken.
    Example: a log of two versions of a page, where each visitor saw B with probability 0.2:

    prudent evaluate visits.csv --policy B --support 0 50 --unit EUR --risk "cvar(alpha=0.1)"
    """
    from prudent.evaluation import evaluate as found_in
    from prudent.evaluation.evaluating import QUANTILES, RISKS

    if out is not None:
        check_picture(out)
    risks, rho = list(options.pop("risks")), options.pop("rho")
    options["risk"] = risks if rho is None else [f"mean-variance(rho={rho})", *(risks or RISKS)]
    options["quantiles"] = options.pop("quantiles") or QUANTILES
    options["larger_is_better"] = not options.pop("smaller_is_better")
    with progress_bar("evaluate"):
        found = found_in(log, shares(policy) if SHARES.fullmatch(policy) else policy, **options)
    if out is not None:
        from prudent.results.figures import save  # which imports Matplotlib

        save(found.plot(), out, [out.suffix[1:]])
    facts = {name: getattr(found, name) for name in ("policy", "method", "rounds", "effective", "level", "unit")}
    facts |= {"notes": list(found.notes), "rows": found.table().to_dicts()}
    answer(as_json, facts, found.title, found.cells(), left=("quantity",))
    if not as_json:
        click.echo()
        for text in found.notes:
            print_text(text)
        if out is not None:
            click.echo(out)


def shares(text: str) -> dict[str, float]:
    """The probabilities in `A=0.9,B=0.1`."""
    from prudent.base.errors import PrudentError

    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.partition("=")
        try:
            found[name.strip()] = found.get(name.strip(), 0.0) + float(share)
        except ValueError:
            hint = "write A=0.9,B=0.1"
            raise PrudentError(
                f"evaluate: the probability of {name.strip()!r} must be a number, got {share!r}; {hint}"
            ) from None
    return found


def check_picture(out: Path) -> None:
    """Refuse a picture of another kind, or one that cannot be written, before anything is computed."""
    from prudent.base.errors import PrudentError
    from prudent.results.figures import OPTIONS

    if out.suffix[1:] not in OPTIONS:
        known = ", ".join(f".{name}" for name in OPTIONS)
        raise PrudentError(f"evaluate: --out must end in {known}, got {str(out)!r}")
    check_file("evaluate", out)
