"""What a client does while the service is away: rewards wait, fallbacks are counted, and both are delivered later."""

import logging
import os
import threading
import time
import uuid
from collections import deque
from typing import Any, NamedTuple

from .shapes import RESULT, STATUS, Reply, ServiceError, Shape
from .wire import Wire

log = logging.getLogger("prudent.client")

MAX_ENTRIES = 1000
"""Decisions or rewards that one request may hold."""

REST = 1.0
"""Seconds for which an absent service is not asked again by those who have a fallback arm."""


class Lost(NamedTuple):
    """What did not reach the policy.

    `fallbacks`: decisions answered with the fallback arm because the service was away. `uncounted`: rewards of
    decisions that do not count. `waiting`: rewards that still wait for the service. `dropped`: rewards given up because
    too many waited. `refused`: rewards that waited, and that the service did not take then; `reason` is the last why.
    """

    fallbacks: int = 0
    uncounted: int = 0
    waiting: int = 0
    dropped: int = 0
    refused: int = 0
    reason: str = ""


def new_key() -> str:
    """A name for a change, by which the service knows it again."""
    return uuid.uuid4().hex


class Delivery:
    """Requests about one experiment, and what could not be delivered yet. Threads may share it."""

    def __init__(self, wire: Wire, path: str, most: int) -> None:
        self._wire, self._path, self._most = wire, path, most
        self._start()

    def _start(self) -> None:
        """Nothing waits. So it is after a fork too, since what waited is the parent's."""
        self._waiting: deque[dict[str, Any]] = deque()
        self._lost = Lost()
        self._unreported = 0
        self._report: tuple[str, int] | None = None
        self._rests_until = 0.0
        self._lock, self._flushing = threading.Lock(), threading.Lock()
        self._process = os.getpid()

    def call(self, method: str, path: str, body: Any = None, key: str | None = None, shape: Shape = None) -> Reply:
        """The answer to a request. After a success, what waited is delivered as well."""
        if self._process != os.getpid():
            self._wire.forget()
            self._start()
        reply = self._wire.send(method, path, body, key, shape)
        self._rests_until = 0.0
        if self._waiting or self._unreported or self._report:
            try:
                self.flush(wait=False)
            except ServiceError as error:
                log.info("what waits could not be delivered: %s", error)
        return reply

    @property
    def rests(self) -> bool:
        """Whether the service did not answer a moment ago, so that there is no use in waiting for it again."""
        return time.monotonic() < self._rests_until

    def fell_back(self, count: int, why: str | None) -> None:
        """So many decisions were answered with the fallback arm; `why` if it has just turned out to be away."""
        if why is not None:
            if self._rests_until == 0.0:
                log.warning("decisions are answered with the fallback arm: %s", why)
            self._rests_until = time.monotonic() + REST
        with self._lock:
            self._unreported += count
            self._lost = self._lost._replace(fallbacks=self._lost.fallbacks + count)

    def not_counted(self) -> None:
        """A reward of a decision that does not count."""
        with self._lock:
            self._lost = self._lost._replace(uncounted=self._lost.uncounted + 1)

    def wait(self, rewards: list[dict[str, Any]], why: ServiceError) -> None:
        """Rewards that could not be delivered. Beyond the most that may wait, the oldest are given up."""
        log.info("%d rewards wait: %s", len(rewards), why)
        with self._lock:
            self._waiting.extend(rewards)
            self._trim()

    @property
    def lost(self) -> Lost:
        """What did not reach the policy so far."""
        with self._lock:
            return self._lost._replace(waiting=len(self._waiting))

    def flush(self, wait: bool) -> None:
        """Deliver what waits. If another thread does, `wait` for it or leave it to that."""
        if not self._flushing.acquire(blocking=wait):
            return
        try:
            while part := self._taken():
                self._deliver(part)
            self._tell_fallbacks()
        finally:
            self._flushing.release()

    def _taken(self) -> list[dict[str, Any]]:
        with self._lock:
            return [self._waiting.popleft() for _ in range(min(MAX_ENTRIES, len(self._waiting)))]

    def _deliver(self, part: list[dict[str, Any]]) -> None:
        try:
            shape = {"results": (RESULT, len(part))}
            results = self._wire.send("POST", f"{self._path}/rewards", {"rewards": part}, shape=shape).said["results"]
        except ServiceError as error:
            if error.away:
                with self._lock:
                    self._waiting.extendleft(reversed(part))
                    self._trim()
                raise
            results = [{"status": error.status, "problem": {"detail": error.detail}}] * len(part)
        refused = [result for result in results if result["status"] >= 400]
        if refused:
            reason = str((refused[-1].get("problem") or {}).get("detail", "no reason is given"))
            log.warning("%d rewards that had waited were refused: %s", len(refused), reason)
            with self._lock:
                self._lost = self._lost._replace(refused=self._lost.refused + len(refused), reason=reason)

    def _tell_fallbacks(self) -> None:
        """Report how often the fallback arm was used. A report that got no answer is sent again with its own key."""
        with self._lock:
            if self._report is None and self._unreported:
                self._report, self._unreported = (new_key(), self._unreported), 0
            report = self._report
        if report is None:
            return
        try:
            self._wire.send("POST", f"{self._path}/fallbacks", {"count": report[1]}, report[0], STATUS)
        except ServiceError as error:
            if error.away:
                raise
            log.warning("the service does not take the count of fallbacks: %s", error)
        self._report = None

    def _trim(self) -> None:
        extra = max(0, len(self._waiting) - self._most)
        for _ in range(extra):
            self._waiting.popleft()
        self._lost = self._lost._replace(dropped=self._lost.dropped + extra)

    def close(self) -> None:
        """Deliver what waits, if possible, say what is lost, and close the connections."""
        try:
            if self._process == os.getpid():
                self.flush(wait=True)
        except ServiceError as error:
            log.warning("closed before everything was delivered: %s", error)
        if self.lost != Lost():
            log.warning("did not reach the policy: %s", self.lost)
        self._wire.close()
