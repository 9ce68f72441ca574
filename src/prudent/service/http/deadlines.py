"""Deadlines for callers, on top of uvicorn's HTTP: for headers, for bodies, and for those who do not read answers.

No server for ASGI that we know cuts off both headers and bodies that drip. The proxy in front does, but a service on
loopback has none, and it must not be stopped by a hundred connections that say nothing. So the deadlines are here, and
they stand on the half of uvicorn that is not public: the version of uvicorn is bounded in pyproject.toml, and the
deadlines are tried at each start, so that no update can switch them off without a word.
"""

import asyncio
import contextlib
import socket
from typing import Any

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from prudent.base.errors import PrudentError
from prudent.service.http.app import ALWAYS, encode
from prudent.service.http.routes import PROBLEM
from prudent.service.problems import RequestError

LONGEST_HEAD = 2**15
"""Bytes of the first line and the headers together."""

TRIAL = 0.05
"""Seconds of the deadlines that are tried at the start."""


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP, with deadlines: for headers, for bodies, and for callers who do not read their answers."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        app: Any = self.config.loaded_app
        self.header_seconds, self.body_seconds = app.header_seconds, app.body_seconds
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._unread = 0  # bytes since the last headers that were no body
        self._head, self._reading_head, self._why = 0, False, ""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._late = self.loop.call_later(self.header_seconds, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        self.resume_writing()
        super().connection_lost(exc)

    def _in_time(self) -> None:
        """What was waited for has come."""
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def data_received(self, data: bytes) -> None:
        if self._late is None and (self.cycle is None or self.cycle.response_complete):
            self._late = self.loop.call_later(self.header_seconds, self.transport.abort)
        self._unread += len(data)
        super().data_received(data)
        self._unread = max(self._unread, 0)
        if self.transport.is_closing():
            return
        if self._unread > LONGEST_HEAD:
            self._refuse("bad-request", f"headers must have at most {LONGEST_HEAD:,} bytes")
        elif self._late is None and self.cycle.more_body and not self.cycle.response_complete:
            detail = f"the body must arrive within {self.body_seconds:g} seconds"
            self._late = self.loop.call_later(self.body_seconds, self._refuse, "too-slow", detail)

    def on_message_begin(self) -> None:
        self._head, self._reading_head = 0, True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._more_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._reading_head:  # what comes after a body in chunks is no header, since proxies do not look at it
            self._more_head(len(name) + len(value) + 4)  # a colon, a blank, the end of the line
            super().on_header(name, value)

    def _more_head(self, size: int) -> None:
        self._head += size
        if self._head > LONGEST_HEAD:
            self._stop(f"headers must have at most {LONGEST_HEAD:,} bytes")

    def _stop(self, why: str) -> None:
        """End the parsing, with a reason for the answer."""
        self._why = why
        raise ValueError(why)

    def on_headers_complete(self) -> None:
        self._in_time()
        self._unread, self._reading_head = 0, False
        if not self.url.startswith(b"/"):
            self._check_target()
        super().on_headers_complete()

    def _check_target(self) -> None:
        """A target may be a whole address, whose host must then be that of the header."""
        parsed = httptools.parse_url(self.url)
        named = [value for name, value in self.headers if name == b"host"]
        port = "" if parsed.port is None else f":{parsed.port}"
        host = f"{(parsed.host or b'').decode('latin-1').lower()}{port}"
        if [host] != [value.decode("latin-1").lower().replace("[", "").replace("]", "") for value in named]:
            self._stop("the host of the target must be that of the header Host")

    def on_body(self, body: bytes) -> None:
        self._unread -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_time()
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self.body_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is a problem like others."""
        self._refuse("bad-request", self._why or msg)

    def _refuse(self, kind: str, detail: str) -> None:
        """Answer for the application, and hang up."""
        error = RequestError(kind, detail)
        body = encode(error.as_dict())
        headers = [*ALWAYS, (b"content-type", PROBLEM.encode()), (b"content-length", b"%d" % len(body))]
        lines = [
            STATUS_LINE[error.status][:-2],
            *(b"%s: %s" % pair for pair in headers),
            b"connection: close",
            b"",
            body,
        ]
        self.transport.write(b"\r\n".join(lines))
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """The request is answered as if nobody had asked for another protocol."""


def check_deadlines() -> None:
    """Refuse to start if the deadlines do not hold with this version of uvicorn."""
    if not asyncio.run(_deadlines_hold()):
        raise PrudentError(
            f"serve: slow callers would not be cut off with uvicorn {uvicorn.__version__}; install the version that"
            " the extra serve takes, in a clone: python -m pip install '.[serve]'"
        )


class _Silence:
    """An application that reads requests and never answers."""

    header_seconds = body_seconds = TRIAL

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 408, "headers": []})  # to nobody, as uvicorn wants it
        await send({"type": "http.response.body"})


async def _deadlines_hold() -> bool:
    """Whether headers and bodies that do not come are cut off."""
    config = uvicorn.Config(
        _Silence(), http=Protocol, ws="none", lifespan="off", log_config=None, access_log=False, proxy_headers=False
    )
    config.load()
    nothing, head, body = await asyncio.gather(
        _said(config, b""),
        _said(config, b"GET / HTTP/1.1\r\nX-"),
        _said(config, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"),
    )
    return nothing == head == b"" and body is not None and body.startswith(b"HTTP/1.1 408 ")


async def _said(config: uvicorn.Config, request: bytes) -> bytes | None:
    """What the server says to half a request before it hangs up; None if it goes on waiting."""
    near, far = socket.socketpair()
    near.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.connect_accepted_socket(lambda: Protocol(config, ServerState(), {}, loop), near)
    reader, writer = await asyncio.open_connection(sock=far)
    writer.write(request)
    try:
        return await asyncio.wait_for(reader.read(), 100.0 * TRIAL)
    except TimeoutError:
        return None
    except ConnectionError:
        return b""
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
