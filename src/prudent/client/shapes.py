"""What an answer of the service looks like. Whatever else answers at its address, such as a proxy, is told from it."""

import json
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

LONGEST_SHOWN = 80
"""Characters of something strange that an error repeats."""


class ServiceError(Exception):
    """A request that was refused, or that nobody answered.

    `status` is that of HTTP, or 0 if no answer came; `kind` is the service's name for what went wrong, `detail` says it
    in a sentence, and `problem` holds all members of the answer (RFC 9457), such as the reward that `stands`.
    """

    def __init__(self, status: int, kind: str, detail: str, problem: Mapping[str, object] | None = None) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.problem = status, kind, detail, dict(problem or {})

    @property
    def away(self) -> bool:
        """Whether nothing is wrong with the request, but the service is not there to answer it now."""
        return self.status in (0, 429) or self.status >= 500 or self.kind == STRANGE


STRANGE = "not-the-service"
"""The kind of an error about an answer that the service has not written."""


class Reply(NamedTuple):
    """An answer; the names of its headers are in small letters. `said` is its body, once that has been checked."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    said: Any = None


class Lines(NamedTuple):
    """A line of JSON for each part."""

    each: object


class File(NamedTuple):
    """A file of this name, which is written `into` another."""

    name: str
    into: BinaryIO

    def is_in(self, headers: Mapping[str, str]) -> bool:
        """Whether the answer holds the file."""
        return f'filename="{self.name}"' in headers.get("content-disposition", "")


Shape = Any
"""A type; a dictionary of members and their shapes, others being passed over, and one that may be None may be missing;
a list of one shape, for any number of them; a pair of a shape and how many; a function that says whether it fits; or of
the whole answer None, which is an empty one, Lines or a File."""

TEXT, WHOLE, OBJECT = str | None, int | None, dict | None
STATUS: Shape = {"experiment": str, "status": str}
DECISION: Shape = {"decision": TEXT, "arm": str, "state": str, "at": WHOLE, "due": WHOLE, "why": TEXT}
DECISION |= {"reward": int | float | None, "metrics": OBJECT, "propensity": int | float | None}
RECORDED: Shape = {"arm": str, "reward": int | float}
RESULT: Shape = {"status": int, "recorded": OBJECT, "problem": OBJECT}
PROBLEM: Shape = {"type": str, "detail": str}


def fits(value: object, shape: Shape) -> bool:
    """Whether a value of JSON has this shape."""
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(fits(value.get(name), part) for name, part in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    if isinstance(shape, tuple):
        return isinstance(value, list) and len(value) == shape[1] and all(fits(each, shape[0]) for each in value)
    if callable(shape) and not isinstance(shape, type):
        return bool(shape(value))
    # JSON's true is no number, although Python counts it as one.
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))


def checked(reply: Reply, shape: Shape) -> Reply:
    """The answer, if it is the service's and has this shape, with what it says."""
    if not 200 <= reply.status < 300:
        raise problem_of(reply)
    try:
        if shape is None:
            said, right = None, not reply.body
        elif isinstance(shape, File):
            said, right = None, shape.is_in(reply.headers)
        elif isinstance(shape, Lines):
            said = [_parsed(line) for line in reply.body.splitlines()]
            right = fits(said, [shape.each])
        else:
            said = _parsed(reply.body)
            right = fits(said, shape)
    except (ValueError, RecursionError):
        raise strange(reply) from None
    if not right:
        raise strange(reply)
    return reply._replace(said=said)


def problem_of(reply: Reply) -> ServiceError:
    """What the service says about a request that it refuses, or what can be said for whoever answered instead."""
    try:
        problem = _parsed(reply.body)
    except (ValueError, RecursionError):
        return strange(reply)
    if not fits(problem, PROBLEM):
        return strange(reply)
    return ServiceError(reply.status, problem["type"].rpartition("/")[2], problem["detail"], problem)


def strange(reply: Reply) -> ServiceError:
    """An answer that the service has not written."""
    start = reply.body[:LONGEST_SHOWN].decode("utf-8", "replace")
    more = "…" if len(reply.body) > LONGEST_SHOWN else ""
    said = f"the answer is not that of an experiment service (status {reply.status}): {start!r}{more}"
    if 300 <= reply.status < 400 and "location" in reply.headers:
        said = f"{said}, which leads to {shown(reply.headers['location'])}"
    return ServiceError(0 if reply.status < 300 else reply.status, STRANGE, f"{said}; is the address right?")


def shown(value: object) -> str:
    """A value in a message: in one line, and not long."""
    try:
        text = repr(value)
    except Exception:  # somebody's broken __repr__
        return f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({len(text):,} characters)"


def _parsed(body: bytes) -> Any:
    """What is written in JSON, which is UTF-8 and has no NaN."""
    return json.loads(body.decode(), parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
