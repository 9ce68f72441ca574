"""The log of an experiment: its events, and the chain that shows whether one of them was altered.

Events are numbered from 1 without gaps. Their times never decrease. Whatever changes the state of an experiment is an
event, also what happens by itself, such as the end of a window; so the state follows from the log alone.
"""

import hashlib
from typing import Any, NamedTuple

import msgspec

from prudent.service.verbs import VERBS

LINK = 8
"""Bytes of the chain that are stored with each event, to find the first that is wrong. The last link is stored whole,
with the experiment and in its snapshots."""

KINDS = {
    "created": "The experiment was created.",
    "asked": "{arm} was chosen.",
    "activated": "A decision for {arm} is used now.",  # its window begins
    "told": "A reward of {value} came for {arm}.",  # it is counted now, unless rewards wait for their window
    "counted": "The window closed, and the reward {value} of {arm} counts.",
    "defaulted": "The window closed without a reward, so that {value} counts for {arm}.",
    "expired": "The window closed without a reward, and a decision for {arm} was taken back.",
    "withdrawn": "A decision for {arm} was not used.",  # it is taken back
    "outside": "A reward of {value} for {arm} came from outside.",
    "split": "A batch of {count} decisions was divided over the arms.",
    "merged": "The rewards of a batch came.",
    "fell-back": "A client used the fallback arm by itself, {count} times.",
    "changed": "{change}",
    "guardrail": "A guardrail acted on {arm}{because}",  # what it does follows
    **{verb.event: verb.said for verb in VERBS},
}
"""Each kind of event, in the words in which people are told of it."""


Details = dict[str, Any]
"""What few events need besides: an object of JSON."""


class Event(NamedTuple):
    """One line of the log. `decision` is the number of the event that made the decision, `arm` that of the arm, `by`
    that of the token. `value` is a reward, or the probability with which an arm was chosen. `key` and `unit` are
    digests. `body` is JSON, for what few events need."""

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
    def details(self) -> Details:
        """What the body says."""
        return {} if self.body is None else msgspec.json.decode(self.body, type=Details)


START = bytes(32)
"""The chain before the first event."""

_encode = msgspec.json.Encoder().encode


def chained(chain: bytes, event: Event) -> bytes:
    """The chain after this event: SHA-256 of the chain before it and of the event as JSON."""
    return hashlib.sha256(chain + _encode(event)).digest()


def body_of(details: Details) -> str | None:
    """The body of an event, the same text for the same details; none for none."""
    return msgspec.json.encode(details, order="sorted").decode() if details else None


def line_of(event: Event, link: bytes, arms: list[str]) -> Details:
    """The event as people and programs outside read it; nothing is missing that the chain is made of."""
    line: Details = {"seq": event.seq, "at": event.at, "kind": event.kind}
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
