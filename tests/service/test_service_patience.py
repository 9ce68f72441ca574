"""A database that stands still: requests are answered in time, threads do not pile up, and all goes on by itself."""

import asyncio
import contextlib
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from helpers.service.asgi_calls import call
from helpers.service.postgres_server import PostgresServer
from prudent.service.http.api import ROUTES
from prudent.service.http.app import App
from prudent.service.http.tokens import FRESH
from prudent.service.log.patience import EVERYTHING, PAUSE, Patience
from prudent.service.log.store import StoreError, open_store
from prudent.service.work.service import Service

pytestmark = pytest.mark.xdist_group("postgres")

SPEC = {"name": "shop", "arms": ["A", "B"], "policy": "mv-lcb(rho=1)", "horizon": 1000, "support": [0, 1]}
IN_TIME = 12.0
"""Seconds in which a request must be answered, on a machine that does other things too; alone it takes at most 8."""

REQUESTS = [
    ("POST", "/v1/experiments/shop/decisions", {}),
    ("GET", "/v1/experiments/shop/estimates", None),
    ("GET", "/v1/experiments/shop/events", None),
    ("GET", "/v1/experiments", None),
    ("POST", "/v1/tokens", {"scopes": ["read"]}),
]


@pytest.fixture
def server(installed_postgres):
    """A server that may be stopped."""
    server = PostgresServer()
    yield server
    server.close()


class Calls:
    """An application whose requests run in a loop of its own, many at once."""

    def __init__(self, address):
        self.service = Service(open_store(address), patience=0.0).start()
        self.app = App(self.service, ROUTES)
        self.token = self.service.tokens.create(["admin"])[0]
        self.loop = asyncio.new_event_loop()
        self.pool = ThreadPoolExecutor(8, "pool")
        self.loop.set_default_executor(self.pool)
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def begin(self, method, path, body=None):
        return asyncio.run_coroutine_threadsafe(self._timed(method, path, body), self.loop)

    async def _timed(self, method, path, body):
        since = time.monotonic()
        answer = await call(self.app, method, path, body, token=self.token)
        return answer, time.monotonic() - since

    def __call__(self, method, path, body=None):
        return self.begin(method, path, body).result(60.0)

    def stale(self):
        """The tokens in memory are too old to be believed."""
        self.service.tokens._until -= FRESH

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.pool.shutdown()
        self.loop.close()
        self.service.close()


@pytest.fixture
def calls(server):
    calls = Calls(server.new_database("shop"))
    assert calls("POST", "/v1/experiments", SPEC)[0].status == 201
    for request in REQUESTS:
        assert calls(*request)[0].status < 300
    yield calls
    calls.close()


@contextlib.contextmanager
def frozen(server, *, whole):
    """Every process of the server stands still; or only those that serve connections which exist."""
    number = int((server.data / "postmaster.pid").read_text().split()[0])
    children = [int(each) for each in Path(f"/proc/{number}/task/{number}/children").read_text().split()]
    stopped = [number, *children] if whole else children
    for each in stopped:
        os.kill(each, signal.SIGSTOP)
    try:
        yield
    finally:
        for each in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGCONT)


@contextlib.contextmanager
def locked(server, table):
    """Somebody changes a table and does not come to an end."""
    with psycopg.connect(server.address("shop")) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def check_answered(calls, requests, statuses=(503,)):
    """All of them at once, many times."""
    before = threading.active_count()
    begun = [calls.begin(*request) for request in requests * 20]
    answers = [each.result(60.0) for each in begun]
    assert {answer.status for answer, _ in answers} <= set(statuses)
    assert max(seconds for _, seconds in answers) < IN_TIME
    assert all(answer.json["detail"] for answer, _ in answers if answer.status == 503)
    assert threading.active_count() <= before + 8, "threads pile up"


def check_probe(calls, ready):
    """/readyz answers in time, and says so; `ready` is None if writing decides."""
    answer, seconds = calls("GET", "/readyz")
    assert seconds < 5.0
    assert ready is None or (answer.status == 200) == ready, answer.json
    assert ready is not False or "tokens cannot be read" in answer.json["reasons"][-1]


def check_goes_on(calls):
    """All is well again, without help."""
    until = time.monotonic() + 30.0
    while calls("GET", "/readyz")[0].status != 200 and time.monotonic() < until:
        time.sleep(0.05)
    check_probe(calls, True)
    while any(calls(*request)[0].status == 503 for request in REQUESTS) and time.monotonic() < until:
        time.sleep(0.05)
    assert [calls(*request)[0].status for request in REQUESTS] == [201, 200, 200, 200, 201]
    assert calls.service.verify("shop").ok


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False])
def test_a_server_that_stands_still_is_not_waited_for(server, calls, whole):
    with frozen(server, whole=whole):
        check_answered(calls, REQUESTS, (503, 200, 201) if not whole else (503,))
        calls.stale()
        if whole:
            check_probe(calls, False)
            since = time.monotonic()
            check_answered(calls, REQUESTS)
            check_answered(calls, REQUESTS)
            assert time.monotonic() - since < IN_TIME, "what is known to stand still is tried by one at a time"
    check_goes_on(calls)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["token", "experiment", "event"])
def test_a_table_that_somebody_holds_is_not_waited_for(server, calls, table):
    with locked(server, table):
        calls.stale()
        check_answered(calls, REQUESTS, (503, 200, 201) if table != "token" else (503,))
        calls.stale()
        check_probe(calls, None if table != "token" else False)
        check_answered(calls, REQUESTS[2:4], (503,) if table != "event" else (503, 200))
    check_goes_on(calls)


def test_a_reader_is_cut_off_by_the_server_and_keeps_its_connection(server):
    with contextlib.closing(open_store(server.new_database("shop"))) as store:
        limits = store.read("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')")
        assert limits == [("2s", "5s")]
        assert len(store.database._readers) == 1
        with locked(server, "token"), pytest.raises(StoreError, match="lock timeout"):
            store.read("SELECT id FROM token")
        assert len(store.database._readers) == 1


def test_one_at_a_time_tries_what_was_waited_for_in_vain(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with contextlib.closing(Patience()) as patience:

        def refused(statement):
            try:
                patience.refuse(statement)
            except StoreError as error:
                return str(error)
            return None

        patience.failed("SELECT 1", "held")
        assert [refused("SELECT 1"), refused("SELECT 2")] == ["held", None]
        now[0] += PAUSE
        assert [refused("SELECT 1"), refused("SELECT 1")] == [None, "held"]
        patience.answered("SELECT 1")
        assert refused("SELECT 1") is None
        patience.failed(EVERYTHING, "still")
        assert [refused("SELECT 1"), refused("SELECT 2")] == ["still", "still"]


def test_a_server_that_is_started_again_is_tried_at_once(server):
    """Whatever was waited for before: who is refused at once need not wait."""
    with contextlib.closing(open_store(server.new_database("shop"))) as store:
        store.read("SELECT 1")
        store.database.patience.failed(EVERYTHING, "still")
        server.stop("immediate")
        until = time.monotonic() + 30.0
        found = None
        while "refused" not in str(found) and "No such file" not in str(found) and time.monotonic() < until:
            with pytest.raises(StoreError) as error:
                store.read("SELECT 1")
            found = error.value
            time.sleep(0.05)
        assert "still" not in str(found)
        server.start()
        assert store.read("SELECT 1") == [(1,)]


def test_a_broken_network_is_noticed(server):
    """Unless the address says otherwise."""
    address = server.new_database("shop")
    for given, seconds in ((address, "10000"), (f"{address}&tcp_user_timeout=77", "77")):
        with contextlib.closing(open_store(given)) as store:
            store.read("SELECT 1")
            (reader,) = store.database._readers
            found = {each.keyword.decode(): (each.val or b"").decode() for each in reader.pgconn.info}
            assert found["tcp_user_timeout"] == seconds
            assert (found["keepalives_idle"], found["keepalives_count"], found["connect_timeout"]) == ("10", "3", "3")
