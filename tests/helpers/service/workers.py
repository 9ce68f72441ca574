"""Processes that serve a database, to be killed: a service behind a socket, a line of JSON for a request or an answer.

The import of everything takes seconds, so one process does it once, and forks a worker in no time whenever it is told.
Run as a program, this file is that process: it reads orders, a line of JSON each.
"""

import contextlib
import itertools
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helpers.service import faults, http_workers

PATIENCE = 30.0
"""Seconds that a worker may take to start or to end before a test fails."""


class Nursery:
    """Starts workers, and knows of each whether it runs. `close` ends all that are left."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="prudent-workers-")
        self._numbers = itertools.count()
        self._one_at_a_time = threading.Lock()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def start(self, database: str, **orders: Any) -> "Worker":
        """A worker on a database, ready or soon to be; see `Orders`."""
        path = Path(self._folder.name) / str(next(self._numbers))
        return Worker(self, self.told(start={"path": str(path), "database": database, **orders}), path)

    def told(self, **order: Any) -> Any:
        """What the process answers to an order: see `Children`."""
        with self._one_at_a_time:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate("")
        self._folder.cleanup()


class Worker:
    """A process that serves."""

    def __init__(self, nursery: Nursery, number: int, path: Path) -> None:
        self._nursery, self.number, self.path = nursery, number, path

    def state(self) -> str:
        """Whether it is "running", "stopped" or "ended"."""
        return str(self._nursery.told(state=self.number))

    def kill(self, how: int | None = None) -> None:
        """Send it a signal, if it still runs: SIGKILL, unless another one is given."""
        self._nursery.told(kill=[self.number, signal.SIGKILL if how is None else how])

    def ended(self, within: float = PATIENCE) -> bool:
        """Whether it ends within so many seconds."""
        until = time.monotonic() + within
        while self.state() != "ended":
            if time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def ready(self) -> "Worker":
        """Wait until it answers."""
        assert self.begins(), "the worker has ended before it began"
        return self

    def begins(self) -> bool:
        """Wait until it answers; False if it ends before that."""
        until = time.monotonic() + PATIENCE
        while not self.path.exists():
            assert time.monotonic() < until, "the worker does not start"
            if self.ended(0.005):
                return False
        return True


def line_to(path: Path) -> "Line | http_workers.HTTPLine":
    """A connection to a worker."""
    return Line(path) if path.is_socket() else http_workers.HTTPLine(path)


class Line:
    """A connection to a worker that speaks lines."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(patience)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rwb")

    def call(self, kind: str, experiment: str = "", **parts: Any) -> Any:
        """The answer, or OSError if the worker has ended; what it refuses comes back as {"problem": kind, …}."""
        self._file.write(json.dumps({"kind": kind, "experiment": experiment, **parts}).encode() + b"\n")
        self._file.flush()
        answer = self._file.readline()
        if not answer.endswith(b"\n"):
            raise ConnectionResetError
        return json.loads(answer)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        self._socket.close()


# The process that forks


class Children:
    """The workers of a nursery, which are children of this process: the only one that is told how they do, and whose
    signals cannot reach another process that was given the number of one that has ended."""

    def __init__(self) -> None:
        self._states: dict[int, str] = {}

    def obey(self, order: dict[str, Any]) -> Any:
        """The answer to an order: the number of a new worker, or the state of one."""
        match order:
            case {"start": orders}:
                return self.start(Orders(**orders))
            case {"state": number}:
                return self.state(number)
            case {"kill": [number, how]} if self.state(number) != "ended":
                os.kill(number, how)
        return None

    def start(self, orders: "Orders") -> int:
        number = os.fork()
        if number == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_RDWR), 0)
                os.dup2(2, 1)
                faults.apply(orders.mutant)
                serve(orders)
            finally:
                os._exit(1)
        self._states[number] = "running"
        return number

    def state(self, number: int) -> str:
        """What is true of a worker now; once it has ended, its number may be another's."""
        while self._states[number] != "ended":
            changed, status = os.waitpid(number, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if not changed:
                break
            stopped, running = os.WIFSTOPPED(status), os.WIFCONTINUED(status)
            self._states[number] = "stopped" if stopped else "running" if running else "ended"
        return self._states[number]

    def end(self) -> None:
        """Nobody is left."""
        for number in self._states:
            if self.state(number) != "ended":
                os.kill(number, signal.SIGKILL)
                os.waitpid(number, 0)


def main() -> None:
    """Obey each line of orders; once there are no more, end all workers."""
    import psycopg  # noqa: F401 - for the workers

    children = Children()
    try:
        for line in sys.stdin:
            print(json.dumps(children.obey(json.loads(line))), flush=True)
    finally:
        children.end()


@dataclass
class Orders:
    """What a worker is to do.

    At the named step, when it is passed for the `passes`-th time, it sends itself the signal `how`, which is SIGKILL
    if none is given. Snapshots are kept after `every` events. Of `failing` commits one fails, another one happens but
    seems to fail. `limits` are those of PostgreSQL, `mutant` a fault that it has. `migration` are the statements of a
    version of the tables after this one, and at statement number `dies` of a migration the worker is killed. With
    `web` it serves HTTP.
    """

    path: str
    database: str
    step: str | None = None
    passes: int = 1
    how: int | None = None
    every: int = 50_000
    failing: int = 0
    limits: dict[str, str] = field(default_factory=dict)
    mutant: str | None = None
    migration: list[str] = field(default_factory=list)
    dies: int = 0
    web: bool = False


def serve(orders: Orders) -> None:
    """Serve until killed; SIGTERM closes in peace."""
    service = started(orders)
    if orders.web:
        http_workers.serve(service, orders.path, orders.database)
        os._exit(0)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                for line in self.rfile:
                    self.wfile.write(json.dumps(answer(service, json.loads(line))).encode() + b"\n")
                    self.wfile.flush()

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads, request_queue_size = True, 128

    server = Server(orders.path + ".new", Handler)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    os.rename(orders.path + ".new", orders.path)  # now it is ready
    server.serve_forever(poll_interval=0.02)
    service.close()
    os._exit(0)


def started(orders: Orders) -> Any:
    """The service as ordered."""
    from prudent.service.log import follower, postgres
    from prudent.service.log.store import open_store
    from prudent.service.work import outbox
    from prudent.service.work.service import Service

    outbox.TICK, outbox.FIRST_PAUSE, outbox.LONGEST_PAUSE, outbox.LEASE = 0.02, 0.02, 0.5, 2_000
    follower.EVERY, follower.PACE = orders.every, 0.02
    postgres.LIMITS.update(orders.limits)
    counted = itertools.count(1)

    def pass_by(name: str) -> None:
        if name == orders.step and next(counted) == orders.passes:
            os.kill(os.getpid(), orders.how or signal.SIGKILL)

    migrate(orders)
    store = open_store(orders.database)
    if orders.failing:
        store.commit = unreliable(store, orders.failing)
    service = Service(store, patience=0.0, step=pass_by, private_webhooks=True).start()
    if not orders.web:  # the server starts it by itself
        service.outbox.start()
    return service


def migrate(orders: Orders) -> None:
    """Become the next version, and die while the tables are changed, as ordered."""
    from prudent.service.log import postgres, sqlite, store

    if orders.migration:
        store.MIGRATIONS.append(orders.migration)
        store.SCHEMA += 1
        store.LEAST = store.SCHEMA
    counted = itertools.count(1)
    for database in (sqlite.SQLite, postgres.PostgreSQL):

        def create(self: Any, sql: str, made: Any = database.create) -> None:
            if next(counted) == orders.dies:
                os.kill(os.getpid(), signal.SIGKILL)
            made(self, sql)

        database.create = create  # type: ignore[attr-defined]


def unreliable(store: Any, one_in: int) -> Callable[[], None]:
    """A commit that fails from time to time, before or after the fact."""
    from prudent.service.log.store import StoreError

    commit, counted = store.commit, itertools.count(1)

    def sometimes() -> None:
        number = next(counted)
        if number % one_in == 0:
            raise StoreError("the test does not want this commit")
        commit()
        if number % one_in == one_in // 2:
            raise StoreError("the test does not tell that this was committed")

    return sometimes


def answer(service: Any, request: dict[str, Any]) -> Any:
    """What the service says to a request."""
    import msgspec

    from prudent.service import messages as m
    from prudent.service.http.webhooks import NewWebhook
    from prudent.service.problems import RequestError
    from prudent.service.spec import decoded

    kind, experiment = request.pop("kind"), request.pop("experiment")
    try:
        if kind == "create":
            return msgspec.to_builtins(service.create(decoded(request["spec"])))
        if kind == "webhook":
            return msgspec.to_builtins(service.webhooks.create(NewWebhook(**request["body"])))
        if kind == "ready":
            return service.ready()
        body = msgspec.convert(request.pop("body", {}), getattr(m, kind))
        return msgspec.to_builtins(service.run(experiment, body, **request))
    except RequestError as error:
        return {"problem": error.kind, "detail": error.detail}


if __name__ == "__main__":
    main()
