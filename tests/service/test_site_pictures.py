"""Pictures over time: what is drawn is what happened, and people can tell curves apart."""

import html
import itertools
import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.service.html_pages import Tags, get
from helpers.service.served_experiments import EXPERIMENT, InProcessService
from prudent import Bandit, MeanVariance
from prudent.results.page import design
from prudent.service import messages as m
from prudent.service.log.events import Event
from prudent.service.pages import charts, explore
from prudent.service.pages.app import whole_style
from prudent.service.pages.axes import calendar_ticks, linear_ticks, log_ticks
from prudent.service.pages.settings import Settings, settings_of
from prudent.service.pages.timeline import Arm, Point, charts_of, in_colour, points_of, present_pace, timeline
from prudent.service.spec import decoded
from prudent.service.views.amounts import Units
from prudent.theory import bounds

MONDAY = 1_760_313_600_000
"""2025-10-13 00:00 UTC."""


@given(st.integers(0, 4 * 10**12), st.integers(1000, 10**12))
def test_calendar_ticks_are_few_whole_units_inside(low, length):
    ticks = calendar_ticks(low, low + length)
    assert len(ticks) <= 7
    for at, text in ticks:
        assert low <= at <= low + length
        moment = datetime.fromtimestamp(at / 1000.0, UTC)
        assert moment.microsecond == 0
        if ":" not in text:
            assert (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    if length > 4000:
        assert ticks
    assert all(before < after for (before, _), (after, _) in itertools.pairwise(ticks))


def test_ticks_are_what_people_count_in():
    def calendar(length):
        return [text for _, text in calendar_ticks(MONDAY, MONDAY + length)]

    day = 86_400_000
    assert calendar(day // 6) == ["13 Oct", "01:00", "02:00", "03:00", "04:00"]
    assert calendar(4 * day) == ["13 Oct", "14 Oct", "15 Oct", "16 Oct", "17 Oct"]
    assert calendar(120 * day) == ["Nov 2025", "Dec 2025", "Jan 2026", "Feb 2026"]
    assert [text for _, text in log_ticks(1, 10**6)] == ["1", "100", "10,000", "1,000,000"]
    assert [text for _, text in log_ticks(20, 90)] == ["20", "40", "60", "80"]
    assert [text for _, text in linear_ticks(-1.0, 1.0)] == ["−1", "−0.5", "0", "0.5", "1"]


def line_of(counts, axis="decisions", marks=(), hours=1):
    """A timeline of arms after so many decisions each, an hour apart; the mean of arm i is i + 1/decisions."""
    points = [
        Point(
            sum(row) or 1,
            MONDAY + k * hours * 3_600_000,
            sum(row),
            [Arm(n, n, i + 1 / n if n else None, 0.1, -i, (i - 0.5, i + 0.5)) for i, n in enumerate(row)],
        )
        for k, row in enumerate(counts)
    ]
    labels = [f"arm {i}" for i in range(len(counts[-1]))]
    colours = in_colour(labels, [1.0] * len(labels), [])
    return timeline(points, labels, colours, list(marks), Units(), Settings(axis=axis))


def data_of(chart):
    return json.loads(html.unescape(re.search(r'data-curves="([^"]*)"', chart.svg)[1]))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50)), min_size=3, max_size=60))
def test_shares_of_a_step_add_up_to_one_and_steps_hold_everything(added):
    counts = np.cumsum(added, axis=0).tolist()
    line = line_of(counts)
    (chart,) = [each for each in charts_of(line, 0) if each.title.startswith("Share")]
    rows = [row for row in zip(*data_of(chart)["values"], strict=True) if row[0] is not None]
    assert rows
    for row in rows:
        assert sum(row) == pytest.approx(100.0, abs=2e-2)
    steps = [step for step in line.steps() if step]
    assert steps[0][0] is line.points[0]
    assert steps[-1][1] is line.points[-1]
    assert all(before[1] is after[0] for before, after in itertools.pairwise(steps))


def test_a_day_on_which_outcomes_broke_is_seen():
    """The mean of everything hardly moves; that of the steps does."""
    arms = []
    for k in range(1, 61):
        bad = max(0, min(k, 41) - 40)
        arms.append(Arm(100 * k, 100 * k, (100 * k - 80 * bad) / (100 * k), 0.1, 0.0, None))
    points = [Point(k, MONDAY + k * 86_400_000, arm.asked, [arm]) for k, arm in enumerate(arms)]
    line = timeline(points, ["A"], {0: 0}, [], Units(), Settings(axis="time"))
    (chart,) = [each for each in charts_of(line, 0) if each.title.startswith("Mean of all outcomes")]
    known = data_of(chart)
    worst = min((value, at) for value, at in zip(known["values"][0], known["at"], strict=True) if value is not None)
    assert worst[0] < 0.65
    assert "Nov 2025" in worst[1]


def test_a_curve_is_where_its_values_are():
    chart = charts_of(line_of([(10, 10), (20, 20), (40, 40)]), 0)[0]
    known, points = data_of(chart), re.findall(r'class="curve s1" points="([^"]*)"', chart.svg)[0].split()
    low, high, top, bottom = known["y"]
    for x, value, point in zip(known["x"], known["values"][1], points, strict=True):
        left, down = map(float, point.split(","))
        assert left == pytest.approx(x, abs=0.1)
        assert bottom - (value - low) / (high - low) * (bottom - top) == pytest.approx(down, abs=0.2)
    assert known["at"][0] == "20 decisions, 13 Oct 2025 00:00"
    assert known["times"][1] == "2025-10-13T01:00:00.000"
    assert chart.rows[-1][1:] == ["0.0 (−0.5 to 0.5)", "1.0 (0.5 to 1.5)"]


@pytest.mark.parametrize(("axis", "where"), [("decisions", 1 / 3), ("log", 0.5), ("time", 0.5)])
def test_each_axis_has_its_distances_and_events_their_place(axis, where):
    marks = [(Event(20, MONDAY + 3_600_000, "paused"), 1)]
    chart = charts_of(line_of([(5, 5), (10, 10), (20, 20)], axis, marks), 0)[0]
    left, middle, right = data_of(chart)["x"]
    assert (middle - left) / (right - left) == pytest.approx(where, abs=0.01)
    (mark,) = re.findall(r'<line class="mark" x1="([^"]*)"', chart.svg)
    assert float(mark) == pytest.approx(middle, abs=0.1)


def test_names_at_curves_do_not_cover_each_other():
    places = charts.Places([0.0, 1.0], ["first", "last"], [])
    svg = charts.curves(
        places, [charts.Curve(f"arm {i}", i, [5.0 * (i % 2), 2.5 + 0.01 * i]) for i in range(5)], "close"
    )
    heights = sorted(float(y) for y in re.findall(r'<text class="name[^"]*" x="[^"]*" y="([^"]*)"', svg))
    assert len(heights) == 5
    assert min(after - before for before, after in itertools.pairwise(heights)) >= 14.9
    assert all(0 < y < charts.HIGH for y in heights)


def test_a_long_name_stands_whole_beside_its_curve():
    assert charts.lines_of("short") == ["short"]
    assert charts.lines_of("checkout in one page") == ["checkout in", "one page"]
    assert charts.lines_of("thirty letters and more of them") == ["thirty letters", "and more of t…"]
    assert charts.lines_of("abcdefghijklmnopqrst") == ["abcdefghijklmn", "opqrst"]


def test_a_retired_arm_has_no_curve_after_that():
    line = line_of([(10, 10), (20, 20), (30, 20), (40, 20)])._replace(over={1: 40})
    for chart in charts_of(line, 0)[:3]:
        known = data_of(chart)
        retired = known["values"][known["names"].index("arm 1")]
        assert retired[1] is not None or "step" in chart.title
        assert retired[2:] == [None, None]
        assert 'class="gone"' in chart.svg
        assert all(pair is None for pair in known.get("ends", [[]])[-1][2:])


def test_rates_are_percent_and_differences_points():
    line = line_of([(10, 10), (20, 20), (40, 40)])._replace(units=Units(rate=True))
    rate, more, *_ = charts_of(line, 0)
    assert rate.title == "Rate of each arm"
    assert data_of(rate)["unit"] == " %"
    assert data_of(rate)["values"][1][-1] == 102.5
    assert data_of(rate)["ends"][1][-1] == [50, 150]
    assert more.title.endswith("percentage points")
    assert data_of(more)["values"] == [[100, 100, 100]]


def test_of_many_arms_those_that_matter_have_colours():
    labels, shares = [f"v{i}" for i in range(20)], [i / 190 for i in range(20)]
    colours = in_colour(labels, shares, ["v3", "v0", "v3"])
    assert sorted(colours) == [0, 3, 16, 17, 18, 19]
    assert sorted(colours.values()) == list(range(charts.COLOURS))
    assert in_colour(labels[:3], shares[:3], []) == {0: 0, 1: 1, 2: 2}


def test_a_period_has_its_points_and_the_one_before():
    series = [(n, MONDAY + n * 1000, f"[[{n}, {n}, 0.5, 0.1, 0.2]]") for n in range(1, 100)]
    points = points_of(series, 1, (MONDAY + 20_000, MONDAY + 30_000))
    assert [point.seq for point in points] == list(range(19, 31))
    assert len(points_of(series, 100, (0, 10**14))) == 12
    assert points_of([], 1, (0, 1)) == []
    assert present_pace(points) == pytest.approx(3600.0)
    assert present_pace(points[:1]) is None


def test_an_address_says_how_one_looks():
    asked = {"axis": "time", "control": "b & c", "last": "7d", "begin": "2026-01-02T03:04", "events": "all"}
    settings = settings_of(asked)
    assert dict(parse_qsl(settings.query[1:])) == asked
    wrong = {"axis": "x", "last": "y", "begin": "soon", "end": "2026-13-01T00:00", "events": "z"}
    assert settings_of(wrong) == Settings()
    assert Settings().query == ""
    assert Settings(begin="2025-10-13T00:00").period(0) == (MONDAY, float("inf"))
    assert Settings(last="1h").period(MONDAY) == (MONDAY - 3_600_000, MONDAY)


# Colours


def schemes():
    """The colours of both schemes, by name."""
    found = [dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{6})", part)) for part in design().split("@media")[:2]]
    return {"light": found[0], "dark": found[0] | found[1]}


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """As WCAG defines it."""
    light, dark = sorted((float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_documentation_has_the_colours_of_the_pages():
    site = (Path(__file__).parents[2] / "docs/_static/site.css").read_text("utf-8")
    known = {colour for scheme in schemes().values() for colour in scheme.values()}
    found = re.findall(r"--color-[a-z-]+: (#[0-9a-f]{6})", site)
    assert len(found) > 15
    assert set(found) <= known


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_and_curves_stand_out_from_paper_and_cards(scheme):
    colours = schemes()[scheme]
    for name in ("ink", "soft", "accent", "good", "fair", "bad", *(f"s{i}" for i in range(charts.COLOURS))):
        for ground in ("paper", "card"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)


def test_the_script_and_the_style_sheet_know_all_colours():
    assert f"s{charts.COLOURS - 1}" in schemes()["dark"]
    dashes = re.findall(r"\.s(\d) \{ --c: var\(--s\1\);(?: --dash: ([\d ]+);)?", STYLE)
    assert len(dashes) == len({dash for _, dash in dashes}) == charts.COLOURS, (
        "also those who see no colours tell curves apart"
    )


STYLE = whole_style()


# Pages


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"))
    site.pages(pause=0.0)
    site.service.forecasts.of = lambda number, state, patience=0.0: None
    yield site
    site.close()


def test_what_people_and_guards_did_is_told_with_who_did_it(site):
    rails = [{"watch": "mean", "arm": "b", "below": 0.5, "then": "retire"}]
    _, made = site.service.tokens.create(["admin"], note="Ada")
    site.service.create(decoded({**EXPERIMENT, "name": "who", "guardrails": rails}), made.number)
    site.service.run("who", m.BODIES["pause"]("lunch"), by=made.number)
    site.service.run("who", m.BODIES["resume"]("back"))
    for _ in range(80):
        decision = site.service.run("who", m.Ask()).decisions[0]
        site.service.run("who", m.Tell(0.9 if decision.arm == "a" else 0.0), decision=decision.decision)
    until = time.monotonic() + 60.0
    while len(site.service.store.series(site.service.view("who").experiment.id)) < 5 and time.monotonic() < until:
        time.sleep(0.05)  # the follower is behind
    events = re.findall(r"<li id=.*?</li>", get(site, "/e/who").body.decode(), re.S)
    told = [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html.unescape(event))).strip() for event in events]
    assert re.fullmatch(r"4 .* b was retired: the mean of b is below 0.5 — a guardrail", told[0])
    assert re.fullmatch(r"2 .* Resumed: back — the machine of the service", told[2])
    assert re.fullmatch(r"1 .* Paused: lunch — Ada", told[3])
    assert re.fullmatch(r"2.* The experiment was created\. — Ada", told[4])
    assert len(told) == 5
    everything = Tags(get(site, "/e/who?events=all").body.decode()).words
    assert "A reward of 0.9 came for a." in everything
    assert "Show what people and guards did" in everything


@pytest.mark.parametrize("path", ["/nothing", "/e", "/e/a/b", "/e/none"])
def test_an_address_of_nothing_is_a_page_for_people_and_a_problem_for_programs(site, path):
    answer = get(site, path, headers=[("accept", "text/html,application/xhtml+xml")])
    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/html")
    if path == "/nothing":
        answer = get(site, path, headers=[("accept", "*/*")])
        assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")
    assert (
        get(site, f"/v1{path}", headers=[("accept", "text/html")]).headers["content-type"] == "application/problem+json"
    )


@pytest.mark.parametrize("larger", [True, False])
def test_what_was_gained_is_the_mean_received_against_the_arms_intervals(site, larger):
    name = f"gains-{larger}".lower()
    spec = {
        "arms": ["a", "b"],
        "policy": "round-robin",
        "risk": "mean",
        "support": [0, 10],
        "unit": "EUR",
        "fallback": "b",
    }
    site.service.create(decoded({**spec, "name": name, "fallback": "b", "larger_is_better": larger, "horizon": 10**5}))
    batch = site.service.run(name, m.Split(20_000))
    merged = {arm: m.Statistics(count, 3.0 if arm == "a" else 5.0, 1.0) for arm, count in batch.arms.items()}
    site.service.run(name, m.Merge(merged), decision=batch.batch)
    view = site.service.view(name)
    ends = view.joint()[1].mean
    low, high = (4.0 - ends.high, 4.0 - ends.low) if larger else (ends.low - 4.0, ends.high - 4.0)
    page = Tags(get(site, f"/e/{name}").body.decode()).words
    word = "worse" if larger else "better"
    first, second = sorted((abs(low), abs(high)))
    each = rf"{first:.3f} to {second:.3f} EUR {word}"
    total = f"{20_000 * first:,.0f} to {20_000 * second:,.0f} EUR {word}"
    page = Tags(get(site, f"/e/{name}").body.decode()).words
    assert re.search(rf"b, the control\s*{each}\s*{total}", page)
    assert f"Yes. Use {'b' if larger else 'a'}: every other arm is excluded." in page
    if larger:
        assert re.search(
            r"b, with 5\.\d+ EUR on average: 2\.0+ EUR more than a\. The difference lies between \+1\.9", page
        )
    else:
        assert re.search(
            r"a, with 3\.\d+ EUR on average: 2\.0+ EUR less than b\. The difference lies between −2\.", page
        )


@pytest.mark.parametrize(
    ("risk", "cost"),
    [("mean-variance(rho=2)", "cost ÷ ρ −0.5"), ("mean-variance(rho=0)", None), ("mean", None)],
)
def test_the_table_compares_spread_and_cost_too_where_the_risk_is_not_the_mean(site, risk, cost):
    """In the unit of outcomes: (4 − 2 · 3)/2 = −1 for a, (1 − 2 · 2)/2 = −1.5 for b; standard deviations 2 and 1."""
    name = f"apart-{len(risk)}-{risk[-2]}"
    spec = {"name": name, "arms": ["a", "b"], "policy": "round-robin", "risk": risk, "support": [0, 10], "unit": "EUR"}
    site.service.create(decoded(spec))
    batch = site.service.run(name, m.Split(20_000))
    merged = {arm: m.Statistics(n, *(3.0, 4.0) if arm == "a" else (2.0, 1.0)) for arm, n in batch.arms.items()}
    site.service.run(name, m.Merge(merged), decision=batch.batch)
    page = " ".join(Tags(get(site, f"/e/{name}").body.decode()).words.split())
    spread = re.search(r"spread −1\.00, −1\.\d+ to −0\.\d", page)
    assert bool(spread) == (risk != "mean")
    assert ("cost ÷ ρ" in page) == (cost is not None)
    assert cost is None or re.search(rf"{cost}\d*, −0\.\d+ to −0\.\d", page)


def test_a_theorem_that_does_not_apply_says_so():
    def said(*arms):
        found = bounds(Bandit([*arms]), MeanVariance(1.0), 1000)
        return {bound.name: explore.verdict(bound) for bound in found}

    unbounded, bounded = said("gaussian(1, 0.22)", "gaussian(0.5, 0.32)"), said("bernoulli(0.9)", "bernoulli(0.1)")
    assert unbounded["Theorem 1, expectation"] == "does not apply: it needs rewards in [0, 1], or an interval as short"
    assert unbounded["Lower bound, one bandit"] == "rate only"
    assert "informative" not in unbounded.values()
    assert bounded["Lemma 2"] == "informative"


def test_pictures_to_explore_have_names_and_their_last_tick():
    curve = [(10.0**i, 0.5**i) for i in range(5)]
    made = explore.Answer([("regret", curve)], [("from worse arms", curve), ("from moving", curve)], [], {}, [])
    for _, picture in explore.pictures(made):
        assert ">10,000<" in picture
    assert ">from moving<" in picture
