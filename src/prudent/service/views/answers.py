"""Answers to what people ask of an experiment: how it stands, who leads, whether to stop, and what was gained."""

import math
from typing import NamedTuple

from prudent.base.text import count, duration, minus, number
from prudent.live.differences import Difference
from prudent.live.forecast import percent
from prudent.live.stopping import Leader
from prudent.live.summary import Summary
from prudent.risk.mean_variance import MeanVariance
from prudent.service.log.state import ExperimentState
from prudent.service.spec import LEVEL
from prudent.service.verbs import ENDED
from prudent.service.views.amounts import Ends, Units, between, estimate, finite, is_squared, text, units
from prudent.service.views.view import View

STATES = {
    "running": "Running",
    "paused": "Paused",
    "frozen": "Frozen",
    "stopped": "Stopped",
    "archived": "Archived",
}


class Gain(NamedTuple):
    """What was gained against something else: what that is, and how much better outcomes were, for each and in all."""

    against: str
    each: str
    total: str


class Apart(NamedTuple):
    """How an arm differs from the control in something else than its mean, in the unit of outcomes: what it is, by how
    much it is more, and where that lies."""

    what: str
    more: str
    interval: str


def difference(view: View, arm: int, control: int) -> tuple[float | None, Ends | None]:
    """How much larger the mean of an arm is than that of the control: the estimate, and where the truth lies; those of
    all arms hold together, with what `other_differences` says."""
    means = view.estimates[arm].mean, view.estimates[control].mean
    if arm == control or means[0] is None or means[1] is None:
        return None, None
    return means[0] - means[1], finite(getattr(_differences(view, arm, control), "mean", None))


def other_differences(view: View, arm: int, control: int) -> list[Apart]:
    """Those of spread and cost, where the risk is not the mean. A mean-variance has the unit of outcomes once it is
    divided by ρ; with ρ = 0 it is the square of the spread, which says as much."""
    one, other = view.estimates[arm], view.estimates[control]
    values = one.variance, other.variance, one.cost, other.cost
    if arm == control or None in values or len(_compared(view)) == 1:
        return []
    first, second, cost, control_cost = map(float, values)  # type: ignore[arg-type]
    factors = {"deviation": (1.0, "spread", math.sqrt(first) - math.sqrt(second))}
    if "cost" in _compared(view):
        rho = getattr(view.state.agent.risk, "rho", math.inf) if is_squared(view.state) else math.inf
        part = 1.0 / rho if math.isfinite(rho) else 1.0
        factors["cost"] = part, "cost ÷ ρ" if math.isfinite(rho) else "cost", part * (cost - control_cost)
    known, unit, found = _differences(view, arm, control), units(view.state), []
    for name, (part, what, more) in factors.items():
        ends = finite(getattr(known, name, None))
        ends = None if ends is None else unit.scaled_ends((part * ends[0], part * ends[1]))
        found.append(Apart(what, plus(unit.scaled(more), ends), between(ends, sign=True)))
    return found


def _compared(view: View) -> tuple[str, ...]:
    """What of two arms is compared: all three share what may fail."""
    risk = view.state.agent.risk
    if not isinstance(risk, MeanVariance):
        return "mean", "deviation", "cost"
    return ("mean",) if math.isinf(risk.rho) else ("mean", "deviation", "cost")[: 2 + (risk.rho > 0.0)]


def _differences(view: View, arm: int, control: int) -> Difference | None:
    share = (1.0 - LEVEL) / (len(view.state.labels) - 1) / len(_compared(view))
    known = view.differences(view.state.labels[control], 1.0 - share)
    return None if known is None else known[arm]


def plus(value: float | None, ends: Ends | None) -> str:
    """A difference, with its sign."""
    return "–" if value is None else f"{'+' if value > 0.0 else ''}{estimate(value, ends)}"


def leads(view: View, leader: Leader | None, control: str) -> str:
    """Which arm is ahead, and how much more it gives than the control, or if it is that, than the arm behind it."""
    state = view.state
    playing = [i for i, each in enumerate(view.estimates) if each.cost is not None and not each.retired]
    playing.sort(key=lambda i: view.estimates[i].cost or 0.0)
    if leader is not None and leader.arm is not None:
        first = state.numbers[str(leader.arm)]
        playing = [first, *(i for i in playing if i != first)]
    if not playing:
        return "No reward has been counted yet."
    first, unit, known = playing[0], units(state), state.numbers[control]
    joint = view.joint()
    ends = None if joint is None else unit.scaled_ends(finite(joint[first].mean))
    found = (
        f"{state.labels[first]}, with {estimate(unit.scaled(view.estimates[first].mean), ends)}{unit.mean} on average"
    )
    if first == known and len(playing) == 1:
        return f"{found}. It is the control."
    other = playing[1] if first == known else known
    more, ends = difference(view, other if first == known else first, known)
    if more is None:
        return f"{found}.{_chance(view, first)}"
    if first == known:
        more, ends = -more, ends and (-ends[1], -ends[0])
    side, more, ends = "more" if more >= 0.0 else "less", unit.factor * more, unit.scaled_ends(ends)
    much = text(abs(more)) if ends is None else estimate(abs(more), ends)
    found = f"{found}: {much}{unit.difference} {side} than {state.labels[other]}"
    if ends is None:
        return f"{found}.{_chance(view, first)}"
    low, _, high = between(ends, sign=True).partition(" to ")
    return f"{found}. The difference lies between {low} and {high}{unit.difference}.{_chance(view, first)}"


def _chance(view: View, arm: int) -> str:
    """The probability that an arm is the best, if there is one."""
    chance = (view.posterior.best or {}).get(view.state.labels[arm])
    return "" if chance is None else f" It is the best with probability {percent(chance)}."


def may_stop(view: View, leader: Leader | None, pace: float | None) -> str:
    """Whether the experiment may be stopped, and when a decision may come; `pace` is the decisions an hour."""
    if view.state.status in ENDED:
        return "It has stopped."
    if leader is None:
        return "That cannot be said, because the support of rewards is not bounded."
    if leader.arm is None:
        return "Not yet: no reward has been counted." if leader.left else "No arm is in play."
    if not leader.decided:
        left = f"Not yet: {len(leader.left)} of {len(leader.left) + len(leader.excluded)} arms may still be best."
        return f"{left}{_when(leader.rounds, pace)}"
    if view.state.changed:
        return f"Not before you know why rewards have changed. Otherwise {leader.arm} would be best."
    why = "every other arm is excluded" if leader.excluded else "it is the only arm in play"
    paused = "; it is paused now, and need not go on" if view.state.status == "paused" else ""
    return f"Yes. Use {leader.arm}: {why}{paused}."


def _when(rounds: float | None, pace: float | None) -> str:
    """How long a decision may still take."""
    if rounds is None:
        return ""
    if rounds == math.inf:
        return " The estimates are so close that no decision is in sight."
    rough = float(f"{rounds:.2g}")
    time = "" if not pace else f", {duration(3600.0 * rough / pace)} at the present pace"
    return f" If it goes on as now, a decision takes about {count(round(rough))} more decisions{time}."


def gains(view: View, leader: Leader | None, control: str) -> list[Gain]:
    """How much better outcomes were than with an even split, with the control alone, or with the arm that is ahead.

    The mean of what was received is known without error; that of arms lies in their intervals, which hold together.
    """
    state, mean, total = view.state, view.summary().mean, view.summary().rewards
    joint, unit = view.joint(), units(state)
    if joint is None or mean is None:
        return []
    playing = [i for i, known in enumerate(view.estimates) if not known.retired]
    means = {i: joint[i].mean for i in {*playing, state.numbers[control]}}
    found = []

    def add(against: str, some: list[int]) -> None:
        ends = [each for i in some if (each := means.get(i)) is not None]
        if ends and len(ends) == len(some):
            low, high = (sum(part) / len(ends) for part in zip(*ends, strict=True))
            gain = (mean - high, mean - low) if state.spec.larger_is_better else (low - mean, high - mean)
            found.append(Gain(against, better(gain, unit.factor, unit.difference), better(gain, total, unit.outcome)))

    if len(playing) > 1:
        add("Against an even split", playing)
    add(f"Against giving everybody {control}, the control", [state.numbers[control]])
    if leader is not None and leader.arm not in (None, control):
        add(f"Against giving everybody {leader.arm}, which is ahead", [state.numbers[str(leader.arm)]])
    return found


def better(gain: Ends, times: float, unit: str) -> str:
    """`3 to 5 EUR better`: so many times a gain."""
    low, high = (times * end for end in gain)
    if low >= 0.0:
        return f"{between((low, high))}{unit} better"
    if high <= 0.0:
        return f"{between((-high, -low))}{unit} worse"
    worse, _, more = between((low, high)).partition(" to ")
    return f"{worse.removeprefix('−')} worse to {more}{unit} better"


def received(summary: Summary, units: Units) -> str:
    """The mean and the spread of all outcomes."""
    if summary.mean is None or summary.variance is None:
        return "–"
    if units.rate:
        return f"{number(100.0 * summary.mean, 3)} % on average"
    spread = f"standard deviation {minus(number(math.sqrt(summary.variance), 3))}{units.outcome}"
    return f"{text(summary.mean)}{units.outcome} on average, {spread}"


def sentence(state: ExperimentState, leader: Leader | None) -> str:
    """How it stands, in one or two short sentences."""
    status = STATES[state.status]
    if state.frozen_to is not None:
        status = f"Frozen to {state.labels[state.frozen_to]}"
    if leader is None:
        return (
            f"{status}. Which arm is best cannot be said with confidence, since the support of rewards is not bounded."
        )
    sure = f"{100.0 * leader.level:g} % confidence"
    if not leader.left:
        return f"{status}. No arm is in play."
    if leader.arm is None:
        return f"{status}. No reward has been counted yet."
    if leader.decided and not leader.excluded:
        return f"{status}. {leader.arm} is the only arm in play."
    if leader.decided:
        may = "" if state.status in ("paused", *ENDED) else " You may stop."
        certain = f"{leader.arm} is best, with {sure}.{may}"
        doubtful = f"{leader.arm} would be best, with {sure}, but rewards have changed: find the reason first."
        return f"{status}. {doubtful if state.changed else certain}"
    left = f"{len(leader.left)} of {len(leader.left) + len(leader.excluded)} arms may still be best."
    return f"{status}. {leader.arm} is ahead, but nothing is decided: {left}"
