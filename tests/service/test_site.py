"""The pages: who may see them, what they say, and that what people wrote is only text."""

import re
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from starlette.requests import Request

from helpers.service.html_pages import HERE, HOSTILE, Tags, get, post
from helpers.service.served_experiments import EXPERIMENT, InProcessService
from prudent.service import messages as m
from prudent.service.http.routes import Call
from prudent.service.http.tokens import Token
from prudent.service.pages.app import POLICY, inner
from prudent.service.spec import decoded

FILES = ("design.css", "style.css", "script.js")
"""What every page loads."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The application with its pages."""
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"))
    site.pages(pause=0.0)
    site.service.forecasts.of = lambda number, state, patience=0.0: None  # they have tests of their own, and compile
    yield site
    site.close()


@pytest.mark.parametrize(
    ("scopes", "experiments", "scope", "experiment", "may"),
    [
        ("read", None, "read", "one", True),
        ("read", None, "admin", "one", False),
        ("read", None, "admin", None, False),
        ("admin", None, "read", "one", True),
        ("admin", {"two"}, "admin", "one", False),
        ("admin", {"two"}, "admin", "two", True),
        ("admin", {"two"}, "admin", None, True),
    ],
)
def test_a_visitor_may_what_the_token_allows_where_it_holds(scopes, experiments, scope, experiment, may):
    call = Call(SimpleNamespace(service=None), Request({"type": "http", "path": "/", "headers": []}))
    assert not call.may(scope, experiment)
    call.token = Token(1, "a", b"", frozenset([scopes]), experiments and frozenset(experiments), 0, None, None, "")
    assert call.may(scope, experiment) is may


def test_without_a_token_pages_lead_to_the_form_for_one(site):
    for path in ("/", "/e/one", "/e/one/report", "/e/one?axis=time&last=1h&control=a+b"):
        answer = get(site, path, None)
        assert (answer.status, answer.headers["location"]) == (303, f"/login?then={quote(path)}")
        assert inner(path) == path
    answer = post(site, "/e/one/pause", {"reason": "x"}, None)
    assert answer.headers["location"] == "/login?then=/e/one"
    assert get(site, "/e/one/live", None).status == 401
    assert get(site, "/login", None).status == 200


def test_a_token_signs_in_and_out(site):
    assert post(site, "/login", {"token": "pru_x_y", "then": "/"}, None).status == 401
    answer = post(site, "/login", {"token": site.tokens["read"], "then": "/e/one"}, None)
    assert (answer.status, answer.headers["location"]) == (303, "/e/one")
    pair, *attributes = answer.headers["set-cookie"].split("; ")
    assert re.fullmatch("prudent=[\\w-]{43}", pair)
    assert {each.lower() for each in attributes} == {"path=/", "httponly", "samesite=strict"}
    cookie = ("cookie", answer.headers["set-cookie"].partition(";")[0])
    assert get(site, "/e/one", None, headers=[cookie]).status == 200
    assert "Max-Age=0" in post(site, "/logout", {}, None, headers=(HERE, cookie)).headers["set-cookie"]
    assert get(site, "/e/one", None, headers=[cookie]).status == 303


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "https://evil.example", "/\\evil", "javascript:alert(1)", "/a?b=c#d", "/a?b=\r\nc", "//a?b"],
)
def test_signing_in_never_leads_to_another_site(path):
    assert inner(path) == "/"


def test_a_cookie_is_no_token_for_the_api(site):
    assert get(site, "/v1/experiments").status == 401


def test_only_those_who_may_see_controls(site):
    assert "What you can do" in get(site, "/e/one").body.decode()
    assert "What you can do" not in get(site, "/e/one", "read").body.decode()
    assert post(site, "/e/one/pause", {"reason": "x"}, "read").status == 403
    assert get(site, "/e/one", "decide").status == 403


def test_a_form_acts_with_its_reason(site):
    name = "forms"
    site.service.create(decoded({"name": name, **EXPERIMENT}))
    assert post(site, f"/e/{name}/pause", {"reason": ""}).status == 422
    assert post(site, f"/e/{name}/pause", {"reason": "lunch"}).headers["location"] == f"/e/{name}"
    assert "Paused: lunch" in get(site, f"/e/{name}").body.decode()
    assert post(site, f"/e/{name}/resume", {"reason": "back"}).status == 303
    kept = post(site, f"/e/{name}/pause?axis=time&other=1", {"reason": "again"})
    assert kept.headers["location"] == f"/e/{name}?axis=time"
    assert post(site, f"/e/{name}/resume", {"reason": "back"}).status == 303
    assert post(site, f"/e/{name}/add", {"arm": "c", "reason": "new"}).status == 303
    assert post(site, f"/e/{name}/retire", {"arm": "c", "reason": "bad"}).status == 303
    assert post(site, f"/e/{name}/freeze", {"arm": "b", "reason": "safe"}).status == 303
    assert "Frozen to b" in get(site, f"/e/{name}").body.decode()
    assert post(site, f"/e/{name}/stop", {"reason": "done"}).status == 303
    forms = re.findall(rf'action="/e/{name}/(\w+)"', get(site, f"/e/{name}").body.decode())
    assert forms == ["archive", "delete"]
    assert post(site, f"/e/{name}/archive", {"reason": "long ago"}).status == 303
    assert f"/e/{name}" not in get(site, "/").body.decode()
    assert f"/e/{name}" in get(site, "/?state=archived").body.decode()
    assert post(site, f"/e/{name}/delete", {"reason": "a year is over"}).headers["location"] == "/"
    assert get(site, f"/e/{name}").status == 404
    assert f"/e/{name}" not in get(site, "/?state=archived").body.decode()
    assert post(site, f"/e/{name}/explode", {"reason": "x"}).status == 404


@pytest.mark.parametrize(
    "headers",
    [(("sec-fetch-site", "cross-site"),), (("sec-fetch-site", "same-site"),), (), (("origin", "http://evil"),)],
)
def test_a_form_of_another_site_is_refused(site, headers):
    assert post(site, "/e/two/stop", {"reason": "x"}, headers=headers).status == 403
    assert site.service.view("two").state.status == "running"


def test_an_old_browser_is_known_by_its_origin(site):
    assert post(site, "/e/one/pause", {"reason": "x"}, headers=(("origin", "http://localhost"),)).status == 303
    site.service.run("one", m.BODIES["resume"]("x"))


def test_what_changes_is_sent_only_if_something_happened(site):
    first = get(site, "/e/one/live")
    assert first.status == 200
    again = get(site, "/e/one/live", headers=[("if-none-match", first.headers["etag"])])
    assert (again.status, again.body) == (304, b"")
    site.decision("one")
    assert get(site, "/e/one/live", headers=[("if-none-match", first.headers["etag"])]).status == 200


@pytest.mark.parametrize("path", ["/", "/e/one", "/login"])
def test_pages_load_nothing_from_elsewhere_and_hold_no_inline_script_or_style(site, path):
    answer = get(site, path)
    assert answer.headers["content-security-policy"] == POLICY
    for tag, given in Tags(answer.body.decode()).tags:
        assert not any(name.startswith("on") or name == "style" for name in given), (tag, given)
        for name in ("src", "href", "action"):
            assert re.fullmatch(r"(/|#|data:,)(?!/).*", given.get(name) or "/")
    assert "<script>" not in answer.body.decode()


def test_the_files_that_pages_need_are_small(site):
    sizes = [len(get(site, f"/static/{name}").body) for name in FILES]
    assert sum(sizes) + len(get(site, "/e/one").body) < 60_000
    assert len(get(site, "/static/script.js").body.splitlines()) <= 145
    assert get(site, "/static/app.py").status == 404


def test_a_page_of_twenty_arms_with_a_long_history_is_small_too(site):
    arms = [f"variant {i}" for i in range(20)]
    site.service.create(decoded({**EXPERIMENT, "name": "twenty", "arms": arms, "fallback": None, "metrics": {}}))
    batch = site.service.run("twenty", m.Split(10**6))
    merged = {arm: m.Statistics(count, 0.2 + 0.02 * int(arm[8:]), 0.1234567) for arm, count in batch.arms.items()}
    site.service.run("twenty", m.Merge(merged), decision=batch.batch)
    number = site.service.view("twenty").experiment.id
    rows = [
        [[37 * n + i, 36 * n + i, 0.123456 / (n + i), 0.2, -0.1 - 1 / (n + i)] for i in range(20)]
        for n in range(1, 300)
    ]
    points = [(n + 10, n, str(row)) for n, row in enumerate(rows)]
    site.service.write(lambda: site.service.writer.keep_series(number, points))
    page = get(site, "/e/twenty").body
    assert b"Over time" in page
    assert len(page) + sum(len(get(site, f"/static/{name}").body) for name in FILES) < 200_000


def test_what_people_wrote_is_only_text(site):
    arms = [*HOSTILE, "plain"]
    spec = {**EXPERIMENT, "name": "hostile", "arms": arms, "fallback": "plain", "unit": HOSTILE[0], "note": HOSTILE[1]}
    site.service.create(decoded(spec))
    for _ in arms:
        decision = site.decision("hostile")
        site.service.run("hostile", m.Tell(0.5), decision=decision)
    site.service.run("hostile", m.BODIES["retire"](HOSTILE[0], HOSTILE[1]))
    for path in ("/", "/e/hostile", "/e/hostile/report"):
        page = Tags(get(site, path).body.decode())
        assert {tag for tag, _ in page.tags}.isdisjoint({"img", "i", "b"} if path != "/" else {"img"})
        assert [tag for tag, given in page.tags if tag == "script" and "src" not in given] == []
        if path != "/":
            assert all(text in page.words for text in HOSTILE[:2])
            assert "49" not in page.words.split()


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"arms": ["only"], "policy": "fixed-arm(arm=0)", "risk": "mean"},
        {"support": None, "scale": 1.0},
        {"policy": "cvar-ucb(alpha=0.1)", "remember": True},
        {"rewards": {"window": "1 h", "default": 0}},
        {"rewards": {"window": "1 h", "default": 0, "count": "at-once"}},
        {"larger_is_better": False},
        {"policy": "ucb1", "risk": "mean"},
    ],
    ids=["plain", "one arm", "no support", "every reward", "window", "at once", "smaller is better", "no variance"],
)
def test_every_experiment_has_a_page_with_no_one_and_many_rewards(site, request, more):
    name = "kind-" + re.sub(r"[^a-z]+", "-", request.node.callspec.id)
    spec = {"arms": ["a", "b"], "policy": "mv-lcb(rho=1)", "support": [0, 1], "horizon": 100, **more}
    site.service.create(decoded({"name": name, **spec}))
    for rewards in (0, 1, 20, 10**6):
        if rewards == 10**6:
            if not decoded({"name": name, **spec}).takes_batches or spec.get("remember"):
                continue
            batch = site.service.run(name, m.Split(10**6))
            merged = {arm: m.Statistics(count, 0.3, 0.1) for arm, count in batch.arms.items()}
            site.service.run(name, m.Merge(merged), decision=batch.batch)
        else:
            for i in range(rewards):
                site.service.run(name, m.Tell(0.1 * (i % 9)), decision=site.decision(name))
        for path in (f"/e/{name}", f"/e/{name}/live", f"/e/{name}/report"):
            check_page(get(site, path))


def check_page(answer):
    """A page that is whole, and has a number or a dash wherever it should."""
    assert answer.status == 200
    page = Tags(answer.body.decode())
    assert "None" not in page.words
    assert "nan" not in answer.body.decode().lower().replace("finance", "")
    assert not any(
        "inf" in value
        for tag, given in page.tags
        if tag in ("rect", "line", "circle", "polyline")
        for value in map(str, given.values())
    )


def test_an_experiment_of_which_all_arms_but_one_or_all_are_retired_has_a_page(site, monkeypatch):
    name = "retired"
    site.service.create(decoded({**EXPERIMENT, "name": name, "arms": ["a", "b", "c"]}))
    for _ in range(9):
        site.service.run(name, m.Tell(0.5), decision=site.decision(name))
    for arm in ("b", "c"):
        site.service.run(name, m.BODIES["retire"](arm, "bad"))
    for path in (f"/e/{name}", f"/e/{name}/report"):
        check_page(get(site, path))
    assert "a is the only arm in play" in get(site, f"/e/{name}").body.decode()
    look = site.service.look

    async def all_retired(experiment):
        view = await look(experiment)
        for arm in view.state.labels:
            view.state.agent.kept(arm).retired = True
        return view

    monkeypatch.setattr(site.service, "look", all_retired)
    site.service.views.forget(name)
    for path in (f"/e/{name}", f"/e/{name}/report"):
        check_page(get(site, path))
        assert "No arm is in play." in get(site, path).body.decode()
    site.service.views.forget(name)


def test_a_hostile_name_is_none_of_an_experiment(site):
    for name in HOSTILE:
        assert site("POST", "/v1/experiments", {**EXPERIMENT, "name": name}).status == 422
    for path in ("/e/<script>alert(1)</script>", "/e/none", "/e/none/live", "/e/none/report"):
        answer = get(site, path)
        assert answer.status == 404
        assert answer.headers["content-type"] == "application/problem+json" or b"alert(1)" not in answer.body
