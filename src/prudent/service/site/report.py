"""The report of an experiment, for whoever decides: one file that needs nothing else, and prints on two pages."""

import platform

import numpy as np

from prudent import __version__
from prudent.service.fold import Fold
from prudent.service.service import Service, View
from prudent.service.site import charts, words
from prudent.service.site.app import static_file, templates
from prudent.service.site.facts import facts, progress
from prudent.service.site.forecasting import forecast_section
from prudent.service.site.parts import alarms
from prudent.text import count, counted, minus, number

USUAL = ("asked", "activated", "told", "counted", "defaulted", "expired", "withdrawn", "outside", "split", "merged")
"""Kinds of events that are counted, not told one by one."""

PATIENCE = 5.0
"""Seconds that a report waits for its forecast."""

MOST = 200
"""Deviations that are told; of more, the number."""


def report(service: Service, view: View, level: float = 0.95) -> str:
    """The page, with its style sheet inside."""
    fold, row = view.fold, view.experiment
    known = facts(row.name, fold, {}, level)
    notable = service.store.notable(row.id, USUAL)
    told = [(words.moment(event.at), words.told(event, fold.labels)) for event in notable]
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            facts=known,
            progress=progress(known),
            question=question(fold),
            assumed=assumed(fold),
            happened=happened(fold),
            alarms=alarms(fold),
            meter=charts.split_bar(known.within, known.moving, "Variance within arms, and from moving between them"),
            costs=charts.intervals(
                [(arm.cost_value, arm.interval, arm.retired or arm.excluded) for arm in known.arms], "Cost of each arm"
            ),
            forecast=forecast_section(service.forecasts.of(row.id, fold, PATIENCE)),
            deviations=told[:MOST],
            more=max(0, len(told) - MOST),
            made=words.moment(service.now()),
            versions=f"prudent {__version__}, NumPy {np.__version__}, Python {platform.python_version()}",
            style=static_file("style.css").decode(),
        )
    )


def question(fold: Fold) -> str:
    """What the experiment asks."""
    spec, agent = fold.spec, fold.agent
    better = "larger" if spec.larger_is_better else "smaller"
    unit = f", in {spec.unit}" if spec.unit else ""
    names = ", ".join(fold.labels[:-1]) + f" or {fold.labels[-1]}" if len(fold.labels) > 1 else fold.labels[0]
    return (
        f"Which of {names} gives the best trade-off of outcome and risk? Outcomes{unit} are better if {better}; arms"
        f" are compared by their cost under {agent.risk}."
    )


def assumed(fold: Fold) -> list[str]:
    """On what the conclusions rest."""
    low, high = fold.agent.support
    spec = fold.spec
    found = ["The outcomes of an arm are independent draws of one law, which does not change during the experiment."]
    if np.isfinite([low, high]).all():
        found.append(f"Outcomes lie between {minus(number(low))} and {minus(number(high))}; others were refused.")
    if spec.window is None:
        found.append("When an outcome is reported does not depend on what it is.")
    else:
        default = spec.rewards.default
        then = "the decision is left out" if default is None else f"{minus(number(default))} is counted"
        when = "when its window has closed" if spec.waits else "when it is reported"
        found.append(
            f"An outcome is waited for {number(spec.window / 1000.0)} seconds; without one, {then}. It counts {when}."
        )
    if spec.sticky:
        found.append("Each unit has one decision.")
    return found


def happened(fold: Fold) -> dict[str, str]:
    """Numbers of the whole."""
    tally = fold.tally
    return {
        "Decisions": count(sum(arm.asked for arm in tally)),
        "Outcomes reported": count(sum(arm.told for arm in tally)),
        "Windows that closed without an outcome": count(sum(arm.defaulted + arm.expired for arm in tally)),
        "Decisions that were not used": count(sum(arm.withdrawn for arm in tally)),
        "Outcomes from elsewhere": count(sum(arm.outside for arm in tally)),
        "Answers by clients alone": counted(fold.fell_back, "fallback"),
    }
