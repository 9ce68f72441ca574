"""The plan as a page for the person who decides."""

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure

from prudent import PrudentError, figures, files
from prudent.errors import shown
from prudent.json_text import to_json
from prudent.plan import lengths, pictures, tradeoff
from prudent.plan.advise import Advice, check_advice
from prudent.plan.elicit import Pilot
from prudent.plan.experiment import FILE, experiment_of, lines_to_serve, missing
from prudent.plan.ranking import BEST, WORST
from prudent.plan.snippet import HOW, lines_to_run
from prudent.plan.trial import Trial
from prudent.plan.words import percent
from prudent.report import environment


class Part(NamedTuple):
    """One part of the page: text, pictures with captions, a table, points, lines of code, and parts folded away."""

    name: str
    title: str
    text: Sequence[str] = ()
    pictures: Sequence[tuple[Path, str]] = ()
    table: pl.DataFrame | None = None
    points: Sequence[str] = ()
    code: str = ""
    folded: "Sequence[Part]" = ()


def write_report(advice: Advice, out: Path | str, notes: Sequence[str] = ()) -> Path:
    """`out/plan.html`: what to do and why, for the person who decides; `notes` are remarks on the data.

    Beside it `experiment.json` is the same trial for the service.
    """
    check_advice("write_report", advice)
    if not isinstance(out, str | os.PathLike) or isinstance(notes, str) or not isinstance(notes, Sequence):
        raise PrudentError(f"write_report: pass a folder and a list of notes, got {shown(out)} and {shown(notes)}")
    return write_page(advice, Path(out), contents(advice, Path(out), notes))


def contents(advice: Advice, out: Path, notes: Sequence[str]) -> dict[str, Any]:
    """All that the page says; its pictures are saved in `out/figures`."""
    return {
        "title": f"A plan for the trial of {_listed(advice.trial.names)}",
        "subtitle": "",
        "facts": facts(advice),
        "answer": answer(advice),
        "parts": parts_of(advice, out, notes),
        "again": shlex.join(["prudent", "run", str(out / "study.toml"), "--out", str(out / "study")]),
    }


def write_page(advice: Advice, out: Path, context: dict[str, Any]) -> Path:
    """The page of these contents, and the experiment beside it."""
    files.write(out / FILE, to_json(experiment_of(advice, out.absolute().name), indent=2, ensure_ascii=False) + "\n")
    page = environment("prudent.plan").get_template("plan.html.j2").render(context)
    return files.write(out / "plan.html", page)


def parts_of(advice: Advice, out: Path, notes: Sequence[str]) -> list[Part]:
    """All parts, in order; their pictures are saved in `out/figures`."""
    with figures.style():
        shown = [_options(advice, out), _rho(advice.trial), *_lengths(advice, out), _people(advice, out)]
        return [*shown, _costs(advice), _assumed(advice, notes), _how(advice, out), _technical(advice, out)]


def facts(advice: Advice) -> dict[str, str]:
    """What heads the page."""
    trial, study = advice.trial, advice.study
    better = "larger" if trial.outcome.larger_is_better else "smaller"
    outcome = f"{trial.outcome.unit}, {better} is better" if trial.outcome.unit else f"{better} is better"
    simulated = f"{len(study.bandits):,} × {int(study.runs):,} trials, seed {study.seed}; ± is two standard errors"
    head = {
        "people": f"{advice.horizon:,}",
        "policy": advice.recommended,
        "tolerance for risk": trial.outcome.rho(trial.risk),
    }
    return {**head, "outcome": outcome, "simulated": simulated}


def answer(advice: Advice) -> list[str]:
    """The plan in three sentences."""
    first, trial = advice.policies.row(0, named=True), advice.trial
    best = advice.people.filter(option=BEST).row(0, named=True)
    return [
        f"Run the policy {advice.recommended} for {advice.horizon:,} people.",
        f"At the end it has found the best option in {100 * first['found_best']:.0f} of 100 simulated trials; on"
        f" average {best['average']:,.0f} of {advice.horizon:,} people are given the best option during the trial.",
        f"Compared with the best option from the start it costs {trial.price(first, 'regret')} per person.",
    ]


def _draw(out: Path, name: str, height: float, plot: Callable[..., Any], *given: Any) -> Path:
    figure = Figure(figsize=(5.4, height))
    plot(figure.add_subplot(), *given)
    return figures.save(figure, out / "figures" / name)[0]


def _options(advice: Advice, out: Path) -> Part:
    trial, outcome = advice.trial, advice.trial.outcome
    rows = [(option.name, option.moments[0], option.moments[1] ** 0.5) for option in trial.options]
    table = pl.DataFrame(
        {
            "option": [name for name, _, _ in rows],
            "mean": [outcome.amount(mean) for _, mean, _ in rows],
            "standard deviation": [outcome.amount(deviation) for _, _, deviation in rows],
            "known from": [_source(option) for option in trial.options],
        }
    )
    seen = rows[: pictures.MOST_SHOWN]
    caption = (
        "The mean of each option (point), one standard deviation to each side (thick) and two (thin), where most"
        " outcomes lie."
    )
    path = _draw(out, "options", 0.8 + 0.42 * len(seen), pictures.plot_options, seen, outcome)
    return Part("options", "The options", pictures=[(path, caption)], table=table)


def _source(option: Any) -> str:
    return f"{len(option.outcomes):,} outcomes" if isinstance(option, Pilot) else str(getattr(option, "law", "a guess"))


def _rho(trial: Trial) -> Part:
    outcome = trial.outcome
    found = tradeoff.winners(trial.options, larger_is_better=outcome.larger_is_better)
    here = next(each for each in found if each.low <= trial.risk.rho <= each.high)
    deviation = max(option.moments[1] for option in trial.options) ** 0.5
    unit = (
        f" Like the outcome it is measured in {outcome.unit}." if outcome.unit else " It has the unit of the outcome."
    )
    text = [
        f"ρ says how much risk you tolerate: the larger it is, the more the mean counts, and the less the spread.{unit}"
        f" Here {outcome.rho(trial.risk)}. {tradeoff.rho_in_words(trial.risk.rho, deviation, outcome)}",
        f"If the means and standard deviations above were the truth, {here.option} would be the best option for you.",
    ]
    said = tradeoff.in_words(found, outcome)
    return Part("rho", "How much risk: ρ", text, table=stretches(found, trial), points=said)


def stretches(found: Sequence[tradeoff.Stretch], trial: Trial) -> pl.DataFrame:
    """Which option wins for which ρ, as text."""
    return pl.DataFrame(tradeoff.rows(found, trial.outcome))


def _lengths(advice: Advice, out: Path) -> list[Part]:
    if advice.lengths is None:
        return []
    labels = {advice.lengths_of: advice.lengths_of, "round-robin": "all in turn"}
    given = (advice.lengths, labels, advice.horizon)
    shown = [
        (_draw(out, "found", 3.0, pictures.plot_found, *given), "How often the best option is found."),
        (_draw(out, "loss", 3.0, pictures.plot_loss, *given, advice.trial), "What is lost per round if the option that"
         " looks best at the end is taken from then on."),
    ]  # fmt: skip
    said = lengths.in_words(advice)
    table = length_rows(advice)
    return [Part("length", "How long is enough", said, shown, folded=[Part("lengths", "All lengths", table=table)])]


def length_rows(advice: Advice) -> pl.DataFrame:
    """The lengths as text, those of the policy."""
    assert advice.lengths is not None
    rows = advice.lengths.filter(policy=advice.lengths_of).to_dicts()
    outcome = advice.trial.outcome
    return pl.DataFrame(
        {
            "rounds": [f"{row['horizon']:,}" for row in rows],
            "best option found": [percent(row, "found_best") for row in rows],
            "expected loss": [advice.trial.price(row, "loss") for row in rows],
            "exploration risk": [outcome.about(row, "exploration_risk", power=2) for row in rows],
        }
    )


def _people(advice: Advice, out: Path) -> Part:
    people, total = advice.people, advice.horizon
    first, outcome = advice.policies.row(0, named=True), advice.trial.outcome
    table = pl.DataFrame(
        {
            "option": people["option"],
            "on average": [f"{x:,.1f}" for x in people["average"]],
            f"in {100 * WORST:g} % of trials at most": [f"{x:,}" for x in people["fewest"]],
            f"in {100 * WORST:g} % at least": [f"{x:,}" for x in people["most"]],
        }
    )
    best = people.filter(option=BEST).row(0, named=True)
    text = [
        f"Of {total:,} people, {best['average']:,.0f} are given the best option on average, whichever it turns out"
        f" to be. In the worst {100 * WORST:g} % of trials at most {best['fewest']:,} are.",
        f"Their mean outcome is {outcome.about(first, 'outcome', gain=True)}; in the worst {100 * WORST:g} % of trials"
        f" it is {outcome.about(first, 'worst_outcome', gain=True)}.",
    ]
    seen = people.head(pictures.MOST_SHOWN)
    caption = f"People given each option: average (bar), and the middle {100 - 200 * WORST:g} % of trials (line)."
    path = _draw(out, "people", 0.8 + 0.42 * seen.height, pictures.plot_people, seen)
    return Part("people", "What happens to the people in the trial", text, [(path, caption)], table)


def _costs(advice: Advice) -> Part:
    first, trial = advice.policies.row(0, named=True), advice.trial
    total, power = trial.worth(first["regret"] * advice.horizon)
    text = [f"Compared with the best option from the start, the trial costs {trial.price(first, 'regret')} per person"]
    text[0] += f", {trial.outcome.amount(total)} for all {advice.horizon:,} together." if power == 1 else "."
    if 0.0 < trial.risk.rho < float("inf"):
        text[0] += " More spread is counted as a worse mean, at the rate that ρ sets."
    table = pl.DataFrame(
        {
            "without learning": advice.yardsticks["yardstick"],
            "costs more per person": [trial.price(row, "behind") for row in advice.yardsticks.to_dicts()],
        }
    )
    text.append("Ways that do not learn are shown as yardsticks. A minus says that one would cost less on average.")
    return Part("costs", "What it costs", text, table=table)


def _assumed(advice: Advice, notes: Sequence[str]) -> Part:
    pilots = [option.name for option in advice.trial.options if isinstance(option, Pilot)]
    others = [option.name for option in advice.trial.options if not isinstance(option, Pilot)]
    points = [
        "Outcomes of an option are independent of each other, and its law stays the same throughout the trial.",
        "Each outcome is known before the next person comes. If outcomes come late, the policy learns later.",
        "Outcomes are judged by their variance minus ρ times their mean (plus, where smaller is better).",
    ]
    if pilots:
        points.append(
            f"{_listed(pilots)}: people in the trial are like those of the pilot. Outcomes other than 0 and 1 are taken"
            " as normal around a mean and with a variance that the pilot leaves uncertain."
        )
    if others:
        points.append(f"{_listed(others)}: each value in a guessed range is equally likely.")
    if notes:
        points.append("Missing outcomes are like those that are there.")
    return Part("assumed", "What was assumed", points=[*points, *notes])


def _how(advice: Advice, out: Path) -> Part:
    served = Part("serve", "For programs, over HTTP", missing(advice), code=lines_to_serve(out))
    return Part("run", "How to run it", [HOW], code=lines_to_run(advice), folded=[served])


def _technical(advice: Advice, out: Path) -> Part:
    caption = (
        "Mean regret of every suitable policy, with two standard errors; smaller is better. Blue: the recommended"
        " policy, and those statistically indistinguishable from it in these simulations. Grey: yardsticks."
    )
    height = 0.6 + 0.28 * (advice.policies.height + advice.yardsticks.height)
    path = _draw(out, "policies", height, pictures.plot_policies, advice.policies, advice.yardsticks)
    folded = [
        Part("why", "Why this policy", points=advice.reasons),
        Part("policies", "All policies", pictures=[(path, caption)], table=readable(advice)),
    ]
    if advice.left_out:
        rows = {"policy": list(advice.left_out), "why": [plainly(why) for why in advice.left_out.values()]}
        folded.append(Part("left-out", "Policies left out, and why", table=pl.DataFrame(rows)))
    return Part("technical", "For those who want to check", folded=folded)


def readable(advice: Advice) -> pl.DataFrame:
    """The table of policies with error bars of two standard errors, in words; yardsticks last."""
    outcome = advice.trial.outcome
    rows = [
        *advice.policies.to_dicts(),
        *({**row, "policy": row["yardstick"], "as_good": None} for row in advice.yardsticks.to_dicts()),
    ]
    good = {True: "yes", False: "no", None: "yardstick"}
    return pl.DataFrame(
        {
            "policy": [row["policy"] for row in rows],
            "regret": [outcome.about(row, "regret", power=advice.trial.power) for row in rows],
            "mean outcome": [outcome.about(row, "outcome", gain=True) for row in rows],
            f"outcome, worst {100 * WORST:g} %": [outcome.about(row, "worst_outcome", gain=True) for row in rows],
            "best option found": [percent(row, "found_best") for row in rows],
            "deviation within a trial": [outcome.about(row, "deviation") for row in rows],
            "exploration risk": [outcome.about(row, "exploration_risk", power=2) for row in rows],
            "behind the first": [outcome.about(row, "behind", power=advice.trial.power) for row in rows],
            "as good as the first": [good[row["as_good"]] for row in rows],
        }
    )


PLAIN = {
    "serves": "optimises another risk measure than mean-variance",
    "of two values": "needs outcomes that are 0 or 1",
    "is made for rewards": "needs outcomes within known limits",
    "best": "needs to know the best outcome that is possible",
    "low is not known": "needs outcomes within known limits",
    "high is not known": "needs outcomes within known limits",
    "values is not known": "needs outcomes that take few values",
    "horizon": "needs a longer trial",
}


def plainly(why: str) -> str:
    """Why a policy was left out, for those who do not know it; in its own words if there are no plainer ones."""
    return next((words for mark, words in PLAIN.items() if mark in why), why)


def _listed(names: Sequence[str]) -> str:
    """A, B and C; of many only how many."""
    if len(names) > 6:
        return f"{len(names):,} options"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
