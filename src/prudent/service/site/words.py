"""Events of the log in words, for people."""

from datetime import UTC, datetime
from typing import Any

from prudent.service.answers import change_in_words
from prudent.service.events import Event
from prudent.text import count, minus, number


def moment(at: int) -> str:
    """A time of the log, as people write it."""
    return datetime.fromtimestamp(at / 1000.0, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def told(event: Event, labels: list[str]) -> str:
    """What happened."""
    arm = labels[event.arm] if event.arm is not None and event.arm < len(labels) else ""
    value = "" if event.value is None else minus(number(event.value))
    details: dict[str, Any] = event.details
    because = f": {details['reason'].removeprefix('guardrail: ')}" if details.get("reason") else ""
    fallback = f" ({details['fallback']} is the fallback arm from now on)" if "fallback" in details else ""
    said = {
        "created": "The experiment was created.",
        "asked": f"{arm} was chosen.",
        "activated": f"A decision for {arm} is used now.",
        "told": f"A reward of {value} came for {arm}.",
        "counted": f"The window closed, and the reward {value} of {arm} counts.",
        "defaulted": f"The window closed without a reward, so that {value} counts for {arm}.",
        "expired": f"The window closed without a reward, and a decision for {arm} was taken back.",
        "withdrawn": f"A decision for {arm} was not used.",
        "outside": f"A reward of {value} for {arm} came from outside.",
        "split": f"A batch of {count(details.get('count', 0))} decisions was divided over the arms.",
        "merged": "The rewards of a batch came.",
        "fell-back": f"A client used the fallback arm by itself, {count(details.get('count', 0))} times.",
        "arm-added": f"{details.get('arm', '')} was added{because}",
        "arm-retired": f"{arm} was retired{because}{fallback}",
        "changed": change_in_words(arm, details) if event.kind == "changed" else "",
        "guardrail": f"A guardrail acted on {arm}{because}",
        "paused": f"Paused{because}",
        "frozen": f"Frozen to {arm}{because}",
        "resumed": f"Resumed{because}",
        "forgotten": f"Who the units were was forgotten{because}",
        "stopped": f"Stopped{because}",
    }
    return said[event.kind]
