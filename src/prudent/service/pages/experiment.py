"""All that the page of an experiment says, gathered from a view and from what the database keeps beside it."""

from collections.abc import Callable
from typing import Any

import msgspec

from prudent.service.log.events import Event
from prudent.service.log.follower import rows_of
from prudent.service.pages import charts
from prudent.service.pages.forecasting import forecast_section
from prudent.service.pages.parts import alarms, controls, happened, health, metrics_of
from prudent.service.pages.settings import AXES, EVENTS, PERIODS, Settings
from prudent.service.pages.timeline import (
    charts_of,
    charts_of_metric,
    charts_of_risk,
    in_colour,
    points_of,
    present_pace,
    timeline,
)
from prudent.service.views.facts import Facts, control_of, facts, progress
from prudent.service.views.view import View
from prudent.service.views.words import moment

LATELY = 1000
"""The last decisions, whose shares are shown beside those of all."""

SHOWN = 30
"""The last events that are shown."""

MARKED = 12
"""Events that have numbers in the pictures over time."""


def shown(service: Any, view: View, settings: Settings) -> dict[str, Any]:
    """What the page says, as its address asks for it."""
    state, number = view.state, view.experiment.id
    recent = service.recent(number, LATELY)
    now = state.seq, state.at, msgspec.json.encode(rows_of(state, view.estimates, view.joint())).decode()
    series = [*(row for row in service.store.series(number) if row[0] < state.seq), now]
    pace = present_pace(points_of(series, len(state.labels), Settings(axis="time").period(state.at)))
    known = facts(view, recent, settings.control or None, pace)
    known_events = [event for event in service.store.notable(number) if event.seq <= state.seq]
    notable = known_events[-SHOWN:]
    told = [event for event in notable if event.kind != "created"][-MARKED:]
    marks = [(event, i) for i, event in enumerate(told, 1)]
    colours = in_colour(state.labels, [arm.share for arm in known.arms], _first(view, known.control))
    points = points_of(series, len(state.labels), settings.period(state.at))
    line = None
    if len(points) > 1:
        over = {event.arm: event.seq for event in known_events if event.kind == "arm-retired" and event.arm is not None}
        line = timeline(points, state.labels, colours, marks, known.units, settings, known.squared)
        line = line._replace(over=over)
    events = notable
    if settings.events == "all":
        events = [event for event, _ in service.store.events(number, max(0, state.seq - SHOWN), SHOWN)]
    numbers = {event.seq: i for event, i in marks} if line else {}
    first = service.store.events(number, 0, 1)[0][0]
    return {
        "facts": known,
        "pictures": arm_pictures(known),
        "colours": {state.labels[i]: colour for i, colour in colours.items()},
        "alarms": alarms(view),
        "health": health(view, service.store.oldest_open(number)),
        "lately": sum(recent.values()),
        "meter": charts.split_bar(known.within, known.moving, "Variance within arms, and from moving between them"),
        "forecast": forecast_section(service.forecasts.of(number, state), known),
        "metrics": [
            (each, [] if line is None else charts_of_metric(line, each.name, i))
            for i, each in enumerate(metrics_of(view))
        ],
        "charts": [] if line is None else charts_of(line, state.numbers[known.control]),
        "risk_charts": [] if line is None else charts_of_risk(line),
        "settings": settings,
        "choices": {"axes": AXES, "periods": PERIODS, "events": EVENTS, "controls": state.labels},
        "events": happened(events, state.labels, who_of(service), numbers),
        "controls": controls(known.state, [arm.label for arm in known.arms if not arm.retired]),
        "progress": progress(known),
        "began": moment(first.at),
        "owner": service.tokens.called(first.by),
        "last_event": moment(state.at),
    }


def _first(view: View, control: str) -> list[str]:
    """Arms that have a colour in any case: the control, and the one that is ahead."""
    leader = view.leader()
    ahead = [] if leader is None or leader.arm is None else [str(leader.arm)]
    return [control, *ahead, control_of(view.state)]


def who_of(service: Any) -> Callable[[Event], str]:
    """Who did something, as people call it."""

    def who(event: Event) -> str:
        if event.kind in ("guardrail", "changed") or event.details.get("reason", "").startswith("guardrail: "):
            return "a guardrail" if event.kind != "changed" else "the service"
        return str(service.tokens.called(event.by)) or "the machine of the service"

    return who


def arm_pictures(known: Facts) -> dict[str, Any]:
    """The pictures in the table of arms: shares, means, and differences from the control, each on a common axis."""
    means = charts.scale_of([(arm.mean_value, arm.mean_ends) for arm in known.arms])
    more = charts.scale_of([(arm.more_value, arm.more_ends) for arm in known.arms], 0.0)
    unit, rate = known.units.outcome, known.units.rate
    word, behind = ("Rate", " %") if rate else ("Mean", "")
    return {
        "share": {arm.label: charts.bar(arm.share, arm.recent, f"Share of {arm.label}") for arm in known.arms},
        "mean": {
            arm.label: charts.interval(means, arm.mean_value, arm.mean_ends, f"{word} of {arm.label}", arm.out)
            for arm in known.arms
        },
        "more": {
            arm.label: charts.interval(
                more, arm.more_value, arm.more_ends, f"How much more than {known.control}: {arm.label}", arm.out, 0.0
            )
            for arm in known.arms
        },
        "mean_axis": charts.axis(means, f"Axis of {word.lower()}s{unit}", behind),
        "more_axis": charts.axis(more, f"Axis of differences{unit}"),
    }
