"""The log of an experiment: its events, and the chain that shows whether one of them was altered.

Events are numbered from 1 without gaps. Their times never decrease. Whatever changes the state of an experiment is an
event, also what happens by itself, such as the end of a window; so the state follows from the log alone.
"""

import hashlib
from typing import Any, NamedTuple

import msgspec

LINK = 8
"""Bytes of the chain that are stored with each event, to find the first that is wrong. The last link is stored whole,
with the experiment and in its snapshots."""

KINDS = {
    "created": "the experiment, with its spec",
    "asked": "a decision was made",
    "activated": "a decision that had waited is used: its window begins",
    "told": "a reward came; it is counted now, unless rewards wait for their window",
    "counted": "the window of a decision has closed, and its reward is counted",
    "defaulted": "the window has closed without a reward, and the default is counted",
    "expired": "the window has closed without a reward, and there is no default: the decision is taken back",
    "withdrawn": "the decision was not used, and is taken back",
    "outside": "a reward that no decision asked for",
    "split": "a batch of decisions was divided over the arms",
    "merged": "the rewards of a batch, merged",
    "fell-back": "a client used the fallback arm by itself",
    "arm-added": "a new arm",
    "arm-retired": "an arm is never chosen again",
    "changed": "the rewards of an arm have surely changed; what has, follows",
    "guardrail": "an arm is certainly beyond a limit; what is done about it follows",
    "paused": "decisions are no longer made",
    "frozen": "everybody is given one arm",
    "resumed": "decisions are made as before",
    "forgotten": "who the units were is forgotten",
    "stopped": "the experiment has ended",
}


class Event(NamedTuple):
    """One line of the log. `decision` is the number of the event that made the decision, `arm` that of the arm, `by`
    that of the token. `key` and `unit` are digests. `body` is JSON, for what few events need."""

    seq: int
    at: int
    kind: str
    decision: int | None = None
    arm: int | None = None
    value: float | None = None
    key: bytes | None = None
    unit: bytes | None = None
    body: str | None = None
    by: int = 0

    @property
    def details(self) -> dict[str, Any]:
        """What the body says."""
        found: dict[str, Any] = {} if self.body is None else msgspec.json.decode(self.body)
        return found


START = bytes(32)
"""The chain before the first event."""

_encode = msgspec.json.Encoder().encode


def chained(chain: bytes, event: Event) -> bytes:
    """The chain after this event: SHA-256 of the chain before it and of the event as JSON."""
    return hashlib.sha256(chain + _encode(event)).digest()


def body_of(details: dict[str, Any]) -> str | None:
    """The body of an event, the same text for the same details; none for none."""
    return msgspec.json.encode(details, order="sorted").decode() if details else None


def line_of(event: Event, link: bytes, arms: list[str]) -> dict[str, Any]:
    """The event as people and programs outside read it; nothing is missing that the chain is made of."""
    line: dict[str, Any] = {"seq": event.seq, "at": event.at, "kind": event.kind}
    if event.decision is not None:
        line["decision"] = event.decision
    if event.arm is not None:
        line |= {"arm": event.arm, "label": arms[event.arm] if event.arm < len(arms) else None}
    if event.value is not None:
        line["value"] = event.value
    line |= {name: part.hex() for name in ("key", "unit") if (part := getattr(event, name)) is not None}
    if event.body is not None:
        line["body"] = event.details
    return {**line, "by": event.by, "link": link.hex()}
