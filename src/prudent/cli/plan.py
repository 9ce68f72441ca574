"""The command `plan`. Heavy imports wait for it."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prudent.base.text import counted
from prudent.cli.output import answer, json_option, progress_bar, run_options
from prudent.cli.paths import FILE, check_folder
from prudent.cli.tables import print_rows, print_text

if TYPE_CHECKING:
    from prudent.plan import Advice, Option

ACCEPT = '"5 less on average for a standard deviation of 25 instead of 30", or 5 25 30: what you would just accept.'
HORIZON = "Number of people. Give several, or none, to compare lengths."
RISK = "Another risk measure, such as 'cvar(0.05)', instead of --accept or --rho."
PERIOD = "Outcomes whose sum bears the risk, such as those of a shop's day."
SECONDS = "About how long it may take on two cores; more simulates more."

EVERY = 15.0
"""Seconds between two lines of progress where there is no terminal."""

FORESEEN, LATER = 0.12, 0.05
"""The share of the work from which on the rest is foreseen, once so much more is done: before it, time goes into
compiling."""


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


@click.command(cls=Joined, short_help="Plan a trial from outcomes or guesses.")
@click.option("--option", "texts", multiple=True, metavar="GUESS", help='Such as "drug: gaussian(0.3..0.6, 0.1..0.4)".')
@click.option("--pilot", "data", type=FILE, help="CSV file of outcomes: a column for each option, or see --group.")
@click.option("--group", metavar="COLUMN", help="The pilot has a row for each outcome; this column names the option.")
@click.option("--outcome", metavar="COLUMN", help="With --group: the column of outcomes.")
@click.option("--accept", metavar="TRADE", help=ACCEPT)
@click.option("--rho", type=float, help="Tolerance for risk, ρ, in the unit of the outcome, instead of --accept.")
@click.option("--risk", "measure", metavar="RISK", help=RISK)
@click.option("--horizon", "horizons", multiple=True, metavar="N…", help=HORIZON)
@click.option("--unit", default="", help="The unit of outcomes, such as EUR; only for text.")
@click.option("--smaller-is-better", is_flag=True, help="For waiting times and losses.")
@click.option("--support", nargs=2, type=float, metavar="LOW HIGH", help="Smallest and largest outcome possible.")
@click.option("--from-nothing", is_flag=True, help="Let the policy begin without the pilot's outcomes.")
@click.option("--period", type=float, default=1, metavar="N", help=PERIOD)
@click.option("--per-month", "month", type=float, metavar="N", help="Rounds of a month, for amounts a month.")
@click.option("--model", type=click.Choice(["pilot", "normal"]), default="pilot", help="What worlds are drawn from.")
@click.option("--policy", "policies", multiple=True, metavar="POLICY", help="Try only these; by default all suitable.")
@click.option("--exact", is_flag=True, help="For 2 or 3 options with outcomes 0 and 1: compute, simulate nothing.")
@click.option("--error", type=float, default=0.05, show_default=True, help="With --exact: of the final statement.")
@click.option("--seconds", type=float, default=30.0, show_default=True, help=SECONDS)
@click.option("--draws", type=int, default=200, show_default=True, help="Worlds in which the last policies compete.")
@run_options(10, "Simulated trials in each world.")
@click.option("--out", type=FILE, default=Path("results/plan"), show_default=True)
@json_option
def plan(out: Path, as_json: bool, **settings: Any) -> None:
    """Say whether a trial is needed, and which policy to run for how long.

    From a pilot in euros, with a row for each customer:

    prudent plan --pilot shop.csv --group variant --outcome revenue --unit EUR --accept 5 25 30

    From guesses, for four treatments and 2,000 patients:

    prudent plan --option "4 * gaussian(0.3..0.6, 0.1..0.4)" --horizon 2000 --rho 0.5

    Without --accept, --rho and --risk it says which option wins for which ρ, so that you can choose.
    """
    from prudent.plan import advise, write_report
    from prudent.plan.cautions import cautions
    from prudent.plan.trial import Trial
    from prudent.risk.mean_variance import MeanVariance

    notes: list[str] = []
    with progress_bar("reading"):
        options = read_options(settings, notes)
    for note in () if as_json else notes:
        click.echo(f"Note: {note}.", err=True)
    facts = {"unit": settings.pop("unit"), "larger_is_better": not settings.pop("smaller_is_better")}
    facts |= {"support": settings.pop("support"), "begin": not settings.pop("from_nothing")}
    facts |= {name: settings.pop(name) for name in ("model", "period", "month")}
    horizon = lengths(settings.pop("horizons"))
    risk = chosen_risk(settings)
    trial = Trial.checked(options, MeanVariance(0.0) if risk is None else risk, horizon, **facts)
    if risk is None:
        ask_for_rho(trial, as_json)
    error = settings.pop("error")
    if settings.pop("exact"):
        show_exactly(trial, settings["policies"], error, as_json)
        return
    check_folder("plan", out)
    said = [] if as_json else cautions(trial)
    say([f"Caution: {text}" for text in said])
    with progress_lines("plan") as told:
        advice = advise(options, risk, horizon, out, progress=told, **facts, **settings)
    page = write_report(advice, out, notes)
    show(advice, page, as_json, said)


class Pace:
    """How long the rest takes, by the pace since `FORESEEN`."""

    def __init__(self) -> None:
        self._since: tuple[float, float] | None = None

    def left(self, share: float, now: float) -> float | None:
        """Seconds, at a share of the work that is done; None as long as nobody can tell."""
        if self._since is None:
            self._since = (share, now) if share >= FORESEEN else None
            return None
        first, begun = self._since
        return None if share < first + LATER else (now - begun) * (1.0 - share) / (share - first)


@contextmanager
def progress_lines(title: str) -> Iterator[Callable[[float], None]]:
    """A bar on a terminal, and elsewhere a line a few times a minute; yields a function of the share that is done.

    Ctrl-C says how to go on.
    """
    begun = said = time.monotonic()
    pace = Pace()
    try:
        with progress_bar(title, 100.0) as advance:
            done = 0.0

            def told(share: float) -> None:
                nonlocal done, said
                advance(100.0 * (share - done))  # type: ignore[arg-type]
                done, now = share, time.monotonic()
                left = pace.left(share, now)
                if not sys.stderr.isatty() and now - said >= EVERY and 0.0 < share < 1.0:
                    said = now
                    rest = "" if left is None else f", about {left:.0f} s to go"
                    click.echo(f"{title}: {100.0 * share:.0f} % after {now - begun:.0f} s{rest}", err=True)

            yield told
    except KeyboardInterrupt:
        fix = "Run it again for the whole plan, or with --seconds 10 for a quicker and rougher one"
        click.echo(f"\nStopped after {time.monotonic() - begun:.0f} s. {fix}.", err=True)
        raise


def read_options(settings: dict[str, Any], notes: list[str]) -> "list[Option]":
    """The options of guesses and of the pilot, which leave the settings; `notes` are what was said on the way."""
    from prudent.base.errors import PrudentError
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
    from prudent.base.errors import PrudentError

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


def chosen_risk(settings: dict[str, Any]) -> Any:
    """The risk from --rho, --accept or --risk, which leave the settings; None if none is given."""
    from prudent.base.errors import PrudentError
    from prudent.plan import accepted
    from prudent.risk.base import risks
    from prudent.risk.mean_variance import MeanVariance

    accept, rho, measure = settings.pop("accept"), settings.pop("rho"), settings.pop("measure")
    if sum(given is not None for given in (accept, rho, measure)) > 1:
        raise PrudentError(
            "plan: give one of --accept, --rho and --risk; they say the same, how much risk you tolerate"
        )
    if measure is not None:
        return risks.parse(measure)
    rho = rho if accept is None else accepted(accept)
    return None if rho is None else MeanVariance(rho)


def ask_for_rho(trial: Any, as_json: bool) -> None:
    """Which option wins for which ρ, and the question which it is to be; nothing if that does not matter."""
    from prudent.base.errors import PrudentError
    from prudent.plan import tradeoff
    from prudent.plan.cautions import cautions

    odd = cautions(trial, judged=False)
    say(() if as_json else [f"Caution: {text}" for text in odd])
    found = tradeoff.winners(trial.options, larger_is_better=trial.outcome.larger_is_better)
    said = tradeoff.in_words(found, trial.outcome, trial.options, trial.period)
    facts = {"winners": [each._asdict() for each in found], "in_words": said, "cautions": odd}
    answer(as_json, facts, "Which option wins for which ρ", tradeoff.rows(found, trial.outcome), left=("wins",))
    say(() if as_json else said)
    if len(found) == 1:
        raise PrudentError(
            "plan: ρ must be given, though one option looks best whatever it is; for the mean give --rho inf"
        )
    give = 'give --rho, or --accept "5 less on average for a standard deviation of 25 instead of 30" with your numbers'
    raise PrudentError(f"plan: how much risk do you tolerate? Choose ρ by the table: {give}")


def show(advice: "Advice", page: Path, as_json: bool, said: Sequence[str] = ()) -> None:
    """The answer on the terminal, or as JSON: the verdict first, the policies that were compared last. Cautions that
    were `said` are not said again."""
    from prudent.plan import lengths_in_words, lines_to_run, lines_to_serve
    from prudent.plan.experiment import missing
    from prudent.plan.page import agreement, assumptions, compared, left_early, length_rows, promises, readable

    if as_json:
        answer(True, facts_of(advice, page), "", [])
        return
    for line in advice.verdict.sentences:
        print_text(line)
    say([f"Caution: {text}" for text in advice.cautions if text not in said])
    click.echo()
    title = f"Promise and check, {advice.trial.outcome.risk(advice.trial.risk)}, {counted(advice.horizon, 'round')}"
    print_rows(title, promises(advice), left=("",))
    say(agreement(advice))
    click.echo()
    print_rows("Compared with ways that do not learn", compared(advice), left=("",))
    if advice.lengths is not None:
        click.echo()
        print_rows("How long is enough", length_rows(advice).to_dicts())
        say(lengths_in_words(advice))
    click.echo()
    print_text("Why this policy, and what was assumed:")
    say([*advice.reasons, *assumptions(advice)])
    click.echo(f"\nTo run it:\n\n{lines_to_run(advice)}")
    click.echo(f"To run it over HTTP, for programs:\n\n{lines_to_serve(page.parent)}")
    say(missing(advice))
    print_rows("Policies that were compared", readable(advice).to_dicts(), left=("policy",))
    for title, table in left_early(advice):
        click.echo()
        print_rows(title, table.to_dicts(), left=("policy",))
    click.echo(f"The whole plan: {page}")


def facts_of(advice: "Advice", page: Path) -> dict[str, Any]:
    """All of it as JSON."""
    from prudent.plan import experiment_of, lines_to_run

    found: dict[str, Any] = {"verdict": advice.verdict._asdict(), "recommended": advice.recommended}
    found |= {"horizon": advice.horizon, "reasons": advice.reasons, "cautions": advice.cautions}
    found["promises"] = {name: promise._asdict() for name, promise in advice.promises.items()}
    found["check"] = advice.check._asdict()
    found |= {"favourite": advice.favourite._asdict(), "tails": [tail._asdict() for tail in advice.tails]}
    found |= {name: getattr(advice, name).to_dicts() for name in ("policies", "yardsticks", "people")}
    found["early"] = [table.to_dicts() for table in advice.early]
    found |= {"lengths": [] if advice.lengths is None else advice.lengths.to_dicts(), "left_out": advice.left_out}
    return {**found, "run": lines_to_run(advice), "experiment": experiment_of(advice, page.absolute().parent.name)}


def show_exactly(trial: Any, policies: Sequence[str], error: float, as_json: bool) -> None:
    """What the trial achieves with each policy, without simulation."""
    from prudent.plan.exact import characteristics_of, in_words, readable_rows

    with progress_bar("plan") as advance:
        found = characteristics_of(trial, policies, error, advance)
    facts = {"best": found.best, "policies": found.table.to_dicts(), "left_out": found.left_out}
    title = f"{trial.outcome.risk(trial.risk)}, {counted(found.horizon, 'round')}, without simulation"
    answer(as_json, facts, title, readable_rows(found), left=("policy",))
    if not as_json:
        say(in_words(found))


def say(lines: Sequence[str]) -> None:
    """Sentences as points."""
    for line in lines:
        print_text(f"- {line}")
