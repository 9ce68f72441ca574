"""Events of the log in words, for people."""

from datetime import UTC, datetime
from typing import Any

from prudent.base.text import count, minus, number
from prudent.live.drift import Change
from prudent.service.log.events import KINDS, Event
from prudent.service.log.state import ExperimentState


def moment(at: int) -> str:
    """A time of the log, as people write it."""
    return datetime.fromtimestamp(at / 1000.0, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(at: int) -> str:
    """The day of a time of the log."""
    return datetime.fromtimestamp(at / 1000.0, UTC).strftime("%Y-%m-%d")


def account(event: Event, labels: list[str]) -> str:
    """What happened, in a sentence."""
    arm = labels[event.arm] if event.arm is not None and event.arm < len(labels) else ""
    details = event.details
    reason = details.get("reason", "").removeprefix("guardrail: ")
    return KINDS[event.kind].format(
        arm=details.get("arm", arm),
        value="" if event.value is None else minus(number(event.value)),
        count=count(details.get("count", 0)),
        because=f": {reason}" if reason else "",
        fallback=f" ({details['fallback']} is the fallback arm from now on)" if "fallback" in details else "",
        change=change_in_words(arm, details) if event.kind == "changed" else "",
    )


def change_in_words(arm: str, details: dict[str, Any]) -> str:
    """That the rewards of an arm have changed, and how, by the details of its event."""
    change = Change(**{name: details[name] for name in Change._fields})
    return f"The rewards of {arm} have changed: {change}."


def past_horizon(state: ExperimentState) -> str:
    """What it means that more decisions were made than were planned; empty if there were not."""
    if not state.past_horizon:
        return ""
    made, planned = sum(tally.asked for tally in state.tally), state.spec.horizon or 0
    return (
        f"{count(made)} decisions were made, and {count(planned)} were planned. The policy goes on, but it was chosen"
        " for the plan: stop the experiment, or plan a longer one."
    )
