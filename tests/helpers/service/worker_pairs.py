"""Two workers on one PostgreSQL database, under load."""

import contextlib
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import msgspec

from helpers.service.client_ledgers import PLAIN, Client, check
from helpers.service.postgres_server import PostgresServer
from helpers.service.workers import Line, Nursery, Worker
from prudent.service.log.replay import catch_up
from prudent.service.log.state import ExperimentState
from prudent.service.log.store import Store, open_store
from prudent.service.spec import decoded


class Pair:
    """Two workers, who start at the same moment on an empty database, and clients of both."""

    def __init__(
        self, nursery: Nursery, database: str, clients: int, most: int = 10**9, first: Any = None, **orders: Any
    ) -> None:
        self.database = database
        started = [nursery.start(database, **orders, **(first or {})), nursery.start(database, **orders)]
        self.workers = [worker.ready() for worker in started]
        self.clients = [Client(self._address(i % 2), i, [PLAIN], most) for i in range(clients)]

    def _address(self, i: int) -> Any:
        return lambda: self.workers[i].path

    def __enter__(self) -> "Pair":
        with ThreadPoolExecutor(2) as both:  # one of them creates it
            list(both.map(lambda worker: call(worker, "create", spec=PLAIN), self.workers))
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_: object) -> None:
        for client in self.clients:
            client.stop.set()
        for client in self.clients:
            client.join()
        for worker in self.workers:
            worker.kill()

    def checked(self) -> int:
        """Compare the log with what clients were told, and with an agent on its own; the number of events."""
        for client in self.clients:
            client.join()
        with contextlib.closing(open_store(self.database)) as store:
            check_alone(store)
            return check(store, self.clients)


def call(worker: Worker, kind: str, experiment: str = "plain", **parts: Any) -> Any:
    """An answer that is no excuse, however long it takes."""
    while True:
        with contextlib.suppress(OSError), contextlib.closing(Line(worker.path)) as line:
            answer = line.call(kind, experiment, **parts)
            if not (isinstance(answer, dict) and answer.get("problem") == "unavailable"):
                return answer
        time.sleep(0.005)


def check_alone(store: Store) -> None:
    """An agent that is given the rewards in the order of the log chooses the arms of the log."""
    for experiment in store.experiments():
        spec, labels = decoded(experiment.spec), msgspec.json.decode(experiment.arms)
        agent = spec.agent()
        for event, _ in store.events(experiment.id, 0, experiment.seq):
            if event.kind == "asked":
                assert event.arm is not None
                assert agent.ask() == labels[event.arm]
            elif event.kind in ("told", "outside"):
                assert event.arm is not None
                assert event.value is not None
                agent.tell(labels[event.arm], event.value, asked=event.kind == "told")
        state = ExperimentState(spec)
        catch_up(store, state, experiment)
        assert state.agent.to_json() == agent.to_json()


class RestartTimes(NamedTuple):
    """How long each restart took until both workers answered again, how much of that after the database was back,
    acknowledged requests, and events."""

    seconds: list[float]
    workers: list[float]
    acknowledged: int
    events: int


def restart_often(
    nursery: Nursery, server: PostgresServer, database: str, times: int, clients: int = 8
) -> RestartTimes:
    """Stop the database at once under load and start it again, so many times."""
    chance, seconds, workers = random.Random(0), [], []
    with Pair(nursery, database, clients) as pair:
        for number in range(times):
            time.sleep(chance.uniform(0.1, 0.5))
            since = time.monotonic()
            server.stop("immediate")
            server.start()
            back = time.monotonic()
            for worker in pair.workers:
                call(worker, "Ask", key=f"after {number} at {worker.number}")
            seconds.append(time.monotonic() - since)
            workers.append(time.monotonic() - back)
    return RestartTimes(seconds, workers, sum(client.answers for client in pair.clients), pair.checked())


def same_key_at_once(nursery: Nursery, database: str, threads: int) -> list[Any]:
    """The answers to one key that comes so often at the same moment, over two workers."""
    with Pair(nursery, database, 0) as pair, ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda i: call(pair.workers[i % 2], "Ask", key="the same"), range(threads)))


class LoadCounts(NamedTuple):
    """What clients did over two workers: decisions, seconds, and events."""

    decisions: int
    seconds: float
    events: int


def many_clients(nursery: Nursery, database: str, clients: int, decisions: int) -> LoadCounts:
    """So many clients make that many decisions, with their rewards."""
    with Pair(nursery, database, clients, -(-decisions // clients)) as pair:
        since = time.monotonic()
        for client in pair.clients:
            client.join()
        seconds = time.monotonic() - since
        events = pair.checked()
    return LoadCounts(sum(len(made) for client in pair.clients for _, made in client.asked.values()), seconds, events)
