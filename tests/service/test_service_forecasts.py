"""Forecasts beside the service: kept by the position in the log, one at a time, and never in the way of a page."""

import threading
from types import SimpleNamespace

import pytest

from helpers.service.served_experiments import EXPERIMENT, InProcessService
from prudent.live.forecast import Chance, Forecast
from prudent.service import messages as m
from prudent.service.log.state import ExperimentState
from prudent.service.pages.app import templates
from prudent.service.pages.charts import fan
from prudent.service.pages.forecasting import forecast_section
from prudent.service.spec import decoded
from prudent.service.work import forecasts as forecasting
from prudent.service.work.forecasts import Forecasts


class Agent:
    """An agent whose forecasts take as long as a test wants."""

    def __init__(self):
        self.arms, self.made, self.why = ["a", "b"], 0, ""
        self.go = threading.Event()
        self.go.set()

    def forecast(self):
        self.go.wait(10.0)
        self.made += 1
        return Forecast("", rewards=self.made)

    def no_forecast(self):
        return self.why


def state(agent, seq):
    state = ExperimentState(decoded({"name": "x", **EXPERIMENT}).settled())
    state.agent, state.seq = agent, seq
    return state


@pytest.fixture
def made(monkeypatch):
    """Forecasts that are made without rest."""
    monkeypatch.setattr(forecasting, "REST", 0.0)
    forecasts, closing = Forecasts(lambda agent: agent.forecast()), threading.Event()
    thread = threading.Thread(target=forecasts.run, args=(closing,))
    thread.start()
    yield forecasts
    closing.set()
    thread.join(10.0)
    assert not thread.is_alive()


def test_a_forecast_is_kept_until_the_log_has_grown(made):
    agent = Agent()
    assert made.last(1, ("a", "b")) is None
    first = made.of(1, state(agent, 1000), 10.0)
    assert (first.seq, made.last(1, ("a", "b")), agent.made) == (1000, first, 1)
    assert made.last(1, ("a",)) is None
    assert made.of(1, state(agent, 1049), 10.0) == first
    assert made.of(1, state(agent, 1050), 10.0).seq == 1050
    assert made.of(1, state(agent, 10_000), 10.0).seq == 10_000
    assert made.of(1, state(agent, 10_499), 10.0).seq == 10_000
    assert made.of(2, state(agent, 5), 10.0).seq == 5
    assert agent.made == 4


def test_whoever_asks_does_not_wait(made):
    agent = Agent()
    agent.go.clear()
    assert made.of(1, state(agent, 1)) is None
    assert made.of(1, state(agent, 2), 0.01) is None
    agent.go.set()
    made.of(1, state(agent, 2), 10.0)
    agent.go.clear()
    assert made.of(1, state(agent, 100)).seq in (1, 2)
    agent.go.set()


def test_a_forecast_of_other_arms_is_not_shown(made):
    agent = Agent()
    made.of(1, state(agent, 1), 10.0)
    agent.go.clear()
    agent.arms = ["a"]
    assert made.of(1, state(agent, 2)) is None
    agent.go.set()
    assert made.of(1, state(agent, 2), 10.0).arms == ("a",)


def test_the_reason_for_none_is_said_at_once():
    forecasts, agent = Forecasts(), Agent()  # without its thread
    agent.why = "too early"
    assert forecasts.of(1, state(agent, 1)).forecast.why == "too early"
    agent.why = ""
    stopped, frozen = state(agent, 2), state(agent, 3)
    stopped.status, frozen.frozen_to = "stopped", 1
    assert forecasts.of(1, stopped).forecast.why == "the experiment has stopped"
    assert "everybody gets b" in forecasts.of(1, frozen).forecast.why


def test_a_fault_does_not_end_the_thread(made, caplog):
    class Broken(Agent):
        def forecast(self):
            raise ZeroDivisionError

    assert "it could not be computed" in made.of(1, state(Broken(), 1), 10.0).forecast.why
    assert "a forecast broke: ZeroDivisionError" in caplog.text
    assert made.of(2, state(Agent(), 1), 10.0).forecast.why == ""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("forecasts") / "a.db"))
    site.pages(pause=0.0)
    yield site
    site.close()


def get(site, path, *headers):
    return site("GET", path, token=None, headers=[("cookie", f"prudent={site.session('read')}"), *headers])


def test_the_page_and_the_report_say_how_it_may_end(site, monkeypatch):
    monkeypatch.setattr(forecasting, "REST", 0.0)
    for i in range(60):
        site.service.run("one", m.Tell(0.1 * (i % 7)), decision=site.decision("one"))
    view = site.service.view("one")
    tag = get(site, "/e/one/live").headers["etag"]
    kept = site.service.forecasts.of(view.experiment.id, view.state, 300.0)
    assert kept.seq == view.state.seq
    again = get(site, "/e/one/live", ("if-none-match", tag))
    assert again.status == (304 if tag == again.headers["etag"] else 200)
    assert again.headers["etag"] == f'"{view.state.seq}-0-{kept.seq}"'
    page = get(site, "/e/one").body.decode()
    assert f'data-seq="{view.state.seq}-0-{kept.seq}"' in page
    for text in (page, get(site, "/e/one/report").body.decode()):
        assert "After 1,000 rounds the regret per round will lie between" in text
        assert f"As of event {kept.seq}" in text
        assert 'class="fan"' in text
    assert "No forecast: a and b have fewer than 3 rewards" in get(site, "/e/two").body.decode()
    assert len(page) < 100_000
    site.service.forecasts.stop()
    site.service.run("one", m.BODIES["add"]("c", "new"))
    assert 'class="fan"' not in get(site, "/e/one/live").body.decode()


KNOWN = SimpleNamespace(squared=False, units=SimpleNamespace(cost=""))
"""What a forecast needs of the facts of a page."""


def test_names_of_arms_are_only_text():
    bad, seven = "<script>alert(1)</script>", (0.0,) * 7
    found = Forecast("", 5, 9, 100, "x", seven, seven, 1.0, (Chance(bad, 1.0, 1.0, 1.0),), ((1, seven), (2, seven)))
    for forecast in (found, Forecast(bad)):
        shown = forecast_section(forecasting.Kept(3, (bad,), forecast), KNOWN)
        text = templates().get_template("forecast.html.j2").render(forecast=shown)
        assert "<script" not in text
        assert "&lt;script" in text


def test_a_forecast_that_is_not_there_yet_is_announced():
    text = templates().get_template("forecast.html.j2").render(forecast=forecast_section(None, KNOWN))
    assert "The forecast is being computed." in text


def test_a_fan_has_a_band_for_each_pair_of_quantiles():
    picture = str(fan([(10, (0.0, 1.0, 2.0, 3.0, 4.0)), (20, (1.0, 1.5, 2.0, 2.5, 3.0))], "label"))
    assert picture.count('class="fan"') == 2
    assert picture.count("<polyline") == 1
    assert "round 20" in picture
    assert not fan([], "nothing")
    assert "nan" not in str(fan([(1, (0.0,) * 3), (2, (0.0,) * 3)], "flat"))
