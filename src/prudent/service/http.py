"""The service over HTTP: from the bytes of a request to the verb, and back. An ASGI application without a framework.

The order is: host, path and method, token, rate, experiment, query, body, verb. Whatever is wrong becomes a problem of
RFC 9457, never a stack trace. Nothing of what people sent is written to the log.
"""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec

from prudent.errors import PrudentError
from prudent.service.metrics import Metrics
from prudent.service.problems import RequestError
from prudent.service.reading import GoneError, Message, Receive, decoded, read_body, read_query
from prudent.service.routes import FORM, FORMS, MULTIPART, PROBES, PROBLEM, Call, Reply, Route
from prudent.service.store import StoreError
from prudent.service.tokens import Token

Send = Callable[[Message], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
ONCE = (b"host", b"authorization", b"content-length", b"content-type", b"idempotency-key", b"if-match")
"""Headers that must not come twice, since programs on the way may take the one and we the other."""

NAMED = {
    "experiment": re.compile(r"[a-z0-9][a-z0-9-]{0,62}"),
    "decision": re.compile(r"[A-Za-z0-9_-]{1,80}"),
    "batch": re.compile(r"[A-Za-z0-9_-]{1,80}"),
}
LONGEST_DETAIL = 1000
"""Characters of a sentence that says what is wrong."""

CLOSED = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    CLOSED,
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
    site
        Answers for the pages, if there are any.
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
        site: Any = None,
    ) -> None:
        self.site = site
        self.service, self.access_log = service, access_log
        self.header_seconds, self.body_seconds = header_seconds, body_seconds
        self.metrics = Metrics(service)
        self.hosts = {host.lower().encode() for host in hosts}
        self.rates = Rates(rate)
        self.recent: dict[tuple[str, float], tuple[int, bytes]] = {}  # estimates, with their event
        self.paths: dict[str | None, Any] = {}  # a tree: the parts of a path, None for a name, then "" for its methods
        for route in routes:
            node = self.paths
            for part in route.path.split("/")[1:]:
                node = node.setdefault(None if part.startswith("{") else part, {})
            node.setdefault("", {})[route.method] = route

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """What ASGI calls."""
        if scope["type"] == "lifespan":
            return await self._live(receive, send)
        if scope["type"] != "http":
            return None
        began, route, who = time.perf_counter(), None, None
        try:
            headers = self._headers(scope)
            if not scope["path"].startswith("/v1/") and self.site is not None and self.site.takes(scope["path"]):
                self._check_host(headers)
                try:
                    body = (
                        await read_body(receive, headers, FORMS, FORM, MULTIPART) if scope["method"] == "POST" else b""
                    )
                    reply = await self.site.answer(scope, headers, body)
                except RequestError as error:
                    reply = self.site.refused(scope, headers, error)
                return await _send(send, reply, scope["method"])
            route, name = self._route(scope)
            if route.path not in PROBES:
                self._check_host(headers)
            token = who = await self._token(route, headers) if route.scope else None
            call = self._call(route, name, headers, token)
            if route.query is not None or scope["query_string"]:
                call.query = read_query(route, scope["query_string"])
            if route.body is not None:
                call.body = decoded(route, await read_body(receive, headers, route.limit))
            reply = _reply(route, await route.does(call))
        except GoneError:
            return None
        except Exception as error:
            reply = _problem(error, scope)
        await _send(send, reply, scope["method"])
        seconds = time.perf_counter() - began
        self.metrics.observe(route, reply.status, seconds)
        if self.access_log:  # of what was asked, only what the table of routes knows
            where = "-" if route is None else f"{route.method} {route.path}"
            log.info("%s %s %d %.1f ms", "-" if who is None else who.id, where, reply.status, 1e3 * seconds)
        return None

    async def _live(self, receive: Receive, send: Send) -> None:
        """The server starts and stops; with it the service stops, after the last answer."""
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                if self.site is not None:
                    await asyncio.to_thread(self.site.planning.close)
                await asyncio.to_thread(self.service.close)
                return await send({"type": "lifespan.shutdown.complete"})
            await send({"type": "lifespan.startup.complete"})

    def _headers(self, scope: Any) -> dict[bytes, bytes]:
        given = scope["headers"]
        headers = dict(given)
        if len(headers) < len(given):
            names = [name for name, _ in given]
            for name in ONCE:
                if names.count(name) > 1:
                    raise RequestError("bad-request", f"{name.decode().title()}: must be given once")
        return headers

    def _route(self, scope: Any) -> tuple[Route, str]:
        """The route of a path, and the name in it."""
        node, name = self.paths, ""
        for part in scope["path"].split("/")[1:]:
            if part and part in node:
                node = node[part]
            else:
                node, name = node.get(None, {}) if part else {}, part
        methods: dict[str, Route] | None = node.get("")
        if methods is None:
            raise RequestError("not-found", "there is nothing at this address; /openapi.json lists what there is")
        found = methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if found is None:
            allow = sorted({*methods, *({"HEAD"} if "GET" in methods else ())})
            raise RequestError("no-such-method", f"this address takes {', '.join(allow)}", allow=allow)
        return found, name

    def _check_host(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse a page of some other host whose name was made to lead here (DNS rebinding)."""
        host = headers.get(b"host", b"").lower()
        if host not in self.hosts and re.sub(rb":\d*$", b"", host) not in self.hosts:
            fix = "if it is, start the service with --allowed-host"
            raise RequestError("foreign-host", f"the host name of this request is not one of this service; {fix}")

    async def _token(self, route: Route, headers: Mapping[bytes, bytes]) -> Token:
        """The token of a request, if it may use this route now."""
        tokens = self.service.tokens
        await tokens.current()
        scheme, _, text = headers.get(b"authorization", b"").partition(b" ")
        token: Token | None = tokens.find(
            text.strip().decode("ascii", "replace") if scheme.lower() == b"bearer" else ""
        )
        if token is None:
            raise RequestError("no-token", "pass a valid token as a header: Authorization: Bearer pru_…")
        if not token.allows(route.scope):
            got = ", ".join(sorted(token.scopes))
            raise RequestError("not-allowed", f"this needs the scope {route.scope}; the token has {got}")
        if route.whole and token.experiments is not None:
            raise RequestError("not-allowed", "this needs a token for all experiments; the token is for some")
        wait = self.rates.wait(token.number)
        if wait > 0:
            raise RequestError("too-many", f"more than {self.rates.rate:g} requests a second; wait", retry_after=wait)
        return token

    def _call(self, route: Route, name: str, headers: Mapping[bytes, bytes], token: Token | None) -> Call:
        """The request with the experiment that it is about, if the token is for that."""
        call = Call(self, headers, token)
        kind = route.parameter
        if kind in NAMED and not NAMED[kind].fullmatch(name):
            raise unknown(kind)
        if kind == "experiment":
            call.experiment = name
            if token is not None and not token.covers(name):
                raise RequestError("not-allowed", "the token is for other experiments")
        else:
            call.id = name
        if kind in ("decision", "batch"):
            try:
                call.experiment = self.service.experiment_of(name)
            except RequestError:
                raise unknown(kind) from None
            if token is not None and not token.covers(call.experiment):
                raise unknown(kind)  # as if there were none: ids tell how many decisions others have made
        return call


class Rates:
    """Token buckets: a full one has room for two seconds of requests, and fills at `rate` a second."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._levels: dict[int, tuple[float, float]] = {}

    def wait(self, who: int) -> float:
        """Take one request out of the bucket; if it is empty, the seconds until it is not."""
        now = self._clock()
        level, then = self._levels.get(who, (2.0 * self.rate, now))
        level = min(level + self.rate * (now - then), 2.0 * self.rate)
        if level < 1.0:
            return (1.0 - level) / self.rate
        self._levels[who] = level - 1.0, now
        return 0.0


def unknown(kind: str) -> RequestError:
    """There is none of that name."""
    return RequestError("not-found", f"there is no such {kind}")


def _reply(route: Route, answer: Any) -> Reply:
    if isinstance(answer, Reply):
        return answer
    again = getattr(answer, "again", False) is True
    return Reply(200 if again else route.statuses[0], encode(answer))


def _problem(error: Exception, scope: Any) -> Reply:
    """What went wrong, as the caller may know it."""
    if isinstance(error, msgspec.ValidationError):
        error = RequestError("invalid", str(error))
    elif isinstance(error, msgspec.DecodeError):
        error = RequestError("not-json", str(error))
    elif isinstance(error, StoreError):
        log.error("the database does not answer: %s", error)
        error = RequestError("unavailable", "the database does not answer; try again")
    elif isinstance(error, PrudentError) and not isinstance(error, RequestError):
        error = RequestError("invalid", str(error))
    elif not isinstance(error, RequestError):
        log.error("unexpected error", exc_info=error)
        error = RequestError("internal", "an error of the service, which its log describes")
    members = error.as_dict(scope["path"][:200])
    members["detail"] = members["detail"][:LONGEST_DETAIL]
    headers = []
    if error.kind == "no-token":
        headers.append(("www-authenticate", "Bearer"))
    if error.kind == "no-such-method":
        headers.append(("allow", ", ".join(error.extra["allow"])))
    if error.status in (429, 503):
        headers.append(("retry-after", str(max(1, round(error.extra.get("retry_after", 1))))))
    if error.kind in ("too-large", "too-slow"):  # what is still to come would only be thrown away
        headers.append(("connection", "close"))
    return Reply(error.status, encode(members), PROBLEM, headers)


async def _send(send: Send, reply: Reply, method: str) -> None:
    headers = [*ALWAYS, (b"content-type", reply.media.encode())] if reply.status not in (204, 304) else [*ALWAYS]
    headers += [(name.encode(), value.encode()) for name, value in reply.headers]
    if any(name == "content-security-policy" for name, _ in reply.headers):
        headers.remove(CLOSED)  # a page has its own
    if not any(name == "etag" for name, _ in reply.headers):
        headers.append((b"cache-control", b"no-store"))
    if isinstance(reply.body, bytes):
        if reply.status not in (204, 304):
            headers.append((b"content-length", b"%d" % len(reply.body)))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else reply.body})
        return
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if method != "HEAD":
        async for part in reply.body:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
