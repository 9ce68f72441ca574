"""The command `plan`. Heavy imports wait for it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from prudent.cli.estimate import seconds_of_cells, warning_first
from prudent.cli.output import answer, json_option, progress_bar, run_options
from prudent.cli.paths import FILE, check_folder
from prudent.cli.tables import print_text
from prudent.text import count, counted, number

TRADE = "How much mean you would give up for how much less variance; sets ρ = VARIANCE/MEAN."


@click.command()
@click.option("--option", "texts", multiple=True, metavar="GUESS", help='Such as "drug: gaussian(0.3..0.6, 0.1..0.4)".')
@click.option("--pilot", "data", type=FILE, help="CSV file, one column for each option.")
@click.option("--accept", nargs=2, type=float, metavar="MEAN VARIANCE", help=TRADE)
@click.option("--rho", type=float, help="Tolerance for risk, ρ, instead of --accept.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds of the trial: patients, visitors.")
@click.option("--policy", "policies", multiple=True, metavar="POLICY", help="Try only these; by default all suitable.")
@click.option("--draws", type=int, default=100, show_default=True, help="Bandits drawn from your guesses.")
@run_options(20, "Simulated trials on each bandit.")
@click.option("--out", type=FILE, default=Path("results/plan"), show_default=True)
@json_option
def plan(
    texts: tuple[str, ...], data: Path | None, accept: Any, rho: float | None, out: Path, as_json: bool, **settings: Any
) -> None:
    """Recommend a policy for a trial that you plan.

    For four treatments with guessed outcomes and 2,000 patients, if you would give up 0.2 of the mean for 0.1 less
    variance:

    prudent plan --option "4 * gaussian(0.3..0.6, 0.1..0.4)" --horizon 2000 --accept 0.2 0.1
    """
    from prudent.engine.scaffold import LONGEST
    from prudent.engine.threads import count_workers
    from prudent.errors import PrudentError, check_integer
    from prudent.plan import advise, guesses, pilot, suitable, tolerance, write_report
    from prudent.plan.page import readable
    from prudent.policies.base import policies as registered
    from prudent.risk.mean_variance import MeanVariance

    if accept is not None and rho is None:
        rho = tolerance(*accept)
    elif rho is None or accept is not None:
        raise PrudentError("plan: give either --accept MEAN VARIANCE or --rho; they say how much risk you tolerate")
    risk = MeanVariance(rho)
    with progress_bar("reading"):
        options = [*guesses(texts), *(pilot(data) if data else [])]
    if len(options) < 2:
        fix = "give them with --option GUESS or --pilot FILE"
        raise PrudentError(f"plan: options must be two or more to choose from, got {len(options)}; {fix}")
    rounds = settings["horizon"] = check_integer("plan", "horizon", settings["horizon"], low=1, high=LONGEST)
    draws: int = settings["draws"]
    fit = [registered.parse(text) for text in settings["policies"]] or suitable(risk, rounds, options)[0]
    workers = count_workers("plan", settings["workers"])
    check_folder("plan", out)
    total, trials = len(fit) * draws, settings["runs"] * draws
    with progress_bar("plan", total) as advance:
        seconds = partial(seconds_of_trials, options, risk, fit, rounds, trials, workers)
        told = warning_first(advance, total, seconds, workers)
        advice = advise(options, risk, out=out, progress=told, **settings)
    facts = {"options": "; ".join(map(str, options)), "rounds": count(rounds), "ρ": number(risk.rho)}
    facts |= {"draws × trials": f"{count(draws)} × {count(int(settings['runs']))}", "seed": str(settings["seed"])}
    page = write_report(advice, facts, out)
    found = {"recommended": advice.recommended, "reasons": advice.reasons, "policies": advice.policies.to_dicts()}
    title = f"ρ = {number(risk.rho)}, {counted(rounds, 'round')} (± two standard errors)"
    answer(as_json, found, title, readable(advice.policies).to_dicts(), left=("policy",))
    if not as_json:
        click.echo()
        for text in (f"Take {advice.recommended}.", *(f"- {why}" for why in advice.reasons)):
            print_text(text)
        click.echo(page)


def seconds_of_trials(
    options: Sequence[Any], risk: Any, fit: Sequence[Any], rounds: int, trials: float, workers: int
) -> float:
    """Seconds that as many trials with each policy take, on one example of a bandit."""
    import numpy as np

    from prudent.bandit import Bandit
    from prudent.study import Cell, Labelled

    example = Bandit([option.draw(np.random.default_rng(0)) for option in options])
    return seconds_of_cells([Labelled(Cell(example, risk, policy, rounds, int(trials))) for policy in fit], workers)
