"""What pages say of each experiment, kept for a while: however many people look, it is computed once.

An experiment with traffic changes many times a second, and its intervals take milliseconds of a processor that
decisions need. So they are computed when somebody looks, once for a state of the log, and after that not before a
pause that keeps this below a fiftieth of the processor's time. Who has changed something sees it at once.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from prudent.service.api import SLOW
from prudent.service.problems import RequestError
from prudent.service.service import Service, View

PAUSE, LONGEST = 2.0, 5.0
"""Seconds in which nothing is computed anew, at least and at most."""

SHARE = 50.0
"""A pause is so many times as long as the computation took the processor."""

MOST = 200
"""Experiments that are kept."""


class Kept:
    """What was computed of an experiment at an event, and until when it will do. `parts` are texts made of it."""

    def __init__(self, seq: int, known: dict[str, Any], until: float) -> None:
        self.seq, self.known, self.until = seq, known, until
        self.parts: dict[Any, bytes] = {}


class Fresh:
    """Computes with `make`, in a thread of its own, and keeps what it gave."""

    def __init__(self, service: Service, make: Callable[[View], dict[str, Any]], pause: float = PAUSE) -> None:
        self._service, self._make, self.pause = service, make, pause
        self._kept: dict[str, Kept] = {}
        self._making: dict[str, asyncio.Future[Kept]] = {}

    async def of(self, name: str) -> Kept:
        """What is known of an experiment, not much older than a pause."""
        kept = self._kept.get(name)
        if kept is not None and time.monotonic() < kept.until:
            return kept
        row = await asyncio.to_thread(self._service.store.experiment, name)
        if row is None:
            raise RequestError("not-found", f"there is no experiment {name!r}")
        kept = self._kept.get(name)  # somebody else may have computed it meanwhile
        if kept is not None and (kept.seq == row.seq or time.monotonic() < kept.until):
            return kept
        if name not in self._making:
            self._making[name] = asyncio.ensure_future(self._computed(name))
        return await asyncio.shield(self._making[name])  # if one who waits hangs up, the others still get it

    def outdated(self, name: str) -> None:
        """The next who looks must see what happened just now."""
        self._kept.pop(name, None)
        self._making.pop(name, None)

    async def _computed(self, name: str) -> Kept:
        own = asyncio.current_task()
        try:
            view = await self._service.look(name)
            known, took = await asyncio.get_running_loop().run_in_executor(SLOW, self._timed, view)
            pause = min(max(self.pause, SHARE * took), LONGEST) if self.pause > 0.0 else 0.0
            kept = Kept(view.fold.seq, known, time.monotonic() + pause)
            if self._making.get(name) is own:
                while len(self._kept) >= MOST:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[name] = kept
            return kept
        finally:
            if self._making.get(name) is own:
                del self._making[name]

    def _timed(self, view: View) -> tuple[dict[str, Any], float]:
        since = time.thread_time()
        return self._make(view), time.thread_time() - since
