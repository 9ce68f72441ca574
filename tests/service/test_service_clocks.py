"""Clocks that are wrong at a start: it is told, and windows last as long as they should."""

import asyncio
import contextlib
import time

import psycopg
import pytest

from helpers.service.asgi_calls import call
from helpers.service.clock import Clock
from prudent.service import messages as m
from prudent.service.http.api import ROUTES
from prudent.service.http.app import App
from prudent.service.log.store import open_store
from prudent.service.pages.parts import alarms
from prudent.service.spec import decoded
from prudent.service.work.clocks import steady_clock
from prudent.service.work.service import Service

SPEC = {"name": "shop", "arms": ["A", "B"], "policy": "mv-lcb(rho=1)", "horizon": 1000, "support": [0, 1]}
WINDOW = {**SPEC, "rewards": {"window": 2, "default": 0}}
HOUR, DAY = 3600.0, 86400.0


@contextlib.contextmanager
def serving(database, now, patience=3600.0):
    service = Service(open_store(str(database)), now, patience=patience).start()
    try:
        yield service
    finally:
        service.close()


def probe(service):
    """What /readyz says."""
    return asyncio.run(call(App(service, ROUTES), "GET", "/readyz")).json


def wrong_start(database, clock, days):
    """A start with a clock that is ahead, or behind, in which a decision is made; the clock is right afterwards."""
    clock.advance(days * DAY)
    with serving(database, clock) as service:
        made = service.run("shop", m.Ask()).decisions[0]
    clock.advance(-days * DAY + 5.0)
    return made


def test_windows_close_in_their_time_after_a_start_with_a_clock_that_was_ahead(database, clock):
    with serving(database, clock) as service:
        service.create(decoded(WINDOW))
    left = wrong_start(database, clock, 400)
    for _ in range(2):  # also after a second start
        with serving(database, clock) as service:
            told = service.run("shop", m.Ask()).decisions[0]
            service.run("shop", m.Tell(1), decision=told.decision)
            unanswered = service.run("shop", m.Ask()).decisions[0]
            clock.advance(1.9)
            service.close_windows()
            assert service.decision(told.decision).state == "told"
            clock.advance(0.2)
            service.close_windows()
            states = [service.decision(each.decision) for each in (told, unanswered, left)]
            assert [(each.state, each.reward) for each in states] == [("done", 1), ("defaulted", 0), ("defaulted", 0)]
            assert service.view("shop").state.agent.estimates()[0].open_asks == 0
            assert service.verify("shop").ok
        clock.advance(60.0)
    with serving(database, clock) as service:
        times = [line["at"] for line in service.events("shop", 0, 100)]
        assert times == sorted(times)


def test_windows_close_in_real_time(tmp_path):
    """The same with clocks that go by themselves, and nobody who asks for it."""
    with serving(tmp_path / "prudent.db", steady_clock(time.time() + 400 * DAY)) as service:
        service.create(decoded(WINDOW))
        service.run("shop", m.Ask())
    with serving(tmp_path / "prudent.db", None, patience=0.0) as service:
        begun = time.monotonic()
        told = service.run("shop", m.Ask()).decisions[0]
        service.run("shop", m.Tell(1), decision=told.decision)
        while service.decision(told.decision).state != "done" and time.monotonic() < begun + 30.0:
            time.sleep(0.02)
        assert service.decision(told.decision).state == "done"
        assert time.monotonic() - begun >= 2.0
        assert sum(arm.pulls for arm in service.view("shop").state.agent.estimates()) >= 1
        assert service.verify("shop").ok


def test_a_log_that_is_ahead_is_an_alarm_everywhere(database, clock, caplog):
    with serving(database, clock) as service:
        service.create(decoded(WINDOW))
        service.create(decoded({**SPEC, "name": "other"}))
        assert not any("log" in each for each in probe(service).get("alarms", []))
    wrong_start(database, clock, 400)
    caplog.clear()
    with serving(database, clock) as service:
        found = probe(service)
        assert found["ready"], "it can do its work"
        (told,) = [each for each in found["alarms"] if each.startswith("Experiment shop: the times of the log are 399")]
        assert told in caplog.text
        assert "days ahead of the clock" in alarms(service.view("shop"))[0]
        assert not any("ahead" in each for each in alarms(service.view("other")))


def test_who_has_the_right_time_again_goes_by_it(database, clock):
    """A start with a clock that is behind, such as one that begins in 1970: afterwards nothing is a year late."""
    with serving(database, clock) as service:
        service.create(decoded(WINDOW))
    wrong_start(database, clock, -365)
    with serving(database, clock) as service:
        assert service.store.experiment("shop").ahead == 0
        assert probe(service).get("alarms", []) == [] or "database" in probe(service)["alarms"][0]
        before = clock()
        made = service.run("shop", m.Ask()).decisions[0]
        assert made.due == before + 2000


def test_a_pause_counts_also_for_a_log_that_is_ahead(database, clock):
    with serving(database, clock) as service:
        service.create(decoded(WINDOW))
    wrong_start(database, clock, 400)
    with serving(database, clock) as service:
        late = service.run("shop", m.Ask()).decisions[0]
    clock.advance(DAY)
    with serving(database, clock, patience=10.0) as service:
        assert not service.run("shop", m.Tell(1), decision=late.decision).again, "it may still be told"
        clock.advance(11.0)
        service.close_windows()
        assert service.decision(late.decision).state == "done"


@pytest.mark.parametrize(("hours", "words"), [(2.5, "2 hours ahead of"), (-50, "2 days behind"), (0.5, None)])
def test_the_clock_of_the_database_counts(postgres, hours, words, monkeypatch, caplog):
    where = postgres.new_database(f"clock{hours:g}".replace("-", "m").replace(".", "_"))
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + hours * HOUR)
    with serving(where, None) as service:
        with psycopg.connect(where) as other:
            ((theirs,),) = other.execute("SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000").fetchall()
        assert abs(service.now() - theirs) < 60_000
        found = [f"The clock of this machine is {words} that of the database, which counts."] if words else []
        assert probe(service).get("alarms", []) == found == service.clock_alarms
        assert all(each in caplog.text for each in found)


def test_a_long_absence_is_told_since_it_may_be_none(database, caplog):
    clock = Clock()
    with serving(database, clock) as service:
        service.create(decoded(SPEC))
    for days, told in ((29, False), (400, True)):
        clock.advance(days * DAY)
        caplog.clear()
        with serving(database, clock) as service:
            assert ("its clock is ahead" in caplog.text) == told
            assert not any("Experiment" in each for each in probe(service).get("alarms", []))
            service.run("shop", m.Ask())
