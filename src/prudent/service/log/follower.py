"""A reader that replays every log beside the writer. It verifies the log, keeps snapshots for a quick start, and keeps
what pictures over time show, at ever longer distances."""

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from prudent.base.errors import PrudentError
from prudent.live.evidence import Evidence
from prudent.live.intervals import bounds
from prudent.risk.base import Interval
from prudent.service.log.replay import newest, take_in
from prudent.service.log.state import ExperimentState
from prudent.service.log.store import Experiment, Store, StoreError
from prudent.service.problems import RequestError
from prudent.service.spec import LEVEL

log = logging.getLogger("prudent.service")

EVERY = 20_000
"""Events between two snapshots; reading so many takes a fraction of a second at the next start."""

PACE = 0.25
"""Seconds between two looks."""

LEAST = 500
"""Events that are read at a look at least; more if the follower is behind, so that it catches up."""


GROWTH, SPACE = 1.05, 6 * 3600 * 1000
"""From one point of a picture to the next, so that a million events have some 300; and milliseconds, so that a day of
an old experiment has points too."""

MAX_ARMS = 100
"""With more arms pictures over time have no intervals."""


class Follower:
    """Replays what the writer writes. `alarms` are what it found wrong."""

    def __init__(
        self,
        store: Store,
        keep: Callable[[int, int, str], None],
        keep_series: Callable[[int, list[tuple[int, int, str]]], None],
    ) -> None:
        self.store, self.keep, self.keep_series = store, keep, keep_series
        self._points: dict[int, tuple[float, float]] = {}
        self.alarms: list[str] = []
        self._wrong: set[int] = set()
        self._states: dict[int, ExperimentState] = {}
        self._kept: dict[int, int] = {}
        self._lock = threading.Lock()  # states are read on by one thread at a time

    def run(self, closing: threading.Event) -> None:
        """Follow until the service closes."""
        while not closing.wait(PACE):
            with contextlib.suppress(StoreError, RequestError):
                for experiment in self.store.experiments():
                    with self._lock:
                        self._follow(experiment)

    def states(self, until: float) -> Iterator[tuple[Experiment, ExperimentState]]:
        """Every experiment with its state, to look at while it is handed out. Until that moment (of the monotonic
        clock) logs are read on first; afterwards states may be older, and those never read are left out."""
        for experiment in self.store.experiments():
            with self._lock:
                if time.monotonic() < until:
                    self._follow(experiment)
                if experiment.id in self._states:
                    yield experiment, self._states[experiment.id]

    def _follow(self, experiment: Experiment) -> None:
        """Read on; what is wrong is told, and does not end the thread."""
        if experiment.id in self._wrong:
            return
        try:
            self.follow(experiment)
        except (StoreError, RequestError):
            raise
        except Exception as error:
            if self.store.experiment(experiment.name) is None:  # it was deleted meanwhile
                return
            self._wrong.add(experiment.id)
            self.alarms.append(f"the log of {experiment.name}: {error}")
            log.error("%s", self.alarms[-1])

    def follow(self, experiment: Experiment) -> None:
        """Read on, and keep a snapshot if it is time."""
        state = self._states.get(experiment.id)
        if state is None:
            state = self._states[experiment.id] = newest(self.store, experiment)
            self._kept[experiment.id] = state.seq
        behind = experiment.seq - state.seq
        points: list[tuple[int, int, str]] = []
        if behind == 0:
            return
        for event, link in self.store.events(experiment.id, state.seq, max(LEAST, behind // 10)):
            take_in(state, event, link)
            after, when = self._next_point(experiment.id)
            if state.seq >= after or state.at >= when:
                points.append((state.seq, state.at, point(state)))
                self._points[experiment.id] = max(state.seq + 1, GROWTH * state.seq), state.at + SPACE
            if state.seq - self._kept[experiment.id] >= EVERY:
                self.keep(experiment.id, state.seq, state.to_json())
                self._kept[experiment.id] = state.seq
        if points:
            self.keep_series(experiment.id, points)

    def _next_point(self, number: int) -> tuple[float, float]:
        """The event and the time at which the next point is kept."""
        if number not in self._points:
            known = self.store.series(number)
            self._points[number] = (GROWTH * known[-1][0], known[-1][1] + SPACE) if known else (1.0, 0.0)
        return self._points[number]


def point(state: ExperimentState) -> str:
    """What pictures need of every arm, as JSON."""
    many, joint = len(state.labels), None
    if many <= MAX_ARMS:
        with contextlib.suppress(PrudentError):  # the support is not bounded
            joint = state.agent.intervals(1.0 - (1.0 - LEVEL) / many)
    return msgspec.json.encode(rows_of(state, state.agent.estimates(), joint)).decode()


def rows_of(state: ExperimentState, estimates: list[Any], joint: list[Any] | None) -> list[list[Any]]:
    """Of every arm decisions, rewards, mean, variance and cost, the ends of where its mean lies and of where its cost
    lies, or nothing twice, and of each other metric its mean and the ends; intervals of all arms hold together."""
    metrics = [metric_means(state, name) for name in state.spec.metrics] if len(state.labels) <= MAX_ARMS else []
    found = []
    for i, (tally, known) in enumerate(zip(state.tally, estimates, strict=True)):
        mean, cost = (None, None) if joint is None else (joint[i].mean, joint[i].cost)
        others = [[each[i][0], *_ends(each[i][1])] for each in metrics]
        found.append(
            [tally.asked, known.pulls, known.mean, known.variance, known.cost, *_ends(mean), *_ends(cost), others]
        )
    return found


def metric_means(state: ExperimentState, name: str) -> list[tuple[float | None, Interval | None]]:
    """Of each arm the mean of another metric, and where it lies; the intervals of all arms hold together."""
    arms, metric = [arm[name] for arm in state.metrics], state.spec.metrics[name]
    ends = bounds(Evidence(arms, state.agent.risk, metric.support), "mean", (1.0 - LEVEL) / len(arms))
    return [(arm.mean if arm.pulls else None, pair) for arm, pair in zip(arms, ends, strict=True)]


def _ends(pair: Interval | None) -> list[float | None]:
    if pair is None or not all(map(math.isfinite, pair)):
        return [None, None]
    return [float(f"{end:.6g}") for end in pair]
