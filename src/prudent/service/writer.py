"""The one place that writes: it takes all commands that wait, carries them out in one transaction, and then answers.

A sync of the disk takes milliseconds, whatever is written. So what arrives during one is written with the next, and
no timer is needed. The answer is given only after the commit.
"""

import contextlib
import platform
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from prudent import __version__
from prudent.errors import PrudentError
from prudent.service.events import LINK, START
from prudent.service.fold import Fold, LogError
from prudent.service.messages import Forget, Status
from prudent.service.problems import RequestError
from prudent.service.spec import Spec, decoded
from prudent.service.store import Experiment, Store, StoreError
from prudent.service.verbs import Command, perform, short, wanted_decisions, wanted_keys
from prudent.service.verifying import check_next
from prudent.service.windows import sweep
from prudent.service.work import BrokenError, Idle, Work

PAGE = 10_000
"""Events that are read at a time."""


class Writer:
    """Carries out commands. Not thread-safe: it belongs to one thread."""

    def __init__(
        self,
        store: Store,
        now: Callable[[], int],
        patience: float = 0.0,
        step: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.store, self.now = store, now
        self.since, self.patience = now(), round(1000.0 * patience)
        self.step = step  # names the steps of the way, for tests that stop the process there
        self.trouble: str | None = None  # why the last attempt to write failed
        self._folds: dict[int, Fold] = {}
        self._idle: dict[int, Idle] = {}
        self._numbers: dict[str, int] = {}

    def carry_out(self, commands: Sequence[Command]) -> list[Any]:
        """An answer or an error for each, in their order, all of it on disk."""
        try:
            return self._together(commands)
        except BrokenError as error:
            if len(commands) > 1:  # one of them cannot be carried out: the others must not suffer
                return [result for command in commands for result in self.carry_out([command])]
            return [RequestError("invalid", str(error))]
        except (StoreError, LogError) as error:
            self.trouble = str(error)
            problem = RequestError("unavailable", "the log cannot be written or read; try again later")
            return [problem] * len(commands)

    def _together(self, commands: Sequence[Command]) -> list[Any]:
        results: list[Any] = [None] * len(commands)
        groups: dict[str, list[int]] = {}
        for place, command in enumerate(commands):
            groups.setdefault(command.experiment, []).append(place)
        with self._transaction():
            found = {name: self._number(name) for name in groups}
            for place, command in enumerate(commands):
                if found[command.experiment] is None:
                    results[place] = _unknown(command.experiment)
            # In the order of their numbers, so that two workers never wait for each other.
            for number, name in sorted((number, name) for name, number in found.items() if number is not None):
                self._one(number, [(place, commands[place]) for place in groups[name]], results)
            self.step("before commit")
        self.step("after commit")
        if any(isinstance(command.request, Forget) for command in commands):
            with contextlib.suppress(StoreError):
                self.store.database.scrub()
        return results

    def _one(self, number: int, commands: list[tuple[int, Command]], results: list[Any]) -> None:
        """The commands of one experiment."""
        work = self._work(number)
        keys = [key for _, command in commands for key in wanted_keys(work, command)]
        seqs = [seq for _, command in commands for seq in wanted_decisions(command)]
        work.look_up(self.store, keys, seqs)
        for place, command in commands:
            try:
                results[place] = perform(work, command)
            except RequestError as error:
                results[place] = error
        self.step("after apply")
        work.write(self.store)

    def _work(self, number: int) -> Work:
        """An experiment that is this writer's until the transaction ends."""
        experiment, now = self.store.locked(number), self.now()
        grace = self.since + experiment.ahead if now < self.since + self.patience else 0
        idle = self._idle.setdefault(number, Idle())
        return Work(experiment, self._fold(experiment), now + experiment.ahead, grace, idle)

    def close_windows(self, name: str) -> bool:
        """Count what is due in an experiment; whether there is more."""
        with self._transaction():
            number = self._number(name)
            if number is None:
                return False
            work = self._work(number)
            more = sweep(work, self.store)
            self.step("in sweep")
            work.write(self.store)
        return more

    def look(self, name: str) -> tuple[Experiment, Fold]:
        """A copy of the present state."""
        row = self.store.experiment(name)
        if row is None:
            raise _unknown(name)
        idle = self.idle(row.id)
        row = row._replace(again=row.again + idle.again, late=row.late + idle.late)
        return row, self._fold(row).copy()

    def idle(self, number: int) -> Idle:
        """What was counted of an experiment since its last event."""
        return self._idle.get(number) or Idle()

    def create(self, given: Spec, by: int) -> tuple[Status, bool]:
        """A new experiment, or the one that exists if it is the same; whether it is new."""
        spec = given.settled()
        with self._transaction():
            row = self.store.experiment(spec.name, writing=True)
            if row is None:
                return short(spec.name, self._created(spec, by)), True
        if not given.same_as(decoded(row.spec)):
            raise RequestError("name-taken", f"another experiment has the name {spec.name!r}; choose another")
        return short(row.name, self._fold(row)), False

    def _created(self, spec: Spec, by: int) -> Fold:
        """Its row and its first event."""
        text, arms = (msgspec.json.encode(part).decode() for part in (spec, spec.arms))
        secret, salt = secrets.token_bytes(32), secrets.token_bytes(32)
        made = self.store.add_experiment(Experiment(0, spec.name, text, arms, secret, salt, 0, 0, START, "running"))
        work = Work(made, Fold(spec), self.now())
        work.record("created", by, {"spec": msgspec.to_builtins(spec)})
        work.write(self.store)
        return work.fold

    def _number(self, name: str) -> int | None:
        """The number of an experiment, which never changes."""
        if name not in self._numbers:
            row = self.store.experiment(name, writing=True)
            if row is None:
                return None
            self._numbers[name] = row.id
        return self._numbers[name]

    def keep_snapshots(self) -> None:
        """Keep the present state of every experiment that has gone on, so that the next start is quick."""
        for number, fold in self._folds.items():
            self.keep_snapshot(number, fold.seq, fold.to_json())
        with self.store.transaction():
            for number, idle in self._idle.items():
                self.store.count_more(number, idle.again, idle.late)

    def keep_series(self, number: int, points: list[tuple[int, int, str]]) -> None:
        """More points of pictures over time."""
        with self.store.transaction():
            self.store.add_series(number, points)

    def keep_snapshot(self, number: int, seq: int, state: str) -> None:
        """Keep a state, so that the next start is quick."""
        with self.store.transaction():
            self.store.add_snapshot(number, seq, state, versions())
            self.step("in snapshot")

    def probe(self) -> None:
        """Whether the database can be written to again, after it could not."""
        with self._transaction():
            self.store.touch()

    def settled(self) -> None:
        """What was written is on disk."""
        self.trouble = None
        self._idle = {number: idle for number, idle in self._idle.items() if not idle.written}

    def forget(self) -> None:
        """Throw all folds away, since they may be ahead of the log."""
        self._folds.clear()
        for idle in self._idle.values():
            idle.written = False

    def _transaction(self) -> "_Transaction":
        return _Transaction(self)

    def _fold(self, experiment: Experiment) -> Fold:
        """The state at the end of the log, whoever wrote it."""
        fold = self._folds.get(experiment.id)
        if fold is None or fold.seq > experiment.seq:
            fold = self._folds[experiment.id] = newest(self.store, experiment, writing=True)
        catch_up(self.store, fold, experiment, writing=True)
        if fold.chain != experiment.chain:
            raise LogError(f"the log of {experiment.name} is not the one whose end was recorded; run verify")
        return fold


class _Transaction:
    """Begin, and commit or forget everything."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def __enter__(self) -> None:
        self.writer.step("before begin")
        self.writer.store.begin()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        store = self.writer.store
        try:
            if error is None:
                store.commit()
                self.writer.settled()
                return
        except BaseException:
            self.writer.forget()
            store.rollback()
            raise
        self.writer.forget()
        store.rollback()


def newest(store: Store, experiment: Experiment, *, writing: bool = False) -> Fold:
    """The state at the newest snapshot that can be read and fits the log, or at the beginning."""
    spec = decoded(experiment.spec)
    for seq, state in store.snapshots(experiment.id, writing=writing).items():
        if seq <= experiment.seq:
            with contextlib.suppress(PrudentError, LookupError, TypeError, ValueError):  # a page of it was damaged
                fold = Fold.from_json(spec, state)
                links = [link for _, link in store.events(experiment.id, seq - 1, 1, writing=writing)]
                if (fold.seq, [fold.chain[:LINK]]) == (seq, links):
                    return fold
    return Fold(spec)


def catch_up(store: Store, fold: Fold, experiment: Experiment, *, writing: bool = False) -> None:
    """Fold the events that are missing."""
    while fold.seq < experiment.seq:
        events = store.events(experiment.id, fold.seq, min(PAGE, experiment.seq - fold.seq), writing=writing)
        if not events:
            raise LogError(f"event {fold.seq + 1} is missing")
        for event, link in events:
            check_next(fold, event, link)


def versions() -> str:
    """What wrote a snapshot, for those who wonder."""
    return f"prudent {__version__}, numpy {np.__version__}, python {platform.python_version()}"


def _unknown(name: str) -> RequestError:
    return RequestError("not-found", f"there is no experiment {name!r}; GET /v1/experiments lists those there are")
