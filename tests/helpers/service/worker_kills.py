"""Kills of a worker under load, at random times and at every step of the write path, with a check after each."""

import contextlib
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from helpers.service.client_ledgers import PLAIN, WINDOWED, Client, check, integrity
from helpers.service.webhook_receivers import Receiver, messages_of
from helpers.service.workers import Nursery, Worker, line_to
from prudent.service.log.store import open_store

STEPS = (
    "before begin",
    "after apply",
    "before commit",
    "after commit",
    "before answer",
    "in sweep",
    "in snapshot",
    "before webhook",
    "after webhook",
    "at any time",
    "stopped in peace",
)


class KillCounts(NamedTuple):
    """What happened: kills by step, acknowledged decisions and rewards, requests tried, events in the logs, messages
    that a receiver of webhooks took, and how many came again."""

    steps: Counter[str]
    decisions: int
    rewards: int
    tries: int
    events: int
    messages: int
    repeats: int


def kill_often(
    nursery: Nursery,
    database: str,
    kills: int,
    *,
    seed: int = 0,
    clients: int = 8,
    steps_of: Sequence[str] = STEPS,
    **orders: Any,
) -> KillCounts:
    """Start a worker and kill it, so many times; an error if anything is lost, or there twice."""
    chance, steps = random.Random(seed), Counter[str]()
    receiver = Receiver()
    receiver.refuses = 13
    current = [_created(nursery, database, receiver, orders.get("web", False))]
    many = [Client(lambda: current[0], number) for number in range(clients)]
    events = 0
    try:
        for number in range(kills):
            step = steps_of[number % len(steps_of)]
            passes = chance.randint(1, 25 if step.startswith(("before", "after")) and "webhook" not in step else 3)
            worker = nursery.start(database, step=step, passes=passes, every=chance.randint(50, 150), **orders)
            if worker.begins():  # windows may close before it does
                current[0] = worker.path
            if number == 0:
                for client in many:
                    client.start()
            steps[_end(worker, step, chance)] += 1
            with contextlib.closing(open_store(database)) as store:
                events = check(store, many)
            if not database.startswith("postgresql"):
                assert integrity(database) == "ok"
    finally:
        for client in many:
            client.stop.set()
        for client in many:
            if client.is_alive():
                client.join()
        receiver.refuses = 0
    with contextlib.closing(open_store(database)) as store:
        expected = messages_of(store, PLAIN["name"])
    last = nursery.start(database, **{**orders, "failing": 0})  # which tells what is left
    try:
        last.ready()
        messages, repeats = receiver.check(expected, kills + 1)
    finally:
        last.kill()
        assert last.ended()
        receiver.close()
    decisions = sum(len(made) for client in many for _, made in client.asked.values())
    rewards = sum(len(client.told) + len(client.outside) for client in many)
    return KillCounts(steps, decisions, rewards, sum(client.tries for client in many), events, messages, repeats)


def _created(nursery: Nursery, database: str, receiver: Receiver, web: bool) -> Path:
    """Create the experiments, and tell the receiver of them; where the worker was that did."""
    worker = nursery.start(database, web=web).ready()
    with contextlib.closing(line_to(worker.path)) as line:
        for spec in (PLAIN, WINDOWED):
            line.call("create", spec=spec)
        body = {"url": receiver.url, "events": ["decision"], "experiments": [PLAIN["name"]]}
        receiver.secret = line.call("webhook", body=body)["secret"]
    worker.kill()
    assert worker.ended()
    return worker.path


def _end(worker: Worker, step: str, chance: random.Random) -> str:
    """Wait until it has killed itself, or kill it; at which step that was."""
    if step == "stopped in peace":
        time.sleep(chance.uniform(0.02, 0.2))
        worker.kill(signal.SIGTERM)
    elif step == "at any time":
        time.sleep(chance.uniform(0.0, 0.4))
        worker.kill()
    elif not worker.ended(10.0):
        worker.kill()
        step = "at any time"  # it has not come to the step
    assert worker.ended()
    return step
