"""What reaches the service from outside: who is let in, in which order that is checked, and what it may cost."""

import asyncio
import csv
import io
import json
import logging
import os
import re
import threading

import pytest

from helpers.service.asgi_calls import call
from helpers.service.html_pages import FORM, HERE, get, post
from helpers.service.served_experiments import EXPERIMENT, InProcessService
from prudent import PrudentError
from prudent.service import messages as m
from prudent.service.http.app import UNFINISHED
from prudent.service.http.reading import read_form
from prudent.service.http.sessions import LIFE, MOST, Sessions
from prudent.service.pages.explore import Question, answered
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work import children
from prudent.service.work.children import BrokenError, Computer, EndedError


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"))
    site.pages(pause=0.0)
    yield site
    site.close()


# The order of checks


def test_nobody_without_a_token_has_a_body_read(site):
    """The order is: host, path, method, token, origin, size, body."""

    def never(sent):
        raise AssertionError("the body was read")
        yield

    for path in ("/e/one/pause", "/plan", "/plan/0123456789abcdef", "/v1/tokens", "/v1/experiments"):
        answer = site("POST", path, token=None, headers=[FORM, HERE], parts=never(path))
        assert answer.status == (401 if path.startswith("/v1") else 303)
    cookie = ("cookie", f"prudent={site.session()}")
    for headers, status in (((), 403), ((("sec-fetch-site", "cross-site"),), 403)):
        sent = [FORM, cookie, *headers]
        assert site("POST", "/e/one/pause", token=None, headers=sent, parts=never(0)).status == status
    wrong = [("content-type", "text/plain"), ("content-length", "5"), HERE, cookie]
    assert site("POST", "/e/one/pause", token=None, headers=wrong, parts=never(0)).status == 415
    assert site("POST", "/e/one/pause", b"", host="evil.example", token=None).status == 403
    assert site("PATCH", "/e/one/pause", b"", token=None).status == 405
    large = [FORM, HERE, cookie, ("content-length", "10000000")]
    assert site("POST", "/e/one/pause", token=None, headers=large, parts=never(0)).status == 413
    assert (
        site("POST", "/login", token=None, headers=[FORM, HERE, ("content-length", "5000")], parts=never(0)).status
        == 413
    )


@pytest.mark.parametrize(
    "header",
    [
        ("content-type", "multipart/form-data; " + "boundary=" * 7 + " " * 60_000 + "x"),
        ("cookie", "prudent=" + "a" * 9000),
        ("authorization", "Bearer " + "a" * 2000),
        ("if-match", '"' + "1" * 2000),
        ("transfer-encoding", "gzip, chunked"),
        ("transfer-encoding", "identity"),
    ],
)
def test_headers_are_bounded_before_they_are_read(site, header):
    for path in ("/login", "/v1/tokens"):
        answer = site("POST", path, b"{}", headers=[HERE, header])
        assert (answer.status, answer.headers["connection"]) == (400, "close")


@pytest.mark.parametrize("header", [("cookie", "a=b"), ("origin", "a"), ("transfer-encoding", "chunked")])
def test_headers_that_decide_come_once(site, header):
    assert site("GET", "/version", headers=[header, header]).status == 400


def test_a_caller_may_send_so_many_bodies_at_once(site):
    """Unfinished bodies fill memory; those of others are not affected."""

    async def many():
        waiting = asyncio.Event()

        async def one(token):
            async def receive():
                await waiting.wait()
                return {"type": "http.request", "body": b"{}", "more_body": False}

            sent = []

            async def send(message):
                sent.append(message)

            headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
            headers += [(b"content-type", b"application/json"), (b"content-length", b"2")]
            path = "/v1/experiments/one/decisions"
            scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
            await site.app(scope, receive, send)
            return sent[0]["status"]

        first = [asyncio.ensure_future(one(site.tokens["decide"])) for _ in range(UNFINISHED)]
        for _ in range(3):
            await asyncio.sleep(0)
        assert await one(site.tokens["decide"]) == 429
        other = asyncio.ensure_future(one(site.tokens["admin"]))
        waiting.set()
        return [*await asyncio.gather(*first), await other, await one(site.tokens["decide"])]

    assert set(site.loop.run_until_complete(many())) == {201}


# Signing in


def test_the_cookie_is_a_session_and_never_the_token(site):
    answer = post(site, "/login", {"token": site.tokens["admin"]}, None)
    session = re.match(r"prudent=([\w-]{43});", answer.headers["set-cookie"])[1]
    assert site.tokens["admin"].split("_")[2] not in answer.headers["set-cookie"]
    rows = site.service.store.read("SELECT * FROM session")
    assert session not in repr(rows)
    assert "Secure" not in answer.headers["set-cookie"]
    for text in (site.tokens["admin"], "", "a" * 43, session[:-1], session + "a", session.swapcase()):
        assert get(site, "/", None, headers=[("cookie", f"prudent={text}")]).status == 303
    assert site("GET", "/v1/experiments", token=session).status == 401


def test_behind_tls_the_cookie_is_secure(tmp_path):
    site = InProcessService(str(tmp_path / "a.db"))
    site.pages(secure=True)
    assert "; Secure" in post(site, "/login", {"token": site.tokens["read"]}, None).headers["set-cookie"]
    site.close()


def test_signing_in_and_out_is_for_pages_of_this_service(site):
    for headers in ((("sec-fetch-site", "cross-site"),), (("origin", "http://evil.example"),), (), (("origin", "["),)):
        answer = post(site, "/login", {"token": site.tokens["admin"]}, None, headers=headers)
        assert (answer.status, "set-cookie" in answer.headers) == (403, False)
        answer = post(site, "/logout", {}, headers=headers)
        assert (answer.status, "set-cookie" in answer.headers) == (403, False)
    assert get(site, "/").status == 200


def test_a_session_ends_with_its_token(site):
    text, token = site.service.tokens.create(["read"])
    cookie = ("cookie", f"prudent={site.session(text)}")
    assert get(site, "/e/one", None, headers=[cookie]).status == 200
    site.service.tokens.revoke(token.id)
    assert get(site, "/e/one", None, headers=[cookie]).status == 303


def test_sessions_end_and_are_known_to_all_processes(service, clock):
    """On both databases: another process knows a new session at once, and of its end within two seconds."""

    def other():
        return Sessions(service.store, service.write, clock, service.tokens)

    async def check():
        _, token = service.tokens.create(["read"])
        mine, theirs = service.sessions, other()
        assert await theirs.find("a" * 43) is None
        session = await mine.create(token)
        assert await theirs.find(session) == await mine.find(session) == token
        await mine.end(session)
        assert await mine.find(session) is None
        assert await theirs.find(session) == token
        clock.advance(2.001)
        assert await theirs.find(session) is None
        first, *_ = [await mine.create(token)] + [clock.advance(1) or await mine.create(token) for _ in range(MOST)]
        assert await other().find(first) is None
        last = await mine.create(token)
        clock.advance(LIFE / 1000)
        service.tokens.refresh()
        assert await mine.find(last) is None
        _, short = service.tokens.create(["read"], expires=clock.time + 1000)
        session = await mine.create(short)
        clock.advance(1)
        assert await mine.find(session) is None

    asyncio.run(check())


def test_sessions_that_are_not_known_are_looked_up_four_times_a_second(site, monkeypatch):
    reads = []
    read = site.service.store.read
    monkeypatch.setattr(site.service.store, "read", lambda *given: reads.append(given) or read(*given))

    async def many():
        sessions = site.service.sessions
        return await asyncio.gather(*(sessions.find(f"{i:043}") for i in range(200)))

    assert set(site.loop.run_until_complete(many())) == {None}
    assert len(reads) <= 2


def test_an_address_that_tries_wrong_tokens_has_to_wait(tmp_path):
    site = InProcessService(str(tmp_path / "a.db"), behind_proxy=True)
    site.pages()

    def sign_in(token, *caller):
        return post(site, "/login", {"token": token}, None, headers=(HERE, *caller))

    found = [sign_in("pru_x_y", ("x-forwarded-for", f"{i}, 10.0.0.1")).status for i in range(20)]
    assert found[:10] == [401] * 10
    assert set(found[11:]) == {429}
    late = sign_in(site.tokens["read"], ("x-forwarded-for", "10.0.0.1"))
    assert (late.status, int(late.headers["retry-after"]) >= 1) == (429, True)
    assert sign_in(site.tokens["read"], ("x-forwarded-for", "10.0.0.1, 10.0.0.2")).status == 303
    site.close()


# Names are matched whole


@pytest.mark.parametrize("name", ["nl\n", "\nnl", "a\r\n", "a\u2028"])
def test_a_name_with_a_line_end_is_none(site, name):
    assert site("POST", "/v1/experiments", {"name": name, **EXPERIMENT}).status == 422
    assert site("POST", "/v1/tokens", {"scopes": ["read"], "experiments": [name]}).status == 422
    assert get(site, f"/e/one{name[-1:]}").status in (200, 404)
    assert all("\n" not in status["experiment"] for status in site("GET", "/v1/experiments").json)
    with pytest.raises(PrudentError):
        decoded({"name": name, **EXPERIMENT})


# Forms


def form(body, kind="multipart/form-data; boundary=XX"):
    return read_form({b"content-type": kind.encode()}, body)


def test_a_boundary_may_be_in_capitals_and_in_quotes():
    body = b'--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--XX--\r\n'
    for kind in ('multipart/form-data; BOUNDARY="XX"', "Multipart/Form-Data; charset=utf-8; boundary=XX"):
        assert form(body, kind) == ({"a": "b"}, {})


def test_a_form_has_a_limit_of_fields():
    part = b'--XX\r\nContent-Disposition: form-data; name="%d"\r\n\r\nb\r\n'
    for many, fine in ((300, True), (301, False)):
        texts = {"multipart": b"".join(part % i for i in range(many)) + b"--XX--\r\n"}
        texts["plain"] = b"&".join(b"%d=b" % i for i in range(many))
        for name, body in texts.items():
            kind = "multipart/form-data; boundary=XX" if name == "multipart" else FORM[1]
            if fine:
                assert len(form(body, kind)[0]) == many
            else:
                with pytest.raises(RequestError, match="cannot be read"):
                    form(body, kind)


@pytest.mark.parametrize(
    ("body", "fields"),
    [(b"", {}), (b"a=%C3%BC+1&b=", {"a": "ü 1", "b": ""}), (b"a", {"a": ""}), (b"a=1&a=2", {"a": "2"})],
)
def test_a_plain_form_is_read(body, fields):
    assert form(body, FORM[1]) == (fields, {})


@pytest.mark.parametrize("body", [b"a=%ff", b"\xff=1", b"a=" + "ü".encode()])
def test_a_plain_form_that_is_no_text_is_refused(body):
    with pytest.raises(RequestError, match="cannot be read"):
        form(body, FORM[1])


# What computes for a caller


class Waiting:
    """A program in place of Python that reads its question and never answers."""

    def __init__(self, tmp_path, monkeypatch):
        if os.name != "posix":
            pytest.skip("needs a shell")
        path = tmp_path / "program"
        path.write_text("#!/bin/sh\nread job folder\nexec sleep 600\n")
        path.chmod(0o755)
        monkeypatch.setattr(children.sys, "executable", str(path))


def test_a_computation_ends_in_time_and_refuses_others_meanwhile(tmp_path, monkeypatch):
    Waiting(tmp_path, monkeypatch)
    computer, begun, found = Computer(), threading.Event(), []

    def first():
        try:
            computer.compute("explore", b"", seconds=600.0, wanted=lambda folder: begun.set() is None)
        except EndedError as error:
            found.append(error.late)

    thread = threading.Thread(target=first)
    thread.start()
    assert begun.wait(60.0)
    with pytest.raises(RequestError, match="something else is being computed") as refused:
        computer.compute("explore", b"", seconds=600.0)
    assert refused.value.status == 503
    child = computer._child
    computer.close()
    thread.join(10.0)
    assert (found, child.poll() is not None) == ([False], True)
    with pytest.raises(RequestError, match="stopping"):
        computer.compute("explore", b"", seconds=600.0)


@pytest.mark.parametrize(("seconds", "wanted", "late"), [(0.2, True, True), (600.0, False, False)])
def test_a_computation_ends_when_its_time_is_over_or_nobody_wants_it(tmp_path, monkeypatch, seconds, wanted, late):
    Waiting(tmp_path, monkeypatch)
    computer = Computer()
    with pytest.raises(EndedError) as ended:
        computer.compute("explore", b"", seconds=seconds, wanted=lambda folder: wanted)
    assert (ended.value.late, computer._child) == (late, None)


def test_a_fault_of_a_computation_is_told_without_what_the_caller_wrote():
    computer = Computer()
    with pytest.raises(BrokenError, match="DecodeError") as broken:
        computer.compute("explore", b"s3cret-of-the-caller", seconds=60.0)
    assert "s3cret" not in str(broken.value)
    with pytest.raises(PrudentError, match="unknown policy"):
        computer.compute("explore", json.dumps(["bernoulli(0.5); bernoulli(0.4)", "1", "x", "10"]).encode(), seconds=60)
    computer.close()


def test_a_caller_who_hangs_up_ends_the_computation(site, tmp_path, monkeypatch):
    Waiting(tmp_path, monkeypatch)
    begun = threading.Event()
    compute = Computer.compute
    monkeypatch.setattr(Computer, "compute", lambda self, *given, **more: begun.set() or compute(self, *given, **more))

    async def look():
        messages = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive():
            while not messages and not begun.is_set():
                await asyncio.sleep(0.01)
            return messages.pop() if messages else {"type": "http.disconnect"}

        sent = []

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"cookie", f"prudent={session}".encode())]
        scope = {"type": "http", "method": "GET", "path": "/explore", "query_string": b"rho=7", "headers": headers}
        await asyncio.wait_for(site.app(scope, receive, send), 60.0)
        return sent[0]["status"]

    session = site.session()
    assert site.loop.run_until_complete(look()) == 503


@pytest.mark.parametrize("policy", ["npts", "b-cvts(alpha=0.1)", "cvar-ucb(alpha=0.1)"])
def test_a_policy_that_looks_at_all_rewards_has_fewer_rounds(policy):
    with pytest.raises(PrudentError, match="at most 10,000 for a policy that looks at all rewards in every round"):
        answered(Question("beta(2,3); beta(3,2)", "1", policy, "200000"))


@pytest.mark.parametrize("rho", ["0,5", "x", "1,000", "1e", "--1", "nan", "1 2"])
def test_a_rho_that_is_no_number_is_refused_in_words(site, rho, caplog):
    answer = get(site, f"/explore?rho={rho}".encode().decode("latin-1").replace(" ", "%20"))
    assert answer.status == 422
    assert "Traceback" not in caplog.text


def test_exploring_answers_the_question_of_the_address(site):
    page = get(site, "/explore?arms=gaussian(1,0.2);gaussian(0.5,0.3)&rho=1&policy=exp-exp&horizon=1,000,000")
    assert page.status == 422 or b"Regret per round at the end" in page.body
    page = get(site, "/explore?arms=gaussian(1,0.2);gaussian(0.5,0.3)&rho=1&policy=exp-exp&horizon=1000")
    assert page.status == 200
    assert b"Regret per round at the end" in page.body
    assert get(site, "/explore?policy=nonsense").status == 422
    assert get(site, "/explore?horizon=1e12").status == 422
    assert get(site, "/explore?arms=<script>").body.count(b"<script") == page.body.count(b"<script")


def test_exploring_needs_a_token_unless_it_is_opened(site, tmp_path):
    for host in ("localhost", "127.0.0.1"):
        assert get(site, "/explore", None, host=host).headers["location"] == "/login?then=/explore"
    other = InProcessService(str(tmp_path / "b.db"))
    other.pages(open_explore=True)
    assert get(other, "/explore?rho=x", None).status == 422
    assert get(other, "/", None).status == 303
    other.close()


def test_a_spec_of_a_stranger_opens_no_file(site, tmp_path):
    """Neither on the page to explore nor in a plan; what it says does not tell whether there is one."""
    (tmp_path / "secret.csv").write_text("salary\n51234.75\n71234.25\n")
    said = set()
    for path in (tmp_path / "secret.csv", tmp_path / "none.csv", tmp_path):
        page = get(site, f'/explore?arms=empirical("{path}","salary");bernoulli(.5)&horizon=100').body.decode()
        assert "51234" not in page
        assert "a spec that comes over the network opens no file" in page
        said.add(re.search('role="alert">([^<]*)<', page)[1])
    assert len(said) == 1
    address = post(site, "/plan", {}).headers["location"]
    fields = {"laws": f'a: empirical("{tmp_path}/secret.csv", "salary")\nb: bernoulli(0.5)', "do": "check"}
    assert post(site, address, fields).status == 303
    page = get(site, address).body.decode()
    assert "51234" not in page.replace(f"{tmp_path}", "")
    assert "a spec that comes over the network opens no file" in page


# What answers say


def test_bulk_rewards_that_are_refused_are_no_200(site):
    def status(*rewards):
        answer = site("POST", "/v1/experiments/one/rewards", {"rewards": list(rewards)})
        return answer.status, answer.json.get("refused")

    good = {"arm": "a", "reward": 0.5, "key": "bulk"}
    assert status(good) == (200, None)
    assert status(good, {"arm": "x", "reward": 0.5, "key": "k"}) == (207, 1)
    assert status({"arm": "x", "reward": 0.5, "key": "k"}, {"arm": "a", "reward": 5, "key": "k"}) == (207, 2)


def test_the_fallback_arm_is_not_retired_without_another(site):
    def retire(arm, fallback=None):
        body = {"arm": arm, "reason": "bad"} | ({} if fallback is None else {"fallback": fallback})
        return site("POST", "/v1/experiments/three/retire", body)

    spec = {**EXPERIMENT, "name": "three", "arms": ["a", "b", "c"]}
    assert site("POST", "/v1/experiments", spec).status == 201
    answer = retire("a")
    assert (answer.status, "name another one, as in fallback='b'" in answer.json["detail"]) == (409, True)
    assert retire("a", "a").status == retire("a", "x").status == 422
    assert retire("b", "c").status == 409
    assert retire("a", "b").status == 200
    assert site("GET", "/v1/experiments/three").json["fallback"] == "b"
    assert site("POST", "/v1/experiments/three/pause", {"reason": "x"}).status == 200
    answer = site("POST", "/v1/experiments/three/decisions", {})
    assert (answer.status, answer.json["decisions"][0]["arm"]) == (201, "b")
    assert site("POST", "/v1/experiments/three/verify").json["ok"]
    assert "b is the fallback arm from now on" in get(site, "/e/three").body.decode()


def test_a_guardrail_that_retires_the_fallback_arm_names_the_best_of_the_others(site):
    rail = {"watch": "mean", "below": 0.4, "then": "retire"}
    spec = {**EXPERIMENT, "name": "railed", "arms": ["a", "b", "c"], "guardrails": [rail]}
    assert site("POST", "/v1/experiments", spec).status == 201
    for i in range(400):
        for arm, reward in (("b", 0.5), ("c", 0.9), ("a", 0.0)):
            site.service.run("railed", m.TellMany([m.Told(reward, arm=arm, key=f"{arm}{i}")]))
    found = site("GET", "/v1/experiments/railed").json
    assert (found["arms"], found["fallback"]) == (["b", "c"], "c")
    assert site("POST", "/v1/experiments/railed/verify").json["ok"]


def test_past_the_horizon_everybody_is_told(site):
    assert site("POST", "/v1/experiments", {**EXPERIMENT, "name": "short", "horizon": 3}).status == 201
    for more, said in ((3, False), (1, True)):
        for _ in range(more):
            site.decision("short")
        for path in ("", "/estimates"):
            assert ("past_horizon" in site("GET", f"/v1/experiments/short{path}").json) == said
        for path in ("/e/short", "/e/short/report"):
            assert ("4 decisions were made, and 3 were planned" in get(site, path).body.decode()) == said


def test_an_if_match_is_for_changes_alone(site):
    header = [("if-match", '"1"'), ("if-match-x", "")]
    assert site("POST", "/v1/experiments/one/decisions", {}, headers=header[:1]).status == 201
    assert site("POST", "/v1/experiments/one/pause", {"reason": "x"}, headers=header[:1]).status == 412


@pytest.mark.parametrize("length", ["011", "0" * 30 + "11"])
def test_a_length_may_begin_with_zeros(site, length):
    body = b'{"count":1}'
    answer = site("POST", "/v1/experiments/one/decisions", body, headers=[("content-length", length)])
    assert (len(body), answer.status) == (11, 201)


def test_a_spreadsheet_takes_no_cell_for_a_formula(site):
    arms = ["=1", "'=1", "＝1+1", " =1", "\u200b=1", "\u00a0\u3000=1", "＋1", "plain", "a=1"]
    spec = {**EXPERIMENT, "name": "sheet", "arms": arms, "fallback": None, "policy": "round-robin", "risk": "mean"}
    assert site("POST", "/v1/experiments", spec).status == 201
    for _ in arms:
        site.decision("sheet")
    text = site("GET", "/v1/experiments/sheet/export?format=csv").body.decode()
    cells = [row["arm"] for row in csv.DictReader(io.StringIO(text))]
    assert sorted(cells) == sorted([*("'" + arm for arm in arms[:-2]), "plain", "a=1"])
    assert len(set(cells)) == len(arms)


def test_a_database_that_fails_says_so_in_the_log_and_not_to_callers(site, caplog, monkeypatch):
    from prudent.service.log.store import StoreError

    def full():
        raise StoreError("disk of db-7.internal is full")

    caplog.set_level(logging.ERROR)
    monkeypatch.setattr(site.service.store, "commit", full)
    for _ in range(3):
        answer = site("POST", "/v1/experiments/one/decisions", {})
        assert (answer.status, b"db-7" in answer.body) == (503, False)
    ready = site("GET", "/readyz", token=None)
    assert (ready.status, b"db-7" in ready.body) == (503, False)
    lines = [record.getMessage() for record in caplog.records if "db-7" in record.getMessage()]
    assert len(lines) == 1
    monkeypatch.undo()
    assert site("POST", "/v1/experiments/one/decisions", {}).status == 201


def test_nothing_that_a_caller_wrote_is_in_the_log_of_a_fault(site, caplog, monkeypatch):
    async def broken(name):
        raise ValueError(f"no {name}")

    monkeypatch.setattr(site.service, "look", broken)
    answer = site.loop.run_until_complete(
        call(site.app, "GET", "/v1/experiments/s3cret-name", token=site.tokens["admin"])
    )
    assert answer.status == 500
    assert "unexpected error: ValueError" in caplog.text
    assert "s3cret-name" not in caplog.text


@pytest.mark.parametrize("given", [{"policy": "mine.py:Thrifty"}, {"policy": "npts(risk=os:system('touch x'))"}])
def test_an_experiment_names_no_class_in_a_file(given):
    """Not on the command line either: every service that reads the log later must know it."""
    with pytest.raises(PrudentError, match=r"experiment: policy .* is a class in a file; take one that is registered"):
        decoded({**EXPERIMENT, "name": "own", **given}).settled()
