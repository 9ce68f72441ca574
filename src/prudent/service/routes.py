"""What the API is made of: a route, a request that has come in, a reply. `api` has the table of routes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct

from prudent.service.problems import RequestError
from prudent.service.tokens import Token

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
NDJSON = "application/x-ndjson"
PROBLEM = "application/problem+json"
BODY = 2**20
"""Bytes of a body at most, unless a route says less."""

FORMS = 2 * BODY
"""Bytes of a form with a file."""

PROBES = ("/healthz", "/readyz")
"""Whoever watches the service may call these by any name of its host."""


class Reply(NamedTuple):
    """An answer that is more than a body in JSON."""

    status: int
    body: bytes | AsyncIterator[bytes] = b""
    media: str = JSON
    headers: Sequence[tuple[str, str]] = ()


class Call:
    """A request that may be answered: whose it is, of which experiment, and what it says."""

    __slots__ = ("app", "body", "experiment", "headers", "id", "query", "service", "token")

    def __init__(self, app: Any, headers: Mapping[bytes, bytes], token: Token | None) -> None:
        self.app, self.service, self.headers, self.token = app, app.service, headers, token
        self.experiment, self.id = "", ""
        self.query: Any = None
        self.body: Any = None

    @property
    def by(self) -> int:
        """The number of the token, for the log."""
        return 0 if self.token is None else self.token.number

    @property
    def key(self) -> str | None:
        """The Idempotency-Key, if there is one: it makes a second try of the same request harmless."""
        given = self.headers.get(b"idempotency-key")
        if given is None:
            return None
        if not 1 <= len(given) <= 200 or not all(32 <= byte < 127 for byte in given):
            raise RequestError("bad-request", "Idempotency-Key: must be from 1 to 200 printable ASCII characters")
        return given.decode()

    @property
    def if_match(self) -> int | None:
        """The number of the event that the experiment must have come to, if the request says so."""
        given = self.headers.get(b"if-match", b"*").strip()
        if given == b"*":
            return None
        seq = given.strip(b'"')
        if not seq.isdigit() or len(seq) > 18 or given != b'"%s"' % seq:
            fix = 'pass the ETag of GET /v1/experiments/{experiment}, for instance "17" with its quotation marks'
            raise RequestError("bad-request", f"If-Match: cannot be understood; {fix}")
        return int(seq)

    def has(self, tag: str) -> bool:
        """Whether the caller has this version already (If-None-Match)."""
        given = self.headers.get(b"if-none-match")
        if given is None:
            return False
        return given.strip() == b"*" or tag.encode() in [part.strip().removeprefix(b"W/") for part in given.split(b",")]


@dataclass(frozen=True, eq=False)
class Route:
    """One verb on one path.

    `scope` is what the token must allow: one of `tokens.SCOPES`, or "" if no token is needed.
    `does` answers with a struct, or with a `Reply`. `answer` is the struct's type, or the media types of a reply. The
    first of `statuses` is usual; an answer with `again` has 200. `problems` are kinds beyond those that `kinds` finds.
    """

    method: str
    path: str
    scope: str
    does: Callable[[Call], Awaitable[Any]]
    body: Any = None
    answer: Any = None
    statuses: tuple[int, ...] = (200,)
    problems: tuple[str, ...] = ()
    query: type[Struct] | None = None
    headers: tuple[str, ...] = ()
    limit: int = BODY
    whole: bool = False
    """Whether a token for some experiments only is refused."""

    @cached_property
    def parameter(self) -> str:
        """What is named in the path: an experiment, a decision, a batch, a token, a problem, or nothing."""
        return self.path.partition("{")[2].partition("}")[0]

    @property
    def kinds(self) -> set[str]:
        """Every problem that it may answer with."""
        found = {"bad-request", "invalid", *self.problems}
        if self.path not in PROBES:
            found |= {"foreign-host"}
        if self.scope:
            found |= {"no-token", "not-allowed", "too-many", "unavailable"}
        if self.parameter:
            found |= {"not-found"}
        if self.body is not None:
            found |= {"not-json", "too-large", "too-slow", "not-json-type", "busy"}
        return found
