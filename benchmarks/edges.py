"""How many decisions a second does one experiment carry if programs at the edge take batches?

    python benchmarks/edges.py [--edges 2] [--seconds 5] [--batch 100000]

A real service (`prudent serve`, SQLite, every answer durable) has one experiment with four arms. Each edge is a process
that asks for a batch, takes its decisions one page view at a time, tells each reward by itself, reports the merged
rewards, and asks for the next. The second line is for edges that group rewards by arm before they tell them. Afterwards
the service verifies its log, and its counts are compared with those of the edges. Last, how many bytes a decision and a
batch take in the database.
"""

import argparse
import multiprocessing
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prudent.client import Client
from prudent.service.http.local import client_of
from prudent.service.log.store import open_store
from prudent.service.work.service import Service

MEANS = {"a": 0.10, "b": 0.11, "c": 0.12, "d": 0.13}
SPEC = {"arms": list(MEANS), "policy": "ucb1", "risk": "mean", "support": [0, 1], "seed": 1}
TOGETHER = 10
"""Decisions of one page view."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--batch", type=int, default=100_000)
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "prudent", "serve", "--database", f"{folder}/edges.db", "--port", "0"]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert service.stdout is not None
            url, token = (service.stdout.readline().split()[-1] for _ in range(2))
            for name, play in {"each reward by itself": one_by_one, "rewards grouped by arm": grouped}.items():
                print(f"{name}: {measured(url, token, play, settings)}", flush=True)
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait()
        print(f"in the database: {taken(f'{folder}/one.db', decisions):.0f} bytes a decision with its key and reward,")
        print(f"{taken(f'{folder}/many.db', batches):.0f} bytes a batch with its report")


def measured(url: str, token: str, play: Any, settings: argparse.Namespace) -> str:
    """Decisions a second of all edges together, in words."""
    name = play.__name__.replace("_", "-")
    with Client(url, token, name) as client:
        client.create(SPEC)
        with multiprocessing.Pool(settings.edges) as pool:
            work = [(url, token, name, play, settings.batch, settings.seconds, i) for i in range(settings.edges)]
            done = pool.starmap(edge, work)
        arms = client.estimates()["arms"]
        verified = client.verify()
    made, rate, processor, reported = (sum(column) for column in zip(*done, strict=True))
    assert sum(arm["pulls"] for arm in arms) == made, "rewards were lost"
    assert verified["ok"], verified
    best = max(arms, key=lambda arm: arm["pulls"])
    share = best["pulls"] / made
    return (
        f"{rate:,.0f} decisions a second, {1e9 * processor / made:,.0f} ns of an edge's CPU for each;"
        f" {reported:,} batches in {verified['events']:,} events; {100 * share:.0f} % to {best['arm']}"
    )


def taken(path: str, play: Callable[[Client, int], None], count: int = 1000) -> float:
    """Bytes of the file for each of so many decisions or batches."""
    sizes = []
    for times in (0, count):
        client = client_of(Service(open_store(path, relaxed=True)).start(), "size")
        client.create(SPEC)
        play(client, times)
        client.close()
        sizes.append(Path(path).stat().st_size)
    return (sizes[1] - sizes[0]) / count


def decisions(client: Client, times: int) -> None:
    """Asked for and told one by one."""
    for _ in range(times):
        client.tell(client.ask(unit="somebody"), 1.0)


def batches(client: Client, times: int) -> None:
    """Asked for and reported."""
    for _ in range(times):
        batch = client.batch(10_000)
        for arm, share in batch.arms.items():
            batch.tell_many(arm, [random.random() for _ in range(min(share, 10))])
        batch.report()


def edge(
    url: str, token: str, name: str, play: Any, size: int, seconds: float, number: int
) -> tuple[int, float, float, int]:
    """Decisions, decisions a second, seconds of CPU, batches."""
    rng = random.Random(number)
    world = {arm: [1.0 if rng.random() < mean else 0.0 for _ in range(10_007)] for arm, mean in MEANS.items()}
    made = reported = 0
    with Client(url, token, name) as client:
        began, worked = time.perf_counter(), time.process_time()
        while time.perf_counter() - began < seconds:
            batch = client.batch(size)
            play(batch, world)
            batch.report()
            made += size
            reported += 1
        return made, made / (time.perf_counter() - began), time.process_time() - worked, reported


def one_by_one(batch: Any, world: dict[str, list[float]]) -> None:
    """A program that learns the reward of each decision by itself."""
    seen = 0
    while taken := batch.take(TOGETHER):
        for arm in taken:
            batch.tell(arm, world[arm][seen % 10_007])
            seen += 1


def grouped(batch: Any, world: dict[str, list[float]]) -> None:
    """A program that collects its rewards by arm."""
    rewards: dict[str, list[float]] = {arm: [] for arm in batch.arms}
    seen = 0
    while taken := batch.take(1000):
        for arm in taken:
            rewards[arm].append(world[arm][seen % 10_007])
            seen += 1
    for arm, given in rewards.items():
        batch.tell_many(arm, given)


if __name__ == "__main__":
    main()
