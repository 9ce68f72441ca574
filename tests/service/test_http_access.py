"""Who may do what: every route with every kind of token, and everything that is no valid token."""

import hashlib
import hmac
import itertools
import logging

import pytest

from helpers.service.served_experiments import InProcessService
from prudent import PrudentError
from prudent.service.http import tokens as module
from prudent.service.http.api import ROUTES
from prudent.service.http.app import Rates
from prudent.service.http.tokens import SCOPES, Tokens
from prudent.service.log.store import open_store
from prudent.service.work.service import Service

GUARDED = [route for route in ROUTES if route.scope]
OPEN = [route for route in ROUTES if not route.scope]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "prudent.db"))
    yield site
    site.close()


@pytest.fixture(scope="module")
def decision(site):
    return site.decision("one")


def called(route):
    return f"{route.method} {route.path}"


def reach(site, route, token, decision, **about):
    """Call a route about experiment "one". A body that cannot be right shows whether it was looked at, and changes
    nothing."""
    place = {"experiment": "one", "decision": decision, "batch": decision, "problem": "busy"}
    place |= {"token": "nobody", "webhook": "0" * 16}
    body = {"nonsense": 1} if route.body is not None else None
    body = {"context": 1} if route.failure is not None else body  # later versions of another protocol may say more
    return site(route.method, route.path.format(**place), body, token, **about)


@pytest.mark.parametrize("route", GUARDED, ids=called)
@pytest.mark.parametrize("scope", SCOPES)
def test_a_route_is_open_to_its_scope_and_to_admin_alone(site, decision, route, scope):
    answer = reach(site, route, scope, decision)
    if scope in (route.scope, "admin"):
        nobody = route.parameter in ("token", "webhook")
        found = 400 if route.failure else 422 if route.body is not None else 404 if nobody else 200
        assert answer.status == found, answer
    else:
        assert (answer.status, answer.json["type"]) == (403, "/problems/not-allowed")


@pytest.mark.parametrize("route", GUARDED, ids=called)
def test_a_token_of_another_experiment_opens_nothing(site, decision, route):
    text, _ = site.service.tokens.create(["admin"], ["two"])
    answer = reach(site, route, text, decision)
    if route.path == "/v1/experiments":
        listed = [status["experiment"] for status in site("GET", route.path, token=text).json]
        assert listed == ["two"]
        body = {"name": "three", "arms": ["a", "b"], "policy": "mv-lcb(rho=1)", "support": [0, 1], "horizon": 10}
        assert site("POST", route.path, body, text).status == 403
    elif route.path == "/version":
        assert answer.status == 200
    elif route.path in ("/v1/track", "/ofrep/v1/evaluate/flags"):  # about those of the token: see test_flags
        assert answer.status in (400, 422)
    else:
        # Decisions of others are as if they were not there: their ids say how many there are.
        assert answer.status == (404 if route.parameter in ("decision", "batch") else 403), answer
        if route.parameter in ("decision", "batch"):
            unknown = reach(site, route, text, "99-1-0000000000")
            assert answer.json["detail"] == unknown.json["detail"]


@pytest.mark.parametrize("route", GUARDED, ids=called)
def test_a_token_of_this_experiment_opens_what_is_about_it(site, decision, route):
    text, _ = site.service.tokens.create(["admin"], ["one"])
    answer = reach(site, route, text, decision)
    assert (answer.status == 403) == route.whole, answer


@pytest.mark.parametrize("route", GUARDED, ids=called)
def test_without_a_valid_token_nothing_opens(site, decision, route):
    for token in (None, "", "x", "pru_aaaaaaaa_" + "a" * 43):
        answer = reach(site, route, token, decision)
        assert (answer.status, answer.json["type"]) == (401, "/problems/no-token")
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("route", OPEN, ids=called)
def test_what_needs_no_token_needs_none(site, decision, route):
    assert reach(site, route, None, decision).status == 200


def test_a_token_with_one_character_changed_or_left_out_is_none(site):
    text = site.tokens["read"]
    assert site("GET", "/version", token=text).status == 200
    tampered = {
        text[:i] + other + text[i + 1 :] for i in range(len(text)) for other in ("0", "a", "_") if text[i] != other
    }
    tampered |= {text[:i] for i in range(len(text))} | {text[i:] for i in range(1, len(text))}
    tampered |= {text + "a", text.swapcase(), text.upper(), f"{text} {text}", f"{text},", text.replace("_", "-")}
    answers = {(answer.status, answer.body) for answer in (site("GET", "/version", token=bad) for bad in tampered)}
    assert answers == {(401, next(iter(answers))[1])}


def test_a_token_elsewhere_than_in_its_header_is_no_token(site):
    text = site.tokens["admin"]
    for path in (f"/version?token={text}", f"/version?access_token={text}", f"/version?authorization=Bearer%20{text}"):
        assert site("GET", path, token=None).status == 401
    for header in (("cookie", f"token={text}"), ("authorization", text), ("authorization", f"Basic {text}")):
        assert site("GET", "/version", token=None, headers=[header]).status == 401
    for header in (("authorization", f"bearer {text}"), ("authorization", f"Bearer   {text} ")):
        assert site("GET", "/version", token=None, headers=[header]).status == 200
    assert site("GET", "/version", headers=[("authorization", f"Bearer {text}")]).status == 400  # twice


def test_tokens_are_made_listed_and_revoked_over_http(site):
    answer = site("POST", "/v1/tokens", {"scopes": ["read"], "experiments": ["one"], "note": "for the report"})
    text = answer.json["token"]
    assert answer.status == 201
    assert site("GET", "/v1/experiments/one", token=text).status == 200
    listed = site("GET", "/v1/tokens")
    assert text.split("_")[2] not in listed.body.decode()
    (own,) = [entry for entry in listed.json if entry["id"] == answer.json["id"]]
    assert own == {key: value for key, value in answer.json.items() if key != "token"}
    assert site("DELETE", f"/v1/tokens/{own['id']}").status == 204
    assert site("GET", "/v1/experiments/one", token=text).status == 401  # at once
    assert site("DELETE", f"/v1/tokens/{own['id']}").status == 204  # once more changes nothing
    assert site("DELETE", "/v1/tokens/x' OR '1'='1").status == 404


@pytest.mark.parametrize(
    "body",
    [
        {"scopes": []},
        {"scopes": ["root"]},
        {"scopes": ["read"], "experiments": []},
        {"scopes": ["read"], "experiments": ["A b"]},
        {"scopes": ["read"], "expires": 1},
        {"scopes": ["read"], "note": "a\nb"},
        {"scopes": ["read"], "note": "x" * 201},
        {},
    ],
)
def test_a_token_that_makes_no_sense_is_refused(site, body):
    assert site("POST", "/v1/tokens", body).status == 422


@pytest.fixture
def tokens(database, clock):
    service = Service(open_store(database, relaxed=True), clock, patience=3600.0).start()
    yield service.tokens
    service.close()


def test_the_database_holds_no_secret(tokens):
    text, token = tokens.create(["read"], note="it's")
    rows = tokens._store.read("SELECT * FROM token")
    assert text.split("_")[2] not in repr(rows)
    assert token.hash == hashlib.sha256(text.split("_")[2].encode()).digest()
    assert len(text) == len("pru_") + 8 + 1 + 43
    assert token.note == "it's"


def test_tokens_differ(tokens):
    made = [tokens.create(["read"]) for _ in range(20)]
    assert len({text for text, _ in made}) == len({token.id for _, token in made}) == 20
    assert [token.number for _, token in made] == list(range(1, 21))


def test_a_token_expires(tokens, clock):
    text, _ = tokens.create(["read"], expires=clock.time + 1000)
    assert tokens.find(text) is not None
    clock.advance(0.999)
    assert tokens.find(text) is not None
    clock.advance(0.001)
    assert tokens.find(text) is None
    with pytest.raises(PrudentError, match="expires must be later than now"):
        tokens.create(["read"], expires=clock.time)


def test_another_process_learns_of_a_revocation_within_two_seconds(tokens, clock):
    text, token = tokens.create(["read"])
    other = Tokens(tokens._store, None, clock)
    other.refresh()
    tokens.revoke(token.id)
    assert tokens.find(text) is None
    assert other.find(text) is not None
    clock.advance(1.999)
    assert not other.stale
    clock.advance(0.001)
    assert other.stale
    other.refresh()
    assert other.find(text) is None


def test_a_clock_set_back_does_not_keep_tokens_forever(tokens, clock):
    tokens.refresh()
    clock.advance(-3600)
    assert tokens.stale


def test_unknown_scopes_are_refused(tokens):
    with pytest.raises(PrudentError, match="unknown scope 'reed'; did you mean read"):
        tokens.create(["reed"])
    with pytest.raises(PrudentError, match="at least one scope"):
        tokens.create([])


def test_a_wrong_id_costs_what_a_wrong_secret_costs(tokens, monkeypatch):
    """The same work is done for either, so that time tells nothing: one hash, one comparison of 32 bytes."""
    text, token = tokens.create(["read"])
    tokens.revoke(tokens.create(["read"])[1].id)
    work = []
    monkeypatch.setattr(module.hashlib, "sha256", lambda raw, real=hashlib.sha256: work.append("hash") or real(raw))
    compare = hmac.compare_digest
    monkeypatch.setattr(module.hmac, "compare_digest", lambda a, b: work.append((len(a), len(b))) or compare(a, b))
    reads = itertools.count()
    monkeypatch.setattr(tokens._store, "read", lambda *a: next(reads))
    for bad in (f"pru_{token.id}_{'a' * 43}", f"pru_nobody00_{'a' * 43}", "", "x", text + "a", "pru__", "\ud800_é_ü"):
        work.clear()
        assert tokens.find(bad) is None
        assert work == ["hash", (32, 32)]
    assert next(reads) == 0


def test_too_many_requests_of_a_token_are_put_off(tmp_path):
    site = InProcessService(str(tmp_path / "prudent.db"), rate=5.0)
    other = site.tokens["read"]
    answers = [site("GET", "/version", token="decide" if i < 0 else "admin") for i in range(12)]
    late = [answer for answer in answers if answer.status == 429]
    assert late
    assert late[0].json["type"] == "/problems/too-many"
    assert int(late[0].headers["retry-after"]) >= 1
    assert site("GET", "/version", token=other).status == 200
    site.close()


def test_a_bucket_fills_again():
    now = [0.0]
    rates = Rates(10.0, lambda: now[0])
    assert [rates.wait(1) for _ in range(20)] == [0.0] * 20
    assert rates.wait(1) == pytest.approx(0.1)
    now[0] += 0.1
    assert rates.wait(1) == 0.0
    assert rates.wait(1) > 0.0
    now[0] += 1e6
    assert [rates.wait(1) for _ in range(20)] == [0.0] * 20
    assert rates.wait(1) > 0.0


def test_the_log_of_requests_holds_no_secrets(tmp_path, caplog):
    site = InProcessService(str(tmp_path / "prudent.db"), access_log=True)
    caplog.set_level(logging.INFO)
    site("POST", "/v1/experiments/one/decisions", {"unit": "ann@example.org"}, headers=[("idempotency-key", "k-17")])
    site("GET", "/v1/experiments/one?token=secret\nforged line", token=None)
    site("GET", "/no/such\nforged line")
    site("DELETE\nforged", "/version")
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) >= 4
    assert any("/v1/experiments/{experiment}/decisions 201" in line for line in lines)
    text = "\n".join(lines)
    for secret in ("ann@", "k-17", "forged line", "secret", *(token[13:] for token in site.tokens.values())):
        assert secret not in text
    assert all("\n" not in line for line in lines)
    site.close()
