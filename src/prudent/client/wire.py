"""Requests over HTTP that are tried again while that may help, on connections that are kept."""

import http.client
import io
import json
import math
import random
import socket
import time
import urllib.parse
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any

from .shapes import STRANGE, File, Reply, ServiceError, Shape, checked, shown

AGAIN = (429, 502, 503, 504)
"""Statuses after which the same request may succeed a little later."""

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0
"""Seconds before the first retry; each further pause is twice as long, up to the longest."""

LONGEST_TIMEOUT = 1e6
"""Seconds that every system can wait."""

PIECE = 2**16
MAX_ANSWER_BYTES = 2**26
"""Bytes of an answer that are read into memory; the largest experiments have a tenth of it."""


class Wire:
    """Connections to one service. Threads may share it: each request takes an idle connection or makes one."""

    def __init__(self, url: str, token: str, timeout: float, retries: int) -> None:
        parts = _address(url)
        if not isinstance(token, str) or not token or not _plain(token):
            raise ValueError("Client: token must be the text that `prudent trial token` printed, such as pru_…")
        if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not 0.0 < timeout <= LONGEST_TIMEOUT:
            raise ValueError(
                f"Client: timeout must be above 0 seconds and at most {LONGEST_TIMEOUT:,.0f}, got {shown(timeout)}"
            )
        self.url, self.timeout, self.retries = url.rstrip("/"), float(timeout), whole("Client", "retries", retries, 0)
        self._make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._prefix = str(parts.hostname), parts.port, parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._idle: list[http.client.HTTPConnection] = []

    def send(self, method: str, path: str, body: object = None, key: str | None = None, shape: Shape = None) -> Reply:
        """The answer to a request, if it succeeds within the time-out and has the `shape` of one of the service.

        Only what may arrive twice is sent: reading, a PUT, or a change that carries its key.
        """
        ends = time.monotonic() + self.timeout
        data, headers = None if body is None else _written(body), dict(self._headers)
        headers |= {} if data is None else {"Content-Type": "application/json"}
        headers |= {} if key is None else {"Idempotency-Key": key}
        for tried in count(1):
            wanted = 0.0
            try:
                reply = self._once(method, path, data, headers, ends, shape if isinstance(shape, File) else None)
            except (OSError, http.client.HTTPException) as error:
                problem = ServiceError(0, "away", self._silence(error, tried))
            else:
                try:
                    return checked(reply, shape)
                except ServiceError as error:
                    problem, wanted = error, wait_of(reply)
                if reply.status >= 300 and reply.status not in AGAIN:
                    raise problem
            longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (tried - 1))
            pause = max(wanted, random.uniform(0.5 * longest, longest))
            if tried > self.retries or time.monotonic() + pause >= ends:
                raise problem
            time.sleep(pause)
        raise AssertionError  # the loop has no other end

    def close(self) -> None:
        """Close the connections that are idle."""
        while self._idle:
            self._idle.pop().close()

    def forget(self) -> None:
        """Leave the idle connections to the process that made them."""
        self._idle = []

    def _once(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str], ends: float, file: File | None
    ) -> Reply:
        """One try. A kept connection that the service has closed meanwhile is no failure: a new one takes its place."""
        while True:
            kept = self._kept()
            connection = kept or self._new()
            connection.timeout = max(ends - time.monotonic(), 0.001)
            if connection.sock is not None:
                connection.sock.settimeout(connection.timeout)
            try:
                connection.request(method, self._prefix + path, data, headers)
                connection.sock.settimeout(max(ends - time.monotonic(), 0.001))
                answer = connection.getresponse()
                named = {name.lower(): value for name, value in answer.headers.items()}
                body = self._read(answer, file if file and answer.status < 300 and file.is_in(named) else None)
            except ConnectionError:
                connection.close()
                if kept is None:
                    raise
                continue
            except ValueError as error:  # http.client's, of an answer that is not HTTP
                connection.close()
                raise http.client.HTTPException(str(error)) from error
            except BaseException:
                connection.close()
                raise
            if answer.will_close:
                connection.close()
            else:
                self._idle.append(connection)
            return Reply(answer.status, named, body)

    def _new(self) -> http.client.HTTPConnection:
        connection = self._make(self._host, self._port)
        connection.response_class = TimedAnswer
        return connection

    def _kept(self) -> http.client.HTTPConnection | None:
        """An idle connection."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _read(self, answer: http.client.HTTPResponse, file: File | None) -> bytes:
        """The body, or none if it goes into a file."""
        into = io.BytesIO() if file is None else file.into
        into.seek(0)
        into.truncate()  # what an earlier try has left
        while piece := answer.read(PIECE):
            into.write(piece)
            if file is not None and isinstance(answer, TimedAnswer):
                answer.goes_on(self.timeout)  # a file may be large: only a standstill ends it
            elif into.tell() > MAX_ANSWER_BYTES:
                longer = f"longer than {MAX_ANSWER_BYTES:,} bytes, as none of an experiment service is"
                said = f"the answer of {self.url} is {longer}"
                raise ServiceError(0, STRANGE, f"{said}; is the address right?")
        if answer.length:  # of what was announced; http.client itself takes the end for the end
            raise http.client.IncompleteRead(b"", answer.length)
        return into.getvalue() if isinstance(into, io.BytesIO) and file is None else b""

    def _silence(self, error: Exception, tried: int) -> str:
        said = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        said = "the answer is cut short" if isinstance(error, http.client.IncompleteRead) else said
        times = "once" if tried == 1 else f"{tried} times"
        return f"{self.url} does not answer ({said}; tried {times}); is the service running there?"


class TimedAnswer(http.client.HTTPResponse):
    """An answer that ends with its time, however slowly it comes; of a socket's own, each read may take that long."""

    def __init__(self, sock: socket.socket, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self.fp.close()
        self._timed = _Timed(sock)
        self.fp = io.BufferedReader(self._timed)

    def goes_on(self, seconds: float) -> None:
        """From now on it may take so long."""
        self._timed.ends = time.monotonic() + seconds


class _Timed(io.RawIOBase):
    """What comes from a socket, until the time-out that the socket has now is over."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket, self._raw = sock, sock.makefile("rb", buffering=0)
        self.ends = time.monotonic() + (sock.gettimeout() or math.inf)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """As of any file."""
        left = self.ends - time.monotonic()
        if left <= 0.0:
            raise TimeoutError
        self._socket.settimeout(min(left, LONGEST_TIMEOUT))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Give back the socket, which the connection closes."""
        self._raw.close()
        super().close()


def whole(owner: str, name: str, value: object, low: int) -> int:
    """A whole number that is at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError(f"{owner}: {name} must be a whole number, {low} or more, got {shown(value)}")
    return value


def text(owner: str, name: str, value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{owner}: {name} must be text, got {shown(value)}")
    return value


def key_of(owner: str, key: Any) -> str:
    """A name for a request, which travels in a header."""
    if not _plain(text(owner, "key", key).replace(" ", "")) or key != key.strip():
        raise ValueError(f"{owner}: key must be printable ASCII, such as 'order 8251', got {shown(key)}")
    return str(key)


def _plain(letters: str) -> bool:
    return letters.isascii() and letters.isprintable() and " " not in letters


def _address(url: object) -> urllib.parse.SplitResult:
    """The parts of an address of a service."""
    try:
        parts = urllib.parse.urlsplit(url if isinstance(url, str) and _plain(url) else "")
        given, secret = parts.port != 0, parts.username is not None or parts.password is not None
    except ValueError:  # of a port, or of brackets
        given, parts, secret = False, urllib.parse.urlsplit(""), False
    if secret:
        raise ValueError("Client: url must hold no password; pass token=… instead")
    if not given or parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"Client: url must be such as https://trials.example.org, got {shown(url)}")
    return parts


def _written(body: object) -> bytes:
    try:
        return json.dumps(body, allow_nan=False, default=float).encode()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(
            f"Client: what is sent must be text, finite numbers, lists and dictionaries: {error}"
        ) from None


def wait_of(reply: Reply) -> float:
    """Seconds that the service asks to wait (Retry-After), as a number or as a date."""
    written = reply.headers.get("retry-after", "")
    try:
        return max(0.0, float(written))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(written).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
