"""The report of an experiment, for whoever decides: one file that needs nothing else, and prints on two pages."""

import base64
import hashlib
import math
import platform
from typing import Any

import numpy as np

from prudent import __version__
from prudent.live.rails import Rail
from prudent.risk.mean_variance import MeanVariance
from prudent.service.answers import answers_of
from prudent.service.events import Event
from prudent.service.fold import Fold
from prudent.service.routes import HTML, Reply
from prudent.service.service import Service, View
from prudent.service.site import charts, words
from prudent.service.site.app import static_file, templates
from prudent.service.site.facts import facts, progress, units
from prudent.service.site.forecasting import forecast_section
from prudent.service.site.parts import alarms, beyond, watched
from prudent.text import count, counted, minus, number, risk_name

USUAL = ("asked", "activated", "told", "counted", "defaulted", "expired", "withdrawn", "outside", "split", "merged")
"""Kinds of events that are counted, not told one by one."""

FEW = 6
"""Arms of which the forecast tells all."""

MOST = 12
"""Events that are told, so that the report has two pages; the log has all of them."""

PATIENCE = 5.0
"""Seconds that a report waits for its forecast."""

SPANS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000))


def reply(service: Service, view: View) -> Reply:
    """The report as an answer. A browser runs nothing of it, and takes no style but its own."""
    style = base64.b64encode(hashlib.sha256(static_file("style.css")).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; frame-ancestors 'none'; base-uri 'none'"
    headers = [
        ("content-security-policy", policy),
        ("content-disposition", f'inline; filename="{view.experiment.name}.html"'),
    ]
    return Reply(200, report(service, view).encode(), HTML, headers)


def report(service: Service, view: View, level: float = 0.95) -> str:
    """The page, with its style sheet inside."""
    fold, row = view.fold, view.experiment
    known = facts(row.name, fold, {}, level)
    notable = service.store.notable(row.id, (*USUAL, "fell-back"))
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            facts=known,
            units=known.units,
            note=fold.spec.note,
            progress=progress(known),
            question=question(fold),
            assumed=assumed(fold),
            ended=ended(notable, fold.labels),
            happened=happened(view, notable),
            answered=str(answers_of(fold)),
            guardrails=guardrails(fold, notable),
            alarms=alarms(view),
            meter=charts.split_bar(known.within, known.moving, "Variance within arms, and from moving between them"),
            costs=charts.intervals(
                [(arm.cost_value, arm.interval, arm.retired or arm.excluded) for arm in known.arms], "Cost of each arm"
            ),
            forecast=ahead(forecast_section(service.forecasts.of(row.id, fold, PATIENCE), known.units.cost)),
            deviations=[(words.moment(event.at), words.told(event, fold.labels)) for event in notable[-MOST:]],
            more=max(0, len(notable) - MOST),
            made=words.moment(service.now()),
            versions=f"prudent {__version__}, NumPy {np.__version__}, Python {platform.python_version()}",
            style=static_file("style.css").decode(),
        )
    )


def ahead(forecast: dict[str, Any]) -> dict[str, Any]:
    """The forecast; of many arms, those that have a chance."""
    arms = forecast["arms"]
    some = [arm for arm in arms if len(arms) <= FEW or {arm[1], arm[2]} != {"below 1 %"}]
    return {**forecast, "arms": some[:MOST]}


def question(fold: Fold) -> str:
    """What the experiment asks."""
    spec, risk = fold.spec, fold.agent.risk
    better = "larger" if spec.larger_is_better else "smaller"
    unit = f", in {spec.unit}," if spec.unit else ""
    names = ", ".join(fold.labels[:-1]) + f" or {fold.labels[-1]}" if len(fold.labels) > 1 else fold.labels[0]
    start = f"Which is best: {names}?" if len(fold.labels) > 1 else f"How good is {names}?"
    meaning = ""
    if isinstance(risk, MeanVariance) and math.isfinite(risk.rho):
        sign = "−" if spec.larger_is_better else "+"
        meaning = f" (the variance of its outcomes {sign} {minus(number(risk.rho))} × their mean)"
    return (
        f"{start} Outcomes{unit} are better if {better}. Arms are compared by their cost under {risk_name(risk)}"
        f"{meaning}; a smaller cost is better."
    )


def assumed(fold: Fold) -> list[str]:
    """On what the conclusions rest."""
    low, high = fold.agent.support
    spec = fold.spec
    law = "The outcomes of an arm are independent draws of one law, which does not change during the experiment."
    seen = {"not noticed": "No change was noticed.", "unknown without a support": "This could not be watched."}
    found = [f"{law} {seen.get(watched(fold), 'This does not hold: see the alarm above.')}"]
    if np.isfinite([low, high]).all():
        ends = f"{minus(number(low))} and {minus(number(high))}{units(fold).outcome}"
        found.append(f"Outcomes lie between {ends}; others were refused.")
    if spec.window is None:
        found.append("When an outcome is reported does not depend on what it is.")
    else:
        default = spec.rewards.default
        then = "the decision is left out" if default is None else f"{minus(number(default))} is counted"
        when = "when this time is over" if spec.waits else "when it is reported"
        found.append(f"An outcome is waited for {span(spec.window)}; without one, {then}. It counts {when}.")
    if spec.sticky:
        found.append("Each unit has one decision.")
    return found


def ended(notable: list[Event], labels: list[str]) -> str:
    """When and why it was stopped; empty if it was not."""
    found = [f"{words.told(event, labels)} ({words.moment(event.at)})" for event in notable if event.kind == "stopped"]
    return found[-1] if found else ""


def happened(view: View, notable: list[Event]) -> dict[str, str]:
    """Numbers of the whole, and what was not as planned."""
    fold, row = view.fold, view.experiment
    tally = fold.tally
    started = [event.at for event in notable if event.kind == "created"]
    found = {
        "From": words.moment(started[0]) if started else "–",
        "To": words.moment(fold.at),
        "Decisions": count(sum(arm.asked for arm in tally)),
        "Outcomes reported": count(sum(arm.told for arm in tally)),
        "Closed without an outcome": count(sum(arm.defaulted + arm.expired for arm in tally)),
        "Not used": count(sum(arm.withdrawn for arm in tally)),
        "Still open": count(sum(known.open_asks for known in fold.agent.estimates())),
        "Outcomes from elsewhere": count(sum(arm.outside for arm in tally)),
        "Outcomes refused as too late": count(row.late),
        "Requests that came again": count(row.again),
        "Fallbacks by clients alone": count(fold.fell_back),
    }
    for kind, title in (("paused", "Paused"), ("frozen", "Frozen to one arm")):
        times, length = spent(notable, kind, fold.at)
        found[title] = f"{counted(times, 'time')}, {span(length)}" if times else "never"
    return found


def spent(notable: list[Event], kind: str, now: int) -> tuple[int, int]:
    """How often the experiment was in a state, and for how many milliseconds."""
    times = length = 0
    since: int | None = None
    for event in notable:
        if event.kind in ("paused", "frozen", "resumed", "stopped"):
            length += 0 if since is None else event.at - since
            since = event.at if event.kind == kind else None
            times += event.kind == kind
    return times, length + (0 if since is None else now - since)


def span(milliseconds: float) -> str:
    """`90 s`, `2 h`: a time in the largest unit of which there are two, or one and no rest."""
    for name, size in SPANS:
        if milliseconds >= 2 * size or milliseconds == size:
            return f"{number(milliseconds / size, 3)} {name}"
    return f"{number(milliseconds / 1000.0, 3)} s"


def guardrails(fold: Fold, notable: list[Event]) -> list[tuple[str, str]]:
    """Each limit in words, and what it has done."""
    fired: dict[int, list[str]] = {}
    for event in notable:
        if event.kind == "guardrail" and event.arm is not None:
            text = f"acted on {fold.labels[event.arm]}, {words.moment(event.at)}"
            fired.setdefault(event.details["rail"], []).append(text)
    return [(limit(rail), "; ".join(fired.get(i, ["never acted"]))) for i, rail in enumerate(fold.rails)]


def limit(rail: Rail) -> str:
    """A guardrail in words."""
    whose = "an arm's" if rail.arm is None else f"{rail.arm}'s"
    then = {"retire": "retire it", "freeze": f"give everybody {rail.to}"}.get(rail.then, f"{rail.then} the experiment")
    return f"If {whose} {beyond(rail)}, {then}"
