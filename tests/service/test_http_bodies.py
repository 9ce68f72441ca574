"""What callers may send: hostile text and numbers in every field, bodies too large, too deep, cut short, and no JSON.

The right answer is a problem with a status from 400 to 499, or the value is kept as it was given. Never an error of the
service, whose experiments go on, and whose logs verify.
"""

import copy
import json

import pytest

from helpers.service.served_experiments import EXPERIMENT, InProcessService
from prudent.service.problems import KINDS

HOSTILE = {
    "SQL": "'; DROP TABLE event; --",
    "quotes": "\"'`\\",
    "zero": "a\u0000b",
    "surrogate": "\ud800",
    "long": "x" * 100_000,
    "path": "../../etc/passwd",
    "right to left": "\u202eabc\u200f",
    "script": '<script>alert(1)</script>"><img onerror=alert(1)>{{7*7}}',
    "formula": "=cmd|' /C calc'!A0",
    "lines": "a\r\nSet-Cookie: b=c",
    "empty": "",
    "spaces": "   ",
    "not composed": "e\u0301",
    "astral": "\U0001f600",
    "format": "%s{0}$ENV",
}
NUMBERS = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e400",
    "-0.0",
    str(2**63),
    str(2**64),
    "1" * 400,
    '"1"',
    "null",
    "true",
    "[]",
]
NUMBERS += ["{}", "-1", "0.5", "1e-400", "0x10", "01", "1.", "+1"]

BODIES = {
    "POST /v1/experiments": {
        **EXPERIMENT,
        "name": "hostile",
        "risk": "mean-variance(rho=1)",
        "scale": 1.0,
        "remember": True,
        "rewards": {"window": "1 h", "default": 0, "count": "closed"},
        "guardrails": [
            {"watch": "mean", "then": "freeze", "to": "a", "above": 5, "metric": "delay", "arm": "b"},
            {"watch": "quantile", "then": "pause", "below": 0.1, "q": 0.5},
        ],
        "error": 0.01,
        "unit": "euro",
        "note": "a note",
    },
    "POST /v1/experiments/one/decisions": {"unit": "u", "among": ["a", "b"], "count": 2, "activate": "now"},
    "PUT /v1/decisions/{decision}/reward": {"reward": 0.5, "metrics": {"delay": 1.5}},
    "POST /v1/decisions/{decision}/activate": {},
    "POST /v1/decisions/{decision}/withdraw": {},
    "POST /v1/experiments/one/rewards": {
        "rewards": [
            {"decision": "1-2-3", "reward": 0.5, "metrics": {"delay": 1.5}},
            {"arm": "a", "key": "k", "reward": 0.5},
        ]
    },
    "POST /v1/experiments/one/fallbacks": {"count": 3},
    "POST /v1/experiments/one/pause": {"reason": "why"},
    "POST /v1/experiments/one/resume": {"reason": "why"},
    "POST /v1/experiments/one/freeze": {"reason": "why", "arm": "b"},
    "POST /v1/experiments/two/stop": {"reason": "why"},
    "POST /v1/experiments/one/forget": {"reason": "why"},
    "POST /v1/experiments/one/arms": {"reason": "why", "arm": "c"},
    "POST /v1/experiments/one/retire": {"reason": "why", "arm": "c"},
    "POST /v1/tokens": {"scopes": ["read"], "experiments": ["one"], "expires": 2**50, "note": "n"},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "prudent.db"), rate=1e9)
    yield site
    site.close()


def send(site, route, raw, **about):
    """The answer to a body, which is a problem of RFC 9457 unless it is a success."""
    method, path = route.split(" ")
    path = path.format(decision=site.decision()) if "{" in path else path
    answer = site(method, path, raw, **about)
    assert answer.status < 500, (route, raw[:200], answer)
    if answer.status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json
        assert problem["status"] == answer.status == KINDS[problem["type"].removeprefix("/problems/")].status
        assert "Traceback" not in problem["detail"]
        assert len(answer.body) < 3000
    return answer


def leaves(body, kind):
    """Every place of a body that holds such a value, or a name chosen by the caller; with the body without it."""
    for key, value in body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ():
        if isinstance(value, kind) and not isinstance(value, bool):
            yield lambda new, key=key: _with(body, key, new)
        for put in leaves(value, kind):
            yield lambda new, put=put, key=key: _with(body, key, put(new))
    if kind is str and isinstance(body, dict):
        for key in body:
            yield lambda new, key=key: {new if name == key else name: value for name, value in body.items()}


def _with(body, key, value):
    other = copy.copy(body)
    other[key] = value
    return other


def check_well(site):
    """Nothing was harmed."""
    assert site("GET", "/readyz", token=None).status == 200
    for name in ("one", "two"):
        assert site("POST", f"/v1/experiments/{name}/verify").json["ok"]
    assert site("POST", "/v1/experiments/one/decisions", {}).status == 201


def test_the_bodies_are_fine_without_what_is_hostile(tmp_path):
    site = InProcessService(str(tmp_path / "prudent.db"))
    for route, body in BODIES.items():
        answer = send(site, route, json.dumps(body).encode())
        assert answer.status < 300, (route, answer)
    site.close()


def test_hostile_text_in_every_field(database):
    site = InProcessService(database, rate=1e9)
    kept = []
    for route, body in BODIES.items():
        for put in leaves(body, str):
            for text in HOSTILE.values():
                changed = put(text)
                if changed.get("name") == "hostile":
                    changed["name"] = f"hostile-{len(kept)}"
                answer = send(site, route, json.dumps(changed).encode())
                if answer.status < 300:
                    kept.append(route)
                    if route.endswith(("pause", "freeze")):
                        send(site, "POST /v1/experiments/one/resume", b'{"reason": "go on"}')
    free = ("experiments", "decisions", "rewards", "pause", "freeze", "stop", "forget", "arms", "retire", "tokens")
    assert {route.split("/")[-1] for route in kept} >= set(free)
    assert len(kept) > 100
    # What was kept is as it was given, wherever it comes out.
    reasons = {line.get("body", {}).get("reason") for line in lines(site, "one")}
    assert reasons >= {HOSTILE["SQL"], HOSTILE["script"], HOSTILE["path"], HOSTILE["right to left"], HOSTILE["astral"]}
    assert not reasons & {HOSTILE["zero"], HOSTILE["lines"], HOSTILE["surrogate"], HOSTILE["empty"]}
    check_well(site)
    site.close()


def lines(site, name):
    """The log."""
    return [json.loads(line) for line in site("GET", f"/v1/experiments/{name}/events?limit=10000").body.splitlines()]


def test_hostile_numbers_in_every_field(site):
    for route, body in BODIES.items():
        for put in leaves(body, (int, float)):
            for number in NUMBERS:
                raw = json.dumps(put("@@@")).replace('"@@@"', number).encode()
                answer = send(site, route, raw)
                if number in ("NaN", "Infinity", "-Infinity", "0x10", "01", "1.", "+1"):
                    assert (answer.status, answer.json["type"]) == (400, "/problems/not-json"), (route, raw)
                if number == "1e400":
                    assert answer.status == 422, (route, raw)
    check_well(site)


def test_a_minus_zero_is_a_zero(site):
    decision = site.decision()
    answer = site("PUT", f"/v1/decisions/{decision}/reward", b'{"reward": -0.0}')
    assert answer.status == 201
    assert b"-0" not in answer.body.replace(b'"decision":"' + decision.encode(), b"")
    assert site("PUT", f"/v1/decisions/{decision}/reward", b'{"reward": 0}').status == 200


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 422),
        (b" ", 400),
        (b"{", 400),
        (b"nonsense", 400),
        (b"[]", 422),
        (b"1", 422),
        (b"null", 422),
        (b'"reward"', 422),
        (b'{"reward": 0.5}{"reward": 0.5}', 400),
        (b'{"reward": 0.5, "reward": 0.6}', 400),
        (b'{"reward": 0.5, "metrics": {"delay": 1, "delay": 2}}', 400),
        (b'{"reward": 0.5, "\\u0072eward": 0.6}', 400),
        (b'\xef\xbb\xbf{"reward": 0.5}', 400),
        ('{"reward": 0.5}'.encode("utf-16"), 400),
        (b'{"reward": 0.5, "x\xff": 1}', 400),
        (b'{"reward": "\\ud800"}', 400),
        (b"[" * 100_000, 400),
        (b'{"metrics":' * 50_000 + b"1" + b"}" * 50_000, 400),
        (b'{"reward": 0.5, "rewrad": 1}', 422),
        (b'{"reward": "0.5"}', 422),
        (b'{"reward": null}', 422),
        (b'{"reward": 2}', 422),
    ],
)
def test_bodies_that_are_no_reward(site, raw, status):
    answer = send(site, "PUT /v1/decisions/{decision}/reward", raw)
    assert answer.status == status, answer


def test_an_unknown_member_is_named(site):
    answer = send(site, "PUT /v1/decisions/{decision}/reward", b'{"reward": 0.5, "rewrad": 1}')
    assert "rewrad" in answer.json["detail"]


@pytest.mark.parametrize(
    ("path", "limit"), [("/v1/experiments/one/rewards", 2**20), ("/v1/experiments/one/decisions", 2**16)]
)
def test_bodies_have_a_limit(site, path, limit):
    def status(size, **about):
        return site("POST", path, b" " * size, **about).status

    assert status(limit) == 400  # read, and no JSON
    assert status(limit + 1) == 413
    # Without a length, and with a false one.
    assert site("POST", path, parts=[b" " * 1000] * (limit // 1000)).status == 400
    assert site("POST", path, parts=[b" " * 1000] * (limit // 1000 + 1)).status == 413
    assert status(limit + 1, headers=[("content-length", "5")]) == 413
    assert status(5, headers=[("content-length", str(limit + 1))]) == 413
    assert status(5, headers=[("content-length", "9" * 30)]) == 413
    assert status(5, headers=[("content-length", "-1")]) == 400
    assert status(5, headers=[("content-length", "five")]) == 400
    answer = site("POST", path, b" " * (limit + 1))
    assert answer.headers["connection"] == "close"


def test_a_body_without_end_is_not_read_on(site):
    taken = []

    def parts():
        for _ in range(5000):
            taken.append(1000)
            yield b" " * 1000
        raise AssertionError("it goes on reading")

    assert site("POST", "/v1/experiments/one/rewards", parts=parts()).status == 413
    assert sum(taken) == 2**20 // 1000 * 1000 + 1000


@pytest.mark.parametrize(
    "media",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", "json", "*/*"],
)
def test_a_body_must_be_json_by_its_type(site, media):
    answer = site("POST", "/v1/experiments/one/decisions", b"{}", headers=[("content-type", media)])
    assert (answer.status, answer.json["type"]) == (415, "/problems/not-json-type")


@pytest.mark.parametrize("media", ["application/json; charset=utf-8", "APPLICATION/JSON", " application/json "])
def test_types_of_json_that_are_fine(site, media):
    assert site("POST", "/v1/experiments/one/decisions", b"{}", headers=[("content-type", media)]).status == 201


@pytest.mark.parametrize("key", [b"", b"x" * 201, b"a\x00b", "ä".encode(), b"a\tb", b"\x7f"])
def test_keys_that_are_refused(site, key):
    answer = site("POST", "/v1/experiments/one/decisions", {}, headers=[("idempotency-key", key)])
    assert (answer.status, answer.json["type"]) == (400, "/problems/bad-request")


@pytest.mark.parametrize("key", [b"x", b"x" * 200, b' "quoted" ~', b"'; DROP TABLE known; --"])
def test_keys_that_are_fine(site, key):
    first, second = (
        site("POST", "/v1/experiments/one/decisions", {}, headers=[("idempotency-key", key)]) for _ in range(2)
    )
    assert (first.status, second.status) == (201, 200)
    assert first.json["decisions"] == second.json["decisions"]


@pytest.mark.parametrize(
    "name", ["host", "authorization", "content-length", "content-type", "idempotency-key", "if-match"]
)
def test_a_header_that_counts_must_not_come_twice(site, name):
    pair = (name, "7")
    answer = site("POST", "/v1/experiments/one/pause", {"reason": "x"}, headers=[pair, pair])
    assert (answer.status, answer.json["type"]) == (400, "/problems/bad-request")


def test_other_headers_may_come_twice(site):
    pair = ("x-forwarded-for", "192.0.2.1")
    assert site("GET", "/v1/experiments", headers=[pair, pair]).status == 200


PATHS = ["ONE", "on e", "one%00", "one\u0000", "x" * 64, "..", "%2e%2e", "one/", "ö", "-one", "'", "{}", "*"]


@pytest.mark.parametrize("name", PATHS)
def test_names_in_paths_that_cannot_be(site, name):
    for path in (f"/v1/experiments/{name}", f"/v1/decisions/{name}", f"/v1/decisions/1-1-{name}", f"/problems/{name}"):
        answer = site("GET", path)
        assert answer.status == 404, (path, answer)
        assert answer.json["type"] == "/problems/not-found"


@pytest.mark.parametrize(
    "name", [f"{2**63}-1-0000000000", f"1-{2**63}-0000000000", f"1-{'9' * 60}-0", "1-2-x", "0-0-0", "--"]
)
def test_ids_of_decisions_that_cannot_be(site, name):
    assert site("GET", f"/v1/decisions/{name}").status == 404
    assert site("PUT", f"/v1/decisions/{name}/reward", {"reward": 0.5}).status == 404
    assert site("POST", f"/v1/decisions/{name}/withdraw").status == 404
    results = site("POST", "/v1/experiments/one/rewards", {"rewards": [{"decision": name, "reward": 0.5}]})
    assert [result["status"] for result in results.json["results"]] == [404]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("level=0.9", 200),
        ("level=0", 422),
        ("level=1", 422),
        ("level=nan", 422),
        ("level=inf", 422),
        ("level=1e400", 422),
        ("level=", 422),
        ("level=x", 422),
        ("level=0.9&level=0.8", 400),
        ("lewel=0.9", 422),
        ("a=1&" * 30, 400),
        ("%ff=%fe", 422),
        ("&&&", 200),
    ],
)
def test_queries(site, query, status):
    assert site("GET", f"/v1/experiments/one/estimates?{query}").status == status
