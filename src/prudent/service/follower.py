"""A reader that replays every log beside the writer: it verifies it, and keeps snapshots for a quick start."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from prudent.service.fold import Fold, LogError
from prudent.service.problems import RequestError
from prudent.service.store import Experiment, Store, StoreError
from prudent.service.verifying import check_next
from prudent.service.writer import newest, versions

EVERY = 50_000
"""Events between two snapshots; reading so many takes about a second at the next start."""

PACE = 0.25
"""Seconds between two looks."""

LEAST = 500
"""Events that are read at a look at least; more if the follower is behind, so that it catches up."""


class Follower:
    """Replays what the writer writes. `alarms` are what it found wrong."""

    def __init__(self, store: Store, write: Callable[[Callable[[], Any]], Any]) -> None:
        self.store, self.write = store, write
        self.alarms: list[str] = []
        self._folds: dict[int, Fold] = {}
        self._kept: dict[int, int] = {}

    def run(self, closing: threading.Event) -> None:
        """Follow until the service closes."""
        while not closing.wait(PACE):
            with contextlib.suppress(StoreError, RequestError):
                for experiment in self.store.experiments():
                    self.follow(experiment)

    def follow(self, experiment: Experiment) -> None:
        """Read on, and keep a snapshot if it is time."""
        if any(experiment.name in alarm for alarm in self.alarms):
            return
        fold = self._folds.get(experiment.id)
        if fold is None:
            fold = self._folds[experiment.id] = newest(self.store, experiment)
            self._kept[experiment.id] = fold.seq
        behind = experiment.seq - fold.seq
        try:
            for event, link in self.store.events(experiment.id, fold.seq, max(LEAST, behind // 10)):
                check_next(fold, event, link)
                if fold.seq - self._kept[experiment.id] >= EVERY:
                    self._keep(experiment.id, fold)
        except LogError as error:
            self.alarms.append(f"the log of {experiment.name}: {error}")

    def _keep(self, number: int, fold: Fold) -> None:
        state, seq = fold.to_json(), fold.seq

        def act() -> None:
            with self.store.transaction():
                self.store.add_snapshot(number, seq, state, versions())

        self.write(act)
        self._kept[number] = seq
