"""The doors of a server at a real socket: what is smuggled, what hangs, and an end in time whatever is being done."""

import json
import os
import re
import signal
import subprocess
import time
from urllib.parse import quote, urlencode

import pytest

from helpers.service.running_server import EXPERIMENT, RunningServer, answer_of, running_servers
from prudent import PrudentError
from prudent.service.http.deadlines import Protocol, check_deadlines

IN_TIME = 5.0
"""Seconds in which a process ends after SIGTERM."""


@pytest.fixture
def start():
    with running_servers() as begin:

        def go(*given, **settings):
            server = begin(*given, **settings)
            server.read_token()
            return server

        yield go


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = RunningServer(str(tmp_path_factory.mktemp("server") / "prudent.db"))
    server.read_token()
    assert server.ask("POST", "/v1/experiments", EXPERIMENT)[0] == 201
    yield server
    code, seconds = server.stop()
    assert (code, seconds < IN_TIME) == (0, True)
    assert "Traceback" not in server.errors


def say(server, raw):
    """What the server answers to these bytes."""
    with server.connect() as connection:
        connection.sendall(raw)
        return answer_of(connection)


def sign_in(server):
    """The cookie of somebody who has signed in."""
    body = urlencode({"token": server.token}).encode()
    head = "POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n"
    head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(head.encode() + body)
        raw = b"".join(iter(lambda: connection.recv(65536), b""))
    return re.search(rb"set-cookie: (prudent=[\w-]+)", raw)[1].decode()


def test_what_comes_after_a_body_is_no_header(server):
    """A proxy that takes away or checks headers does not look at trailers."""
    head = "POST /v1/experiments/e/decisions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    trailer = f"2\r\n{{}}\r\n0\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    assert say(server, f"{head}\r\n{trailer}".encode())[0] == 401
    keyed = f"{head}Authorization: Bearer {server.token}\r\n\r\n2\r\n{{}}\r\n0\r\nIdempotency-Key: k\r\n\r\n".encode()
    assert [say(server, keyed)[0] for _ in range(2)] == [201, 201]


@pytest.mark.parametrize("coding", ["gzip, chunked", "chunked, chunked", "identity", "xchunked"])
def test_a_body_is_in_chunks_or_has_a_length(server, coding):
    head = f"POST /v1/experiments/e/decisions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: {coding}\r\n"
    head += f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    assert say(server, head.encode())[0] == 400


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://localhost/healthz", "localhost", 200),
        ("http://localhost:80/healthz", "localhost:80", 200),
        ("http://LOCALHOST/healthz", "localhost", 200),
        ("http://[::1]/healthz", "[::1]", 200),
        ("http://evil.example/healthz", "localhost", 400),
        ("http://localhost:81/healthz", "localhost", 400),
        ("http://localhost/healthz", "evil.example", 400),
        ("http://localhost@evil.example/healthz", "localhost", 400),
        ("*", "localhost", 404),
    ],
)
def test_the_host_of_a_target_is_that_of_the_header(server, target, host, status):
    request = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    found = say(server, request.encode())
    assert found[0] in ({status, 400} if target == "*" else {status}), found


def test_a_head_is_bounded_before_it_is_read(server):
    """What comes in one piece is not read first and refused then."""
    for lines in (["X: " + "a" * 100_000], ["X: a"] * 10_000, ["Cookie: " + "a" * 40_000]):
        head = "\r\n".join(["GET /healthz HTTP/1.1", "Host: localhost", *lines]) + "\r\n\r\n"
        status, body = say(server, head.encode())
        assert (status, "headers must have at most 32,768 bytes" in json.loads(body)["detail"]) == (400, True)


@pytest.mark.slow
def test_the_deadlines_are_tried_at_the_start():
    """An update of uvicorn that calls other methods would switch them off without a word."""
    check_deadlines()
    for name in ("connection_made", "data_received"):  # as if uvicorn called them otherwise
        with pytest.MonkeyPatch.context() as patch:
            patch.delattr(Protocol, name)
            with pytest.raises(PrudentError, match="slow callers would not be cut off with uvicorn"):
                check_deadlines()


def children_of(process):
    """The processes that a process has started."""
    found = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,command="], capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=2) for line in found.stdout.splitlines()]
    return [int(pid) for pid, parent, *command in lines if parent == str(process) and "prudent" in "".join(command)]


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(happened):
    since = time.monotonic()
    while not happened():
        assert time.monotonic() - since < 120.0
        time.sleep(0.02)


LONG = "/explore?" + urlencode({"policy": "mv-lcb", "horizon": "10000", "arms": "beta(2,3);beta(3,2)"}, quote_via=quote)


@pytest.mark.skipif(os.name != "posix", reason="looks at processes")
def test_an_end_in_time_while_something_is_computed(tmp_path, start):
    """The page to explore computes, and so its child imports and compiles; tokens are read meanwhile."""
    server = start(str(tmp_path / "prudent.db"))
    cookie = f"Cookie: {sign_in(server)}\r\n"
    with server.connect() as connection:
        connection.sendall(server.request("GET", LONG, more=cookie))
        until(lambda: children_of(server.process.pid))
        (child,) = children_of(server.process.pid)
        assert server.ask("GET", LONG.replace("10000", "9999"), more=cookie)[0] in (200, 503)
        since = time.monotonic()
        assert server.ask("GET", "/version")[0] == 200
        assert time.monotonic() - since < 8.0
        code, seconds = server.stop()
    assert (code, seconds < IN_TIME) == (0, True)
    assert not is_alive(child)
    assert "Traceback" not in server.errors


@pytest.mark.skipif(os.name != "posix", reason="looks at processes")
def test_what_is_computed_ends_with_a_service_that_is_killed(tmp_path, start):
    server = start(str(tmp_path / "prudent.db"))
    cookie = f"Cookie: {sign_in(server)}\r\n"
    with server.connect() as connection:
        connection.sendall(server.request("GET", LONG, more=cookie))
        until(lambda: children_of(server.process.pid))
        (child,) = children_of(server.process.pid)
        server.stop(signal.SIGKILL)
    until(lambda: not is_alive(child))


HANGING = """
import threading
from prudent.service.log import sqlite
read = sqlite.SQLite.read
def hang(self, sql, *values):
    if "FROM decision" in sql:
        threading.Event().wait()
    return read(self, sql, *values)
sqlite.SQLite.read = hang
"""


def test_an_end_in_time_while_the_database_hangs(tmp_path, start):
    """A reader that never comes back, and connections that say nothing, hold nobody."""
    server = start(str(tmp_path / "prudent.db"), before=HANGING, header_seconds=60.0)
    assert server.ask("POST", "/v1/experiments", EXPERIMENT)[0] == 201
    idle = [server.connect() for _ in range(20)]
    decision = json.loads(server.ask("POST", "/v1/experiments/e/decisions", {})[1])["decisions"][0]["decision"]
    hanging = [server.connect() for _ in range(40)]
    for connection in hanging:
        connection.sendall(server.request("GET", f"/v1/decisions/{decision}"))
    since = time.monotonic()
    assert server.ask("GET", "/healthz")[0] == 200
    assert time.monotonic() - since < 8.0
    code, seconds = server.stop()
    for connection in (*idle, *hanging):
        connection.close()
    assert (code, seconds < IN_TIME + 0.5) == (1, True)
    assert "did not end within" in server.errors


@pytest.mark.xdist_group("postgres")
def test_several_workers_end_in_time_and_know_each_others_sessions(postgres, start):
    server = start(postgres.new_database("doors"), workers=2)
    cookie = sign_in(server)
    for _ in range(12):  # each connection goes to one of the workers
        assert server.ask("GET", "/", more=f"Cookie: {cookie}\r\n")[0] == 200
    idle = [server.connect() for _ in range(10)]
    code, seconds = server.stop()
    for connection in idle:
        connection.close()
    assert (code, seconds < IN_TIME) == (0, True)
