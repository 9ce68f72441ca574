"""Requests over HTTP that are tried again while that may help, on connections that are kept."""

import http.client
import json
import random
import time
import urllib.parse
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any, BinaryIO, NamedTuple

AGAIN = (429, 502, 503, 504)
"""Statuses after which the same request may succeed a little later."""

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0
"""Seconds before the first retry; each further pause is twice as long, up to the longest."""

PIECE = 2**16


class ServiceError(Exception):
    """A request that was refused, or that nobody answered.

    `status` is that of HTTP, or 0 if no answer came; `kind` is the service's name for what went wrong, `detail` says it
    in a sentence, and `problem` holds all members of the answer (RFC 9457), such as the reward that `stands`.
    """

    def __init__(self, status: int, kind: str, detail: str, problem: Mapping[str, Any] | None = None) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.problem = status, kind, detail, dict(problem or {})

    @property
    def away(self) -> bool:
        """Whether nothing is wrong with the request, but nobody is there who can answer it now."""
        return self.status in (0, 429) or self.status >= 500


class Reply(NamedTuple):
    """An answer; the names of its headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """What it says."""
        return json.loads(self.body)


class Wire:
    """Connections to one service. Threads may share it: each request takes an idle connection or makes one."""

    def __init__(self, url: str, token: str, timeout: float, retries: int) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"Client: url must be such as https://trials.example.org, got {url!r}")
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ValueError("Client: token must be the text that `prudent trial token` printed, such as pru_…")
        if not timeout > 0.0:
            raise ValueError(f"Client: timeout must be above 0 seconds, got {timeout}")
        if retries < 0:
            raise ValueError(f"Client: retries must be 0 or more, got {retries}")
        self.url, self.timeout, self.retries = url.rstrip("/"), timeout, retries
        self._make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._idle: list[http.client.HTTPConnection] = []

    def send(
        self, method: str, path: str, body: Any = None, key: str | None = None, into: BinaryIO | None = None
    ) -> Reply:
        """The answer to a request, if it succeeds within the time-out; its body is written `into` a file if asked.

        Only what may arrive twice is sent: reading, a PUT, or a change that carries its key.
        """
        ends = time.monotonic() + self.timeout
        data = None if body is None else json.dumps(body, allow_nan=False, default=float).encode()
        headers = dict(self._headers)
        headers |= {} if data is None else {"Content-Type": "application/json"}
        headers |= {} if key is None else {"Idempotency-Key": key}
        for tried in count(1):
            wanted = 0.0
            try:
                reply = self._once(method, path, data, headers, ends, into)
            except (OSError, http.client.HTTPException) as error:
                problem = ServiceError(0, "away", self._silence(error, tried))
            else:
                if reply.status < 300 and (into is not None or "json" in reply.headers.get("content-type", "json")):
                    return reply
                problem, wanted = problem_of(reply), wait_of(reply)
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
        self,
        method: str,
        path: str,
        data: bytes | None,
        headers: Mapping[str, str],
        ends: float,
        into: BinaryIO | None,
    ) -> Reply:
        """One try. A kept connection that the service has closed meanwhile is no failure: a new one takes its place."""
        while True:
            kept = self._kept()
            connection = kept or self._make(self._host, self._port)
            left = max(ends - time.monotonic(), 0.001)
            connection.timeout = left
            if connection.sock is not None:
                connection.sock.settimeout(left)
            try:
                connection.request(method, self._prefix + path, data, headers)
                answer = connection.getresponse()
                body = _read(answer, into if answer.status < 300 else None)
            except ConnectionError:
                connection.close()
                if kept is None:
                    raise
                continue
            except BaseException:
                connection.close()
                raise
            if answer.will_close:
                connection.close()
            else:
                self._idle.append(connection)
            return Reply(answer.status, {name.lower(): value for name, value in answer.headers.items()}, body)

    def _kept(self) -> http.client.HTTPConnection | None:
        """An idle connection."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _silence(self, error: Exception, tried: int) -> str:
        said = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        times = "once" if tried == 1 else f"{tried} times"
        return f"{self.url} does not answer ({said}; tried {times}); is the service running there?"


def _read(answer: http.client.HTTPResponse, into: BinaryIO | None) -> bytes:
    if into is None:
        return answer.read()
    into.seek(0)
    into.truncate()  # what an earlier try has left
    while piece := answer.read(PIECE):
        into.write(piece)
    return b""


def problem_of(reply: Reply) -> ServiceError:
    """What the service says about a request that it refuses, or what can be said for whoever answered instead."""
    try:
        problem = json.loads(reply.body)
        kind, detail = problem["type"].rpartition("/")[2], problem["detail"]
    except (ValueError, LookupError, TypeError, AttributeError):
        start = reply.body[:80].decode("utf-8", "replace")
        said = f"the answer is not that of an experiment service (status {reply.status}): {start!r}"
        detail = f"{said}; is the address right?"
        return ServiceError(0 if reply.status < 300 else reply.status, "not-the-service", detail)
    return ServiceError(reply.status, kind, detail, problem)


def wait_of(reply: Reply) -> float:
    """Seconds that the service asks to wait (Retry-After), as a number or as a date."""
    text = reply.headers.get("retry-after", "")
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0
