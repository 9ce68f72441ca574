"""The client against answers that are not the service's: always a ServiceError that says so, or the fallback arm."""

import asyncio
import gzip
import json
import socket
import threading
import time

import pytest

from helpers.service.fake_service import FakeService
from prudent.client import AsyncClient, Batch, Client, Decision, ServiceError, wire


def answer(body, status="200 OK", *headers):
    """The bytes of an answer."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def decisions(*, count=1, **changed):
    one = {"decision": "d", "arm": "A", "state": "open", **changed}
    return {"decisions": [{name: value for name, value in one.items() if value is not ...}] * count}


RIGHT = json.dumps(decisions()).encode()
JSON = "Content-Type: application/json"
STRANGE = {
    "a maintenance page": answer(b"<html>Back soon</html>", "200 OK", "Content-Type: text/html"),
    "a maintenance page that says JSON": answer(b"<html>Back soon</html>", "200 OK", JSON),
    "nothing": answer(b"", "204 No Content"),
    "nothing at all": answer(b""),
    "a list": answer([]),
    "null": answer(None),
    "true": answer(True),
    "a number": answer(5),
    "a text": answer("decisions"),
    "an empty object": answer({}),
    "no decisions": answer({"decisions": []}),
    "too many decisions": answer(decisions(count=2)),
    "decisions that are null": answer({"decisions": None}),
    "decisions that are a text": answer({"decisions": "A"}),
    "decisions that are numbers": answer({"decisions": [5]}),
    "a decision without an arm": answer(decisions(arm=...)),
    "an arm that is a number": answer(decisions(arm=5)),
    "an id that is a number": answer(decisions(decision=5)),
    "a state that is null": answer(decisions(state=None)),
    "a time that is true": answer(decisions(at=True)),
    "a reward that is a text": answer(decisions(reward="1")),
    "metrics that are a list": answer(decisions(metrics=[])),
    "a reward that is not JSON": answer(RIGHT.replace(b'"open"', b'"open", "reward": NaN')),
    "brackets": answer(b"[" * 100_000),
    "brackets that close": answer(b"[" * 100_000 + b"]" * 100_000),
    "a number of 10,000 digits": answer(b"9" * 10_000),
    "UTF-16": answer(RIGHT.decode().encode("utf-16")),
    "UTF-32": answer(RIGHT.decode().encode("utf-32")),
    "Latin-1": answer(b'{"decisions": "\xe9"}'),
    "gzip": answer(gzip.compress(RIGHT), "200 OK", "Content-Encoding: gzip"),
    "two answers": answer(RIGHT + RIGHT),
    "a redirect": answer(b"", "302 Found", "Location: https://login.example.org/" + "x" * 500),
    "a redirect with the right answer": answer(RIGHT, "301 Moved Permanently", "Location: /"),
    "not modified": answer(b"", "304 Not Modified"),
    "another protocol": answer(b"", "101 Switching Protocols"),
    "a problem that is a list": answer([], "403 Forbidden"),
    "a problem that is a text": answer("no", "404 Not Found"),
    "a problem without a type": answer({"detail": "no"}, "409 Conflict"),
    "a problem whose type is a number": answer({"type": 5, "detail": "no"}, "422 Unprocessable"),
    "a problem whose detail is an object": answer({"type": "/problems/x", "detail": {}}, "400 Bad Request"),
    "a page of a proxy": answer(b"<html>Bad gateway</html>", "502 Bad Gateway"),
    "an error nobody explains": answer(b"", "500 Internal Server Error"),
    "a body that is cut short": answer(RIGHT)[:-5],
    "a body that never begins": answer(RIGHT)[: -len(RIGHT)],
    "a chunk that is cut short": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" + RIGHT,
    "a chunk of size -5": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n" + RIGHT,
    "a chunk without a size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n" + RIGHT,
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "no status": b"HTTP/1.1 OK\r\n\r\n",
    "a status of ten digits": b"HTTP/1.1 2000000000 OK\r\n\r\n",
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 1_000,
    "a line without end": b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * 100_000,
    "letters that no line has": b"HTTP/1.1 200 OK\r\nX-A: \xff\x00\r\nContent-Length: \xb2\r\n\r\n" + RIGHT[:-1],
}
"""What may answer in place of the service."""

each = pytest.mark.parametrize("strange", STRANGE.values(), ids=[name.replace(" ", "-") for name in STRANGE])


@pytest.fixture
def service():
    with FakeService() as one:
        yield one


def client_of(service, **settings):
    return Client(service.url, "pru_token", "e", **{"timeout": 5.0, "retries": 0, **settings})


def test_the_right_answer_is_taken(service):
    service.trouble.extend([answer(decisions(more=5)), answer(decisions(decision=None, why="paused"))])
    with client_of(service) as client:
        assert client.ask() == Decision("d", "A")
        assert client.ask() == Decision(None, "A", why="paused")


@each
def test_without_a_fallback_every_strange_answer_is_an_error_that_says_so(strange, service):
    service.trouble.append(strange)
    with client_of(service) as client:
        with pytest.raises(ServiceError, match=r"is not that of an experiment service|does not answer \(") as error:
            client.ask()
        assert error.value.away
        assert len(str(error.value)) < 500
        assert client.ask().counted  # what is left of the connection does no harm


@each
def test_with_a_fallback_every_strange_answer_is_the_fallback_arm(strange, service):
    service.trouble.append(strange)
    with client_of(service, fallback="B") as client:
        decision = client.ask()
        assert decision[:3] == (None, "B", "fallback")
        assert decision.why
        assert client.lost.fallbacks == 1


@each
def test_an_event_loop_gets_the_same(strange, service):
    async def ask(**settings):
        service.trouble.append(strange)
        async with AsyncClient(service.url, "pru_token", "e", timeout=5.0, retries=0, **settings) as client:
            return await client.ask()

    with pytest.raises(ServiceError):
        asyncio.run(ask())
    assert asyncio.run(ask(fallback="B")).arm == "B"


VERBS = {
    "ask_many": lambda client: client.ask_many(3),
    "activate": lambda client: client.activate("d"),
    "withdraw": lambda client: client.withdraw("d"),
    "decision": lambda client: client.decision("d"),
    "batch": lambda client: client.batch(100),
    "report": lambda client: Batch("b", {"A": 1}, 1, client.report).report(),
    "create": lambda client: client.create({"arms": ["A", "B"]}),
    "make_token": lambda client: client.make_token(["read"]),
    "experiments": lambda client: client.experiments(),
    "show": lambda client: client.show(),
    "estimates": lambda client: client.estimates(),
    "state": lambda client: client.state(),
    "verify": lambda client: client.verify(),
    "pause": lambda client: client.pause("why"),
    "resume": lambda client: client.resume("why"),
    "freeze": lambda client: client.freeze("A", "why"),
    "stop": lambda client: client.stop("why"),
    "add_arm": lambda client: client.add_arm("C", "why"),
    "retire": lambda client: client.retire("A", "why"),
    "forget": lambda client: client.forget("why"),
}
BY_MORE = {
    "tokens": (lambda client: client.tokens(), "a list"),
    "revoke": (lambda client: client.revoke("abc"), "nothing", "nothing at all"),
    "events": (lambda client: client.events(), "nothing", "nothing at all"),
    "experiments": (lambda client: client.experiments(), "a list"),
}
"""Verbs for which some of the answers above are right."""


@pytest.mark.parametrize("verb", sorted(VERBS.keys() | BY_MORE.keys()))
def test_every_verb_tells_strange_answers_from_the_service_s(verb, service):
    call, *right = BY_MORE.get(verb, (VERBS.get(verb),))
    with client_of(service) as client:
        for name, strange in STRANGE.items():
            service.trouble.append(strange)
            if name in right:
                call(client)
                continue
            with pytest.raises(ServiceError):
                call(client)


def test_rewards_wait_while_something_strange_answers(service):
    with client_of(service) as client:
        decision = client.ask()
        strange = [one for name, one in STRANGE.items() if name != "nothing"]
        for one in strange:
            service.trouble.append(one)
            assert client.tell(decision, 1.0) is None
            service.trouble.append(one)
            assert client.tell_many([(decision, 1.0)]) == [None]
        assert client.lost.waiting == 2 * len(strange)
        client.ask()
        assert service.rewards == {decision.id: 1.0}
        assert client.lost.waiting == 0


@pytest.mark.parametrize(
    "arms", [{"A": 10**12}, {"A": 101, "B": -1}, {"A": 99}, {"A": 100.0}, {"A": True}, {}, [100], None]
)
def test_a_batch_of_another_size_is_refused_before_it_is_made(arms, service):
    service.trouble.append(answer({"batch": "b", "arms": arms, "seed": 1}, "201 Created"))
    with client_of(service) as client, pytest.raises(ServiceError, match="is not that of an experiment service"):
        client.batch(100)


def test_a_refusal_among_many_rewards_need_not_say_why(service):
    with client_of(service) as client:
        service.trouble.append((503, {}))
        client.tell("d", 1.0)
        service.trouble.extend([None, answer({"results": [{"status": 422}]})])
        client.ask()
        assert client.lost.refused == 1


@pytest.mark.parametrize("write", ["export", "write_report"])
def test_a_file_is_written_only_if_the_answer_is_that_file_and_whole(write, service, tmp_path):
    out, beside = tmp_path / "out", tmp_path / "out.part"
    beside.write_text("mine")
    name = {"export": "e.csv", "write_report": "e.html"}[write]
    whole = answer(b"the file", "200 OK", f'Content-Disposition: attachment; filename="{name}"')
    with client_of(service) as client:
        for strange in (*STRANGE.values(), whole[:-3]):
            service.trouble.append(strange)
            with pytest.raises(ServiceError):
                getattr(client, write)(out)
            assert list(tmp_path.iterdir()) == [beside]
        service.trouble.append(whole)
        getattr(client, write)(out)
    assert out.read_text() == "the file"
    assert beside.read_text() == "mine"


def sending(pieces, pause=0.0):
    """An address at which the pieces of an answer are sent one by one, while somebody listens."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listening.accept()
        with connection, listening:
            try:
                connection.recv(2**16)
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(pause)
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def after(head, piece):
    yield head
    while True:
        yield piece


def test_what_is_read_of_an_answer_is_bounded(monkeypatch):
    monkeypatch.setattr(wire, "MAX_ANSWER_BYTES", 2**20)
    url = sending(after(b"HTTP/1.1 200 OK\r\n\r\n", b" " * 2**16))
    with Client(url, "pru_token", "e", timeout=60.0) as client:
        with pytest.raises(ServiceError, match="longer than 1,048,576 bytes") as error:
            client.ask()
        assert error.value.away


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_an_answer_that_comes_a_letter_at_a_time_ends_with_the_time_out(head):
    url = sending(after(head, b"x"), pause=0.02)
    began = time.monotonic()
    with (
        Client(url, "pru_token", "e", timeout=0.5, retries=0) as client,
        pytest.raises(ServiceError, match="no answer in time"),
    ):
        client.ask()
    assert time.monotonic() - began < 20.0


def test_a_file_may_take_longer_than_the_time_out_while_it_comes(tmp_path):
    def pieces():
        yield b'HTTP/1.1 200 OK\r\nContent-Length: 800000\r\nContent-Disposition: attachment; filename="e.csv"\r\n\r\n'
        for _ in range(8):
            yield b"x" * 100_000

    url = sending(pieces(), pause=0.1)
    with Client(url, "pru_token", "e", timeout=0.5, retries=0) as client:
        client.export(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").stat().st_size == 800_000


@pytest.mark.parametrize("key", ["a\r\nHost: b", "ä", "", " a", 5])
def test_a_key_that_no_header_can_hold_is_refused(key, service):
    with client_of(service) as client, pytest.raises(ValueError, match=r"^ask: key must be"):
        client.ask(key=key)


@pytest.mark.parametrize("among", [5, "AB", [5], [""]])
def test_arms_that_are_no_names_are_refused(among, service):
    with client_of(service) as client:
        for verb in (client.ask, lambda among: client.batch(100, among)):
            with pytest.raises(ValueError, match="each arm of among must be text"):
                verb(among=among)
