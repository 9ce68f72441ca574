"""A log says everything: replayed anywhere it gives the same state, and whatever is altered is found."""

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from busy import NAMES, busy
from conftest import Clock
from prudent.service import messages as m
from prudent.service.events import KINDS, Event
from prudent.service.fold import Fold
from prudent.service.service import Service
from prudent.service.spec import decoded
from prudent.service.store import Experiment, Known, Row, open_store

TABLES = {
    "experiment": Experiment._fields,
    "event": ("experiment", *Event._fields, "link"),
    "decision": ("experiment", *Row._fields),
    "known": ("experiment", *Known._fields),
    "snapshot": ("experiment", "seq", "state", "version"),
}


def content(store):
    """All rows of the tables of experiments."""
    return {
        table: store.read(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(columns[:2])}")
        for table, columns in TABLES.items()
    }


def fill(store, rows):
    """Put rows into an empty database."""
    with store.transaction():
        for table, columns in TABLES.items():
            marks = ", ".join("?" * len(columns))
            sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
            store.database.execute_many(sql, rows[table])


def replayed(store, name):
    """The state after the whole log, event by event from the start."""
    experiment = store.experiment(name)
    fold = Fold(decoded(experiment.spec))
    for event, _ in store.events(experiment.id, 0, 10_000):
        fold.apply(event)
    return fold.to_json()


@pytest.fixture
def certain(monkeypatch):
    """Nothing is drawn: secrets, salts and seeds are always the same."""
    monkeypatch.setattr("secrets.token_bytes", lambda size: bytes(range(size)))
    monkeypatch.setattr("secrets.randbits", lambda bits: 5)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A store with the busy experiments and their snapshots, which no service uses any more."""
    path, clock = str(tmp_path_factory.mktemp("log") / "prudent.db"), Clock()
    service = Service(open_store(path), clock, patience=0.0).start()
    busy(service, clock)
    service.close()
    store = open_store(path)
    yield store
    store.close()


def test_the_log_holds_every_kind_of_event(log):
    kinds = {event.kind for name in NAMES for event, _ in log.events(log.experiment(name).id, 0, 10_000)}
    assert kinds == KINDS.keys() - {"guardrail"}


def test_the_same_requests_give_the_same_tables_on_both_databases(service, clock, certain, tmp_path):
    other_clock = Clock()
    other = Service(open_store(str(tmp_path / "other.db")), other_clock, patience=3600.0).start()
    for each, time in ((service, clock), (other, other_clock)):
        busy(each, time)
        assert [each.verify(name)[:2] for name in NAMES] == [(True, each.view(name).fold.seq) for name in NAMES]
    assert content(service.store) == content(other.store)
    assert [service.view(name).fold.to_json() for name in NAMES] == [
        other.view(name).fold.to_json() for name in NAMES
    ]
    other.close()


def test_a_log_moves_between_databases_and_back(log, database, tmp_path):
    there, back = open_store(database), open_store(str(tmp_path / "back.db"))
    fill(there, content(log))
    fill(back, content(there))
    assert content(back) == content(log)
    for name in NAMES:
        assert replayed(there, name) == replayed(back, name) == replayed(log, name)
    there.close()
    service = Service(open_store(database), Clock(), patience=3600.0).start()
    for name in NAMES:
        assert service.view(name).fold.to_json() == replayed(log, name)
        assert service.verify(name).ok
    service.close()
    back.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_fold_restored_at_any_event_goes_on_as_the_whole(log, name):
    experiment = log.experiment(name)
    spec, events = decoded(experiment.spec), [event for event, _ in log.events(experiment.id, 0, 10_000)]
    whole, states = Fold(spec), []
    for event in events:
        whole.apply(event)
        states.append(whole.to_json())
    for seq, state in enumerate(states, 1):
        fold = Fold.from_json(spec, state)
        for event in events[seq:]:
            fold.apply(event)
        assert fold.to_json() == states[-1]


# What is altered is found
