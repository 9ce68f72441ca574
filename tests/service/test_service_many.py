"""Thousands of experiments, and several workers: lists and numbers stay quick, are whole, and hold nobody up."""

import asyncio
import contextlib
import itertools
import logging
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families

from helpers.service.asgi_calls import call
from helpers.service.postgres_server import PostgresServer
from helpers.service.running_server import EXPERIMENT, RunningServer
from prudent.service import messages as m
from prudent.service.http.api import ROUTES
from prudent.service.http.app import App
from prudent.service.log.store import open_store
from prudent.service.pages.app import Site
from prudent.service.pages.listing import AT_A_TIME, listing
from prudent.service.spec import decoded
from prudent.service.work.journal import Counted
from prudent.service.work.service import Service

SPEC = {"arms": ["A", "B"], "policy": "mv-lcb(rho=1)", "horizon": 1000, "support": [0, 1]}
MANY = 300


class Many:
    """A service with pages and many experiments."""

    def __init__(self, database, count=MANY):
        self.service = Service(open_store(database, relaxed=True), patience=3600.0).start()
        self.site = Site(self.service, pause=0.0)
        self.app = App(self.service, ROUTES).show(self.site)
        self.token = self.service.tokens.create(["admin"])[0]
        self.loop = asyncio.new_event_loop()
        for i in range(count):
            self.service.create(decoded({**SPEC, "name": f"shop-{i:04}"}))

    def session(self, token):
        """The cookie of somebody who has signed in with a token."""
        known = self.service.tokens.find(token)
        return ("cookie", f"prudent={self.loop.run_until_complete(self.service.sessions.create(known))}")

    def __call__(self, path, token=None):
        token = token or self.token
        cookie = [self.session(token)]
        return self.loop.run_until_complete(call(self.app, "GET", path, token=token, headers=cookie))

    def close(self):
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        self.app.close()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    many = Many(str(tmp_path_factory.mktemp("many") / "prudent.db"))
    yield many
    many.close()


def named(body):
    """The experiments that a page of the list links to."""
    return re.findall(r'href="/e/(shop-\d+)"', body.decode())


def test_the_list_comes_in_pages_that_hold_every_experiment_once(many):
    path, seen, looks = "/?sort=name", [], 0
    while path is not None:
        page = many(path)
        assert page.status == 200
        assert len(named(page.body)) <= AT_A_TIME
        seen += named(page.body)
        looks += 1
        found = re.search(r'<a href="([^"]+)" rel="next"', page.body.decode())
        path = None if found is None else found[1].replace("&amp;", "&")
    assert seen == [f"shop-{i:04}" for i in range(MANY)]
    assert looks == -(-MANY // AT_A_TIME)


def test_only_what_a_page_shows_is_computed(many, monkeypatch):
    """So that a list of thousands takes as long as one of a page; benchmarks say how long."""
    for name in many.service.store.names():
        many.service.views.forget(name)
    looked, look = [], many.service.look
    monkeypatch.setattr(many.service, "look", lambda name: (looked.append(name), look(name))[1])
    assert len(named(many("/?page=3").body)) == len(looked) == AT_A_TIME


def test_a_search_finds_by_a_part_of_the_name(many):
    assert named(many("/?search=0123").body) == ["shop-0123"]
    assert len(named(many("/?search=SHOP-02&page=2").body)) == AT_A_TIME
    assert "search=shop-02&amp;page=3" in many("/?search=shop-02&page=2").body.decode()
    nothing = many("/?search=%3Cb%3E").body.decode()
    assert "“&lt;b&gt;”" in nothing
    assert "<b>" not in nothing


@pytest.mark.parametrize(
    "query", ["page=0", "page=-1", "page=x", "page=9999999999999", "page=%C2%B2", "search=" + "x" * 9999]
)
def test_a_page_that_is_not_there_is_the_nearest(many, query):
    assert many(f"/?{query}").status == 200


def test_a_list_holds_only_what_the_token_may_see(many):
    names = [f"shop-{i:04}" for i in range(0, 60, 2)]
    token, _ = many.service.tokens.create(["read"], names)
    assert named(many("/?sort=name", token).body) == names[:AT_A_TIME]
    assert named(many("/?sort=name&page=2", token).body) == names[AT_A_TIME:]
    assert listing([], {}, str).pages == 1


def test_the_api_lists_all_of_them_as_they_are(many):
    many.service.run("shop-0007", m.BODIES["add"]("C", "new"))
    many.service.run("shop-0007", m.BODIES["retire"]("A", "old"))
    many.service.run("shop-0008", m.BODIES["freeze"]("B", "look"))
    found = {each["experiment"]: each for each in many("/v1/experiments").json}
    assert len(found) == MANY
    assert found["shop-0007"]["arms"] == ["B", "C"]
    assert found["shop-0008"]["frozen_to"] == "B"
    assert found["shop-0009"]["seq"] == 1


def test_numbers_are_computed_again_only_for_what_has_changed(many, monkeypatch):
    def decisions():
        families = {one.name: one for one in text_string_to_metric_families(many("/metrics").body.decode())}
        return {
            (one.labels["experiment"], one.labels["arm"]): one.value for one in families["prudent_decisions"].samples
        }

    until = time.monotonic() + 60.0
    while len(decisions()) < 2 * MANY and time.monotonic() < until:
        time.sleep(0.05)
    before = decisions()
    made = []
    from prudent.service.http import metrics

    lines = metrics.lines_of
    monkeypatch.setattr(metrics, "lines_of", lambda view: (made.append(view.experiment.name), lines(view))[1])
    monkeypatch.setattr(many.service, "look", None)
    monkeypatch.setattr(many.service, "view", None)  # the writer is left alone
    (decision,) = many.service.run("shop-0100", m.Ask()).decisions
    after = decisions()
    assert made == ["shop-0100"]
    assert {key: value - before[key] for key, value in after.items() if value != before[key]} == {
        ("shop-0100", decision.arm): 1.0
    }


def test_the_list_has_an_order_states_and_owners(many):
    _, made = many.service.tokens.create(["admin"], note="Ada")
    many.service.create(decoded({**SPEC, "name": "shop-9999"}), made.number)
    many.service.run("shop-9999", m.BODIES["stop"]("done"))
    assert named(many("/?state=stopped").body) == ["shop-9999"]
    assert named(many("/?search=ada").body) == ["shop-9999"]
    assert named(many("/").body)[0] == "shop-9999"  # the last event comes first
    assert named(many("/?sort=name").body)[0] == "shop-0000"
    assert '<td data-label="Owner">Ada</td>' in many("/?search=ada").body.decode()
    assert "No experiment that is paused has “ada”" in many("/?search=ada&state=paused").body.decode()
    assert named(many("/?sort=x&state=y").body)


def test_a_large_page_is_made_beside_the_event_loop(tmp_path):
    """While it is, others are answered."""
    many = Many(str(tmp_path / "prudent.db"), count=0)
    arms = [f"arm {i}" for i in range(1500)]
    many.service.create(decoded({**SPEC, "name": "wide", "arms": arms, "horizon": 10**6}))

    cookie = [many.session(many.token)]

    async def both():
        page = asyncio.ensure_future(call(many.app, "GET", "/e/wide", headers=cookie))
        answered = 0
        while not page.done():
            answered += (await call(many.app, "GET", "/healthz")).status == 200
            await asyncio.sleep(0)
            longest.append(time.thread_time())
        return await page, answered

    longest = []
    with contextlib.closing(many):
        page, answered = many.loop.run_until_complete(both())
        assert (page.status, len(page.body) > 10**6) == (200, True)
        steps = [after - before for before, after in itertools.pairwise(longest)]
        assert max(steps) < 0.25, "seconds of the loop's own processor time at a stretch"
        assert answered > 20


# Several workers


@pytest.fixture
def two(postgres):
    server = RunningServer(postgres.new_database(f"many{time.monotonic_ns()}"), workers=2)
    server.read_token()
    assert server.ask("POST", "/v1/experiments", EXPERIMENT)[0] == 201
    yield server
    if not server.process.stdout.closed:
        server.stop()  # which ends its workers too


def value(text, name, **labels):
    """What a line of the numbers says; 0 if there is none."""
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == name and labels.items() <= sample.labels.items():
                return sample.value
    return 0.0


def children(number):
    with open(f"/proc/{number}/task/{number}/children") as file:
        return [int(each) for each in file.read().split()]


@pytest.mark.slow
def test_every_worker_tells_the_numbers_of_all(two):
    path = "/v1/experiments/{experiment}/decisions"
    with ThreadPoolExecutor(8) as pool:  # so that each worker gets some
        done = list(pool.map(lambda _: two.ask("POST", "/v1/experiments/e/decisions", {})[0], range(60)))
    assert done == [201] * 60
    for _ in range(8):  # whoever answers
        text = two.ask("GET", "/metrics")[1].decode()
        assert value(text, "prudent_requests_total", path=path, status="201") == 60
        assert value(text, "prudent_request_seconds_count", path=path) == 60
        assert value(text, "prudent_commands_total") == 60
        assert sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == "prudent_decisions_total"
        ) == 60  # fmt: skip


@pytest.mark.slow
def test_a_worker_that_is_replaced_is_a_line_in_the_log(two):
    def workers():
        """Those processes that serve; multiprocessing has another one."""
        return {each for each in children(two.process.pid) if b"spawn_main" in cmdline(each)}

    def cmdline(number):
        with contextlib.suppress(OSError), open(f"/proc/{number}/cmdline", "rb") as file:
            return file.read()
        return b""

    before = workers()
    assert len(before) == 2
    ended = min(before)
    os.kill(ended, signal.SIGKILL)
    until = time.monotonic() + 60.0
    while len(workers() - before) < 1 and time.monotonic() < until:
        time.sleep(0.05)
    (new,) = workers() - before
    while two.ask("GET", "/readyz")[0] != 200 and time.monotonic() < until:
        time.sleep(0.05)
    two.stop()
    assert f"WARNING worker {ended} was ended by signal 9; worker {new} takes its place" in two.errors
    assert two.errors.count("takes its place") == 1


# Errors that come again


@pytest.fixture
def journal():
    """A logger whose lines are kept."""
    lines, handler = [], logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    handler.addFilter(Counted(every=0.3))
    log = logging.getLogger(f"prudent.test-journal-{time.monotonic_ns()}")
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    yield log, lines
    log.removeHandler(handler)


def test_the_same_error_is_counted(journal):
    log, lines = journal
    for port in range(618):
        log.error("the database does not answer: connection to port %d failed", port)
    log.error("something else")
    log.info("a request")
    log.info("a request")
    assert lines == [
        "the database does not answer: connection to port 0 failed",
        "something else",
        "a request",
        "a request",
    ]
    until = time.monotonic() + 20.0
    while len(lines) < 5 and time.monotonic() < until:
        time.sleep(0.01)
    assert lines[4:] == ["the database does not answer: connection to port 0 failed (617 more times within 0.3 s)"]
    while lines.count("something else") < 2 and time.monotonic() < until:  # it is a line again after that time
        log.error("something else")
        time.sleep(0.01)
    assert lines.count("something else") == 2


def test_errors_of_different_places_are_different(journal):
    log, lines = journal

    def one():
        return 1 / 0

    def other():
        return 2 / 0

    for act in (one, other, one, other):
        try:
            act()
        except ZeroDivisionError:
            log.exception("unexpected error")
    assert lines[:2] == ["unexpected error"] * 2
    assert not any(line == "unexpected error" for line in lines[2:])


@pytest.mark.slow
def test_a_database_that_is_away_is_a_few_lines_of_the_log(postgres):
    server = PostgresServer()
    served = RunningServer(server.new_database("away"))
    try:
        served.read_token()
        assert served.ask("POST", "/v1/experiments", EXPERIMENT)[0] == 201
        server.stop("immediate")
        assert {served.ask("GET", "/v1/experiments/e/events")[0] for _ in range(200)} <= {200, 503}
        server.start()
        until = time.monotonic() + 60.0
        while served.ask("GET", "/v1/experiments/e/events")[0] != 200 and time.monotonic() < until:
            time.sleep(0.05)
        assert served.ask("GET", "/v1/experiments/e/events")[0] == 200
    finally:
        served.stop()
        server.close()
    assert 1 <= served.errors.count("does not answer") < 10, served.errors
