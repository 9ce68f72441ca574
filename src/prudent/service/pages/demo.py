"""Three simulated experiments with traffic, so that anybody can look around at once.

One is easy, one has a guardrail that is about to act, and in one the answers of an arm get lost.
"""

import random
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from prudent.service import messages as m
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work.service import Service

PACE = 0.05
"""Seconds between two visitors of an experiment."""

HEAD_START = 1500
"""Visitors who have come before the pages are opened."""


class Demo(NamedTuple):
    """An experiment, how an arm answers a visitor (None: not at all), and how many visitors had come before."""

    spec: dict[str, Any]
    visitor: Callable[[random.Random, str], tuple[float, dict[str, float]] | None]
    before: int = HEAD_START


def _clicks(rng: random.Random, arm: str) -> tuple[float, dict[str, float]]:
    rate = {"old page": 0.30, "new page": 0.42, "long page": 0.22}[arm]
    return float(rng.random() < rate), {}


def _revenue(rng: random.Random, arm: str) -> tuple[float, dict[str, float]]:
    mean, deviation, latency = {"control": (42.0, 12.0, 180.0), "fast lane": (44.0, 12.0, 330.0)}[arm]
    outcome = min(100.0, max(0.0, rng.gauss(mean, deviation)))
    return outcome, {"latency": min(1000.0, max(0.0, rng.gauss(latency, 90.0)))}


def _survey(rng: random.Random, arm: str) -> tuple[float, dict[str, float]] | None:
    if rng.random() < {"letter": 0.05, "phone": 0.45, "mail": 0.10}[arm]:
        return None
    return min(10.0, max(0.0, rng.gauss({"letter": 6.5, "phone": 6.8, "mail": 6.0}[arm], 2.0))), {}


SHARP = "mv-lcb(c=1, unbiased=True)"
DEMOS = (
    Demo(
        {
            "name": "easy",
            "arms": ["old page", "new page", "long page"],
            "policy": SHARP,
            "risk": "mean-variance(rho=1)",
            "support": [0, 1],
            "horizon": 20_000,
            "fallback": "old page",
            "note": "Clicks: 1 if a visitor clicked, 0 if not.",
        },
        _clicks,
        6000,
    ),
    Demo(
        {
            "name": "guarded",
            "arms": ["control", "fast lane"],
            "policy": SHARP,
            "risk": "mean-variance(rho=30)",
            "support": [0, 100],
            "unit": "EUR",
            "horizon": 20_000,
            "fallback": "control",
            "metrics": {"latency": {"support": [0, 1000]}},
            "guardrails": [{"watch": "mean", "metric": "latency", "above": 300, "then": "retire"}],
        },
        _revenue,
        60,
    ),
    Demo(
        {
            "name": "lost-answers",
            "arms": ["letter", "phone", "mail"],
            "policy": SHARP,
            "risk": "mean-variance(rho=4)",
            "support": [0, 10],
            "unit": "points",
            "horizon": 5_000,
        },
        _survey,
    ),
)


def visit(service: Service, demo: Demo, rng: random.Random) -> None:
    """A visitor comes, is given an arm, and answers or not."""
    (decision,) = service.run(demo.spec["name"], m.Ask()).decisions
    if decision.decision is None:
        return
    answer = demo.visitor(rng, decision.arm)
    if answer is None:
        service.run(demo.spec["name"], m.Withdraw(), decision=decision.decision)
    else:
        service.run(demo.spec["name"], m.Tell(answer[0], answer[1] or None), decision=decision.decision)


def start(service: Service) -> threading.Thread:
    """Create the experiments, let the first visitors come, and others from then on."""
    streams = [random.Random(seed) for seed in range(len(DEMOS))]
    for demo in DEMOS:
        service.create(decoded(demo.spec))

    def traffic() -> None:
        try:
            for demo, rng in zip(DEMOS, streams, strict=True):
                for _ in range(demo.before):
                    visit(service, demo, rng)
            while True:
                time.sleep(PACE)
                for demo, rng in zip(DEMOS, streams, strict=True):
                    visit(service, demo, rng)
        except RequestError:
            return  # the service stops, or somebody stopped an experiment that has no fallback

    thread = threading.Thread(target=traffic, daemon=True)
    thread.start()
    return thread
