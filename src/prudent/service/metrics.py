"""Numbers for Prometheus. Labels are names of experiments, numbers of arms and paths of the API: never a unit, a key, a
reason or the name of an arm, which may say what should not be known here."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import prometheus_client
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

import prudent
from prudent.regret import exploration_risk
from prudent.service.routes import Route

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """What one process has done, and where its experiments stand."""

    def __init__(self, service: Any) -> None:
        self._registry = prometheus_client.CollectorRegistry()
        self._seconds = prometheus_client.Histogram(
            "prudent_request_seconds",
            "Time to answer a request",
            ["method", "path"],
            registry=self._registry,
            buckets=SECONDS,
        )
        self._answers = prometheus_client.Counter(
            "prudent_requests", "Requests by their answer", ["method", "path", "status"], registry=self._registry
        )
        self._known: dict[Any, tuple[Any, Any]] = {}
        self._registry.register(Experiments(service))

    def observe(self, route: Route | None, status: int, seconds: float) -> None:
        """An answer was given."""
        known = self._known.get((route, status))
        if known is None:
            labels = ("", "") if route is None else (route.method, route.path)
            known = self._seconds.labels(*labels), self._answers.labels(*labels, str(status))
            self._known[route, status] = known
        known[0].observe(seconds)
        known[1].inc()

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return prometheus_client.generate_latest(self._registry)


class Experiments(Collector):
    """Where each experiment stands, looked up when somebody asks."""

    def __init__(self, service: Any) -> None:
        self._service = service

    def describe(self) -> list[Any]:
        """Nothing is looked up when the numbers are registered."""
        return []

    def collect(self) -> Iterator[Any]:
        """All numbers of all experiments."""
        service = self._service
        decisions = CounterMetricFamily("prudent_decisions", "Decisions made", labels=["experiment", "arm"])
        rewards = CounterMetricFamily("prudent_rewards", "Rewards", labels=["experiment", "arm", "how"])
        pending = GaugeMetricFamily("prudent_open_decisions", "Decisions without a reward", labels=["experiment"])
        events = CounterMetricFamily("prudent_events", "Events in the log", labels=["experiment"])
        fired = CounterMetricFamily("prudent_guardrail_fired", "Guardrails that acted", labels=["experiment"])
        changed = GaugeMetricFamily("prudent_changed_arms", "Arms whose rewards have changed", labels=["experiment"])
        again = CounterMetricFamily("prudent_repeated_requests", "Requests that came again", labels=["experiment"])
        late = CounterMetricFamily("prudent_late_rewards", "Rewards after their window", labels=["experiment"])
        risk = GaugeMetricFamily("prudent_exploration_risk", "Variance from moving between arms", labels=["experiment"])
        running = GaugeMetricFamily("prudent_running", "1 if decisions are made", labels=["experiment"])
        for row in service.store.experiments():
            view = service.view(row.name)
            fold = view.fold
            for arm, tally in enumerate(fold.tally):
                decisions.add_metric([row.name, str(arm)], tally.asked)
                for how in ("told", "defaulted", "expired", "withdrawn", "outside"):
                    rewards.add_metric([row.name, str(arm), how], getattr(tally, how))
            pending.add_metric([row.name], sum(known.open_asks for known in fold.agent.estimates()))
            events.add_metric([row.name], fold.seq)
            fired.add_metric([row.name], len(fold.fired))
            changed.add_metric([row.name], len(fold.changed))
            again.add_metric([row.name], view.experiment.again)
            late.add_metric([row.name], view.experiment.late)
            pulls, means = np.array([(each.pulls, each.mean or 0.0) for each in fold.agent.estimates()]).T
            risk.add_metric([row.name], float(exploration_risk(pulls, means)) if pulls.any() else 0.0)
            running.add_metric([row.name], fold.status == "running")
        yield from (decisions, rewards, pending, events, fired, changed, again, late, risk, running)
        yield CounterMetricFamily("prudent_commits", "Transactions that were written", value=service.commits)
        yield CounterMetricFamily("prudent_commands", "Requests that were written", value=service.carried_out)
        yield GaugeMetricFamily("prudent_queue_length", "Requests that wait to be written", value=service.waiting)
        yield GaugeMetricFamily("prudent_log_alarms", "Logs that were altered", value=len(service.follower.alarms))
        info = GaugeMetricFamily("prudent_build_info", "Which software answers", labels=["version"])
        info.add_metric([prudent.__version__], 1)
        yield info
