"""The plan as a page for the person who decides: the verdict first, then one picture, and the details after them."""

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from prudent import PrudentError
from prudent.base import files
from prudent.base.errors import shown
from prudent.base.json_text import to_json
from prudent.plan import lengths, pictures, tradeoff
from prudent.plan.advise import Advice, check_advice
from prudent.plan.elicit import Pilot
from prudent.plan.experiment import FILE, experiment_of, lines_to_serve, missing
from prudent.plan.ranking import BEST, INSIDE, WORST, Promise
from prudent.plan.snippet import HOW, lines_to_run
from prudent.plan.trial import Trial
from prudent.plan.words import listed, percent, plus_minus, short
from prudent.results import figures
from prudent.results.page import Section, environment


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
        "title": f"A plan for the trial of {listed(advice.trial.names)}",
        "subtitle": "",
        "facts": facts(advice),
        "answer": list(advice.verdict.sentences),
        "cautions": advice.cautions,
        "parts": parts_of(advice, out, notes),
    }


def write_page(advice: Advice, out: Path, context: dict[str, Any]) -> Path:
    """The page of these contents, and the experiment beside it."""
    files.write(out / FILE, to_json(experiment_of(advice, out.absolute().name), indent=2, ensure_ascii=False) + "\n")
    page = environment("prudent.plan").get_template("plan.html.j2").render(context)
    return files.write(out / "plan.html", page)


def parts_of(advice: Advice, out: Path, notes: Sequence[str]) -> list[Section]:
    """All parts, in order; their pictures are saved in `out/figures`."""
    with figures.style():
        shown = [_promised(advice, out), _assumed(advice, notes), _options(advice, out), *_lengths(advice, out)]
        return [*shown, _people(advice, out), _rho(advice.trial), _how(advice, out), _technical(advice)]


def facts(advice: Advice) -> dict[str, str]:
    """What heads the page."""
    trial = advice.trial
    better = "larger" if trial.outcome.larger_is_better else "smaller"
    outcome = f"{trial.outcome.unit}, {better} is better" if trial.outcome.unit else f"{better} is better"
    head = {"rounds": f"{advice.horizon:,}", "policy": short(advice.recommended)}
    head |= {"risk": trial.outcome.risk(trial.risk), "outcome": outcome}
    return {**head, "simulated": f"{advice.draws:,} worlds × {advice.runs:,} trials, seed {advice.seed}"}


PROMISES = {
    "found_best": "best option found",
    "outcome": "mean outcome",
    "deviation": "standard deviation of outcomes",
    "regret": "cost against the best option",
}
"""What is promised, and how it is called."""


def promises(advice: Advice) -> list[dict[str, str]]:
    """Promise and check side by side, as text."""
    rows = []
    for name, called in PROMISES.items():
        if name == "regret" and not has_price(advice):
            continue
        promise = advice.promises[name]
        write = _writer(advice, name)
        row = {
            "": called,
            "plan": write(promise.mean),
            f"{100 * INSIDE:g} % interval": f"{write(promise.low)} to {write(promise.high)}",
        }
        row["check"] = _checked(advice, name)
        rows.append(row)
    return rows


def _writer(advice: Advice, name: str) -> Callable[[float], str]:
    outcome = advice.trial.outcome
    if name == "found_best":
        return percent
    if name == "regret":
        return lambda x: outcome.amount(advice.trial.price(x), digits=3)
    return lambda x: outcome.amount(x, digits=3)


def _checked(advice: Advice, name: str) -> str:
    value, error = getattr(advice.check, name), getattr(advice.check, f"{name}_se")
    if name == "found_best":
        low, high = advice.check.found_in(LEVEL)
        return f"{percent(value)} ({percent(low)} to {percent(high)})"
    unit = advice.trial.outcome.unit
    if name == "regret":
        value, error = advice.trial.price(value), advice.trial.price(error)
    return f"{plus_minus(value, error)} {unit}" if unit else plus_minus(value, error)


LEVEL, THREE_ERRORS = 0.95, 0.9973
"""The confidence of the check's share of successes, and that of three standard errors."""

NEAR = 0.05
"""What plan and check may differ by without a word: five percentage points, or this share of the promised interval."""


def has_price(advice: Advice) -> bool:
    """Whether the cost is an amount that people can follow: with ρ it is as if every outcome had been worse by so much,
    which for a small ρ is more than there is."""
    promise, largest = advice.promises["regret"], abs(advice.promises["outcome"].mean)
    largest += 2.0 * advice.promises["deviation"].mean
    return advice.trial.rho != 0.0 and advice.trial.price(promise.high) <= largest


def agreement(advice: Advice) -> list[str]:
    """What the check is, and where it differs from the promise, in sentences."""
    check = advice.check
    pilots = any(isinstance(option, Pilot) for option in advice.trial.options)
    normal = advice.trial.model == "normal"
    source = (
        "normal distributions with your data's means and variances" if normal else "outcomes resampled from your data"
    )
    who = "the agent that is handed over was run"
    if check.simulated:
        who = "the policy, because the agent itself takes too long for so many rounds, was simulated"
    said = [
        f"Check: {who} in {check.trials:,} trials on"
        f" {source if pilots else 'outcomes drawn from your guesses'},"
        f" {'with' if check.simulated else 'by other code and with'}"
        " other random numbers (± two standard errors; of the best option found a 95 % interval)."
    ]
    if off := disagreement(advice):
        said.append(f"The check differs from the plan in: {', '.join(off)}. Rely on the worse of the two.")
    return said


def disagreement(advice: Advice) -> list[str]:
    """What the plan and the check differ in, by name: their averages, each over what the pilot leaves possible, by more
    than three standard errors of both and more than `NEAR`."""
    off = []
    for name, called in PROMISES.items():
        plan, value = advice.promises[name], getattr(advice.check, name)
        error = math.hypot(plan.error, getattr(advice.check, f"{name}_se"))
        low, high = value - 3.0 * error, value + 3.0 * error
        scale = max(plan.high - plan.low, 1e-12 * abs(plan.mean))
        if name == "found_best":
            exact = advice.check.found_in(THREE_ERRORS)
            low, high, scale = min(low, exact[0]), max(high, exact[1]), 1.0
        if not low - NEAR * scale <= plan.mean <= high + NEAR * scale:
            off.append(called)
    return off


def _draw(out: Path, name: str, height: float, plot: Callable[..., Any], *given: Any) -> Path:
    figure = Figure(figsize=(5.4, height))
    plot(figure.add_subplot(), *given)
    return figures.save(figure, out / "figures" / name)[0]


def _promised(advice: Advice, out: Path) -> Section:
    caption = (
        f"How often the best option is found: by the plan (line: {100 * INSIDE:g} % interval, which contains what your"
        " data do not tell), by the check (line: 95 % interval), by an even split, and without a trial."
    )
    path = _draw(out, "promise", 1.9, pictures.plot_promise, promise_rows(advice))
    table = pl.DataFrame(promises(advice))
    return Section("promise", "What the trial finds", pictures=[(path, caption)], table=table, points=agreement(advice))


def promise_rows(advice: Advice) -> list[tuple[str, Promise]]:
    """How often the best option is found: by the policy, its agent in the check, an even split, or no trial."""
    rows = [(short(advice.recommended), advice.promises["found_best"])]
    rows.append(("the same, check", Promise(advice.check.found_best, *advice.check.found_in(LEVEL))))
    even = advice.yardsticks.row(-1, named=True)
    rows.append(("even split", Promise(*(even[f"found_best{end}"] for end in ("", "_low", "_high")))))
    sure = advice.favourite.sure
    return [*rows, (f"{advice.favourite.name}, no trial", Promise(sure, sure, sure))]


def _options(advice: Advice, out: Path) -> Section:
    trial, outcome = advice.trial, advice.trial.outcome
    rows = []
    for option in trial.options:
        mean, variance = option.moments
        one = tradeoff.Stretch(0.0, 0.0, option.name, mean, variance**0.5)
        rows.append(
            {
                "option": option.name,
                "mean": outcome.amount(mean),
                "standard deviation": outcome.amount(variance**0.5),
                "usual": tradeoff.usual(option, one, outcome),
                "known from": _source(option),
            }
        )
    seen = trial.options[: pictures.MOST_SHOWN]
    caption = "Outcomes of each option: mean (point), where half of them lie (thick) and where nine of ten lie (thin)."
    path = _draw(out, "options", 0.8 + 0.42 * len(seen), pictures.plot_options, pictures.spans(seen), outcome)
    return Section("options", "The options", pictures=[(path, caption)], table=pl.DataFrame(rows))


def _source(option: Any) -> str:
    return f"{len(option.outcomes):,} outcomes" if isinstance(option, Pilot) else str(getattr(option, "law", "a guess"))


def _rho(trial: Trial) -> Section:
    outcome, rho = trial.outcome, trial.rho
    if rho is None:
        return Section("rho", "How much risk", [f"Outcomes are judged by {outcome.risk(trial.risk)}, a cost."])
    found = tradeoff.winners(trial.options, larger_is_better=outcome.larger_is_better)
    here = next(each for each in found if each.low <= rho <= each.high)
    deviation = max(option.moments[1] for option in trial.options) ** 0.5
    unit = (
        f" Like the outcome it is measured in {outcome.unit}." if outcome.unit else " It has the unit of the outcome."
    )
    text = [
        f"ρ says how much risk you tolerate: the larger it is, the more the mean counts, and the less the spread.{unit}"
        f" Here {outcome.risk(trial.risk)}. {tradeoff.rho_in_words(rho, deviation, outcome)}",
        f"If the means and standard deviations above were the truth, {here.option} would be the best option for you.",
    ]
    said = tradeoff.in_words(found, outcome, trial.options, trial.period)
    return Section("rho", "How much risk: ρ", text, table=stretches(found, trial), points=said)


def stretches(found: Sequence[tradeoff.Stretch], trial: Trial) -> pl.DataFrame:
    """Which option wins for which ρ, as text."""
    return pl.DataFrame(tradeoff.rows(found, trial.outcome))


def _lengths(advice: Advice, out: Path) -> list[Section]:
    if advice.lengths is None:
        return []
    path = _draw(out, "lengths", 3.0, pictures.plot_found, advice.lengths, advice.horizon)
    caption = f"How often {short(advice.recommended)} finds the best option (band: 90 % interval)."
    found = lengths.in_words(advice)
    return [Section("lengths", "How long is enough", found, [(path, caption)], length_rows(advice))]


def length_rows(advice: Advice) -> pl.DataFrame:
    """The lengths as text."""
    outcome, rows = advice.trial.outcome, []
    for row in advice.lengths.iter_rows(named=True) if advice.lengths is not None else ():
        rows.append(
            {
                "rounds": f"{row['horizon']:,}",
                "best option found": percent(row["found_best"]),
                "mean outcome": outcome.of_gain(row["outcome"], 3),
                "standard deviation": outcome.amount(row["deviation"], digits=3),
            }
        )
    return pl.DataFrame(rows)


def _people(advice: Advice, out: Path) -> Section:
    people, total = advice.people, advice.horizon
    table = pl.DataFrame(
        {
            "option": people["option"],
            "on average": [f"{x:,.0f}" for x in people["average"]],
            f"in {100 * WORST:g} % of trials at most": [f"{x:,}" for x in people["fewest"]],
            f"in {100 * WORST:g} % at least": [f"{x:,}" for x in people["most"]],
        }
    )
    best = people.filter(option=BEST).row(0, named=True)
    text = [
        f"Of {total:,} people, {best['average']:,.0f} are given the best option on average, whichever it turns out"
        f" to be. In the worst {100 * WORST:g} % of trials at most {best['fewest']:,} are.",
    ]
    seen = people.head(pictures.MOST_SHOWN)
    caption = f"People given each option: average (bar), and the middle {100 - 200 * WORST:g} % of trials (line)."
    path = _draw(out, "people", 0.8 + 0.42 * seen.height, pictures.plot_people, seen)
    return Section("people", "What happens to the people in the trial", text, [(path, caption)], table)


def assumptions(advice: Advice, notes: Sequence[str] = ()) -> list[str]:
    """What the plan takes for granted, in sentences."""
    trial = advice.trial
    pilots = [option.name for option in trial.options if isinstance(option, Pilot)]
    others = [option.name for option in trial.options if not isinstance(option, Pilot)]
    points = []
    if pilots and trial.model == "normal":
        points.append(
            f"{listed(pilots)}: outcomes other than 0 and 1 are taken as normal, because a normal model was asked for."
        )
    elif pilots:
        points.append(f"{listed(pilots)}: people in the trial are like those of the pilot, and so are their outcomes.")
    if others:
        points.append(f"{listed(others)}: each value in a guessed range is equally likely.")
    if trial.told:
        points.append(f"The policy begins with the {trial.told:,} outcomes of the pilot.")
    points += [
        "Outcomes of an option are independent of each other, and their distribution stays the same throughout.",
        "Each outcome is known before the next person comes. If outcomes come late, the policy learns later.",
    ]
    if trial.rho is not None:
        points.append("Outcomes are judged by their variance minus ρ times their mean (plus, where smaller is better).")
    if trial.sums:
        points.append(trial.sums)
    elif trial.period > 1:
        points.append(f"The risk is that of the sum of {trial.period:,} outcomes, whose variances and means add up.")
    if notes:
        points.append("Missing outcomes are like those that are there.")
    return [*points, *notes]


def _assumed(advice: Advice, notes: Sequence[str]) -> Section:
    return Section("assumed", "What was assumed", points=assumptions(advice, notes))


def _how(advice: Advice, out: Path) -> Section:
    served = Section("serve", "For programs, over HTTP", missing(advice), code=lines_to_serve(out))
    return Section("run", "How to run it", [HOW], code=lines_to_run(advice), folded=[served])


def _technical(advice: Advice) -> Section:
    folded = [
        Section("why", "Why this policy", points=advice.reasons),
        Section("policies", "Policies that were compared to the end", [LEAVING], table=readable(advice)),
        *(Section(f"early-{i}", title, table=table) for i, (title, table) in enumerate(left_early(advice), 1)),
        Section("yardsticks", "Ways that do not learn", table=baselines(advice)),
    ]
    if advice.left_out:
        rows = {
            "policy": [short(name) for name in advice.left_out],
            "why": [plainly(why) for why in advice.left_out.values()],
        }
        folded.append(Section("left-out", "Policies left out, and why", table=pl.DataFrame(rows)))
    return Section("technical", "For those who want to check", folded=folded)


LEAVING = (
    "Policies race: those that are clearly behind in a few worlds leave, and the others go on in more. They are ranked"
    " by their regret, half by the mean of all trials and half by that of the worst 5 %."
)


def readable(advice: Advice) -> pl.DataFrame:
    """The table of policies in words."""
    return _in_words(advice, advice.policies)


def left_early(advice: Advice) -> list[tuple[str, pl.DataFrame]]:
    """The policies that left early, in words: a title and a table for each time at which some left. The recommended one
    comes first, in the same worlds, since fewer worlds and shorter trials have other averages."""
    found = []
    for table in advice.early:
        worlds, rounds = table["worlds"][0], table["rounds"][0]
        title = f"Left after {worlds:,} worlds of {rounds:,} rounds, below {short(advice.recommended)} in the same"
        found.append((title, _in_words(advice, table)))
    return found


def _in_words(advice: Advice, table: pl.DataFrame) -> pl.DataFrame:
    outcome = advice.trial.outcome
    return pl.DataFrame(
        [
            {
                "policy": short(row["policy"]),
                "trials": f"{row['trials']:,}",
                "best option found": percent(row["found_best"]),
                "mean outcome": outcome.of_gain(row["outcome"], 3),
                "standard deviation": outcome.amount(row["deviation"], digits=3),
                "as good as the first": "yes" if row["as_good"] else "no",
            }
            for row in table.to_dicts()
        ]
    )


def baselines(advice: Advice) -> pl.DataFrame:
    """The ways that do not learn, in words."""
    outcome = advice.trial.outcome
    return pl.DataFrame(
        [
            {
                "without learning": row["yardstick"],
                "best option found": percent(row["found_best"]),
                "mean outcome": outcome.amount(row["outcome"], digits=3),
                "standard deviation": outcome.amount(row["deviation"], digits=3),
            }
            for row in advice.yardsticks.to_dicts()
        ]
    )


def compared(advice: Advice) -> list[dict[str, str]]:
    """The recommended policy beside two ways that do not learn: the option that is ahead for everyone, and a plain
    test."""
    outcome = advice.trial.outcome
    first = {name: promise.mean for name, promise in advice.promises.items()} | {"yardstick": "this plan"}
    ahead = f"always {advice.favourite.name}"
    others = [row for row in advice.yardsticks.to_dicts() if row["yardstick"] in (ahead, "all in turn")]
    return [
        {
            "": row["yardstick"],
            "best option found": percent(row["found_best"]),
            "mean outcome": outcome.amount(row["outcome"], digits=3),
            "standard deviation": outcome.amount(row["deviation"], digits=3),
        }
        for row in (first, *others)
    ]


PLAIN = {
    "serves": "optimises another risk measure",
    "reads all outcomes": "takes too long in a trial of this length; name it to try it",
    "of two values": "needs outcomes that are 0 or 1",
    "is made for rewards": "needs outcomes within known limits",
    "best": "needs to know the best outcome that is possible",
    "low is not known": "needs outcomes within known limits",
    "high is not known": "needs outcomes within known limits",
    "values is not known": "needs outcomes that take few values",
    "size is not known": "needs to know how large outcomes may be",
    "horizon": "needs a longer trial",
}


def plainly(why: str) -> str:
    """Why a policy was left out, for those who do not know it; in its own words if there are no plainer ones."""
    return next((words for mark, words in PLAIN.items() if mark in why), why)
