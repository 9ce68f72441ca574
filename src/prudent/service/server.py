"""Serving: the address, the first token, deadlines for headers, workers, and an orderly end."""

import asyncio
import contextlib
import ipaddress
import logging
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from typing import Any

import click
import msgspec
import uvicorn
from msgspec import Struct
from prometheus_client.multiprocess import mark_process_dead
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from prudent.errors import PrudentError
from prudent.service import journal
from prudent.service.address import shown
from prudent.service.api import ROUTES
from prudent.service.http import ALWAYS, LOOPBACK, App, encode
from prudent.service.metrics import SHARED
from prudent.service.problems import RequestError
from prudent.service.routes import PROBLEM
from prudent.service.service import Service
from prudent.service.site.app import Site
from prudent.service.store import open_store

log = logging.getLogger("prudent.service")

HANDED_ON = "PRUDENT_SERVE"
"""The environment variable in which workers find the settings."""

LONGEST_HEAD = 2**16
"""Bytes of the first line and the headers together."""

STOPPING = 4
"""Seconds that requests have to be answered after the order to stop."""


STARTING = 60.0
"""Seconds that a worker has to start, on a machine that does other things too."""

KEEP_ALIVE = 75
"""Seconds that a connection may be idle; proxies drop theirs after 60, and should do so first."""


class Settings(Struct, frozen=True):
    """How to serve.

    `database` is a file of SQLite, or the address of a PostgreSQL database. Deadlines are in seconds. `rate` is what a
    token may do in a second. `behind_proxy` says that a proxy in front speaks TLS; without one, tokens would travel
    readable to everybody, so that only this machine is served.
    """

    database: str = "prudent.db"
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    behind_proxy: bool = False
    allowed_hosts: tuple[str, ...] = ()
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    rate: float = 5000.0
    queue_limit: int = 2000
    relaxed: bool = False
    access_log: bool = False
    demo: bool = False


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP, with deadlines: for headers, for bodies, and for callers who do not read their answers."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        app: Any = self.config.loaded_app
        self.header_seconds, self.body_seconds = app.header_seconds, app.body_seconds
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._unread = 0  # bytes since the last headers that were no body

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

    def on_headers_complete(self) -> None:
        self._in_time()
        self._unread = 0
        super().on_headers_complete()

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
        self._refuse("bad-request", msg)

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


class Server(uvicorn.Server):
    """uvicorn, which says when it answers."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say()


class Workers(Multiprocess):
    """uvicorn's processes; the log says when one took the place of another. One that starts is given time to."""

    def init_processes(self) -> None:
        super().init_processes()
        self._begun = time.monotonic()

    def keep_subprocess_alive(self) -> None:
        starting = time.monotonic() < self._begun + STARTING
        if starting and all(worker.process.is_alive() for worker in self.processes):
            return  # a worker that does not answer yet is not one that hangs
        before = list(self.processes)
        super().keep_subprocess_alive()
        if before != self.processes:
            self._begun = time.monotonic()
        for old, new in zip(before, self.processes, strict=False):
            if new is not old:
                mark_process_dead(old.pid)  # type: ignore[no-untyped-call]
                code = old.exitcode or 0
                how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
                log.warning("worker %s %s; worker %s takes its place", old.pid, how, new.pid)


def serve(settings: Settings, say: Callable[[str], None] = click.echo) -> None:
    """Serve until the process is told to stop (SIGTERM, SIGINT). What was accepted is answered before."""
    journal.begin()
    _check_address(settings)
    listener = _listener(settings.host, settings.port)
    try:
        service = _service(settings)
    except BaseException:
        listener.close()
        raise
    try:
        _check_token(settings, service.tokens)
        text = None
        if not service.tokens.all():
            text, _ = service.tokens.create(["admin"], note="first start")
        if settings.workers > 1:
            service.close()
    except BaseException:
        listener.close()
        service.close()
        raise

    def started() -> None:
        host, port = listener.getsockname()[:2]
        say(f"prudent serves {shown(settings.database)} at http://{f'[{host}]' if ':' in host else host}:{port}")
        if settings.demo:
            from prudent.service.site import demo

            demo.start(service)
            say("Three simulated experiments have visitors. Open the address and sign in with this token:")
            say(str(text))
        elif text is not None:
            say(f"The first token, which may do everything, is shown this once: {text}")

    for signal_ in (signal.SIGTERM, signal.SIGINT):  # uvicorn stops in order, and then raises the signal once more
        signal.signal(signal_, lambda *_: None)
    if settings.workers == 1:
        Server(_config(settings, app_of(settings, service)), started).run([listener])
        return
    os.environ[HANDED_ON] = encode(settings).decode()
    listener.listen(2048)  # whoever comes before the workers waits for them
    started()
    with tempfile.TemporaryDirectory(prefix="prudent-metrics-") as folder:
        os.environ[SHARED] = folder  # before a worker imports what counts
        Workers(_config(settings, "prudent.service.server:worker"), [listener]).run()


def _service(settings: Settings) -> Service:
    store = open_store(settings.database, relaxed=settings.relaxed)
    if settings.workers > 1 and not store.database.several_workers:
        store.close()
        raise PrudentError(
            f"serve: workers must be 1 with SQLite, got {settings.workers}; one process writes its file. More workers"
            " would not make one experiment faster; for several experiments take PostgreSQL"
        )
    return Service(store, queue_limit=settings.queue_limit).start()


def worker() -> App:
    """The application of one of several processes, which takes its settings from the first."""
    journal.begin()
    settings = msgspec.json.decode(os.environ[HANDED_ON], type=Settings)
    return app_of(settings, _service(settings))


def app_of(settings: Settings, service: Service) -> App:
    """The application with these settings."""
    site = Site(service, exploring=_is_loopback(settings.host))
    site.planning.start()
    return App(
        service,
        ROUTES,
        hosts=(*LOOPBACK, settings.host, *settings.allowed_hosts),
        header_seconds=settings.header_seconds,
        body_seconds=settings.body_seconds,
        rate=settings.rate,
        access_log=settings.access_log,
        site=site,
    )


def _config(settings: Settings, app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=settings.workers,
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=STOPPING,
    )


def _check_address(settings: Settings) -> None:
    """Refuse to let tokens travel readable."""
    if not _is_loopback(settings.host) and not settings.behind_proxy:
        raise PrudentError(
            f"serve: host must be of this machine, such as 127.0.0.1, got {settings.host!r}; if a proxy in front of it"
            " speaks TLS, say so with --behind-proxy"
        )


def _check_token(settings: Settings, tokens: Any) -> None:
    """Refuse to open a door without a lock."""
    if not _is_loopback(settings.host) and not any(token.revoked is None for token in tokens.all()):
        raise PrudentError(
            "serve: an address that others reach needs a token first; make one with: prudent trial token --scope admin"
        )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listener(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0 takes a free one."""
    fix = "choose another with --port, or 0 for a free one"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with contextlib.ExitStack() as unless_it_works:
            listener = unless_it_works.enter_context(socket.socket(family, kind, protocol))
            if os.name == "posix":  # elsewhere it would let two servers share the port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            unless_it_works.pop_all()
    except OSError as error:
        raise PrudentError(f"serve: cannot listen at {host}:{port}: {error.strerror or error}; {fix}") from None
    return listener
