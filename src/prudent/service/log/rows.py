"""The tables that follow from the log: what became of each decision, and which keys were used.

A row follows from an event by one function, which the writer calls and whoever verifies. So the tables hold nothing
that the log does not, and can be compared with it.
"""

import msgspec

from prudent.service.log.events import Event
from prudent.service.log.store import Row, UsedKey
from prudent.service.spec import Spec

DIGEST = 16
"""Bytes of a digest: two different keys have the same one with probability 10⁻²⁶ among 10⁶. In an event the digest of
its request comes after that of its key."""

FINAL = {"done", "defaulted", "expired", "withdrawn"}
"""States that a decision keeps."""


def row_after(spec: Spec, row: Row | None, event: Event) -> Row:
    """The decision or batch of an event after it; `row` is what it was before."""
    if event.kind == "split":
        return Row(event.seq, event.at, None, "open", body=event.body)
    if row is None:
        later = event.body is not None and "later" in event.details
        state, due = ("waiting", None) if later else ("open", _due(spec, event))
        return Row(event.seq, event.at, event.arm, state, due, propensity=event.value)
    if event.kind == "activated":
        return row._replace(state="open", due=_due(spec, event))
    if event.kind == "merged":
        given = msgspec.json.decode(row.body or "{}")
        return row._replace(state="done", body=_text({**given, "merged": event.details["arms"]}))
    state, due, value, body = event.kind, None, row.value, row.body  # withdrawn and expired are events and states
    if event.kind == "told":
        body = None if event.body is None else _text(event.details["metrics"])
        state, due, value = ("told", row.due, event.value) if spec.waits else ("done", None, event.value)
    elif event.kind == "counted":
        state = "done"
    elif event.kind == "defaulted":
        value = event.value
    return row._replace(state=state, due=due, value=value, body=body)


def used_keys_of(spec: Spec, event: Event) -> list[UsedKey]:
    """The key that an event used, and the sticky unit that it decided for."""
    found = []
    if event.key is not None:
        many = 1 if event.body is None else event.details.get("many", 1)
        found.append(UsedKey(event.key[:DIGEST], event.seq, many, event.key[DIGEST:]))
    if event.unit is not None and spec.sticky:
        found.append(UsedKey(event.unit, event.seq, 1, None))
    return found


def _due(spec: Spec, event: Event) -> int | None:
    return None if spec.window is None else event.at + spec.window


def _text(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
