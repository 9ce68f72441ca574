"""An experiment that has ended can be put away, or deleted: of that, the name, who did it, when and why stay, and
`verify` passes over it."""

import pytest

from helpers.service.served_experiments import EXPERIMENT
from prudent.service import messages as m
from prudent.service.log.store import open_store
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work.service import Service

TABLES = ("event", "decision", "known", "snapshot", "series")


def served(where):
    return Service(open_store(where, relaxed=True), patience=3600.0).start()


@pytest.fixture
def service(database):
    service = served(database)
    yield service
    service.close()


def filled(service, name="old"):
    """An experiment with decisions, keys, rewards and a snapshot, which has stopped."""
    service.create(decoded({**EXPERIMENT, "name": name}))
    made = service.run(name, m.Ask(count=30), key="first").decisions
    service.run(name, m.TellMany([m.Told(1.0, decision=each.decision) for each in made[:20]]))
    view = service.view(name)
    service.write(lambda: service.writer.keep_snapshot(view.experiment.id, view.seq, view.state.to_json()))
    service.run(name, m.BODIES["stop"]("enough"))
    return made


def rows(service, name):
    number = service.store.experiment(name, deleted=True).id
    return [service.store.read(f"SELECT COUNT(*) FROM {table} WHERE experiment = ?", number)[0][0] for table in TABLES]


def test_what_is_archived_is_whole_and_can_be_restored(service):
    filled(service)
    with pytest.raises(RequestError, match="needs it to be archived"):
        service.run("old", m.BODIES["restore"]("why"))
    assert service.run("old", m.BODIES["archive"]("autumn")).status == "archived"
    assert [each.status for each in service.experiments()] == ["archived"]
    assert service.run("old", m.Ask()).decisions[0].why
    assert service.verify("old").ok
    assert service.run("old", m.BODIES["restore"]("winter")).status == "stopped"
    with pytest.raises(RequestError, match="needs it to be paused or frozen"):
        service.run("old", m.BODIES["resume"]("again"))


def test_of_a_deleted_experiment_only_its_last_event_stays(database):
    service = served(database)
    made = filled(service)
    filled(service, "other")
    before = service.store.experiment("old")
    service.create(decoded({**EXPERIMENT, "name": "running"}))
    with pytest.raises(RequestError, match="needs it to be stopped or archived"):
        service.run("running", m.BODIES["delete"]("too soon"))
    assert service.run("old", m.BODIES["delete"]("a year is over"), by=7).status == "deleted"
    for act in (
        lambda: service.view("old"),
        lambda: service.run("old", m.Ask()),
        lambda: service.run("old", m.Tell(1.0), decision=made[25].decision),
        lambda: service.decision(made[0].decision),
    ):
        with pytest.raises(RequestError, match="there is no"):
            act()
    with pytest.raises(RequestError, match="was deleted; choose another name"):
        service.create(decoded({**EXPERIMENT, "name": "old"}))
    service.close()
    service = served(database)
    assert rows(service, "old") == [1, 0, 0, 0, 0]
    assert all(count > 0 for count in rows(service, "other")[:4])
    assert service.verify("old").ok
    assert service.verify("other").ok
    row = service.store.experiment("old", deleted=True)
    ((event, _),) = service.store.events(row.id, 0, 10)
    assert (event.kind, event.by, event.details["reason"]) == ("deleted", 7, "a year is over")
    assert event.details["chain"] == before.chain.hex()
    assert (bytes(row.secret), bytes(row.salt), row.spec) == (b"", b"", "")
    assert "old" not in [each.experiment for each in service.experiments()]
    assert service.follower.alarms == []
    service.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [("body", '{"chain":"00","reason":"none"}'), ("body", "{}"), ("at", 1), ("by", 1), ("kind", "stopped")],
)
def test_a_last_event_that_was_altered_is_found(service, column, value):
    filled(service)
    service.run("old", m.BODIES["delete"]("a year is over"), by=7)
    assert service.verify("old").ok
    service.erase()
    row = service.store.experiment("old", deleted=True)

    def alter():
        with service.store.transaction():
            sql = f"UPDATE event SET {column} = ? WHERE experiment = ? AND seq = ?"
            service.store.database.execute(sql, value, row.id, row.seq)

    service.write(alter)
    assert service.verify("old").why is not None


def test_another_worker_learns_that_it_was_deleted(database):
    if not database.startswith("postgresql"):
        pytest.skip("one process writes a file")
    first, second = served(database), served(database)
    made = filled(first)
    second.run("old", m.Tell(1.0), decision=made[21].decision)
    first.run("old", m.BODIES["delete"]("a year is over"))
    for act in (lambda: second.run("old", m.Ask()), lambda: second.run("old", m.Tell(1.0), decision=made[22].decision)):
        with pytest.raises(RequestError, match="there is no experiment"):
            act()
    first.close()
    second.close()
    assert first.follower.alarms == second.follower.alarms == []
