"""Numbers for Prometheus. Labels are names of experiments and of arms, and paths of the API: never a unit, a key or a
reason, which may say what should not be known here."""

import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import prometheus_client
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.utils import floatToGoString

import prudent
from prudent.results.regret import exploration_risk
from prudent.service.http.routes import Route
from prudent.service.views.view import View

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder in which the workers of a service keep their numbers for all of them."""

LONGEST = 0.15
"""Seconds in which logs are read on before the answer; what is missing then, at a start, comes with the next."""


class Family(NamedTuple):
    """A number that every experiment has: its name, its kind, and what it says."""

    name: str
    kind: str
    help: str


FAMILIES = (
    Family("prudent_decisions_total", "counter", "Decisions made"),
    Family("prudent_rewards_total", "counter", "Rewards"),
    Family("prudent_open_decisions", "gauge", "Decisions without a reward"),
    Family("prudent_events_total", "counter", "Events in the log"),
    Family("prudent_guardrail_fired_total", "counter", "Guardrails that acted"),
    Family("prudent_changed_arms", "gauge", "Arms whose rewards have changed"),
    Family("prudent_exploration_risk", "gauge", "Variance from moving between arms"),
    Family("prudent_running", "gauge", "1 if decisions are made"),
)
IDLE = (
    Family("prudent_repeated_requests_total", "counter", "Requests that came again"),
    Family("prudent_late_rewards_total", "counter", "Rewards after their window"),
)
BUILD = Family("prudent_build_info", "gauge", "Which software answers")


class Metrics:
    """What the processes of a service have done, and where its experiments stand."""

    def __init__(self, service: Any) -> None:
        self._service, self._counting = service, threading.Lock()
        own = prometheus_client.CollectorRegistry()
        path: Any = {"labelnames": ["method", "path"], "registry": own}
        self._seconds = prometheus_client.Histogram(
            "prudent_request_seconds", "Time to answer a request", buckets=SECONDS, **path
        )
        path["labelnames"] = ["method", "path", "status"]
        self._answers = prometheus_client.Counter("prudent_requests", "Requests by their answer", **path)
        more: Any = {"registry": own}
        self._commits = prometheus_client.Counter("prudent_commits", "Transactions that were written", **more)
        self._commands = prometheus_client.Counter("prudent_commands", "Requests that were written", **more)
        self._queue = prometheus_client.Gauge(
            "prudent_queue_length", "Requests that wait to be written", multiprocess_mode="livesum", **more
        )
        self._alarms = prometheus_client.Gauge(
            "prudent_log_alarms", "Logs that were altered", multiprocess_mode="livemax", **more
        )
        self._registry = own
        if SHARED in os.environ:
            self._registry = prometheus_client.CollectorRegistry()
            MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]
        self._counted = 0, 0
        self._known: dict[Any, tuple[Any, Any]] = {}
        self._views: dict[int, View] = {}

    def observe(self, route: Route | None, status: int, seconds: float) -> None:
        """An answer was given."""
        known = self._known.get((route, status))
        if known is None:
            labels = ("", "") if route is None else (route.method, route.path)
            known = self._seconds.labels(*labels), self._answers.labels(*labels, str(status))
            self._known[route, status] = known
        known[0].observe(seconds)
        known[1].inc()
        self._count()

    def _count(self) -> None:
        """Take over what the service has counted by itself."""
        service = self._service
        with self._counting:
            before, self._counted = self._counted, (service.commits, service.carried_out)
        self._commits.inc(self._counted[0] - before[0])
        self._commands.inc(self._counted[1] - before[1])
        self._queue.set(service.waiting)
        self._alarms.set(len(service.follower.alarms))

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        self._count()
        info = _head(BUILD) + _line(BUILD.name, 1.0, version=prudent.__version__)
        parts = [prometheus_client.generate_latest(self._registry).decode(), *self._experiments(), info]
        return "".join(parts).encode()

    def _experiments(self) -> Iterator[str]:
        """Where each experiment stands. What has not changed since the last time is not computed again."""
        lines: list[list[str]] = [[] for _ in FAMILIES]
        again, late = [], []
        for experiment, state in self._service.follower.states(time.monotonic() + LONGEST):
            view = self._views.get(experiment.id)
            if view is None or view.seq != state.seq:
                view = self._views[experiment.id] = View(experiment, state)
            for all_of_them, some in zip(lines, view.once("metrics", partial(lines_of, view)), strict=True):
                all_of_them.append(some)
            row = self._service.writer.counted(experiment)
            again.append(_line(IDLE[0].name, row.again, experiment=row.name))
            late.append(_line(IDLE[1].name, row.late, experiment=row.name))
        for family, found in zip((*FAMILIES, *IDLE), (*lines, again, late), strict=True):
            yield _head(family)
            yield from found


def lines_of(view: View) -> list[str]:
    """The lines of an experiment in each of `FAMILIES`."""
    name, state, arms = view.experiment.name, view.state, view.estimates
    decisions, rewards = [], []
    for label, tally in zip(state.labels, state.tally, strict=True):
        decisions.append(_line("prudent_decisions_total", tally.asked, arm=label, experiment=name))
        rewards += [
            _line("prudent_rewards_total", getattr(tally, how), arm=label, experiment=name, how=how)
            for how in ("told", "defaulted", "expired", "withdrawn", "outside")
        ]
    pulls, means = np.array([(each.pulls, each.mean or 0.0) for each in arms]).T
    values = (
        sum(known.open_asks for known in arms),
        state.seq,
        len(state.fired),
        len(state.changed),
        float(exploration_risk(pulls, means)) if pulls.any() else 0.0,
        state.status == "running",
    )
    one_each = [_line(family.name, value, experiment=name) for family, value in zip(FAMILIES[2:], values, strict=True)]
    return ["".join(decisions), "".join(rewards), *one_each]


def _head(family: Family) -> str:
    return f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.kind}\n"


def _line(metric: str, value: float, **labels: str) -> str:
    text = ",".join(f'{name}="{_escaped(given)}"' for name, given in labels.items())
    shown = floatToGoString(float(value))  # type: ignore[no-untyped-call]
    return f"{metric}{{{text}}} {shown}\n"


def _escaped(text: str) -> str:
    if text.isalnum():
        return text
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
