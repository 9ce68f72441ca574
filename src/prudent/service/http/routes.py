"""What the service is made of over HTTP: a row of the table of routes, and a request that has come in.

`api` has the rows of the API, and `pages` those of the pages; all of them go through the same checks, in `app`.
"""

import asyncio
import contextlib
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from prudent.service.http.tokens import Token
from prudent.service.problems import RequestError

JSON = "application/json"
HTML = "text/html; charset=utf-8"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
NDJSON = "application/x-ndjson"
PROBLEM = "application/problem+json"
BODY = 2**20
"""Bytes of a body at most, unless a route says less."""

FORMS = 2**16
"""Bytes of a form without a file."""

PROBES = ("/healthz", "/readyz")
"""Whoever watches the service may call these by any name of its host."""


IDS = ("decision", "batch", "token", "webhook", "problem", "plan")
"""What is named in a path besides an experiment."""


class Call:
    """A request that may be answered: whose it is, of which experiment, and what it says.

    `names` are those in the path. `query` and `body` are of the types of the route; of a page `query` and `form` are
    fields and `files` what was uploaded, by their fields: how each was called, and what it holds.
    """

    route: "Route | None" = None
    token: Token | None = None
    names: Mapping[str, str] = {}
    experiment = id = caller = ""
    query: Any = None
    body: Any = None
    form: dict[str, str]
    files: dict[str, tuple[str, bytes]]
    response: Response

    def __init__(self, app: Any, request: Request) -> None:
        self.app, self.service, self.request = app, app.service, request
        self.headers: Mapping[bytes, bytes] = dict(request.scope["headers"])
        self.path: str = request.scope["path"]

    @property
    def address(self) -> str:
        """Where somebody who has to sign in first wants to be: the page with its query, or that of the form."""
        if self.request.scope["method"] == "POST":
            return f"/e/{self.experiment}" if self.experiment else self.path
        query = self.request.scope["query_string"].decode("latin-1")
        return f"{self.path}?{query}" if query else self.path

    def take(self, route: "Route") -> None:
        """This is the route of the request, and what its path names."""
        self.route, self.names = route, self.request.path_params
        self.experiment = self.names.get("experiment", "")
        self.id = next((self.names[kind] for kind in IDS if kind in self.names), "")

    def may(self, scope: str, experiment: str | None = None) -> bool:
        """Whether this caller may do it."""
        token = self.token
        return token is not None and token.allows(scope) and (experiment is None or token.covers(experiment))

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[threading.Event]:
        """What is set when the caller hangs up. The request must have been read."""
        gone = threading.Event()

        async def wait() -> None:
            while (await self.request.receive())["type"] != "http.disconnect":
                pass
            gone.set()

        waiting = asyncio.ensure_future(wait())
        try:
            yield gone
        finally:
            gone.set()  # also if the request was cut off
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await waiting

    def _takes(self, header: str) -> bool:
        return self.route is not None and header in self.route.headers

    @property
    def by(self) -> int:
        """The number of the token, for the log."""
        return 0 if self.token is None else self.token.number

    @property
    def key(self) -> str | None:
        """The Idempotency-Key, if there is one: it makes a second try of the same request harmless."""
        given = self.headers.get(b"idempotency-key")
        if given is None or not self._takes("Idempotency-Key"):
            return None
        if not 1 <= len(given) <= 200 or not all(32 <= byte < 127 for byte in given):
            raise RequestError("bad-request", "Idempotency-Key: must be from 1 to 200 printable ASCII characters")
        return given.decode()

    @property
    def if_match(self) -> int | None:
        """The number of the event that the experiment must have come to, if the request says so."""
        given = self.headers.get(b"if-match", b"*").strip()
        if given == b"*" or not self._takes("If-Match"):
            return None
        seq = given.strip(b'"')
        if not re.fullmatch(rb"[0-9]+", seq) or len(seq) > 18 or given != b'"%s"' % seq:
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
    `does` answers with a struct, or with a response. `answer` is the struct's type, or the media types of a response.
    The first of `statuses` is usual; an answer with `again` has 200. `problems` are kinds beyond those that `kinds`
    finds.
    A `page` is for people: the token comes from a session, errors are pages, and a POST is a form of at most `limit`
    bytes from a page of this service.
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
    page: bool = False
    failure: Any = None
    """The body of an answer that says what went wrong, if another protocol has its own: a struct, made by its `of`,
    with a `status` in place of each of ours."""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """What is named in the path, in its order."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))

    @property
    def parameter(self) -> str:
        """The one thing that is named in a path of the API, or nothing."""
        return next(iter(self.parameters), "")

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
