"""Tells targets of webhooks what happens. The log is the outbox: a target has a position in the log of each experiment,
which moves on when the receiver has answered that it took the event.

So nothing is lost if a process ends, and an event is sent again only if it was not answered, or if the process ended
before the answer was on disk. The id of a message is that of the event, so that a receiver notices the same one.
"""

import contextlib
import logging
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from prudent.service.http.webhooks import Target, Webhooks
from prudent.service.log.events import Event, line_of
from prudent.service.log.store import NOTABLE, Experiment, StoreError
from prudent.service.problems import RequestError
from prudent.service.views.words import account
from prudent.service.work.post import post
from prudent.service.work.transaction import decision_id

log = logging.getLogger("prudent.service")

TICK = 0.25
"""Seconds between two looks at the logs."""

AT_ONCE = 50
"""Events that are read at a time."""

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 3600.0
"""Seconds after the first failure; each further pause is twice as long, up to the longest, and then for good."""

LEASE = 60_000
"""Milliseconds for which one of several services sends to a target: some times what an attempt takes."""

ENDING = 1.5
"""Seconds in which an attempt may still be answered when the service ends."""

LONGEST_BODY = 10_000
"""Characters of the details of an event; longer ones, such as a long spec, are left out."""

GONE = 410


class Outbox:
    """Sends what waits. `write` lets the thread that writes do something; `step` names the steps of the way, for tests
    that stop the process there."""

    def __init__(
        self,
        webhooks: Webhooks,
        write: Callable[[Callable[[], Any]], Any],
        now: Callable[[], int],
        step: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.webhooks, self.store, self._write, self._now, self._step = webhooks, webhooks.store, write, now, step
        self.failing: set[str] = set()
        self._name = secrets.token_hex(8)
        self._ending = threading.Event()
        self._main: threading.Thread | None = None
        self._threads: dict[str, threading.Thread] = {}
        self._passed: dict[tuple[str, int], int] = {}  # where there is nothing to send before
        self._unsaved: dict[tuple[str, int], int] = {}  # answered, and not noted yet

    def start(self) -> None:
        """Begin to send."""
        self._main = threading.Thread(target=self._run, daemon=True)
        self._main.start()

    def stop(self) -> None:
        """End, and let another service send. What is on its way is waited for a little."""
        self._ending.set()
        ends = time.monotonic() + ENDING
        for thread in (self._main, *self._threads.values()):
            if thread is not None:
                thread.join(max(0.0, ends - time.monotonic()))
        if self._main is not None:
            with contextlib.suppress(StoreError, RequestError):
                self._write(partial(self._change, "UPDATE webhook SET until = 0 WHERE holder = ?", self._name))

    def _run(self) -> None:
        while not self._ending.wait(TICK):
            with contextlib.suppress(StoreError, RequestError):
                targets = self.webhooks.all()
                self.failing = {target.id for target in targets if target.failures and target.gone is None}
                for target in targets:
                    busy = target.id in self._threads and self._threads[target.id].is_alive()
                    if not busy and self._due(target) and self._anything(target):
                        thread = threading.Thread(target=self._deliver, args=(target,), daemon=True)
                        self._threads[target.id] = thread
                        thread.start()

    def _anything(self, target: Target) -> bool:
        """Whether there is something to send, or to note."""
        return any(name == target.id for name, _ in list(self._unsaved)) or any(True for _ in self._waiting(target))

    def _due(self, target: Target) -> bool:
        """Whether an attempt may be made now, by this service."""
        now = self._now()
        others = self.store.database.several_workers and target.holder != self._name and target.until > now
        paused = now < target.again <= now + 2_000 * LONGEST_PAUSE
        return target.gone is None and not paused and not others

    def _deliver(self, target: Target) -> None:
        """Send what waits, one after the other, until something goes wrong."""
        try:
            if not self._held(target):
                return
            for experiment, event, link in self._waiting(target):
                if self._ending.is_set() or not self._sent(target, experiment, event, link):
                    return
                target = target._replace(failures=0)
        except (StoreError, RequestError):
            return  # the next look tries again
        except Exception as error:
            log.error("a webhook could not be sent: %s", type(error).__name__)
            with contextlib.suppress(StoreError, RequestError):
                self._fail(target, "an error of the service", 0.0)

    def _held(self, target: Target) -> bool:
        """Whether this service may send to it, which it may then for a while."""

        def take() -> bool:
            now, database = self._now(), self.store.database
            with self.store.transaction():
                locking = database.locking
                found = database.execute(f"SELECT holder, until FROM webhook WHERE id = ?{locking}", target.id)
                if not found or (database.several_workers and found[0][0] != self._name and found[0][1] > now):
                    return False
                sql = "UPDATE webhook SET holder = ?, until = ? WHERE id = ?"
                database.execute(sql, self._name, now + LEASE, target.id)
            return True

        for (name, number), seq in list(self._unsaved.items()):
            if name == target.id:
                self._save(target, number, seq)
        return bool(self._write(take))

    def _waiting(self, target: Target) -> Iterator[tuple[Experiment, Event, bytes]]:
        """The events that it has not taken yet, in the order of each log."""
        columns = ", ".join(f"experiment.{name}" for name in Experiment._fields)
        rows = self.store.read(
            f"SELECT {columns}, COALESCE(place.seq, 0) FROM experiment LEFT JOIN webhook_position AS place"
            " ON place.experiment = experiment.id AND place.webhook = ?"
            " WHERE experiment.seq > COALESCE(place.seq, 0) ORDER BY experiment.id",
            target.id,
        )
        for *row, place in rows:
            experiment = Experiment(*row)
            if target.covers(experiment.name):
                yield from ((experiment, *found) for found in self._events(target, experiment, place))

    def _events(self, target: Target, experiment: Experiment, place: int) -> Iterator[tuple[Event, bytes]]:
        kinds, key = target.kinds, (target.id, experiment.id)
        notable, table = "", "event"
        if "asked" not in kinds:  # the index has all that is left
            notable, table = f" AND {NOTABLE}", f"event{self.store.database.using.format('event_notable')}"
        sql = (
            f"SELECT {', '.join(Event._fields)}, link FROM {table} WHERE experiment = ? AND seq > ? AND seq <= ?"
            f" AND kind IN ({', '.join('?' * len(kinds))}){notable} ORDER BY seq LIMIT {AT_ONCE}"
        )
        after = max(place, self._passed.get(key, 0))
        while after < experiment.seq:
            rows = self.store.read(sql, experiment.id, after, experiment.seq, *kinds)
            found = [(Event(*row[:-1]), bytes(row[-1])) for row in rows]
            yield from found
            after = found[-1][0].seq if len(found) == AT_ONCE else experiment.seq
        self._passed[key] = after

    def _sent(self, target: Target, experiment: Experiment, event: Event, link: bytes) -> bool:
        """Whether the receiver took an event."""
        self._step("before webhook")
        name = name_of(experiment, event, link)
        done = post(target.url, target.secret, name, message(experiment, event), private=self.webhooks.private)
        if not 200 <= done.status < 300:
            self._fail(target, done.words, done.wait, gone=done.status == GONE)
            return False
        self._step("after webhook")
        self._save(target, experiment.id, event.seq)
        return True

    def _save(self, target: Target, number: int, seq: int) -> None:
        """The receiver has what comes until there."""
        self._unsaved[target.id, number] = seq

        def move() -> None:
            with self.store.transaction():
                self.store.database.execute(
                    "INSERT INTO webhook_position (webhook, experiment, seq) VALUES (?, ?, ?)"
                    " ON CONFLICT (webhook, experiment) DO UPDATE SET seq = excluded.seq"
                    " WHERE webhook_position.seq < excluded.seq",
                    *(target.id, number, seq),
                )
                self.store.database.execute(
                    "UPDATE webhook SET failures = 0, trouble = '', again = 0, until = ? WHERE id = ? AND holder = ?",
                    *(self._now() + LEASE, target.id, self._name),
                )

        self._write(move)
        self._unsaved.pop((target.id, number), None)

    def _fail(self, target: Target, words: str, wait: float, *, gone: bool = False) -> None:
        """Try again later, and ever later."""
        now, failures = self._now(), target.failures + 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(target.failures, 20)) * random.uniform(0.75, 1.25)
        again = now + round(1000.0 * max(pause, min(wait, LONGEST_PAUSE)))
        sql = "UPDATE webhook SET failures = ?, trouble = ?, again = ?, gone = ? WHERE id = ?"
        self._write(partial(self._change, sql, failures, words, again, now if gone else None, target.id))
        log.warning("webhook %s: attempt %d failed; GET /v1/webhooks says why", target.id, failures)

    def _change(self, sql: str, *values: Any) -> None:
        with self.store.transaction():
            self.store.database.execute(sql, *values)

    @property
    def alarms(self) -> list[str]:
        """What somebody should look at."""
        many = len(self.failing)
        words = "1 receiver of webhooks has" if many == 1 else f"{many} receivers of webhooks have"
        return [f"{words} not taken the last message; GET /v1/webhooks says why."] if many else []


def name_of(experiment: Experiment, event: Event, link: bytes) -> str:
    """The id of the message of an event. The link of the chain tells it from one that a restored backup has lost."""
    return f"evt_{experiment.id}-{event.seq}-{link.hex()}"


def message(experiment: Experiment, event: Event) -> bytes:
    """The event for a receiver, without what units are recognised by."""
    labels = msgspec.json.decode(experiment.arms)
    line = line_of(event, b"", labels)
    data = {name: value for name, value in line.items() if name not in ("key", "unit", "link", "by")}
    if event.decision is not None:
        data["decision"] = decision_id(experiment, event)
    if event.body is not None and len(event.body) > LONGEST_BODY:
        del data["body"]
    data |= {"experiment": experiment.name, "words": account(event, labels)}
    at = datetime.fromtimestamp(event.at / 1000.0, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return msgspec.json.encode({"type": f"experiment.{event.kind.replace('-', '_')}", "timestamp": at, "data": data})
