"""The command `plan`. Heavy imports wait for it."""

import json
from pathlib import Path
from typing import Any

import click

from prudent.cli.output import print_rows, progress_bar


@click.command()
@click.option("--option", "texts", multiple=True, metavar="GUESS", help='Such as "drug: gaussian(0.3..0.6, 0.1..0.4)".')
@click.option("--pilot", "data", type=click.Path(path_type=Path), help="CSV file, one column for each option.")
@click.option(
    "--accept",
    nargs=2,
    type=float,
    metavar="MEAN VARIANCE",
    help="How much mean you would give up for how much less variance; sets ρ = VARIANCE/MEAN.",
)
@click.option("--rho", type=float, default=None, help="Tolerance for risk, ρ, instead of --accept.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds of the trial: patients, visitors.")
@click.option("--policy", "policies", multiple=True, metavar="POLICY", help="Try only these; by default all suitable.")
@click.option("--draws", type=int, default=100, show_default=True, help="Bandits drawn from your guesses.")
@click.option("--runs", type=int, default=20, show_default=True, help="Simulated trials on each bandit.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option("--workers", type=int, default=None, help="Threads; all cores by default. Never changes the result.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("results/plan"), show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def plan(
    texts: tuple[str, ...],
    data: Path | None,
    accept: tuple[float, float] | None,
    rho: float | None,
    horizon: float,
    out: Path,
    as_json: bool,
    **settings: Any,
) -> None:
    """Recommend a policy for a trial that you plan.

    For four treatments with guessed outcomes and 2,000 patients, if you would give up 0.2 of the mean for 0.1 less
    variance:

    prudent plan --option "4 * gaussian(0.3..0.6, 0.1..0.4)" --horizon 2000 --accept 0.2 0.1
    """
    from prudent.errors import PrudentError, check_integer
    from prudent.plan import advise, guesses, pilot, suitable, tolerance, write_report
    from prudent.plan.page import readable
    from prudent.risk.mean_variance import MeanVariance

    if accept is not None and rho is None:
        rho = tolerance(*accept)
    elif rho is None or accept is not None:
        raise PrudentError("plan: give either --accept MEAN VARIANCE or --rho; they say how much risk you tolerate")
    risk = MeanVariance(rho)
    options = [*guesses(texts), *(pilot(data) if data else [])]
    rounds = check_integer("plan", "horizon", horizon, low=1)
    count = len(settings["policies"]) or len(suitable(risk, rounds, options)[0])
    with progress_bar("plan", count * settings["draws"]) as advance:
        advice = advise(options, risk, rounds, out, progress=advance, **settings)
    facts = {"options": "; ".join(map(str, options)), "rounds": f"{rounds:,}", "ρ": f"{risk.rho:g}"}
    facts |= {"draws × trials": f"{settings['draws']} × {settings['runs']}", "seed": str(settings["seed"])}
    page = write_report(advice, facts, out)
    if as_json:
        table = advice.policies.to_dicts()
        click.echo(json.dumps({"recommended": advice.recommended, "reasons": advice.reasons, "policies": table}))
        return
    rows = readable(advice.policies).to_dicts()
    print_rows(f"ρ = {risk.rho:g}, {rounds:,} rounds (± two standard errors)", rows, left=("policy",))
    click.echo(f"Take {advice.recommended}.")
    for reason in advice.reasons:
        click.echo(f"- {reason}")
    click.echo(page)
