"""The parts of an experiment's page that say more than its numbers: alarms, health, other metrics, events with who did
what, and what can be done now."""

import math
from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup

from prudent.base.text import count, counted, minus, number
from prudent.live.drift import FAILURE
from prudent.live.guardrails import Rail
from prudent.service.log.events import Event
from prudent.service.log.follower import metric_means
from prudent.service.log.state import ExperimentState
from prudent.service.pages import charts
from prudent.service.verbs import VERBS, Verb
from prudent.service.views import words
from prudent.service.views.amounts import between, estimate
from prudent.service.views.replies import changed_arms
from prudent.service.views.view import View
from prudent.service.views.words import past_horizon
from prudent.service.work.clocks import alarm_of

ALWAYS = ("Open decisions", "Rewards refused as too late", "Requests that came again")
"""What health says also if there are none."""


AT_ONCE = ", unless outcomes of one kind come sooner than others, since rewards are counted at once"


def alarms(view: View) -> list[str]:
    """What somebody should look at."""
    state, late = view.state, alarm_of(view.experiment.ahead)
    answers = view.answers
    fired = [
        f"A guardrail acted on {state.labels[arm]}: its {beyond(state.rails[rail])}."
        for rail, arm in sorted(state.fired)
    ]
    at_once = state.spec.rewards.window is not None and not state.spec.waits
    warned = ["Rewards are counted at once, so that intervals are wrong if a delay depends on the outcome."] * at_once
    changed = [
        f"{each.sentence} What is said of its mean and cost takes its rewards for draws of one law. This alarm is false"
        f" in at most {100.0 * FAILURE:g} % of experiments{AT_ONCE if at_once else ''}."
        for each in changed_arms(state)
    ]
    wrong = [] if late is None else [late[0].upper() + late[1:]]
    past = [past_horizon(state)] if state.past_horizon else []
    return [*wrong, *past, *fired, *changed, *([str(answers)] if answers.differ else []), *warned]


def beyond(rail: Rail) -> str:
    """What a guardrail watches and its limit: `mean of latency is above 300`."""
    what = rail.watch if rail.q is None else f"{number(rail.q)}-quantile"
    of = "" if rail.metric is None else f" of {rail.metric}"
    return f"{what}{of} is {'above' if rail.below is None else 'below'} {minus(number(rail.limit))}"


def health(view: View, oldest: int | None) -> dict[str, str]:
    """Whether answers come, and come in time."""
    state, row = view.state, view.experiment
    open_ = sum(known.open_asks for known in view.estimates)
    tally = state.tally
    found = {
        "Open decisions": count(open_),
        "The oldest of them": "0" if oldest is None else words.moment(oldest),
        "Rewards reported": count(sum(arm.told for arm in tally)),
        "Windows that closed without one": count(sum(arm.defaulted + arm.expired for arm in tally)),
        "Withdrawn": count(sum(arm.withdrawn for arm in tally)),
        "Rewards refused as too late": count(row.late),
        "Requests that came again": count(row.again),
        "Have rewards changed?": watched(state),
        "Fallbacks by clients": count(state.fell_back),
        "Last event": words.moment(state.at),
    }
    return {name: value for name, value in found.items() if value != "0" or name in ALWAYS}


def watched(state: ExperimentState) -> str:
    """Whether an arm's rewards have changed, as far as that can be said."""
    if state.changed:
        return f"yes, of {counted(len(state.changed), 'arm')}"
    return "not noticed" if all(map(math.isfinite, state.agent.support)) else "unknown without a support"


class Control(NamedTuple):
    """A form for a verb: the arms that can be named, those that can take the place of the fallback arm, and whether a
    new arm is named."""

    verb: Verb
    arms: list[str]
    others: list[str]
    new_arm: bool


def controls(status: str, playing: list[str]) -> list[Control]:
    """What can be done in this state with these arms in play."""
    found = []
    for verb in VERBS:
        kinds = [field.kind for field in verb.fields]
        if verb.by_people and status in verb.states and (len(playing) > 1 or "other" not in kinds):
            arms, others = (playing if kind in kinds else [] for kind in ("arm", "other"))
            found.append(Control(verb, arms, others, "new" in kinds))
    return found


class Happened(NamedTuple):
    """An event in words: when, what, by whom, and its number in the pictures over time, or nothing."""

    when: str
    what: str
    who: str
    seq: int
    number: int | None = None


def happened(
    events: list[Event], labels: list[str], who: Callable[[Event], str], numbers: dict[int, int]
) -> list[Happened]:
    """Events in words, the newest first."""
    return [
        Happened(words.moment(event.at), words.account(event, labels), who(event), event.seq, numbers.get(event.seq))
        for event in reversed(events)
    ]


class MetricFacts(NamedTuple):
    """What is known of another metric: of each arm its name, mean, interval as text, and picture."""

    name: str
    rows: list[tuple[str, str, str, Markup]]
    axis: Markup


def metrics_of(view: View) -> list[MetricFacts]:
    """The other metrics of an experiment; all intervals of all arms of a metric hold together."""
    state, found = view.state, []
    for name in state.spec.metrics:
        known = metric_means(state, name)
        scale = charts.scale_of(known)
        rows = [
            (
                label,
                estimate(mean, pair),
                between(pair),
                charts.interval(scale, mean, pair, f"{name} of {label}", i in state.retired),
            )
            for i, (label, (mean, pair)) in enumerate(zip(state.labels, known, strict=True))
        ]
        found.append(MetricFacts(name, rows, charts.axis(scale, f"Axis of {name}")))
    return found
