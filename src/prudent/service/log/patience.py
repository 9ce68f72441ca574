"""How long a server of databases is waited for: one that stands still costs a request some seconds, and no threads.

The limits of PostgreSQL are kept by the server, and those of TCP by the other machine. A server that is stopped, or
whose disk hangs, keeps neither. So connections on which nothing comes for too long are cut here, by a thread that
watches them, and until the server answers again one caller at a time tries it; the others are refused at once.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from prudent.service.log.store import StoreError

SECONDS = 6.0
"""How long a statement is waited for; more than the server's own limit, which says why it was reached."""

PAUSE = 1.0
"""Seconds until somebody tries again what was waited for in vain."""

LOOK = 0.2
"""Seconds between two looks of the watching thread."""

EVERYTHING = ""
"""Stands for all statements in `Patience.refuse` and `Patience.failed`."""


class Patience:
    """Watches the connections of one database. `seconds` is the limit of one statement."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._waits: dict[int, tuple[Any, float]] = {}  # the connection, and until when it is waited for
        self._closed: dict[str, tuple[float, str]] = {}  # until when a statement is refused, and why
        self._closing = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="prudent-patience").start()

    @contextlib.contextmanager
    def waiting(self, connection: Any) -> Iterator[None]:
        """Cut the connection if what is done within takes too long."""
        key = id(connection)
        with self._lock:
            self._waits[key] = connection, time.monotonic() + self.seconds
        try:
            yield
        except BaseException:
            with self._lock:
                was_cut = self._waits.pop(key, None) is None
            if was_cut:
                why = f"PostgreSQL has not answered for {self.seconds:g} s"
                self.failed(EVERYTHING, why)
                raise StoreError(why) from None
            raise
        with self._lock:
            self._waits.pop(key, None)

    def refuse(self, statement: str = EVERYTHING) -> None:
        """`StoreError` if this was waited for in vain a moment ago, or somebody is trying it now."""
        if not self._closed:
            return
        with self._lock:
            now = time.monotonic()
            for name in (EVERYTHING, statement):
                until, why = self._closed.get(name, (0.0, ""))
                if now < until:
                    raise StoreError(why)
            for name in (EVERYTHING, statement):
                if name in self._closed:  # this caller tries
                    self._closed[name] = now + 2.0 * self.seconds, self._closed[name][1]

    def failed(self, statement: str, why: str) -> None:
        """It was waited for in vain."""
        with self._lock:
            self._closed[statement] = time.monotonic() + PAUSE, why

    def answered(self, statement: str = EVERYTHING) -> None:
        """The server answers it."""
        if self._closed:
            with self._lock:
                for name in (EVERYTHING, statement):
                    self._closed.pop(name, None)

    def close(self) -> None:
        """Watch no longer."""
        self._closing.set()

    def _watch(self) -> None:
        while not self._closing.wait(LOOK):
            now = time.monotonic()
            with self._lock:  # who is done with a connection waits here, so that none is cut which others use already
                for key, (connection, until) in list(self._waits.items()):
                    if now > until:
                        del self._waits[key]
                        _cut(connection)


def _cut(connection: Any) -> None:
    """End the transport under a connection, so that whoever waits for it gets an error at once."""
    kind = socket.AF_INET, socket.SOCK_STREAM
    with contextlib.suppress(Exception), socket.fromfd(connection.fileno(), *kind) as same:  # unless it has ended
        same.shutdown(socket.SHUT_RDWR)
