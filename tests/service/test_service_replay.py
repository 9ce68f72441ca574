"""A log says everything: replayed anywhere it gives the same state, and whatever is altered is found."""

import math
from functools import partial

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.service.clock import Clock
from helpers.service.eventful_experiments import NAMES, run_everything
from prudent.service import messages as m
from prudent.service.log.events import KINDS, Event
from prudent.service.log.state import ExperimentState
from prudent.service.log.store import Experiment, Row, UsedKey, open_store
from prudent.service.log.verify import verify
from prudent.service.spec import decoded
from prudent.service.work.service import Service

TABLES = {
    "experiment": Experiment._fields,
    "event": ("experiment", *Event._fields, "link"),
    "decision": ("experiment", *Row._fields),
    "known": ("experiment", *UsedKey._fields),
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
    state = ExperimentState(decoded(experiment.spec))
    for event, _ in store.events(experiment.id, 0, 10_000):
        state.apply(event)
    return state.to_json()


@pytest.fixture
def certain(monkeypatch):
    """Nothing is drawn: secrets, salts and seeds are always the same."""
    monkeypatch.setattr("secrets.token_bytes", lambda size: bytes(range(size)))
    monkeypatch.setattr("secrets.randbits", lambda bits: 5)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A store with the busy experiments and their snapshots, which no service uses any more."""
    path, clock = str(tmp_path_factory.mktemp("log") / "prudent.db"), Clock()
    service = Service(open_store(path, relaxed=True), clock, patience=0.0).start()
    run_everything(service, clock)
    service.close()
    store = open_store(path, relaxed=True)
    yield store
    store.close()


def test_the_log_holds_every_kind_of_event(log):
    kinds = {event.kind for name in NAMES for event, _ in log.events(log.experiment(name).id, 0, 10_000)}
    assert kinds == KINDS.keys() - {"deleted"}  # which is the only one of its log


def test_the_same_requests_give_the_same_tables_on_both_databases(service, clock, certain, tmp_path):
    other_clock = Clock()
    other = Service(open_store(str(tmp_path / "other.db")), other_clock, patience=3600.0).start()
    for each, time in ((service, clock), (other, other_clock)):
        run_everything(each, time)
        assert [each.verify(name)[:2] for name in NAMES] == [(True, each.view(name).state.seq) for name in NAMES]
    assert content(service.store) == content(other.store)
    assert [service.view(name).state.to_json() for name in NAMES] == [
        other.view(name).state.to_json() for name in NAMES
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
        assert service.view(name).state.to_json() == replayed(log, name)
        assert service.verify(name).ok
    service.close()
    back.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_fold_restored_at_any_event_goes_on_as_the_whole(log, name):
    experiment = log.experiment(name)
    spec, events = decoded(experiment.spec), [event for event, _ in log.events(experiment.id, 0, 10_000)]
    whole, states = ExperimentState(spec), []
    for event in events:
        whole.apply(event)
        states.append(whole.to_json())
    for seq, text in enumerate(states, 1):
        state = ExperimentState.from_json(spec, text)
        for event in events[seq:]:
            state.apply(event)
        assert state.to_json() == states[-1]


# What is altered is found


def change(store, sql, *values):
    with store.transaction():
        store.database.execute(sql, *values)


def altered(value, column, draw):
    """Another value for a column, near the one that is there or far from it."""
    if column == "kind":
        return draw(st.sampled_from(sorted(KINDS.keys() - {value})))
    if isinstance(value, str):
        place = draw(st.integers(0, len(value)))
        return value[:place] + draw(st.sampled_from([" ", "0", "x", "}"])) + value[place + draw(st.integers(0, 1)) :]
    if isinstance(value, bytes):
        place, bit = draw(st.integers(0, len(value) - 1)), draw(st.integers(0, 7))
        return bytes(byte ^ (1 << bit) if i == place else byte for i, byte in enumerate(value))
    if isinstance(value, float):
        return draw(st.sampled_from([None, 0.5, math.nextafter(value, 2.0), -value - 1.0]))
    if isinstance(value, int):
        return draw(st.sampled_from([value + 1, value - 1, value + 10_000, *([] if column in NEVER_NULL else [None])]))
    return draw(st.sampled_from({"value": [0.0, 1.0], "body": ["{}", '{"many":2}']}.get(column, [0, 1, b"x" * 24])))


NEVER_NULL = ("seq", "at", "by", "due")
EVENT = (*Event._fields, "link")


@settings(max_examples=250)
@given(st.data())
def test_whatever_is_altered_in_an_event_is_named(log, data):
    experiment = log.experiment(data.draw(st.sampled_from(NAMES)))
    seq, column = data.draw(st.integers(1, experiment.seq)), data.draw(st.sampled_from(EVENT))
    where = "WHERE experiment = ? AND seq = ?"
    ((old,),) = log.read(f"SELECT {column} FROM event {where}", experiment.id, seq)
    new = altered(old, column, data.draw)
    if column == "seq":
        new = seq + 10_000 if new <= experiment.seq else new
    if new == old:
        return
    change(log, f"UPDATE event SET {column} = ? {where}", new, experiment.id, seq)
    found = Service(log).verify(experiment.name)
    change(log, f"UPDATE event SET {column} = ? {where}", old, experiment.id, new if column == "seq" else seq)
    assert (found.ok, found.first_bad) == (False, seq), found
    assert found.why


@settings(max_examples=200)
@given(st.data())
def test_whatever_is_altered_in_the_tables_of_decisions_and_keys_is_named(log, data):
    experiment = log.experiment(data.draw(st.sampled_from(NAMES)))
    table = data.draw(st.sampled_from(["decision", "known"]))
    columns = TABLES[table][1:]
    rows = log.read(f"SELECT {', '.join(columns)} FROM {table} WHERE experiment = ?", experiment.id)
    row, column = data.draw(st.sampled_from(sorted(rows, key=repr))), data.draw(st.sampled_from(columns))
    place, seq = columns.index(column), row[columns.index("seq")]
    new = altered(row[place], column, data.draw)
    where = "WHERE experiment = ? AND " + ("seq = ?" if table == "decision" else "key = ?")
    if new in (row[place], None) and column in ("state", "key", "many"):
        return
    if new == row[place] or (table == "decision" and new in [other[0] for other in rows]):
        return
    change(log, f"UPDATE {table} SET {column} = ? {where}", new, experiment.id, row[0])
    found = Service(log).verify(experiment.name)
    key = new if place == 0 else row[0]
    change(log, f"UPDATE {table} SET {column} = ? {where}", row[place], experiment.id, key)
    assert (found.ok, found.first_bad) == (False, seq), found


@pytest.mark.parametrize("name", NAMES)
def test_an_unaltered_log_is_whole(log, name):
    found = Service(log).verify(name)
    assert (found.ok, found.events, found.first_bad, found.why) == (True, log.experiment(name).seq, None, None)


@pytest.fixture
def spoilt(log, tmp_path):
    """A copy of the log, to be altered."""
    store = open_store(str(tmp_path / "copy.db"))
    fill(store, content(log))
    yield store
    store.close()


def named(store, name="windows"):
    """The first bad event, which must be found."""
    found = Service(store).verify(name)
    assert not found.ok
    assert found.why
    return found.first_bad


def test_an_event_removed_is_missed(spoilt):
    change(spoilt, "DELETE FROM event WHERE experiment = 2 AND seq = 9")
    assert named(spoilt) == 9


def test_two_events_that_changed_places_are_found(spoilt):
    for old, new in ((8, -1), (5, 8), (-1, 5)):
        change(spoilt, "UPDATE event SET seq = ? WHERE experiment = 2 AND seq = ?", new, old)
    assert named(spoilt) == 5


def test_a_log_that_was_cut_off_does_not_fit_its_experiment(spoilt):
    last = spoilt.experiment("windows").seq
    change(spoilt, "DELETE FROM event WHERE experiment = 2 AND seq > ?", last - 3)
    assert named(spoilt) == last - 2


def test_an_event_or_a_decision_that_was_appended_is_found(spoilt):
    last = spoilt.experiment("windows").seq
    change(spoilt, "INSERT INTO decision (experiment, seq, at, state) VALUES (2, 1, 0, 'done')")
    assert named(spoilt) is None  # too many
    change(spoilt, "UPDATE decision SET seq = ? WHERE experiment = 2 AND seq = 1", last + 1)
    assert named(spoilt) == last + 1
    change(spoilt, "INSERT INTO event SELECT 2, ?, at, kind, decision, arm, value, key, unit, body, by, link"
                   " FROM event WHERE experiment = 2 AND seq = ?", last + 2, last)  # fmt: skip
    assert named(spoilt) == last + 2
    change(spoilt, "INSERT INTO known VALUES (2, ?, 5, 1, NULL)", bytes(16))
    change(spoilt, "DELETE FROM decision WHERE experiment = 2 AND seq > ?", last)
    assert named(spoilt) is None


def test_snapshot_spec_and_row_of_an_experiment_are_compared(spoilt):
    ((seq, state),) = spoilt.read("SELECT seq, state FROM snapshot WHERE experiment = 2")
    change(spoilt, "UPDATE snapshot SET state = ? WHERE experiment = 2", state.replace('"asked": ', '"asked": 1', 1))
    assert named(spoilt) == seq
    change(spoilt, "UPDATE snapshot SET state = ? WHERE experiment = 2", state)
    row = spoilt.experiment("windows")
    other = {"status": "paused", "at": row.at - 1, "arms": '["A","C"]', "chain": bytes(32)}
    for column, value in other.items():
        change(spoilt, f"UPDATE experiment SET {column} = ? WHERE id = 2", value)
        assert named(spoilt) == row.seq, column
        change(spoilt, f"UPDATE experiment SET {column} = ? WHERE id = 2", getattr(row, column))
    for spec in (row.spec.replace("rho=1", "rho=2"), row.spec.replace("mv-lcb", "mv-lcp"), row.spec[:-1], "{}"):
        change(spoilt, "UPDATE experiment SET spec = ? WHERE id = 2", spec)
        assert named(spoilt) == 1
    change(spoilt, "UPDATE experiment SET spec = ? WHERE id = 2", row.spec)
    assert Service(spoilt).verify("windows").ok
    body = msgspec.json.encode({"spec": {**msgspec.json.decode(row.spec), "note": "x"}}, order="sorted").decode()
    change(spoilt, "UPDATE event SET body = ? WHERE experiment = 2 AND seq = 1", body)
    assert named(spoilt) == 1


@pytest.mark.parametrize(
    ("old", "new"), [('"chain": "', '"chain": "00'), ('"seq": ', '"seq": 1'), ('"asked": ', '"asked": 1'), ("{", "")]
)
def test_a_damaged_snapshot_does_not_keep_the_service_from_its_log(spoilt, log, old, new):
    ((state,),) = spoilt.read("SELECT state FROM snapshot WHERE experiment = 2")
    assert old in state
    change(spoilt, "UPDATE snapshot SET state = ? WHERE experiment = 2", state.replace(old, new, 1))
    assert Service(spoilt).writer.look("windows")[1].to_json() == replayed(log, "windows")


def test_verification_while_others_write(service, clock):
    """Decisions that go on between two looks are not taken for altered ones."""
    run_everything(service, clock)
    unit = service.run("windows", m.Ask(unit="new")).decisions[0].decision
    olds = {name: service.store.experiment(name) for name in NAMES[1:]}
    service.run("windows", m.Withdraw(), decision=unit)
    service.run("windows", m.Ask(unit="new"))
    for decision in service.decisions("no-default", 0, 1000):
        if decision.state == "open":
            service.run("no-default", m.Tell(0.5), decision=decision.decision)
        elif decision.state == "waiting":
            service.run("no-default", m.Withdraw(), decision=decision.decision)
    clock.advance(100)
    service.close_windows()
    for name, old in olds.items():
        assert service.store.experiment(name).seq >= old.seq + 3
        assert verify(service.store, old).ok
        sql = "UPDATE decision SET arm = 1 - arm WHERE experiment = ? AND seq = ?"
        service.write(partial(change, service.store, sql, old.id, old.seq))
        assert verify(service.store, old).first_bad == old.seq
