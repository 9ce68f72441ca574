"""Whether a log is whole: every event follows from those before it, its chain is the one recorded, and the tables
hold what follows from it."""

import time
from typing import NamedTuple

import msgspec

from prudent.base.errors import PrudentError
from prudent.service.log.events import START, Event, chained
from prudent.service.log.replay import EVENTS_AT_A_TIME, events_of, take_in
from prudent.service.log.rows import FINAL, row_after, used_keys_of
from prudent.service.log.state import ExperimentState, LogError
from prudent.service.log.store import DELETED, Experiment, Row, Store, UsedKey
from prudent.service.spec import Spec, decoded


class Verified(NamedTuple):
    """What a replay of the log showed; `first_bad` is the number of the first event that is altered, missing or
    misplaced, or whose row in another table is, and `chain` the end of the chain, which you can keep elsewhere to
    compare."""

    ok: bool
    events: int
    seconds: float
    chain: str
    first_bad: int | None = None
    why: str | None = None


class _BadError(Exception):
    """The first fault, at an event of that number if it has one."""

    def __init__(self, first: int | None, why: str) -> None:
        super().__init__(why)
        self.first, self.why = first, why


def verify(store: Store, experiment: Experiment) -> Verified:
    """Replay all events up to where the experiment is, and compare choices, links, snapshots, tables and the end.

    Others may go on writing meanwhile. Open decisions are held in memory, others some thousands at a time.
    """
    since = time.perf_counter()
    if experiment.status == DELETED:
        why = _tombstone(store, experiment)
        return Verified(
            not why, 1, time.perf_counter() - since, experiment.chain.hex(), experiment.seq if why else None, why
        )
    try:
        state = ExperimentState(decoded(experiment.spec))
    except PrudentError as error:
        why = f"the spec of the experiment was altered: {error}"
        return Verified(False, 0, time.perf_counter() - since, START.hex(), 1, why)
    bad: tuple[int | None, str | None] = None, None
    try:
        _replay(store, experiment, state)
    except _BadError as error:
        bad = error.first, error.why
    return Verified(bad[1] is None, state.seq, time.perf_counter() - since, state.chain.hex(), *bad)


def _tombstone(store: Store, experiment: Experiment) -> str | None:
    """Why the last event of a deleted experiment, the only one that is left, is not the one that was written."""
    found = store.events(experiment.id, experiment.seq - 1, 2)
    if len(found) != 1 or found[0][0].kind != "deleted":
        return "the event that says that the experiment was deleted is missing, or something stands after it"
    event, link = found[0]
    try:
        chain = chained(bytes.fromhex(event.details["chain"]), event)
    except (KeyError, TypeError, ValueError, msgspec.DecodeError):
        return "the event that says that the experiment was deleted was altered"
    if (
        chain != experiment.chain
        or chain[: len(link)] != link
        or event.seq != experiment.seq
        or event.at != experiment.at
    ):
        return "the event that says that the experiment was deleted was altered"
    return None


def _replay(store: Store, experiment: Experiment, state: ExperimentState) -> None:
    snapshots = {seq: state for seq, state in store.snapshots(experiment.id).items() if seq <= experiment.seq}
    tables = _Tables(store, experiment, state.spec)
    for event, link in events_of(store, experiment):
        seq = state.seq + 1
        try:
            take_in(state, event, link)
        except LogError as error:
            raise _BadError(seq, str(error)) from None
        if state.seq in snapshots and state.to_json() != snapshots[state.seq]:
            raise _BadError(state.seq, "the snapshot of this event holds another state")
        tables.take(event)
    if state.seq < experiment.seq:
        raise _BadError(state.seq + 1, f"the log ends at {state.seq}; it was at {experiment.seq}")
    ends = experiment.name, experiment.arms, experiment.at, experiment.chain, experiment.status
    labels = msgspec.json.encode(state.labels).decode()
    if ends != (state.spec.name, labels, state.at, state.chain, state.status):
        raise _BadError(
            state.seq, "the row of the experiment holds another end of the log: chain, time, arms or status"
        )
    tables.finish()
    # What is last first: by the time that it can be seen, whoever wrote it has moved the experiment on.
    for table in ("event", "decision", "known"):
        ((last,),) = store.read(f"SELECT MAX(seq) FROM {table} WHERE experiment = ?", experiment.id)
        now = store.experiment(experiment.name)
        if last is not None and (now is None or last > now.seq):
            raise _BadError(last, f"the table {table} holds something after the end of the log")


class _Tables:
    """The tables of decisions and keys beside the log from which they follow."""

    def __init__(self, store: Store, experiment: Experiment, spec: Spec) -> None:
        self.store, self.experiment, self.spec = store, experiment, spec
        self.open: dict[int, Row] = {}
        self.final: dict[int, Row] = {}
        self.keys: dict[bytes, UsedKey] = {}
        self.decisions = self.known = 0

    def take(self, event: Event) -> None:
        """The next event. A decision in a final state can be compared at once, since it keeps it."""
        if event.decision is not None:
            before = self.open.pop(event.decision, None)
            row = row_after(self.spec, before, event)
            self.decisions += before is None
            (self.final if row.state in FINAL else self.open)[row.seq] = row
            if len(self.final) >= EVENTS_AT_A_TIME:
                self._compare_final()
        if event.key is not None or event.unit is not None:
            for known in used_keys_of(self.spec, event):
                self.keys[known.key] = known
            if len(self.keys) >= EVENTS_AT_A_TIME:
                self._compare_keys()

    def finish(self) -> None:
        """The rest, and whether there is anything more than there should be."""
        self._compare_final()
        self._compare_keys()
        self._compare_open()
        for table, expected in (("decision", self.decisions), ("known", self.known)):
            sql = f"SELECT COUNT(*) FROM {table} WHERE experiment = ? AND seq <= ?"
            ((count,),) = self.store.read(sql, self.experiment.id, self.experiment.seq)
            if count > expected:
                raise _BadError(None, f"the table {table} has {count} rows; the log makes {expected} of them")

    def _compare_final(self) -> None:
        rows, self.final = self.final, {}
        found = self.store.decisions(self.experiment.id, list(rows), writing=False)
        for seq in sorted(rows):
            if found.get(seq) != rows[seq]:
                raise _other_row(seq, found.get(seq), rows[seq])

    def _compare_keys(self) -> None:
        keys, self.keys = self.keys, {}
        found = self.store.used_keys(self.experiment.id, list(keys), writing=False)
        for key, known in keys.items():
            if found.get(key) == known:
                self.known += 1
            elif not self._decided_again(known, found.get(key)):
                raise _BadError(
                    known.seq, f"the table known holds another row for the key or unit of event {known.seq}"
                )

    def _decided_again(self, known: UsedKey, row: UsedKey | None) -> bool:
        """Whether a unit got a later decision, because that of this event was withdrawn."""
        if row is None or known.request is not None or row != known._replace(seq=max(row.seq, known.seq + 1)):
            return False
        return [event.unit for event, _ in self.store.events(self.experiment.id, row.seq - 1, 1)] == [row.key]

    def _compare_open(self) -> None:
        """Decisions that were open at the end of this log may have gone on since: the row must be one of the states
        that later events give."""
        found = self.store.decisions(self.experiment.id, list(self.open), writing=False)
        other = {seq: row for seq, row in self.open.items() if found.get(seq) != row}
        after = self.experiment.seq
        while other and (events := self.store.events(self.experiment.id, after, EVENTS_AT_A_TIME)):
            for event, _ in events:
                if event.decision in other:
                    row = other[event.decision] = row_after(self.spec, other[event.decision], event)
                    if found.get(row.seq) == row:
                        del other[row.seq]
            after = events[-1][0].seq
        if other:
            raise _other_row(min(other), found.get(min(other)), self.open[min(other)])


def _other_row(seq: int, found: Row | None, expected: Row) -> _BadError:
    return _BadError(seq, f"the table decision holds {found} for decision {seq}; by the log it is {expected}")
