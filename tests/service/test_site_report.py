"""The report: every line that whoever decides needs, in the unit of outcomes, as a file of its own."""

import re

import pytest

from helpers.service.html_pages import HOSTILE, Tags, get
from helpers.service.served_experiments import InProcessService
from prudent.service import messages as m
from prudent.service.log.events import Event
from prudent.service.pages.report import ahead, limit, span, spent
from prudent.service.pages.settings import Settings
from prudent.service.pages.timeline import charts_of, charts_of_risk, points_of, timeline
from prudent.service.spec import Guardrail, decoded
from prudent.service.views.amounts import Units

SPEC = {
    "name": "shop",
    "arms": ["control", "fast lane", "third"],
    "policy": "mv-lcb",
    "risk": "mean-variance(rho=30)",
    "support": [0, 100],
    "unit": "EUR",
    "horizon": 5000,
    "fallback": "control",
    "note": "Revenue of a visit.",
    "metrics": {"latency": {"support": [0, 1000]}},
    "guardrails": [
        {"watch": "mean", "metric": "latency", "above": 300, "then": "retire"},
        {"watch": "mean", "arm": "control", "below": 5, "then": "freeze", "to": "fast lane"},
    ],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"))
    site.pages(pause=0.0)
    service = site.service
    service.create(decoded(SPEC))
    for i in range(6):
        made = service.run("shop", m.Ask(count=60)).decisions
        told = [
            m.Told(40.0 + i % 7, each.decision, metrics={"latency": 900.0 if each.arm == "fast lane" else 100.0})
            for each in made
        ]
        service.run("shop", m.TellMany(told))
    service.run("shop", m.TellMany(told))
    service.run("shop", m.BODIES["pause"]("closed for repairs"))
    service.run("shop", m.BODIES["resume"]("open again"))
    service.run("shop", m.Fallbacks(3))
    yield site
    site.close()


def test_it_has_every_part(site):
    site.service.run("shop", m.BODIES["stop"]("good enough"))
    words = Tags(get(site, "/e/shop/report").body.decode()).words
    for part in (
        "Which is best: control, fast lane or third? Outcomes, in EUR, are better if larger.",
        "cost under mean-variance(rho=30) (the variance of its outcomes − 30 × their mean)",
        "Revenue of a visit.",
        "Stopped: good enough (2",
        "The regret per round is between",
        "A guardrail acted on fast lane: its mean of latency is above 300.",
        "Mean EUR",
        "Cost EUR²",
        "exploration risk",
        "Outcomes lie between 0 and 100 EUR; others were refused.",
        "No change was noticed.",
        "If an arm's mean of latency is above 300, retire it: acted on fast lane, 2",
        "If control's mean is below 5, give everybody fast lane: never acted",
        "closed for repairs",
        "No arm is answered less often than another",
        "mv-lcb",
        site.service.view("shop").state.chain.hex(),
        "prudent 0",
        "NumPy",
    ):
        assert part in words, part
    rows = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", get(site, "/e/shop/report").body.decode()))
    assert rows["Decisions"] == rows["Outcomes reported"] == "360"
    assert rows["Requests that came again"] == "60"
    assert rows["Outcomes refused as too late"] == "0"
    assert rows["Fallbacks by clients alone"] == "3"
    assert rows["Paused"].startswith("1 time, ")
    assert rows["Frozen to one arm"] == "never"


def test_it_is_one_file_that_needs_nothing_else(site):
    page = get(site, "/e/shop/report").body.decode()
    tags = Tags(page).tags
    assert {tag for tag, _ in tags}.isdisjoint({"script", "link", "img", "iframe", "form"})
    assert not any(name in given for _, given in tags for name in ("src", "href", "style"))
    assert "url(" not in page
    assert "@import" not in page


def test_the_api_gives_the_same_file_to_those_who_may_read(site):
    answer = site("GET", "/v1/experiments/shop/report", token="read")
    assert answer.headers["content-type"].startswith("text/html")
    assert "style-src 'sha256-" in answer.headers["content-security-policy"]
    shown = get(site, "/e/shop/report").body
    assert re.sub(rb"Made [^<]*", b"", answer.body) == re.sub(rb"Made [^<]*", b"", shown)
    assert site("GET", "/v1/experiments/shop/report", token="decide").status == 403


def test_a_cost_has_the_unit_of_its_risk(site):
    site.service.create(decoded({**SPEC, "name": "mean", "risk": "mean", "policy": "ucb1", "guardrails": []}))
    words = Tags(get(site, "/e/mean/report").body.decode()).words
    assert "Cost EUR" in words
    assert "EUR²" not in words
    assert "There were none." in words


def test_the_page_has_the_units_too(site):
    words = Tags(get(site, "/e/shop").body.decode()).words
    for what in ("Mean EUR", "Standard deviation EUR", "Cost EUR²"):
        assert what in words
    assert re.search(r"Regret per round[\d., −to]+EUR²", words)
    assert re.search(r"Variance within arms[\d., ]+EUR²", words)
    assert "EUR on average" in Tags(get(site, "/").body.decode()).words
    assert "EUR²" not in Tags(get(site, "/e/mean").body.decode()).words


def test_pictures_over_time_have_units():
    row = "[0, 0.5, 0.1, 2.0]"
    series = [(n, n * 1000, f"[[{n}, {row[1:]}, [{n}, {row[1:]}]") for n in (10, 20)]
    points = points_of(series, 2, (0, 10**9))
    line = timeline(points, ["A", "B"], {0: 0, 1: 1}, [], Units(" EUR", " EUR²", " EUR²"), Settings())
    assert [chart.title for chart in charts_of(line, 0)] == [
        "Mean of each arm, EUR",
        "How much more than A, EUR",
        "Share of decisions, step by step",
        "Decisions an hour, step by step",
    ]
    titles = [chart.title for chart in charts_of_risk(line)]
    assert titles == ["Cost of each arm, EUR²", "Variance from moving between arms, EUR²"]


def test_long_experiments_do_not_make_it_long(site):
    site.service.create(decoded({**SPEC, "name": "long", "guardrails": []}))
    for i in range(20):
        site.service.run("long", m.BODIES["pause"](f"pause {i}"))
        site.service.run("long", m.BODIES["resume"]("on"))
    words = Tags(get(site, "/e/long/report").body.decode()).words
    assert "pause 19" in words
    assert "pause 10:" not in words
    assert "the log has 29 more" in words


def test_hostile_names_are_text_in_metrics_and_rails(site):
    names = {name: {"support": [0, 10]} for name in HOSTILE[:3]}
    rails = [{"watch": "mean", "metric": HOSTILE[0], "above": 5, "then": "freeze", "to": HOSTILE[1]}]
    spec = {**SPEC, "name": "bad", "arms": HOSTILE, "fallback": None, "metrics": names, "guardrails": rails}
    site.service.create(decoded({**spec, "unit": HOSTILE[0], "note": HOSTILE[1]}))
    page = Tags(get(site, "/e/bad/report").body.decode())
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "img"})
    assert page.words.count(HOSTILE[0]) >= 3
    assert "49" not in page.words.split()


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(7, "0.007 s"), (1000, "1 s"), (90_000, "90 s"), (7_200_000, "2 h"), (86_400_000, "1 d")]
)
def test_times_have_a_unit_that_fits(milliseconds, text):
    assert span(milliseconds) == text


def test_pauses_add_up():
    kinds = [("created", 0), ("paused", 10), ("resumed", 15), ("frozen", 20), ("paused", 30), ("stopped", 31)]
    events = [Event(i, at, kind) for i, (kind, at) in enumerate(kinds, 1)]
    assert spent(events, "paused", 99) == (2, 6)
    assert spent(events, "frozen", 99) == (1, 10)
    assert spent(events[:2], "paused", 99) == (1, 89)


def test_of_many_arms_the_forecast_tells_those_that_have_a_chance():
    few = [(f"arm {i}", "below 1 %", "below 1 %", "1 %") for i in range(6)]
    assert ahead({"arms": few, "svg": ""}) == {"arms": few, "svg": ""}
    best = [("best", "19 %", "below 1 %", "1 %"), ("ahead", "below 1 %", "3 %", "1 %")]
    assert ahead({"arms": [*few, *best]})["arms"] == best


def test_a_quantile_is_named():
    rail = Guardrail("quantile", "stop", below=-3.0, q=0.1).rail()
    assert limit(rail) == "If an arm's 0.1-quantile is below −3, stop the experiment"
