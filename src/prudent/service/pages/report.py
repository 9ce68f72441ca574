"""The report of an experiment, for whoever decides: one file that needs nothing else, and prints on two pages."""

import base64
import hashlib
import math
import platform
from collections.abc import Callable
from typing import Any

import numpy as np
from starlette.responses import HTMLResponse, Response

from prudent import __version__
from prudent.base.text import count, counted, minus, number, risk_name
from prudent.live.guardrails import Rail
from prudent.risk.mean_variance import MeanVariance
from prudent.service.log.events import Event
from prudent.service.log.state import ExperimentState
from prudent.service.pages import charts
from prudent.service.pages.app import templates, whole_style
from prudent.service.pages.experiment import arm_pictures, who_of
from prudent.service.pages.forecasting import forecast_section
from prudent.service.pages.parts import Happened, alarms, beyond, metrics_of, watched
from prudent.service.pages.parts import happened as happened_events
from prudent.service.pages.timeline import in_colour
from prudent.service.views import words
from prudent.service.views.amounts import units
from prudent.service.views.facts import facts, progress
from prudent.service.views.view import View
from prudent.service.work.service import Service

FEW = 6
"""Arms of which the forecast tells all."""

MOST = 12
"""Events that are told, so that the report has two pages; the log has all of them."""

PATIENCE = 5.0
"""Seconds that a report waits for its forecast."""

SPANS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000))


def reply(service: Service, view: View) -> Response:
    """The report as an answer. A browser runs nothing of it, and takes no style but its own."""
    style = base64.b64encode(hashlib.sha256(whole_style().encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; frame-ancestors 'none'; base-uri 'none'"
    name = f'inline; filename="{view.experiment.name}.html"'
    headers = {"content-security-policy": policy, "content-disposition": name}
    return HTMLResponse(report(service, view), 200, headers)


def report(service: Service, view: View) -> str:
    """The page, with its style sheet inside."""
    state, row = view.state, view.experiment
    known = facts(view, {})
    shares = [arm.share for arm in known.arms]
    notable = service.store.notable(row.id)
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            facts=known,
            units=known.units,
            note=state.spec.note,
            progress=progress(known),
            question=question(state),
            assumed=assumed(state),
            ended=ended(notable, state.labels),
            happened=happened(view, notable),
            answered=str(view.answers),
            guardrails=guardrails(state, notable),
            alarms=alarms(view),
            meter=charts.split_bar(known.within, known.moving, "Variance within arms, and from moving between them"),
            pictures=arm_pictures(known),
            colours={state.labels[i]: colour for i, colour in in_colour(state.labels, shares, [known.control]).items()},
            forecast=ahead(forecast_section(service.forecasts.of(row.id, state, PATIENCE), known)),
            metrics=metrics_of(view),
            owner=service.tokens.called(notable[0].by) if notable else "",
            deviations=deviations(notable[-MOST:], state.labels, who_of(service)),
            more=max(0, len(notable) - MOST),
            made=words.moment(service.now()),
            versions=f"prudent {__version__}, NumPy {np.__version__}, Python {platform.python_version()}",
            style=whole_style(),
        )
    )


def deviations(events: list[Event], labels: list[str], who: Callable[[Event], str]) -> list[Happened]:
    """What people and guards did, the oldest first."""
    return happened_events(events, labels, who, {})[::-1]


def ahead(forecast: dict[str, Any]) -> dict[str, Any]:
    """The forecast; of many arms, those that have a chance."""
    arms = forecast["arms"]
    some = [arm for arm in arms if len(arms) <= FEW or {arm[1], arm[2]} != {"below 1 %"}]
    return {**forecast, "arms": some[:MOST]}


def question(state: ExperimentState) -> str:
    """What the experiment asks."""
    spec, risk = state.spec, state.agent.risk
    better = "larger" if spec.larger_is_better else "smaller"
    unit = f", in {spec.unit}," if spec.unit else ""
    names = ", ".join(state.labels[:-1]) + f" or {state.labels[-1]}" if len(state.labels) > 1 else state.labels[0]
    start = f"Which is best: {names}?" if len(state.labels) > 1 else f"How good is {names}?"
    meaning = ""
    if isinstance(risk, MeanVariance) and math.isfinite(risk.rho):
        sign = "−" if spec.larger_is_better else "+"
        meaning = f" (the variance of its outcomes {sign} {minus(number(risk.rho))} × their mean)"
    return (
        f"{start} Outcomes{unit} are better if {better}. Arms are compared by their cost under {risk_name(risk)}"
        f"{meaning}; a smaller cost is better."
    )


def assumed(state: ExperimentState) -> list[str]:
    """On what the conclusions rest."""
    low, high = state.agent.support
    spec = state.spec
    law = "The outcomes of an arm are independent draws of one law, which does not change during the experiment."
    seen = {"not noticed": "No change was noticed.", "unknown without a support": "This could not be watched."}
    found = [f"{law} {seen.get(watched(state), 'This does not hold: see the alarm above.')}"]
    if np.isfinite([low, high]).all():
        ends = f"{minus(number(low))} and {minus(number(high))}{units(state).outcome}"
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
    found = [
        f"{words.account(event, labels)} ({words.moment(event.at)})" for event in notable if event.kind == "stopped"
    ]
    return found[-1] if found else ""


def happened(view: View, notable: list[Event]) -> dict[str, str]:
    """Numbers of the whole, and what was not as planned."""
    state, row = view.state, view.experiment
    tally = state.tally
    started = [event.at for event in notable if event.kind == "created"]
    found = {
        "From": words.moment(started[0]) if started else "–",
        "To": words.moment(state.at),
        "Decisions": count(sum(arm.asked for arm in tally)),
        "Outcomes reported": count(sum(arm.told for arm in tally)),
        "Closed without an outcome": count(sum(arm.defaulted + arm.expired for arm in tally)),
        "Not used": count(sum(arm.withdrawn for arm in tally)),
        "Still open": count(sum(known.open_asks for known in view.estimates)),
        "Outcomes from elsewhere": count(sum(arm.outside for arm in tally)),
        "Outcomes refused as too late": count(row.late),
        "Requests that came again": count(row.again),
        "Fallbacks by clients alone": count(state.fell_back),
    }
    for kind, title in (("paused", "Paused"), ("frozen", "Frozen to one arm")):
        times, length = spent(notable, kind, state.at)
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


def guardrails(state: ExperimentState, notable: list[Event]) -> list[tuple[str, str]]:
    """Each limit in words, and what it has done."""
    fired: dict[int, list[str]] = {}
    for event in notable:
        if event.kind == "guardrail" and event.arm is not None:
            text = f"acted on {state.labels[event.arm]}, {words.moment(event.at)}"
            fired.setdefault(event.details["rail"], []).append(text)
    return [(limit(rail), "; ".join(fired.get(i, ["never acted"]))) for i, rail in enumerate(state.rails)]


def limit(rail: Rail) -> str:
    """A guardrail in words."""
    whose = "an arm's" if rail.arm is None else f"{rail.arm}'s"
    then = {"retire": "retire it", "freeze": f"give everybody {rail.to}"}.get(rail.then, f"{rail.then} the experiment")
    return f"If {whose} {beyond(rail)}, {then}"
