"""The service: commands from many threads and event loops, one writer, and what goes on beside it."""

import asyncio
import contextlib
import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from prudent.base.errors import PrudentError
from prudent.service import messages as m
from prudent.service.http.flags import Flags
from prudent.service.http.sessions import Sessions
from prudent.service.http.tokens import Tokens
from prudent.service.http.webhooks import Webhooks
from prudent.service.log.events import line_of
from prudent.service.log.follower import Follower
from prudent.service.log.store import Experiment, Store, StoreError
from prudent.service.log.verify import Verified, verify
from prudent.service.problems import RequestError
from prudent.service.spec import Spec
from prudent.service.views.cache import Views
from prudent.service.views.view import View
from prudent.service.work.changes import status_of
from prudent.service.work.clocks import absence, clock_of, log_alarms, machine_alarm, machine_clock, settle
from prudent.service.work.decisions import decision_reply
from prudent.service.work.forecasts import Forecasts
from prudent.service.work.outbox import Outbox
from prudent.service.work.transaction import Command, decision_id, experiment_number, seq_of
from prudent.service.work.writer import Writer

log = logging.getLogger("prudent.service")

MOST = 4000
"""Events of one transaction, if a single request does not make more. So it takes a fraction of a second, and is not cut
off as one that stands still."""


PATIENT = 4.0
"""Those who wait in a thread wait so many times as long: the first experiment of a process takes seconds to make."""

LISTING = 0.2
"""Seconds in which logs are read on for a list."""

ERASING = 1.0
"""Seconds at the end in which deleted experiments are erased; what is left then is erased after the next start."""

ANSWER, PROBE = 8.0, 2.0
"""Seconds in which the writer is waited for, and in which somebody who asks whether it is ready is answered."""


class Service:
    """Runs the experiments of a database.

    `patience` are the seconds after the start in which no window closes, so that those who could not report while the
    service was away can do so first. `answer_within` are those after which whoever waits is answered in any case.
    `private_webhooks` allows receivers on this machine and in its network; nothing is sent before `outbox.start()`.
    """

    def __init__(
        self,
        store: Store,
        now: Callable[[], int] | None = None,
        *,
        queue_limit: int = 2000,
        patience: float = 10.0,
        answer_within: float | None = ANSWER,
        step: Callable[[str], None] = lambda name: None,
        private_webhooks: bool = False,
    ) -> None:
        self.store, self.queue_limit, self.patience = store, queue_limit, patience
        self.answer_within = answer_within
        self.now = clock_of(store) if now is None else now
        self._machine = machine_clock if now is None else now
        self.clock_alarms: list[str] = []
        self._log_alarms: list[str] = []
        self.writer = Writer(store, self.now, patience, step)
        self.follower = Follower(
            store,
            lambda *state: self.write(partial(self.writer.keep_snapshot, *state)),
            lambda *points: self.write(partial(self.writer.keep_series, *points)),
        )
        self.flags = Flags(store)
        self.webhooks = Webhooks(store, self.write, self.now, private=private_webhooks)
        self.outbox = Outbox(self.webhooks, self.write, self.now, step)
        self.forecasts, self.views = Forecasts(), Views(self)
        self.commits = self.carried_out = 0
        self._told: str | None = None  # the trouble that the log of the service has
        self._queue: deque[tuple[Any, Any]] = deque()
        self._arrived = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()
        self._names: dict[int, str] = {}
        self.tokens = Tokens(store, self.write, self.now)
        self.sessions = Sessions(store, self.write, self.now, self.tokens)

    def start(self) -> "Service":
        """Begin to work; before that, requests wait."""
        try:
            self._look_at_clocks()
        except StoreError as error:  # another worker may hold what this one wants to change
            log.error("the clock could not be compared with the logs: %s", error)
            self.clock_alarms = ["The clock could not be compared with the logs, because the database did not answer."]
        for work in (self._write, self._sweep, partial(self.follower.run, self._closing)):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            self._threads.append(thread)
        # It reads and writes nothing that lasts, so nobody waits for its end.
        threading.Thread(target=self.forecasts.run, args=(self._closing,), daemon=True).start()
        return self

    def _look_at_clocks(self) -> None:
        """Whether the clock is right, as far as that can be known. Windows last as long with a wrong one."""
        away = absence(self.store, self.now())
        settle(self.store, self.now())
        machine = machine_alarm(self.store, self._machine())
        self.clock_alarms = [] if machine is None else [machine]
        self._log_alarms = log_alarms(self.store)
        for words in (away, *self.alarms):
            if words is not None:
                log.warning("%s", words)

    def close(self) -> None:
        """Carry out what waits, keep a snapshot of each experiment, and end."""
        self.outbox.stop()
        with self._arrived:
            self._closing.set()
            self._arrived.notify_all()
        self.forecasts.stop()
        for thread in self._threads:
            thread.join(timeout=10.0)
        if not any(thread.is_alive() for thread in self._threads):
            with contextlib.suppress(StoreError):
                self.writer.keep_snapshots()
                until = time.monotonic() + ERASING
                for number in self.store.deleted():
                    while time.monotonic() < until and self.writer.erase(number):
                        pass
        self.tokens.thread.shutdown(wait=False, cancel_futures=True)
        self.store.close()

    # Changes

    def run(self, experiment: str, request: m.Request, **about: Any) -> Any:
        """Carry out a request and wait for it: the answer, or `RequestError`."""
        return self._wait(Command(experiment, request, **about))

    async def do(self, experiment: str, request: m.Request, **about: Any) -> Any:
        """Carry out a request: the answer, or `RequestError`."""
        return await self.later(Command(experiment, request, **about))

    def write(self, act: Callable[[], Any]) -> Any:
        """Let the writer's thread do something else, and wait for what it gives."""
        return self._wait(act)

    def create(self, spec: Spec, by: int = 0) -> tuple[m.Status, bool]:
        """A new experiment; whether it is new, or had been created before."""
        status, new = self.write(lambda: self.writer.create(spec, by))
        return status, new

    async def later(self, item: Any) -> Any:
        """Queue a command or a function, and wait in the event loop."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._put(item, (loop, future))
        if self.answer_within is None:
            return await future
        deadline = loop.call_later(self.answer_within, _settle, [(future, self._late())])
        try:
            return await future
        finally:
            deadline.cancel()

    def _wait(self, item: Any) -> Any:
        done, box = threading.Event(), []

        def reply(result: Any) -> None:
            box.append(result)
            done.set()

        self._put(item, reply)
        longest = None if self.answer_within is None else PATIENT * self.answer_within
        if not done.wait(longest):
            raise self._late()
        if isinstance(box[0], BaseException):
            raise box[0]
        return box[0]

    def _late(self) -> RequestError:
        return RequestError(
            "unavailable", "no answer in time; it may still be carried out, and a second try is harmless"
        )

    def _put(self, item: Any, reply: Any) -> None:
        with self._arrived:
            if self._closing.is_set():
                raise RequestError("unavailable", "the service is stopping; try again in a moment")
            if len(self._queue) >= self.queue_limit:
                raise RequestError("busy", f"{self.queue_limit} requests are waiting already; try again in a moment")
            self._queue.append((item, reply))
            self._arrived.notify()

    # The writer's thread

    def _write(self) -> None:
        while True:
            with self._arrived:
                while not self._queue and not self._closing.is_set():
                    self._arrived.wait()
                taken = self._taken()
            if not taken:
                return
            commands = [(item, reply) for item, reply in taken if isinstance(item, Command)]
            if commands:
                results = self._carried_out([item for item, _ in commands])
                self.writer.step("before answer")
                _answer([reply for _, reply in commands], results)
            for item, reply in taken:
                if not isinstance(item, Command):
                    _answer([reply], [self._tried(item)])

    def _taken(self) -> list[tuple[Any, Any]]:
        """What waits, as far as one transaction can carry it."""
        taken: list[tuple[Any, Any]] = []
        size = 0
        while self._queue and size < MOST:
            taken.append(self._queue.popleft())
            size += taken[-1][0].size if isinstance(taken[-1][0], Command) else 1
        return taken

    def _carried_out(self, commands: list[Command]) -> list[Any]:
        results: Any = self._tried(lambda: self.writer.carry_out(commands))
        if self.writer.trouble not in (None, self._told):  # answers do not carry the database's own words, the log does
            log.error("the log cannot be written or read: %s", self.writer.trouble)
        self._told = self.writer.trouble
        self.commits += 1
        self.carried_out += len(commands)
        return results if isinstance(results, list) else [results] * len(commands)

    def _tried(self, act: Callable[[], Any]) -> Any:
        """What it gives, or its error; the thread must go on whatever happens."""
        try:
            return act()
        except RequestError as error:
            return error
        except PrudentError as error:
            return RequestError("invalid", str(error))
        except StoreError as error:
            self.writer.trouble = str(error)
            return RequestError("unavailable", "the database does not answer; try again later")
        except Exception as error:  # a fault of ours: nothing was answered, so nothing is promised
            self.writer.forget()
            self.writer.trouble = type(error).__name__
            # Where it broke, but not what it says: that may hold what the caller wrote.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("unexpected error: %s\n%s", type(error).__name__, where)
            return RequestError("unavailable", "something went wrong inside; nothing was recorded, try again later")

    def _sweep(self) -> None:
        """Close windows when they are due, and see whether trouble has passed."""
        begin = time.monotonic() + self.patience
        while not self._closing.wait(0.2):
            with contextlib.suppress(RequestError, StoreError):
                if self.writer.trouble is not None:
                    self.write(self.writer.probe)
                if time.monotonic() >= begin:
                    self.close_windows()
                self.erase()

    def close_windows(self) -> None:
        """Count what is due in every experiment, now."""
        for experiment in self.store.experiments():
            due = self.store.next_due(experiment.id)
            while due is not None and due <= self.now() + experiment.ahead:
                if not self.write(partial(self.writer.close_windows, experiment.name)):
                    break

    def erase(self) -> None:
        """Erase what deleted experiments have left, a little at a time."""
        for number in self.store.deleted():
            while not self._closing.is_set() and self.write(partial(self.writer.erase, number)):
                pass

    # Reading

    async def look(self, experiment: str) -> View:
        """An experiment as it is now."""
        return View(*await self.later(partial(self.writer.look, experiment)))

    def view(self, experiment: str) -> View:
        """An experiment as it is now, without an event loop."""
        return View(*self.write(partial(self.writer.look, experiment)))

    def experiments(self) -> list[m.Status]:
        """All of them, in short; the follower knows most of them already."""
        known = {
            row.id: status_of(row.name, state)
            for row, state in self.follower.states(time.monotonic() + LISTING)
            if state.seq == row.seq
        }
        return [known.get(row.id) or self.view(row.name).status for row in self.store.experiments()]

    def experiment_of(self, decision: str) -> str:
        """The experiment that a decision or a batch belongs to."""
        number = experiment_number(decision) or 0
        if number not in self._names:  # they keep their names for good
            found = self.store.read("SELECT id, name FROM experiment WHERE id = ?", number)
            self._names.update(found)
        if number not in self._names:
            raise RequestError("not-found", f"there is no decision {decision!r}; is it one of another service?")
        return self._names[number]

    def decision(self, decision: str) -> m.Decision:
        """What became of a decision."""
        experiment = self._row(self.experiment_of(decision))
        seq = seq_of(decision) or 0
        row = self.store.decisions(experiment.id, [seq], writing=False).get(seq)
        if row is None or decision_id(experiment, row) != decision:
            raise RequestError("not-found", f"there is no decision {decision!r}; is it one of another service?")
        return decision_reply(experiment, row, msgspec.json.decode(experiment.arms), row.at)

    def decisions(self, experiment: str, after: int, limit: int) -> list[m.Decision]:
        """Decisions in their order, after one of that number."""
        row = self._row(experiment)
        labels = msgspec.json.decode(row.arms)
        found = self.store.decisions_after(row.id, after, limit)
        return [decision_reply(row, one, labels, one.at) for one in found]

    def among(self, experiment: str, after: int, until: int) -> dict[int, tuple[int, ...]]:
        """The arms to which decisions of these numbers were restricted, of those that were."""
        bodies = self.store.bodies(self._row(experiment).id, "asked", after, until)
        return {seq: tuple(found) for seq, body in bodies if (found := msgspec.json.decode(body).get("among"))}

    def recent(self, number: int, limit: int) -> dict[int, int]:
        """How many of the last decisions each arm has."""
        last = "SELECT arm FROM decision WHERE experiment = ? AND arm IS NOT NULL ORDER BY seq DESC LIMIT ?"
        return dict(self.store.read(f"SELECT arm, COUNT(*) FROM ({last}) AS last GROUP BY arm", number, limit))

    def events(self, experiment: str, after: int, limit: int) -> list[dict[str, Any]]:
        """Lines of the log, after one of that number."""
        row = self._row(experiment)
        labels = msgspec.json.decode(row.arms)
        return [line_of(event, link, labels) for event, link in self.store.events(row.id, after, limit)]

    def verify(self, experiment: str) -> Verified:
        """Replay the whole log, and compare."""
        return verify(self.store, self.store.experiment(experiment, deleted=True) or self._row(experiment))

    def ready(self) -> list[str]:
        """Why it cannot serve now, for anybody to read: no name and no word of others. Nothing if it can."""
        trouble = self.writer.trouble
        reasons = [] if trouble is None else ["the last attempt to write failed; the log of the service says why"]
        try:
            self.tokens.refresh()  # without them no request can be answered
        except StoreError:
            reasons.append("the tokens cannot be read, because the database does not answer")
        if self.follower.alarms:
            reasons.append("the log of an experiment is not whole; its page and the log of the service say which")
        return reasons

    @property
    def alarms(self) -> list[str]:
        """What somebody should look at although the service can do its work."""
        return [*self.clock_alarms, *self._log_alarms, *self.outbox.alarms]

    async def readiness(self) -> list[str]:
        """What `ready` says, if the database answers in time."""
        try:
            return await asyncio.wait_for(asyncio.wrap_future(self.tokens.thread.submit(self.ready)), PROBE)
        except TimeoutError:
            return [f"the tokens cannot be read: the database has not answered for {PROBE:g} s"]

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._queue)

    def _row(self, name: str) -> Experiment:
        row = self.store.experiment(name)
        if row is None:
            raise RequestError("not-found", f"there is no experiment {name!r}")
        return row


def _answer(replies: list[Any], results: list[Any]) -> None:
    """Give answers to threads and to event loops; to each loop in one go, since waking it up takes its time."""
    loops: dict[Any, list[tuple[Any, Any]]] = {}
    for reply, result in zip(replies, results, strict=True):
        if isinstance(reply, tuple):
            loops.setdefault(reply[0], []).append((reply[1], result))
        else:
            reply(result)
    for loop, pairs in loops.items():
        with contextlib.suppress(RuntimeError):  # it has ended meanwhile
            loop.call_soon_threadsafe(_settle, pairs)


def _settle(pairs: list[tuple[Any, Any]]) -> None:
    for future, result in pairs:
        if future.done():  # its request was cut off
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
