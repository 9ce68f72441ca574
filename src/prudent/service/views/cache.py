"""The views of experiments that people and programs look at: however many look, a view is computed once.

An experiment with traffic changes many times a second, and its intervals take milliseconds of a processor that
decisions need. So a page shows a view that is a few seconds old, and what it says is computed once for a view, below a
fiftieth of the processor's time. Who has changed something sees it at once. Programs get the state as it is now.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from prudent.service.problems import RequestError
from prudent.service.views.view import View

PAUSE, MAX_PAUSE = 2.0, 5.0
"""Seconds for which a page shows the same view, at least and at most."""

SHARE = 50.0
"""A view is shown for so many times as long as the processor worked on it."""

MAX_VIEWS = 200
"""Experiments whose views are kept."""

Made = TypeVar("Made")


class Views:
    """The views of a service's experiments. For `pause` seconds, or longer if it took long, pages show the same."""

    def __init__(self, service: Any, pause: float = PAUSE) -> None:
        self._service, self.pause = service, pause
        self._kept: dict[str, View] = {}
        self._worked: dict[str, float] = {}  # seconds of the processor for the view that is kept
        self._looking: dict[str, asyncio.Future[View]] = {}
        self._changes = 0  # what was looked at before a change is not kept after it
        # One thing at a time, since each computes for milliseconds, in which decisions should go on.
        self._slow = ThreadPoolExecutor(1, "prudent-views")

    async def lately(self, name: str) -> View:
        """An experiment as it is, or was a moment ago."""
        kept = self._kept.get(name)
        if kept is not None and self._lasts(name):
            return kept
        row = await asyncio.to_thread(self._service.store.experiment, name)
        if row is None:
            raise RequestError("not-found", f"there is no experiment {name!r}")
        kept = self._kept.get(name)  # somebody else may have looked meanwhile
        if kept is not None and (kept.seq == row.seq or self._lasts(name)):
            return kept
        if name not in self._looking:
            self._looking[name] = asyncio.ensure_future(self.now(name))
        try:
            return await asyncio.shield(self._looking[name])  # if one who waits hangs up, the others still get it
        finally:
            self._looking.pop(name, None)

    async def now(self, name: str) -> View:
        """An experiment as it is now: the view that is kept, if nothing has happened since."""
        changes = self._changes
        view: View = await self._service.look(name)
        kept = self._kept.get(name)
        if kept is not None and kept.seq == view.seq:
            return kept
        if changes == self._changes and (kept is None or not self._lasts(name)):
            while len(self._kept) >= MAX_VIEWS:
                oldest = next(iter(self._kept))
                del self._kept[oldest], self._worked[oldest]
            self._kept[name], self._worked[name] = view, 0.0
        return view

    async def once(self, view: View, key: Any, make: Callable[[], Made]) -> Made:
        """What `make` gives of a view, called once, beside everything else."""

        def act() -> tuple[Made, float]:
            since = time.thread_time()
            return view.once(key, make), time.thread_time() - since

        found, took = await asyncio.get_running_loop().run_in_executor(self._slow, act)
        if self._kept.get(view.experiment.name) is view:
            self._worked[view.experiment.name] += took
        return found

    def forget(self, name: str) -> None:
        """The next who looks must see what happened just now."""
        self._changes += 1
        self._kept.pop(name, None)
        self._worked.pop(name, None)
        self._looking.pop(name, None)

    def _lasts(self, name: str) -> bool:
        if self.pause <= 0.0:
            return False
        pause = min(max(self.pause, SHARE * self._worked[name]), MAX_PAUSE)
        return time.monotonic() < self._kept[name].born + pause
