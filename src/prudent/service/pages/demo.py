"""Three simulated experiments with traffic, so that anybody can look around at once.

One is easy, one has a guardrail that is about to act, and in one the answers of an arm get lost.
"""

import math
import random
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from prudent.service import messages as m
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work.service import Service

DAY = 86_400.0
NIGHT = 0.15
"""How many visitors come in the quietest hour of a day, as a share of those in the busiest."""


class Demo(NamedTuple):
    """An experiment, how an arm answers a visitor (None: not at all), how many visitors had come before over so many
    days, and the seconds between two who come now."""

    spec: dict[str, Any]
    visitor: Callable[[random.Random, str], tuple[float, dict[str, float]] | None]
    before: int
    days: float
    pace: float


class Calendar:
    """The clock of the demonstration: the past days go by in seconds, and then it is that of everybody."""

    def __init__(self) -> None:
        self.behind = max(demo.days for demo in DEMOS) * DAY

    def __call__(self) -> int:
        return int(1000.0 * (time.time() - self.behind))

    def reach(self, at: float) -> None:
        """It is now at least so many seconds since 1970."""
        self.behind = max(0.0, min(self.behind, time.time() - at))


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
        9000,
        4.0,
        15.0,
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
        0.04,
        0.5,
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
        1500,
        3.0,
        60.0,
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


def times(demo: Demo, rng: random.Random, now: float) -> list[float]:
    """When the visitors of the past came: more by day than by night."""
    found: list[float] = []
    while len(found) < demo.before:
        at = now - demo.days * DAY * rng.random()
        busy = 0.5 - 0.5 * math.cos(2.0 * math.pi * (at / DAY - 3.0 / 24.0))  # the quietest hour is at 3 o'clock
        if demo.days < 1.0 or rng.random() < NIGHT + (1.0 - NIGHT) * busy:
            found.append(at)
    return sorted(found)


def start(service: Service, calendar: Calendar) -> threading.Thread:
    """Create the experiments, let the visitors of the past days come, and others from then on."""
    streams = [random.Random(seed) for seed in range(len(DEMOS))]
    now = time.time()
    past = [(at, i) for i, demo in enumerate(DEMOS) for at in times(demo, streams[i], now)]
    past += [(now - demo.days * DAY, -1 - i) for i, demo in enumerate(DEMOS)]  # each begins
    past.sort()

    def traffic() -> None:
        try:
            for at, i in past:
                calendar.reach(at)
                if i < 0:
                    service.create(decoded(DEMOS[-1 - i].spec))
                else:
                    visit(service, DEMOS[i], streams[i])
            calendar.reach(math.inf)
            coming = [(time.time() + demo.pace, i) for i, demo in enumerate(DEMOS)]
            while True:
                at, i = min(coming)
                time.sleep(max(0.0, at - time.time()))
                visit(service, DEMOS[i], streams[i])
                coming[i] = at + DEMOS[i].pace * streams[i].uniform(0.5, 1.5), i
        except RequestError:
            return  # the service stops, or somebody stopped an experiment that has no fallback

    thread = threading.Thread(target=traffic, daemon=True)
    thread.start()
    return thread
