"""The service over HTTP: from a request to the verb, and back.

Starlette routes requests, reads forms, and sends what is answered. The checks are ours, since their order is promised.

The order is the same for programs and for people: headers, host, path and method, token, origin of a form, rate,
experiment, query, size and kind of the body, the body, the verb. Whatever is wrong becomes a problem of RFC 9457, or a
page for people, never a stack trace. Nothing of what people sent is written to the log.
"""

import asyncio
import contextlib
import logging
import re
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette import routing
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from prudent.base.errors import PrudentError
from prudent.service.http.metrics import Metrics
from prudent.service.http.reading import decoded, read_body, read_fields, read_form, read_query
from prudent.service.http.routes import FORM, JSON, MULTIPART, PROBES, PROBLEM, Call, Route
from prudent.service.http.sessions import COOKIE
from prudent.service.http.single_sign_on import SingleSignOn
from prudent.service.http.tokens import Token
from prudent.service.log.store import StoreError
from prudent.service.messages import NAME
from prudent.service.problems import RequestError
from prudent.service.work.children import in_own_thread

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
ONCE = (
    *(b"host", b"authorization", b"content-length", b"content-type", b"cookie", b"idempotency-key", b"if-match"),
    *(b"origin", b"sec-fetch-site", b"transfer-encoding"),
)
"""Headers that must not come twice, since programs on the way may take the one and we the other."""

LONGEST_HEADER = {b"cookie": 8192, b"content-type": 300, b"content-length": 40}
OTHERS = 1024
"""Bytes of the headers that are read, at most; the others are not looked at."""

UNFINISHED = 32
"""Bodies of one caller that may be on their way at the same time."""

NAMED = {
    "experiment": re.compile(NAME),
    "decision": re.compile(r"[A-Za-z0-9_-]{1,80}"),
    "batch": re.compile(r"[A-Za-z0-9_-]{1,80}"),
    "webhook": re.compile(r"[0-9a-f]{16}"),
    "plan": re.compile(r"[0-9a-f]{16}"),
    "file": re.compile(r"[a-z]{1,40}\.[a-z]{1,4}"),
}
MOST_BUCKETS = 10_000
"""Callers whose requests are counted, before those are left out that have made none for a while."""

LONGEST_DETAIL = 1000
"""Characters of a sentence that says what is wrong."""

ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),  # a page has its own
    (b"referrer-policy", b"no-referrer"),
]
log = logging.getLogger("prudent.service")
encode = msgspec.json.Encoder().encode


class App:
    """Answers requests to `routes` with `service`.

    Parameters
    ----------
    hosts
        Names under which callers reach the service, without ports; another one is refused.
    header_seconds, body_seconds
        How long headers and bodies may take to arrive; the server in front of the application sees to it.
    rate
        Requests a second that a token may make in the long run; twice as many at once.
    access_log
        Whether every request is logged.
    behind_proxy
        Whether a proxy in front speaks TLS, and says in X-Forwarded-For who calls.
    sign_on
        Who people are, if a proxy says so.
    started
        Called when the server begins to answer.
    """

    def __init__(
        self,
        service: Any,
        routes: Iterable[Route],
        *,
        hosts: Iterable[str] = LOOPBACK,
        header_seconds: float = 10.0,
        body_seconds: float = 30.0,
        rate: float = 5000.0,
        access_log: bool = False,
        behind_proxy: bool = False,
        sign_on: SingleSignOn | None = None,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        self.service, self.access_log, self.behind_proxy = service, access_log, behind_proxy
        self.header_seconds, self.body_seconds = header_seconds, body_seconds
        self.metrics = Metrics(service)
        self.hosts = {host.lower().encode() for host in hosts}
        self.rates = Rates(rate)
        self.site: Any = None
        self.routes: list[Route] = []
        self._started, self._sign_on = started, sign_on
        self._unfinished: Counter[Hashable] = Counter()
        self._router = routing.Router(redirect_slashes=False, default=_nothing_here, lifespan=self._lifespan)
        self._add(routes)

    def _add(self, routes: Iterable[Route]) -> None:
        paths: dict[str, dict[str, Route]] = {}
        for route in routes:
            self.routes.append(route)
            paths.setdefault(route.path, {})[route.method] = route
        self._router.routes += [routing.Route(path, _Path(self._answer, methods)) for path, methods in paths.items()]

    def show(self, site: Any) -> "App":
        """Answer for these pages too."""
        self.site = site
        self._add(site.routes)
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What ASGI calls."""
        if scope["type"] == "lifespan":
            return await self._router(scope, receive, send)
        if scope["type"] != "http":
            return None
        began, call = time.perf_counter(), Call(self, Request(scope, receive))
        scope["call"] = call
        try:
            _check_headers(scope["headers"], call.headers)
            if call.path not in PROBES:
                self._check_host(call.headers)
            await self._router(scope, receive, send)
            response = call.response
        except ClientDisconnect:
            return None
        except (Exception, asyncio.CancelledError) as error:
            problem = _problem(error)
            response = self.site.trouble(call, problem) if self._for_people(call) else _as_json(problem, call)
        _add_headers(response)
        if scope["method"] == "HEAD":
            await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
            await send({"type": "http.response.body", "body": b""})
        else:
            await response(scope, receive, send)
        self._observe(call, response.status_code, time.perf_counter() - began)
        return None

    def _for_people(self, call: Call) -> bool:
        """Whether what is wrong is told on a page: at the address of one, or of nothing if a browser asks."""
        if call.route is not None:
            return call.route.page
        looks = b"text/html" in call.headers.get(b"accept", b"") and not call.path.startswith("/v1/")
        return self.site is not None and looks

    def _observe(self, call: Call, status: int, seconds: float) -> None:
        route = call.route
        self.metrics.observe(route, status, seconds)
        if self.access_log:  # of what was asked, only what the table of routes knows
            where = "-" if route is None else f"{route.method} {route.path}"
            who = "-" if call.token is None else call.token.id
            parts = {"token": who, "status": status, "milliseconds": round(1e3 * seconds, 1)}
            parts |= {} if route is None else {"method": route.method, "path": route.path}
            log.info("%s %s %d %.1f ms", who, where, status, 1e3 * seconds, extra=parts)

    async def _answer(self, call: Call, route: Route) -> None:
        """Answer a request for a route, if everything that is checked before it is right."""
        call.take(route)
        scope = call.request.scope
        call.caller = self._caller(scope, call.headers)
        call.token = await self._token(call, route)
        if route.page and scope["method"] == "POST":
            check_from_here(call.headers)
        self._check_names(route, call)
        if route.page:
            call.query = read_fields(scope["query_string"])
        elif route.query is not None or scope["query_string"]:
            call.query = read_query(route, scope["query_string"])
        if route.page and scope["method"] == "POST":
            with self._unfinished_of(call):
                raw = await read_body(call.request, call.headers, route.limit, FORM, MULTIPART)
            call.form, call.files = await in_own_thread(lambda: read_form(call.headers, raw))
        elif route.body is not None:
            with self._unfinished_of(call):
                raw = await read_body(call.request, call.headers, route.limit, JSON)
            call.body = decoded(route, raw)
        call.response = _response(route, await route.does(call))

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:
        """The server starts and stops; with it the service stops, after the last answer."""
        self._started()
        yield
        await in_own_thread(self.close)

    def close(self) -> None:
        """End what is computed for pages, and the service."""
        if self.site is not None:
            self.site.close()
        self.service.close()

    def _check_host(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse a page of some other host whose name was made to lead here (DNS rebinding)."""
        host = headers.get(b"host", b"").lower()
        if host not in self.hosts and re.sub(rb":[0-9]*\Z", b"", host) not in self.hosts:
            fix = "if it is, start the service with --allowed-host"
            raise RequestError("foreign-host", f"the host name of this request is not one of this service; {fix}")

    def _caller(self, scope: Any, headers: Mapping[bytes, bytes]) -> str:
        """The address of who calls: that of the connection, or the one that the proxy in front has written down."""
        client = scope.get("client")
        near: str = client[0] if client else ""
        if not self.behind_proxy:
            return near
        return headers.get(b"x-forwarded-for", b"").rpartition(b",")[2].strip().decode("latin-1") or near

    async def _token(self, call: Call, route: Route) -> Token | None:
        """The token of a request, if it may use this route now; on a page that of its session."""
        tokens = self.service.tokens
        if not (route.scope or route.page):
            return None
        await tokens.current()
        token: Token | None
        if route.page:
            token = await self._person(call)
            if token is None:
                token = await self.service.sessions.find(call.request.cookies.get(COOKIE, ""))
        else:
            token = tokens.find(_bearer(call.headers))
        if token is None:
            if not route.scope:
                return None
            raise RequestError("no-token", "pass a valid token as a header: Authorization: Bearer pru_…")
        if route.scope and not token.allows(route.scope):
            got = ", ".join(sorted(token.scopes)) or "none"
            raise RequestError("not-allowed", f"this needs the scope {route.scope}; the token has {got}")
        if route.whole and token.experiments is not None:
            raise RequestError("not-allowed", "this needs a token for all experiments; the token is for some")
        wait = self.rates.wait(token.number)
        if wait > 0:
            raise RequestError("too-many", f"more than {self.rates.rate:g} requests a second; wait", retry_after=wait)
        return token

    async def _person(self, call: Call) -> Token | None:
        """What somebody may do whom a trusted proxy names; None if there is nobody."""
        person = None if self._sign_on is None else self._sign_on.person(call.request.scope, call.headers)
        if person is None:
            return None
        token: Token | None = await in_own_thread(lambda: self.service.tokens.enrolled(person.name, call.caller))
        if token is None:
            raise RequestError("not-allowed", "you are known here, but may not come in any more")
        return token._replace(scopes=person.scopes)

    def _check_names(self, route: Route, call: Call) -> None:
        """Refuse names that cannot be, and experiments that the token is not for."""
        for kind, name in call.names.items():
            if kind in NAMED and not NAMED[kind].fullmatch(name):
                raise unknown(kind)
        if call.experiment and route.scope and call.token is not None and not call.token.covers(call.experiment):
            raise RequestError("not-allowed", "the token is for other experiments")
        for kind in ("decision", "batch"):
            if kind in call.names:
                try:
                    call.experiment = self.service.experiment_of(call.id)
                except RequestError:
                    raise unknown(kind) from None
                if call.token is not None and not call.token.covers(call.experiment):
                    raise unknown(kind)  # as if there were none: ids tell how many decisions others have made

    @contextlib.contextmanager
    def _unfinished_of(self, call: Call) -> Iterator[None]:
        """While a body is on its way, it is one of those that its caller may send at the same time."""
        who: Hashable = call.caller if call.token is None else call.token.number
        if self._unfinished[who] >= UNFINISHED:
            raise RequestError("too-many", f"{UNFINISHED} bodies of yours are on their way already; finish them first")
        self._unfinished[who] += 1
        try:
            yield
        finally:
            self._unfinished[who] -= 1
            if not self._unfinished[who]:
                del self._unfinished[who]


class Rates:
    """Token buckets: a full one has room for two seconds of requests, or so many, and fills at `rate` a second."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic, *, room: float | None = None) -> None:
        self.rate, self._clock = rate, clock
        self._room = 2.0 * rate if room is None else room
        self._levels: dict[Hashable, tuple[float, float]] = {}

    def left(self, who: Hashable) -> float:
        """The seconds until the bucket is not empty; nothing is taken out."""
        level, then = self._levels.get(who, (self._room, self._clock()))
        return max(0.0, (1.0 - level) / self.rate - (self._clock() - then))

    def wait(self, who: Hashable) -> float:
        """Take one request out of the bucket; if it is empty, the seconds until it is not."""
        now = self._clock()
        if len(self._levels) > MOST_BUCKETS:  # a full one need not be kept
            self._levels = {who: kept for who, kept in self._levels.items() if now - kept[1] < self._room / self.rate}
        level, then = self._levels.get(who, (self._room, now))
        level = min(level + self.rate * (now - then), self._room)
        if level < 1.0:
            return (1.0 - level) / self.rate
        self._levels[who] = level - 1.0, now
        return 0.0


def unknown(kind: str) -> RequestError:
    """There is none of that name."""
    return RequestError("not-found", f"there is no such {kind}")


class _Path:
    """What lies at one path: a route for each method."""

    def __init__(self, answer: Callable[[Call, Route], Awaitable[None]], methods: dict[str, Route]) -> None:
        self._answer, self._methods = answer, methods
        self._allow = sorted({*methods, *({"HEAD"} if "GET" in methods else ())})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if route is None:
            raise RequestError("no-such-method", f"this address takes {', '.join(self._allow)}", allow=self._allow)
        await self._answer(scope["call"], route)


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    raise RequestError("not-found", "there is nothing at this address; /openapi.json lists what there is")


def _response(route: Route, answer: Any) -> Response:
    if isinstance(answer, Response):
        return answer
    again = getattr(answer, "again", False) is True
    return Response(encode(answer), 200 if again else route.statuses[0], media_type=JSON)


def _check_headers(given: list[tuple[bytes, bytes]], headers: Mapping[bytes, bytes]) -> None:
    """Refuse headers that are not clear, or not of a sane size."""
    if len(headers) < len(given):
        names = [name for name, _ in given]
        for name in ONCE:
            if names.count(name) > 1:
                raise _bad_header(name, "must be given once")
    for name in ONCE:
        if name in headers and len(headers[name]) > LONGEST_HEADER.get(name, OTHERS):
            raise _bad_header(name, f"must have at most {LONGEST_HEADER.get(name, OTHERS):,} bytes")
    if headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        raise _bad_header(b"transfer-encoding", "must be chunked, and nothing else")


def _bad_header(name: bytes, words: str) -> RequestError:
    return RequestError("bad-request", f"{name.decode().title()}: {words}", hang_up=True)


def _bearer(headers: Mapping[bytes, bytes]) -> str:
    """The token in the header for it."""
    scheme, _, text = headers.get(b"authorization", b"").partition(b" ")
    return text.strip().decode("ascii", "replace") if scheme.lower() == b"bearer" else ""


def check_from_here(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a form that another site made."""
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        here = site == b"same-origin"
    else:  # a browser from before 2023
        try:
            here = urlsplit(headers.get(b"origin", b"")).netloc == headers.get(b"host", b"-")
        except ValueError:
            here = False
    if not here:
        raise RequestError("not-allowed", "this form does not come from a page of this service")


def _problem(error: BaseException) -> RequestError:
    """What went wrong, as the caller may know it."""
    if isinstance(error, RequestError):
        return error
    if isinstance(error, asyncio.CancelledError):
        return RequestError("unavailable", "the service is stopping; try again in a moment")
    if isinstance(error, msgspec.DecodeError):
        return RequestError("invalid" if isinstance(error, msgspec.ValidationError) else "not-json", str(error))
    if isinstance(error, StoreError):
        log.error("the database does not answer: %s", error)
        return RequestError("unavailable", "the database does not answer; try again")
    if isinstance(error, PrudentError):
        return RequestError("invalid", str(error))
    # Where it broke, but not what the error says: that may hold what the caller wrote.
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("unexpected error: %s\n%s", type(error).__name__, where)
    return RequestError("internal", "an error of the service, which its log describes")


def headers_of(error: RequestError) -> dict[str, str]:
    """The headers of an answer that says what went wrong, for programs and for people."""
    headers = {}
    if error.kind == "no-such-method":
        headers["allow"] = ", ".join(error.extra["allow"])
    if error.status in (429, 503):
        headers["retry-after"] = str(max(1, round(error.extra.get("retry_after", 1))))
    if error.kind in ("too-large", "too-slow") or error.hang_up:  # what is still to come would only be thrown away
        headers["connection"] = "close"
    return headers


def _as_json(error: RequestError, call: Call) -> Response:
    members = error.as_dict(call.path[:200])
    members["detail"] = members["detail"][:LONGEST_DETAIL]
    headers = headers_of(error)
    if error.kind == "no-token":
        headers["www-authenticate"] = "Bearer"
    if call.route is not None and (failure := call.route.failure) is not None:
        return Response(encode(failure.of(call.experiment, error)), failure.status(error.status), headers, JSON)
    return Response(encode(members), error.status, headers, PROBLEM)


def _add_headers(response: Response) -> None:
    """What every answer says, unless it says something of its own."""
    given = {name for name, _ in response.raw_headers}
    response.raw_headers += [pair for pair in ALWAYS if pair[0] not in given]
    if b"etag" not in given and b"cache-control" not in given:
        response.raw_headers.append((b"cache-control", b"no-store"))
