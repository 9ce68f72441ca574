"""What the service notices by itself: rewards that have changed, requests that come again, rewards that come late."""

import random

import pytest

from helpers.service.served_experiments import InProcessService
from prudent.service import messages as m
from prudent.service.log.store import MIGRATIONS, Store, open_store
from prudent.service.pages.parts import alarms, health
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.views.facts import sentence
from prudent.service.work.service import Service
from prudent.service.work.writer import Writer

SPEC = {"name": "one", "arms": ["x", "y"], "policy": "round-robin", "risk": "mean-variance(rho=1)", "support": [0, 1]}


def opened(path, clock=None):
    return Service(open_store(path, relaxed=True), clock, patience=3600.0).start()


def shifting(service, rounds, more=lambda service: service, scale=1.0):
    """Rewards of x that double after half of the rounds; `more` may restart the service in between."""
    rng = random.Random(1)
    for i in range(rounds):
        made = service.run("one", m.Ask(count=100)).decisions
        high = {"x": 0.5 if i < rounds / 2 else 1.0, "y": 0.5}
        told = [m.Told(scale * high[each.arm] * rng.random(), decision=each.decision) for each in made]
        service.run("one", m.TellMany(told))
        service = more(service)
    return service


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """A service in which the rewards of an arm have changed."""
    path = str(tmp_path_factory.mktemp("changed") / "a.db")
    service = opened(path)
    service.create(decoded({**SPEC, "seed": 1}))
    shifting(service, 16)
    yield service, path
    service.close()


def test_a_change_is_an_event_and_comes_once_for_an_arm(changed):
    service, _ = changed
    events = [line for line in service.events("one", 0, 10_000) if line["kind"] == "changed"]
    assert [line["label"] for line in events] == ["x"]
    about = events[0]["body"]
    assert about["what"] == "mean"
    assert about["low"] < 0.25 < about["high"] < about["after"]
    assert service.verify("one").ok


def test_a_restart_changes_nothing_of_it(changed, tmp_path):
    def again(service):
        if service.view("one").state.seq % 3 == 0:
            return service
        service.close()
        return opened(path)

    path = str(tmp_path / "b.db")
    service = opened(path)
    service.create(decoded({**SPEC, "seed": 1}))
    service = shifting(service, 16, again)
    assert service.view("one").state.changed == changed[0].view("one").state.changed
    assert service.view("one").state.marks[0].marks == changed[0].view("one").state.marks[0].marks
    service.close()


def test_a_change_is_said_wherever_alarms_are(changed):
    service, _ = changed
    view = service.view("one")
    (alarm,) = alarms(view)
    assert alarm.startswith("The rewards of x have changed: their mean lay between")
    assert "at most 1 % of experiments" in alarm
    assert health(view, None)["Have rewards changed?"] == "yes, of 1 arm"
    best = view.state.agent.leader()
    assert sentence(view.state, best._replace(decided=True, excluded=("y",))).endswith("find the reason first.")


def test_smaller_is_better_changes_the_sign_of_nothing_that_is_said(tmp_path):
    service = opened(str(tmp_path / "a.db"))
    service.create(decoded({**SPEC, "larger_is_better": False}))
    shifting(service, 16)
    (about,) = service.view("one").state.changed.values()
    assert 0.0 < about["low"] < about["high"] < about["after"]
    service.close()


def test_merged_rewards_are_watched_too(tmp_path):
    service = opened(str(tmp_path / "a.db"))
    service.create(decoded(SPEC))
    for mean in (0.3, 0.3, 0.3, 0.6):
        batch = service.run("one", m.Split(400))
        arms = {arm: m.Statistics(count, mean if arm == "x" else 0.3, 0.02) for arm, count in batch.arms.items()}
        service.run("one", m.Merge(arms), decision=batch.batch)
    assert list(service.view("one").state.changed) == [0]
    service.close()


def test_without_a_support_health_says_that_nothing_can_be_said(tmp_path):
    service = opened(str(tmp_path / "a.db"))
    service.create(decoded({**SPEC, "support": None, "scale": 1.0}))
    shifting(service, 8, scale=10.0)
    view = service.view("one")
    assert view.state.changed == {}
    assert health(view, None)["Have rewards changed?"] == "unknown without a support"
    service.close()


def test_what_came_again_and_what_came_late_is_counted_and_kept(database, clock):
    service = Service(open_store(database, relaxed=True), clock, patience=0.0).start()
    service.create(decoded({**SPEC, "fallback": "x", "rewards": {"window": 60, "default": 0}}))
    made = [service.run("one", m.Ask(), key="k").decisions[0].decision for _ in range(3)]
    assert len(set(made)) == 1
    for _ in range(2):
        service.run("one", m.Tell(0.5), decision=made[0])
    assert counts(service) == (3, 0)
    (late,) = service.run("one", m.Ask()).decisions
    clock.advance(61)
    for _ in range(2):
        with pytest.raises(RequestError, match="too late"):
            service.run("one", m.Tell(0.5), decision=late.decision)
    assert counts(service) == (3, 2)
    service.close()
    service = Service(open_store(database, relaxed=True), clock, patience=0.0).start()
    assert counts(service) == (3, 2)
    shown = health(service.view("one"), None)
    assert (shown["Requests that came again"], shown["Rewards refused as too late"]) == ("3", "2")
    service.close()


def counts(service):
    row = service.view("one").experiment
    return row.again, row.late


def test_a_transaction_that_fails_loses_no_count(tmp_path, monkeypatch):
    store = open_store(str(tmp_path / "a.db"), relaxed=True)
    writer = Writer(store, lambda: 1_800_000_000_000)
    writer.create(decoded({**SPEC, "seed": 1}), 0)
    work = writer._work(1)
    work.unlogged.again += 1

    def broken():
        raise ValueError

    for commit in (broken, store.commit):
        monkeypatch.setattr(store, "commit", commit)
        try:
            with writer._transaction():
                work = writer._work(1)
                work.record("asked", 0)
                work.write(store)
        except ValueError:
            continue
    assert store.experiment("one").again == 1
    assert writer.look("one")[0].again == 1
    store.close()


def test_older_tables_get_the_counts_and_lose_their_snapshots(tmp_path, monkeypatch):
    path = str(tmp_path / "a.db")
    with monkeypatch.context() as patch:
        patch.setattr("prudent.service.log.store.SCHEMA", 2)
        database = open_store(path).database
        database.begin()
        database.execute("INSERT INTO snapshot VALUES (1, 2, 'old', 'old')")
        database.commit()
        database.close()
    store: Store = open_store(path)
    assert len(MIGRATIONS) >= 3
    assert store.snapshots(1) == {}
    store.close()


def test_open_answers_do_not_count_as_answered(tmp_path, clock):
    """Where rewards wait for their window, those that are told already are no more closed than those that are not."""
    service = opened(str(tmp_path / "a.db"), clock)
    service.create(decoded({**SPEC, "rewards": {"window": 60, "default": 0}}))
    for each in service.run("one", m.Ask(count=200)).decisions:
        if each.arm == "x":
            service.run("one", m.Tell(0.5), decision=each.decision)
    rates = service.view("one").answers.rates
    assert rates["x"] == rates["y"] == (0.0, 1.0)
    service.close()


def test_the_api_and_the_metrics_tell_it(tmp_path):
    site = InProcessService(str(tmp_path / "a.db"))
    site.service.create(decoded(SPEC | {"name": "three"}))
    site.service.create(decoded(SPEC | {"name": "four"}))
    for name, after in (("three", 0.9), ("four", 0.3)):
        for mean in (0.3, 0.3, 0.3, after):
            batch = site.service.run(name, m.Split(400))
            arms = {arm: m.Statistics(count, mean, 0.02) for arm, count in batch.arms.items()}
            site.service.run(name, m.Merge(arms), decision=batch.batch)
    found = site("GET", "/v1/experiments/three/estimates").json["changed"]
    assert [(each["arm"], each["rewards"]) for each in found] == [("x", 800), ("y", 800)]
    assert found[0]["sentence"].startswith("The rewards of x have changed")
    assert site("GET", "/v1/experiments/four/estimates").json["changed"] == []
    text = site("GET", "/metrics").body.decode()
    assert 'prudent_changed_arms{experiment="three"} 2.0' in text
    assert 'prudent_changed_arms{experiment="four"} 0.0' in text
    same = {arm: {"count": 200, "mean": 0.3, "variance": 0.02} for arm in "xy"}
    assert site("PUT", f"/v1/batches/{batch.batch}", {"arms": same}).status == 200
    assert site("GET", "/v1/experiments/four").json["repeated"] == 1
    assert 'prudent_repeated_requests_total{experiment="four"} 1.0' in site("GET", "/metrics").body.decode()
    assert 'prudent_late_rewards_total{experiment="four"} 0.0' in text
    site.close()


def test_the_oldest_open_decision_is_found_without_reading_all(database, clock):
    service = Service(open_store(database, relaxed=True), clock, patience=0.0).start()
    service.create(decoded(SPEC))
    made = service.run("one", m.Ask(count=3)).decisions
    clock.advance(5)
    service.run("one", m.Ask())
    assert service.store.oldest_open(1) == clock.time - 5000
    service.run("one", m.TellMany([m.Told(0.5, decision=each.decision) for each in made]))
    assert service.store.oldest_open(1) == clock.time
    if service.store.database.using:
        using = service.store.database.using.format("decision_open")
        sql = f"EXPLAIN QUERY PLAN SELECT at FROM decision{using} WHERE experiment = ?"
        plan = service.store.read(sql + " AND state IN ('open', 'waiting', 'told') ORDER BY seq LIMIT 1", 1)
        assert [row[-1] for row in plan] == ["SEARCH decision USING INDEX decision_open (experiment=?)"]
    service.close()
