"""A reader that replays every log beside the writer. It verifies the log, keeps snapshots for a quick start, and keeps
what pictures over time show, at ever longer distances."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator

import msgspec

from prudent.service.fold import Fold
from prudent.service.problems import RequestError
from prudent.service.store import Experiment, Store, StoreError
from prudent.service.verifying import check_next
from prudent.service.writer import newest

log = logging.getLogger("prudent.service")

EVERY = 20_000
"""Events between two snapshots; reading so many takes a fraction of a second at the next start."""

PACE = 0.25
"""Seconds between two looks."""

LEAST = 500
"""Events that are read at a look at least; more if the follower is behind, so that it catches up."""


GROWTH = 1.05
"""From one point of a picture to the next, so that a million events have some 300."""


class Follower:
    """Replays what the writer writes. `alarms` are what it found wrong."""

    def __init__(
        self,
        store: Store,
        keep: Callable[[int, int, str], None],
        keep_series: Callable[[int, list[tuple[int, int, str]]], None],
    ) -> None:
        self.store, self.keep, self.keep_series = store, keep, keep_series
        self._points: dict[int, float] = {}
        self.alarms: list[str] = []
        self._wrong: set[int] = set()
        self._folds: dict[int, Fold] = {}
        self._kept: dict[int, int] = {}
        self._lock = threading.Lock()  # folds are read on by one thread at a time

    def run(self, closing: threading.Event) -> None:
        """Follow until the service closes."""
        while not closing.wait(PACE):
            with contextlib.suppress(StoreError, RequestError):
                for experiment in self.store.experiments():
                    with self._lock:
                        self._follow(experiment)

    def folds(self, until: float) -> Iterator[tuple[Experiment, Fold]]:
        """Every experiment with its state, to look at while it is handed out. Until that moment (of the monotonic
        clock) logs are read on first; afterwards states may be older, and those never read are left out."""
        for experiment in self.store.experiments():
            with self._lock:
                if time.monotonic() < until:
                    self._follow(experiment)
                if experiment.id in self._folds:
                    yield experiment, self._folds[experiment.id]

    def _follow(self, experiment: Experiment) -> None:
        """Read on; what is wrong is told, and does not end the thread."""
        if experiment.id in self._wrong:
            return
        try:
            self.follow(experiment)
        except (StoreError, RequestError):
            raise
        except Exception as error:
            self._wrong.add(experiment.id)
            self.alarms.append(f"the log of {experiment.name}: {error}")
            log.error("%s", self.alarms[-1])

    def follow(self, experiment: Experiment) -> None:
        """Read on, and keep a snapshot if it is time."""
        fold = self._folds.get(experiment.id)
        if fold is None:
            fold = self._folds[experiment.id] = newest(self.store, experiment)
            self._kept[experiment.id] = fold.seq
        behind = experiment.seq - fold.seq
        points: list[tuple[int, int, str]] = []
        if behind == 0:
            return
        for event, link in self.store.events(experiment.id, fold.seq, max(LEAST, behind // 10)):
            check_next(fold, event, link)
            if fold.seq >= self._next_point(experiment.id):
                points.append((fold.seq, fold.at, point(fold)))
                self._points[experiment.id] = max(fold.seq + 1, GROWTH * fold.seq)
            if fold.seq - self._kept[experiment.id] >= EVERY:
                self.keep(experiment.id, fold.seq, fold.to_json())
                self._kept[experiment.id] = fold.seq
        if points:
            self.keep_series(experiment.id, points)

    def _next_point(self, number: int) -> float:
        """The event at which the next point is kept."""
        if number not in self._points:
            known = self.store.series(number)
            self._points[number] = GROWTH * known[-1][0] if known else 1.0
        return self._points[number]


def point(fold: Fold) -> str:
    """What pictures need of every arm: decisions, rewards, mean, variance and cost."""
    arms = [
        [tally.asked, known.pulls, known.mean, known.variance, known.cost]
        for tally, known in zip(fold.tally, fold.agent.estimates(), strict=True)
    ]
    return msgspec.json.encode(arms).decode()
