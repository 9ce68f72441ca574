"""Serving: the address, the first token, workers, and an orderly end, which comes in time whatever is being done."""

import contextlib
import ipaddress
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable
from typing import Any

import click
import msgspec
import uvicorn
from msgspec import Struct

from prudent.base.errors import PrudentError
from prudent.base.registry import close_files
from prudent.service.http.api import ROUTES
from prudent.service.http.app import LOOPBACK, App, encode
from prudent.service.http.deadlines import Protocol, check_deadlines
from prudent.service.http.metrics import SHARED
from prudent.service.http.processes import Workers, end_in_time
from prudent.service.http.single_sign_on import SingleSignOn, single_sign_on
from prudent.service.log.address import shown
from prudent.service.log.store import open_store
from prudent.service.pages.app import Site
from prudent.service.work import journal
from prudent.service.work.service import Service

log = logging.getLogger("prudent.service")

HANDED_ON = "PRUDENT_SERVE"
"""The environment variable in which workers find the settings."""

STOPPING = 2
"""Seconds that requests have to be answered after the order to stop."""

KEEP_ALIVE = 75
"""Seconds that a connection may be idle; proxies drop theirs after 60, and should do so first."""


class Settings(Struct, frozen=True):
    """How to serve.

    `database` is a file of SQLite, or the address of a PostgreSQL database. Deadlines are in seconds. `rate` is what a
    token may do in a second. `behind_proxy` says that a proxy in front speaks TLS; without one, tokens would travel
    readable to everybody, so that only this machine is served. `trust_header` names people, if `trust_from` are the
    addresses of a proxy that writes it; `roles` say what the groups in `trust_groups` may do.
    """

    database: str = "prudent.db"
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    behind_proxy: bool = False
    trust_header: str = ""
    trust_from: tuple[str, ...] = ()
    trust_groups: str = ""
    roles: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    rate: float = 5000.0
    queue_limit: int = 2000
    relaxed: bool = False
    access_log: bool = False
    json_log: bool = False
    open_explore: bool = False
    allow_private_webhooks: bool = False
    demo: bool = False


class Server(uvicorn.Server):
    """uvicorn, which says when it answers."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say()


def serve(settings: Settings, say: Callable[[str], None] = click.echo) -> None:
    """Serve until the process is told to stop (SIGTERM, SIGINT). What was accepted is answered before."""
    journal.begin(as_json=settings.json_log)
    close_files()
    check_deadlines()
    _check_address(settings)
    _sign_on(settings)
    listener = _listener(settings.host, settings.port)
    try:
        calendar = _calendar(settings)
        service = _service(settings, calendar)
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
            from prudent.service.pages import demo

            demo.start(service, calendar)
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
        Workers(_config(settings, "prudent.service.http.server:worker"), [listener]).run()


def _calendar(settings: Settings) -> Any:
    """The clock of the demonstration, or None for the usual one."""
    if not settings.demo:
        return None
    from prudent.service.pages.demo import Calendar

    return Calendar()


def _service(settings: Settings, clock: Callable[[], int] | None = None) -> Service:
    store = open_store(settings.database, relaxed=settings.relaxed)
    if settings.workers > 1 and not store.database.several_workers:
        store.close()
        raise PrudentError(
            f"serve: workers must be 1 with SQLite, got {settings.workers}; one process writes its file. More workers"
            " would not make one experiment faster; for several experiments take PostgreSQL"
        )
    private = settings.allow_private_webhooks
    return Service(store, clock, queue_limit=settings.queue_limit, private_webhooks=private).start()


def worker() -> App:
    """The application of one of several processes, which takes its settings from the first."""
    settings = msgspec.json.decode(os.environ[HANDED_ON], type=Settings)
    journal.begin(as_json=settings.json_log)
    close_files()
    return app_of(settings, _service(settings))


def app_of(settings: Settings, service: Service) -> App:
    """The application with these settings."""
    site = Site(service, open_explore=settings.open_explore, secure=settings.behind_proxy)
    site.planning.start()
    service.outbox.start()
    app = App(
        service,
        ROUTES,
        hosts=(*LOOPBACK, settings.host, *settings.allowed_hosts),
        header_seconds=settings.header_seconds,
        body_seconds=settings.body_seconds,
        rate=settings.rate,
        access_log=settings.access_log,
        behind_proxy=settings.behind_proxy,
        sign_on=_sign_on(settings),
        started=end_in_time,
    )
    return app.show(site)


def _sign_on(settings: Settings) -> SingleSignOn | None:
    given = settings.trust_header, settings.trust_from, settings.roles, settings.trust_groups
    return single_sign_on(*given, behind_proxy=settings.behind_proxy)


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
