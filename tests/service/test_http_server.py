"""The server at a real socket: slow, endless and malformed requests, the first token, and an orderly end."""

import contextlib
import json
import re
import signal
import socket
import threading
import time

import pytest

from helpers.service.running_server import EXPERIMENT, RunningServer, answer_of, running_servers
from prudent import PrudentError
from prudent.service.http.deadlines import LONGEST_HEAD
from prudent.service.http.server import Settings, serve

# A stop takes 4 s at most while somebody waits for an answer, then a snapshot; limits here are for busy machines.


@pytest.fixture(autouse=True)
def this_process_goes_on(monkeypatch):
    """A process that serves opens no file that a spec names, for good; here it also runs other tests."""
    monkeypatch.setattr("prudent.base.registry._may_open", True)


@pytest.fixture
def start():
    with running_servers() as begin:
        yield begin


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = RunningServer(str(tmp_path_factory.mktemp("server") / "prudent.db"))
    server.read_token()
    assert server.ask("POST", "/v1/experiments", EXPERIMENT)[0] == 201
    yield server
    code, seconds = server.stop()
    assert (code, seconds < 15) == (0, True)
    assert "Traceback" not in server.errors
    assert server.token not in server.errors


def test_it_answers(server):
    status, body = server.ask("POST", "/v1/experiments/e/decisions", {})
    assert status == 201
    decision = json.loads(body)["decisions"][0]["decision"]
    assert server.ask("PUT", f"/v1/decisions/{decision}/reward", {"reward": 1})[0] == 201


def test_headers_that_drip_are_cut_off(server):
    with server.connect() as connection:
        since = time.monotonic()
        for byte in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: 1234567890\r\n":
            try:
                connection.sendall(bytes([byte]))
            except OSError:
                break
            time.sleep(0.05)
        assert answer_of(connection) is None
        assert 0.4 < time.monotonic() - since < 10


def test_a_connection_that_says_nothing_is_cut_off(server):
    with server.connect() as connection:
        since = time.monotonic()
        assert answer_of(connection) is None
        assert 0.4 < time.monotonic() - since < 10


def test_the_second_request_of_a_connection_has_a_deadline_too(server):
    with server.connect() as connection:
        connection.sendall(server.request("GET", "/healthz"))
        first = b""
        while not first.endswith(b"}"):  # head and body may come apart
            first += connection.recv(65536)
        assert first.startswith(b"HTTP/1.1 200")
        time.sleep(0.8)  # idle is fine
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        since = time.monotonic()
        assert answer_of(connection) is None
        assert 0.4 < time.monotonic() - since < 10


@pytest.mark.parametrize("how", ["Content-Length: 100", "Transfer-Encoding: chunked"])
def test_a_body_that_drips_is_cut_off(server, how):
    with server.connect() as connection:
        head = server.request(
            "POST", "/v1/experiments/e/decisions", more=f"Content-Type: application/json\r\n{how}\r\n"
        )
        connection.sendall(head)
        since = time.monotonic()
        for _ in range(8):
            with contextlib.suppress(OSError):
                connection.sendall(b"1\r\n \r\n" if "chunked" in how else b" ")
            time.sleep(0.05)
        status, body = answer_of(connection)
        assert (status, json.loads(body)["type"]) == (408, "/problems/too-slow")
        assert 0.4 < time.monotonic() - since < 10


def test_a_refused_request_cannot_hold_the_connection_with_its_body(server):
    with server.connect() as connection:
        connection.sendall(b"POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        since = time.monotonic()
        connection.settimeout(0.05)
        cut = False
        while time.monotonic() - since < 3 and not cut:
            try:
                connection.sendall(b" ")
                cut = connection.recv(65536) == b""
            except TimeoutError:
                pass
            except OSError:
                cut = True
        assert cut


def test_others_are_answered_while_many_are_slow(server):
    with contextlib.ExitStack() as slow:
        for _ in range(100):
            slow.enter_context(server.connect()).sendall(b"GET /healthz HTTP/1.1\r\nX-")
        since = time.monotonic()
        assert server.ask("GET", "/healthz")[0] == 200
        assert time.monotonic() - since < 8


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (LONGEST_HEAD + 1),
        b"GET /" + b"a" * (LONGEST_HEAD + 1),
        b"GET /healthz HTTP/1.1\r\n" + b"X: a\r\n" * (LONGEST_HEAD // 6 + 1),
    ],
)
def test_headers_without_end_are_refused(server, head):
    with server.connect() as connection:
        connection.sendall(head)
        status, body = answer_of(connection)
        assert (status, json.loads(body)["type"]) == (400, "/problems/bad-request")


def test_what_surrounds_chunks_has_a_limit(server):
    with server.connect() as connection:
        more = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        connection.sendall(server.request("POST", "/v1/experiments/e/decisions", more=more))
        with contextlib.suppress(OSError):
            connection.sendall(b"1;" + b"x" * (16 * LONGEST_HEAD))
        status, _ = answer_of(connection)
        assert status == 400


def test_a_body_too_large_is_not_waited_for(server):
    more = "Content-Type: application/json\r\nContent-Length: 1000000000\r\n"
    with server.connect() as connection:
        connection.sendall(server.request("POST", "/v1/experiments/e/rewards", more=more))
        status, body = answer_of(connection)
        assert (status, json.loads(body)["type"]) == (413, "/problems/too-large")


def test_chunks_are_read_to_the_limit(server):
    more = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    with server.connect() as connection:
        connection.sendall(server.request("POST", "/v1/experiments/e/decisions", more=more))
        connection.sendall(b"2\r\n{}\r\n0\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 201")
    with server.connect() as connection:
        connection.sendall(server.request("POST", "/v1/experiments/e/decisions", more=more))
        with contextlib.suppress(OSError):
            for _ in range(20):
                connection.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        assert answer_of(connection)[0] == 413


@pytest.mark.parametrize(
    "raw",
    [
        b"nonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"POST /v1/tokens HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_http_is_a_problem_like_others(server, raw):
    with server.connect() as connection:
        connection.sendall(raw)
        status, body = answer_of(connection)
        assert (status, json.loads(body)["type"]) == (400, "/problems/bad-request")


def test_another_protocol_is_not_taken_up(server):
    more = "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n"
    assert server.ask("GET", "/healthz", more=more)[0] == 200
    assert "Traceback" not in server.ask("GET", "/healthz")[1].decode()


def test_requests_may_come_before_their_turn(server):
    with server.connect() as connection:
        one = server.request("GET", "/healthz")
        connection.sendall(one * 5 + server.request("GET", "/healthz", more="Connection: close\r\n"))
        raw = b""
        while part := connection.recv(65536):
            raw += part
        assert raw.count(b"HTTP/1.1 200 OK") == 6


def test_nothing_is_lost_at_the_end(tmp_path, start):
    """Requests that were accepted are answered after SIGTERM, and what was answered is there after the next start,
    which shows no token again."""
    database = str(tmp_path / "prudent.db")
    server = start(database)
    server.read_token()
    assert server.ask("POST", "/v1/experiments", EXPERIMENT)[0] == 201
    answered, failed = [], []

    def go_on():
        with contextlib.suppress(OSError), server.connect() as connection, connection.makefile("rb") as answers:
            while True:
                connection.sendall(server.request("POST", "/v1/experiments/e/decisions", {}))
                status, headers, body = one_answer(answers)
                if status == 201:
                    answered.append(json.loads(body)["decisions"][0]["decision"])
                elif status not in (0, 503):
                    failed.append(body)
                if status == 0 or headers.get("connection") == "close":
                    return

    threads = [threading.Thread(target=go_on) for _ in range(8)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 20
    while len(answered) < 50 and time.monotonic() < until:
        time.sleep(0.01)
    code, seconds = server.stop()
    for thread in threads:
        thread.join()
    assert (code, failed, seconds < 15) == (0, [], True)
    assert "Traceback" not in server.errors
    assert len(answered) >= 50
    second = start(database)
    second.token = server.token
    lines = second.ask("GET", "/v1/experiments/e/export?format=ndjson")[1].decode()
    kept = set(re.findall(r'"decision":"([^"]+)"', lines))
    assert set(answered) <= kept
    assert len(kept) - len(answered) <= 8  # at most the last of each, whose answer did not get through
    assert second.ask("POST", "/v1/experiments/e/verify")[0] == 200
    assert second.stop(signal.SIGINT)[0] == 0
    assert second.rest == ""


def one_answer(file):
    """Status, headers and body of the next answer of a connection; status 0 if there is none."""
    first = file.readline()
    headers = {}
    while (line := file.readline().strip()) and first:
        name, _, value = line.decode().partition(": ")
        headers[name] = value
    return int(first.split()[1]) if first else 0, headers, file.read(int(headers.get("content-length", 0)))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_address_that_others_reach_needs_a_proxy_and_a_token(tmp_path, host):
    database = str(tmp_path / "prudent.db")
    with pytest.raises(PrudentError, match="host must be of this machine"):
        serve(Settings(database, host=host, port=0))
    if host in ("0.0.0.0", "::"):
        with pytest.raises(PrudentError, match="needs a token first"):
            serve(Settings(database, host=host, port=0, behind_proxy=True))


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PrudentError, match=f"cannot listen at 127.0.0.1:{port}.*--port"):
            serve(Settings(str(tmp_path / "prudent.db"), port=port))


def test_several_workers_need_postgresql(tmp_path):
    with pytest.raises(PrudentError, match="workers must be 1 with SQLite, got 2"):
        serve(Settings(str(tmp_path / "prudent.db"), port=0, workers=2))


@pytest.mark.xdist_group("postgres")
def test_two_workers(postgres, start):
    server = start(postgres.new_database("served"), workers=2)
    server.read_token()
    assert server.ask("POST", "/v1/experiments", EXPERIMENT)[0] == 201
    found = [server.ask("POST", "/v1/experiments/e/decisions", {}, more="Idempotency-Key: k\r\n") for _ in range(8)]
    assert sorted(status for status, _ in found) == [200] * 7 + [201]
    assert len({json.loads(body)["decisions"][0]["decision"] for _, body in found}) == 1
    code, seconds = server.stop()
    assert (code, seconds < 15) == (0, True)
