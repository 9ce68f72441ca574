"""The one place that writes: it takes all commands that wait, carries them out in one transaction, and then answers.

A sync of the disk takes milliseconds, whatever is written. So what arrives during one is written with the next, and
no timer is needed. The answer is given only after the commit.
"""

import contextlib
import platform
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from prudent import __version__
from prudent.service import messages as m
from prudent.service.log.events import START
from prudent.service.log.replay import catch_up, newest
from prudent.service.log.state import ExperimentState, LogError
from prudent.service.log.store import DELETED, Experiment, Store, StoreError
from prudent.service.problems import RequestError
from prudent.service.spec import Spec, decoded
from prudent.service.work import batches, changes, decisions
from prudent.service.work.changes import status_of
from prudent.service.work.transaction import BrokenStateError, Command, Transaction, UnloggedCounts
from prudent.service.work.watch import close_windows

ACTS: dict[type[m.Request], Callable[[Transaction, Command], Any]] = {
    m.Ask: decisions.ask,
    m.Tell: decisions.tell,
    m.TellMany: decisions.tell_many,
    m.Track: decisions.track,
    m.Activate: decisions.activate,
    m.Withdraw: decisions.withdraw,
    m.Split: batches.split,
    m.Merge: batches.merge,
    m.Fallbacks: changes.count_fallbacks,
}
"""What carries out each kind of request, unless a person makes a change."""


def perform(work: Transaction, command: Command) -> Any:
    """The answer to a command; its events are recorded."""
    if command.if_match is not None and command.if_match != work.state.seq:
        raise RequestError(
            "state-changed", f"the experiment is at {work.state.seq}, not at {command.if_match}; look again first"
        )
    return ACTS.get(type(command.request), changes.change)(work, command)


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
        self._states: dict[int, ExperimentState] = {}
        self._unlogged: dict[int, UnloggedCounts] = {}
        self._numbers: dict[str, int] = {}

    def carry_out(self, commands: Sequence[Command]) -> list[Any]:
        """An answer or an error for each, in their order, all of it on disk."""
        try:
            return self._together(commands)
        except BrokenStateError as error:
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
        if any(isinstance(command.request, m.Change) and command.request.verb.forgets_units for command in commands):
            with contextlib.suppress(StoreError):
                self.store.database.scrub()
        return results

    def _one(self, number: int, commands: list[tuple[int, Command]], results: list[Any]) -> None:
        """The commands of one experiment."""
        try:
            work = self._work(number)
        except RequestError as error:  # it was deleted
            for place, _ in commands:
                results[place] = error
            return
        work.look_up(self.store, [command for _, command in commands])
        for place, command in commands:
            if work.state.status == DELETED:
                results[place] = _unknown(command.experiment)
                continue
            try:
                results[place] = perform(work, command)
            except RequestError as error:
                results[place] = error
        self.step("after apply")
        work.write(self.store)
        if work.state.status == DELETED:
            self._states.pop(number, None)

    def _work(self, number: int) -> Transaction:
        """An experiment that is this writer's until the transaction ends."""
        experiment, now = self.store.locked(number), self.now()
        if experiment.status == DELETED:
            raise _unknown(experiment.name)
        grace = self.since + experiment.ahead if now < self.since + self.patience else 0
        unlogged = self._unlogged.setdefault(number, UnloggedCounts())
        return Transaction(experiment, self._state(experiment), now + experiment.ahead, grace, unlogged)

    def close_windows(self, name: str) -> bool:
        """Count what is due in an experiment; whether there is more."""
        with self._transaction():
            number = self._number(name)
            if number is None:
                return False
            work = self._work(number)
            more = close_windows(work, self.store)
            self.step("in sweep")
            work.write(self.store)
        return more

    def look(self, name: str) -> tuple[Experiment, ExperimentState]:
        """A copy of the present state."""
        row = self.store.experiment(name)
        if row is None:
            raise _unknown(name)
        return self.counted(row), self._state(row).copy()

    def counted(self, row: Experiment) -> Experiment:
        """The row with what was counted since the last event."""
        unlogged = self._unlogged.get(row.id) or UnloggedCounts()
        return row._replace(again=row.again + unlogged.again, late=row.late + unlogged.late)

    def create(self, given: Spec, by: int) -> tuple[m.Status, bool]:
        """A new experiment, or the one that exists if it is the same; whether it is new."""
        spec = given.settled()
        with self._transaction():
            row = self.store.experiment(spec.name, writing=True)
            if row is None:
                if self.store.experiment(spec.name, writing=True, deleted=True) is not None:
                    raise RequestError("name-taken", f"an experiment {spec.name!r} was deleted; choose another name")
                return status_of(spec.name, self._add(spec, by)), True
        if not given.same_as(decoded(row.spec)):
            raise RequestError("name-taken", f"another experiment has the name {spec.name!r}; choose another")
        return status_of(row.name, self._state(row)), False

    def _add(self, spec: Spec, by: int) -> ExperimentState:
        """Its row and its first event."""
        text, arms = (msgspec.json.encode(part).decode() for part in (spec, spec.arms))
        secret, salt = secrets.token_bytes(32), secrets.token_bytes(32)
        made = self.store.add_experiment(Experiment(0, spec.name, text, arms, secret, salt, 0, 0, START, "running"))
        work = Transaction(made, ExperimentState(spec), self.now())
        work.record("created", by, {"spec": msgspec.to_builtins(spec)})
        work.write(self.store)
        return work.state

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
        for number, state in self._states.items():
            self.keep_snapshot(number, state.seq, state.to_json())
        with self.store.transaction():
            for number, counts in self._unlogged.items():
                self.store.count_more(number, counts.again, counts.late)

    def keep_series(self, number: int, points: list[tuple[int, int, str]]) -> None:
        """More points of pictures over time."""
        with self.store.transaction():
            if self.store.locked(number).status != DELETED:
                self.store.add_series(number, points)

    def erase(self, number: int) -> bool:
        """Erase some of what a deleted experiment has left; whether there is more."""
        with self.store.transaction():
            more = self.store.erase(number)
        if not more:
            self._states.pop(number, None)
            with contextlib.suppress(StoreError):
                self.store.database.scrub()
        return more

    def keep_snapshot(self, number: int, seq: int, state: str) -> None:
        """Keep a state, so that the next start is quick."""
        with self.store.transaction():
            if self.store.locked(number).status == DELETED:
                return
            self.store.add_snapshot(number, seq, state, versions())
            self.step("in snapshot")

    def probe(self) -> None:
        """Whether the database can be written to again, after it could not."""
        with self._transaction():
            self.store.touch()

    def _settle(self) -> None:
        """What was written is on disk."""
        self.trouble = None
        self._unlogged = {number: counts for number, counts in self._unlogged.items() if not counts.written}

    def forget(self) -> None:
        """Throw all states away, since they may be ahead of the log."""
        self._states.clear()
        for counts in self._unlogged.values():
            counts.written = False

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit at the end, or forget everything."""
        self.step("before begin")
        self.store.begin()
        try:
            yield
            self.store.commit()
        except BaseException:
            self.forget()
            self.store.rollback()
            raise
        self._settle()

    def _state(self, experiment: Experiment) -> ExperimentState:
        """The state at the end of the log, whoever wrote it."""
        state = self._states.get(experiment.id)
        if state is None or state.seq > experiment.seq:
            state = self._states[experiment.id] = newest(self.store, experiment, writing=True)
        catch_up(self.store, state, experiment, writing=True)
        if state.chain != experiment.chain:
            raise LogError(f"the log of {experiment.name} is not the one whose end was recorded; run verify")
        return state


def versions() -> str:
    """What wrote a snapshot, for those who wonder."""
    return f"prudent {__version__}, numpy {np.__version__}, python {platform.python_version()}"


def _unknown(name: str) -> RequestError:
    return RequestError("not-found", f"there is no experiment {name!r}; GET /v1/experiments lists those there are")
