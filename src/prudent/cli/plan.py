"""The command `plan`. Heavy imports wait for it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.estimate import seconds_of_cells, warning_first
from prudent.cli.output import answer, json_option, progress_bar, run_options
from prudent.cli.paths import FILE, check_folder
from prudent.cli.tables import print_rows, print_text
from prudent.text import counted

if TYPE_CHECKING:
    from prudent.plan import Advice, Option

ACCEPT = '"5 less on average for a standard deviation of 25 instead of 30", or 5 25 30: what you would just accept.'
HORIZON = "Rounds of the trial: people, visitors. Several, or none: how long is enough?"
SHOWN = ("policy", "regret", "mean outcome", "best option found")
"""Columns of the table; the page has more."""


class Joined(click.Command):
    """A command whose options --accept and --horizon take all words up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        joined: list[str] = []
        taking = False
        for word in args:
            if taking and not word.startswith("--"):
                joined[-1] = f"{joined[-1]} {word}".strip()
                continue
            joined.append(word)
            if taking := word in ("--accept", "--horizon"):
                joined.append("")
        return super().parse_args(ctx, joined)


@click.command(cls=Joined)
@click.option("--option", "texts", multiple=True, metavar="GUESS", help='Such as "drug: gaussian(0.3..0.6, 0.1..0.4)".')
@click.option("--pilot", "data", type=FILE, help="CSV file of outcomes: a column for each option, or see --group.")
@click.option("--group", metavar="COLUMN", help="The pilot has a row for each outcome; this column names the option.")
@click.option("--outcome", metavar="COLUMN", help="With --group: the column of outcomes.")
@click.option("--accept", metavar="TRADE", help=ACCEPT)
@click.option("--rho", type=float, help="Tolerance for risk, ρ, in the unit of the outcome, instead of --accept.")
@click.option("--horizon", "horizons", multiple=True, metavar="N…", help=HORIZON)
@click.option("--unit", default="", help="The unit of outcomes, such as EUR; only for text.")
@click.option("--smaller-is-better", is_flag=True, help="For waiting times and losses.")
@click.option("--support", nargs=2, type=float, metavar="LOW HIGH", help="Smallest and largest outcome possible.")
@click.option("--policy", "policies", multiple=True, metavar="POLICY", help="Try only these; by default all suitable.")
@click.option("--draws", type=int, default=100, show_default=True, help="Bandits drawn from your guesses.")
@run_options(20, "Simulated trials on each bandit.")
@click.option("--out", type=FILE, default=Path("results/plan"), show_default=True)
@json_option
def plan(out: Path, as_json: bool, **settings: Any) -> None:
    """Recommend a policy and a length for a trial that you plan, and write a page about it.

    From a pilot in euros, with a row for each customer:

    prudent plan --pilot shop.csv --group variant --outcome revenue --unit EUR --accept 5 25 30

    From guesses, for four treatments and 2,000 patients:

    prudent plan --option "4 * gaussian(0.3..0.6, 0.1..0.4)" --horizon 2000 --rho 0.5

    Without --accept and --rho it says which option wins for which ρ, so that you can choose.
    """
    from prudent.engine.threads import count_workers
    from prudent.plan import advise, suitable, write_report
    from prudent.plan.advise import cells_of
    from prudent.plan.trial import Trial
    from prudent.policies.base import policies as registered
    from prudent.risk.mean_variance import MeanVariance

    notes: list[str] = []
    with progress_bar("reading"):
        options = read_options(settings, notes)
    for note in () if as_json else notes:
        click.echo(f"Note: {note}.", err=True)
    facts = {"unit": settings.pop("unit"), "larger_is_better": not settings.pop("smaller_is_better")}
    facts["support"] = settings.pop("support")
    horizon = lengths(settings.pop("horizons"))
    rho = chosen_rho(settings)
    trial = Trial.checked(options, MeanVariance(0.0 if rho is None else rho), horizon, **facts)
    if rho is None:
        ask_for_rho(trial, as_json)
    workers = count_workers("plan", settings["workers"])
    check_folder("plan", out)
    longest = trial.horizons[-1]
    fit = [registered.parse(text) for text in settings["policies"]] or suitable(trial.risk, longest, options, **facts)[
        0
    ]
    trials = settings["runs"] * settings["draws"]
    total = cells_of(trial, len(fit), settings["draws"])
    with progress_bar("plan", total) as advance:
        seconds = partial(seconds_of_trials, trial, fit, trials, workers)
        told = warning_first(advance, total, seconds, workers)
        advice = advise(options, trial.risk, horizon, out, progress=told, **facts, **settings)
    page = write_report(advice, out, notes)
    show(advice, page, as_json)


def read_options(settings: dict[str, Any], notes: list[str]) -> "list[Option]":
    """The options of guesses and of the pilot, which leave the settings; `notes` are what was said on the way."""
    from prudent.errors import PrudentError
    from prudent.plan import guesses, pilot

    texts, data, group, outcome = (settings.pop(name) for name in ("texts", "data", "group", "outcome"))
    if data is None and (group is not None or outcome is not None):
        raise PrudentError("plan: --group and --outcome name columns of a file; give it with --pilot FILE")
    if outcome is not None and group is None:
        raise PrudentError("plan: --outcome needs --group COLUMN, which says to which option a row belongs")
    found = guesses(texts)
    if data is not None:
        found = [*found, *pilot(data, group=group, outcome=outcome, remark=notes.append)]
    if len(found) < 2:
        fix = "give them with --option GUESS or --pilot FILE"
        said = "".join(f"; {note}" for note in notes)
        raise PrudentError(f"plan: options must be two or more to choose from, got {len(found)}; {fix}{said}")
    return found


def lengths(given: Sequence[str]) -> Any:
    """The horizons as numbers: none, one or several; 1e4 is one."""
    from prudent.errors import PrudentError

    words = [word for text in given for word in text.replace(";", " ").split()]
    if given and not words:
        raise PrudentError("plan: --horizon needs a number of rounds, or several, such as 100 300 1000")
    numbers = []
    for word in words:
        try:
            numbers.append(float(word))
        except ValueError:
            raise PrudentError(f"plan: horizon must be a whole number such as 1000, got {word!r}") from None
    return None if not numbers else numbers[0] if len(numbers) == 1 else numbers


def chosen_rho(settings: dict[str, Any]) -> float | None:
    """ρ from --rho or --accept, which leave the settings; None if neither is given."""
    from prudent.errors import PrudentError
    from prudent.plan import accepted

    accept, rho = settings.pop("accept"), settings.pop("rho")
    if accept is not None and rho is not None:
        raise PrudentError("plan: give either --accept or --rho; they say the same, how much risk you tolerate")
    return rho if accept is None else accepted(accept)


def ask_for_rho(trial: Any, as_json: bool) -> None:
    """Which option wins for which ρ, and the question which it is to be."""
    from prudent.errors import PrudentError
    from prudent.plan import tradeoff

    found = tradeoff.winners(trial.options, larger_is_better=trial.outcome.larger_is_better)
    said = tradeoff.in_words(found, trial.outcome)
    facts = {"winners": [each._asdict() for each in found], "in_words": said}
    answer(as_json, facts, "Which option wins for which ρ", tradeoff.rows(found, trial.outcome), left=("wins",))
    say(() if as_json else said)
    give = 'give --rho, or --accept "5 less on average for a standard deviation of 25 instead of 30" with your numbers'
    raise PrudentError(f"plan: how much risk do you tolerate? Choose ρ by the table: {give}")


def show(advice: "Advice", page: Path, as_json: bool) -> None:
    """The answer on the terminal, or as JSON."""
    from prudent.plan import experiment_of, lengths_in_words, lines_to_run, lines_to_serve
    from prudent.plan.experiment import missing
    from prudent.plan.page import length_rows, readable

    trial = advice.trial
    found = {"recommended": advice.recommended, "horizon": advice.horizon, "reasons": advice.reasons}
    found |= {name: getattr(advice, name).to_dicts() for name in ("policies", "yardsticks", "people")}
    found |= {"lengths": [] if advice.lengths is None else advice.lengths.to_dicts(), "run": lines_to_run(advice)}
    found["experiment"] = experiment_of(advice, page.absolute().parent.name)
    title = f"{trial.outcome.rho(trial.risk)}, {counted(advice.horizon, 'round')} (± two standard errors)"
    answer(as_json, found, title, readable(advice).select(SHOWN).to_dicts(), left=("policy",))
    if as_json:
        return
    if advice.lengths is not None:
        click.echo()
        print_rows(f"How long is enough, with {advice.lengths_of}", length_rows(advice).to_dicts())
        say(lengths_in_words(advice))
    click.echo()
    print_text(f"Take {advice.recommended} for {counted(advice.horizon, 'round')}.")
    say(advice.reasons)
    click.echo(f"\nTo run it:\n\n{lines_to_run(advice)}")
    click.echo(f"To run it over HTTP, for programs:\n\n{lines_to_serve(page.parent)}")
    say(missing(advice))
    click.echo(f"The whole plan: {page}")


def say(lines: Sequence[str]) -> None:
    """Sentences as points."""
    for line in lines:
        print_text(f"- {line}")


def seconds_of_trials(trial: Any, fit: Sequence[Any], trials: float, workers: int) -> float:
    """Seconds that as many trials with each policy take, on one example of a bandit."""
    from prudent.study import Cell, Labelled

    example, longest, units = trial.example(), trial.horizons[-1], trial.units
    cells = [Labelled(Cell(example, trial.risk, policy, longest, int(trials), scale=units)) for policy in fit]
    return seconds_of_cells(cells, workers)
