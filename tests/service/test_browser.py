"""A person with a browser: plan from a file, start, watch, stop, report; on a desktop and on a telephone.

`docs/service_pictures.py` makes the pictures of the documentation.
"""

import shutil
import threading
import time

import pytest

from helpers.browser import CHROMIUM, Browser, has_axe
from prudent.client import Client
from prudent.service.http import server
from prudent.service.log.store import open_store
from prudent.service.work import children
from prudent.service.work.service import Service

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or shutil.which("bash") is None, reason="needs Chromium and bash"),
]
DESKTOP, PHONE = (1200, 900), (320, 640)
CSV = "variant,revenue\n" + "".join(
    f"{name},{mean + step * (i % 5 - 2)}\n"
    for name, mean, step in (("old", 52, 4), ("new", 58, 6), ("bold", 62, 10))
    for i in range(12)
)


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A service with an address and a token, in this process."""
    monkeypatch.setattr(children, "NICE", 0)
    settings = server.Settings(database=str(tmp_path / "prudent.db"), relaxed=True)
    service = Service(open_store(settings.database, relaxed=True)).start()
    listener = server._listener("127.0.0.1", 0)
    ready = threading.Event()
    web = server.Server(server._config(settings, server.app_of(settings, service)), ready.set)
    thread = threading.Thread(target=web.run, args=([listener],))
    thread.start()
    assert ready.wait(60.0)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", service.tokens.create(["admin"])[0]
    web.should_exit = True
    thread.join(60.0)
    listener.close()


class Looker:
    """Looks at every page: nothing reaches beyond the edge, and axe-core finds nothing serious."""

    def __init__(self, browser, url):
        self.browser, self.url, self.wrong = browser, url, []

    def look(self, name, *, axe=True, dark=False):
        """On both sizes, and in the dark."""
        for kind, size in (("desktop", DESKTOP), ("phone", PHONE)):
            self.browser.size(*size)
            self.wrong += [f"{name}, {kind}, too wide: {each}" for each in self.browser.too_wide()]
            self.wrong += [f"{name}, {kind}, cut: {each}" for each in self.browser.cut_words()]
            if axe and has_axe():
                self.wrong += [f"{name}, {kind}: {each}" for each in self.browser.violations()]
                if dark:
                    self.browser.darken("dark")
                    self.wrong += [f"{name}, dark: {each}" for each in self.browser.violations()]
                    self.browser.darken("light")
        self.browser.size(*DESKTOP)


def traffic(url, token, most=300):
    """Visitors come until a guardrail has acted: the old way turns out much worse than the pilot said."""
    with Client(url, token, "shop") as trial:
        for visitor in range(most):
            decision = trial.ask(unit=f"visitor {visitor}")
            trial.tell(decision, {"old": 5.0, "new": 61.0, "bold": 64.0}[decision.arm] + visitor % 5)
            if visitor % 20 == 19:
                time.sleep(0.05)


def plans(browser, pages, url, token, folder):
    """From signing in to a plan that can be started. What is typed is there again after the tab was closed."""
    browser.go(f"{url}/plan")
    pages.look("login")
    browser.fill(token=token)
    browser.press("main form button")
    pages.look("plans")
    browser.press("main form button")
    address = browser.run("location.href")
    (folder / "shop.csv").write_text(CSV)
    browser.attach("pilot", str(folder / "shop.csv"))
    browser.fill(title="Shop", unit="EUR", smallest="0", largest="100", less="3", steadier="8", instead="12")
    browser.until("document.getElementById('saved').textContent === 'Saved.'")
    browser.go("about:blank")
    browser.go(address)
    assert browser.run("document.querySelector('[name=unit]').value") == "EUR"
    browser.press("button[value=check]")
    assert "shop.csv: column 'variant' holds no outcomes but old, new, bold" in browser.text()
    browser.fill(group="variant", outcome="revenue", people="2000", draws="10", runs="2", policies="mv-lcb")
    browser.press("button[value=check]")
    assert "Which option wins for which ρ" in browser.text()
    pages.look("plan-form", dark=True)
    browser.press("button[value=compute]")
    browser.run("window.stayed = true")
    pages.look("plan-waits", axe=False)
    browser.until("document.body.innerText.includes('Start this experiment')")
    assert browser.run("window.stayed"), "the page changes by itself"
    browser.until("[...document.images].every(it => it.complete && it.naturalWidth > 0)")
    pages.look("plan", dark=True)


def watches(browser, pages, url, token):
    """The page of the experiment changes by itself while visitors come, until it is stopped; then its report."""
    browser.fill(limit="40", then="retire")
    browser.press("form[action$=start] button")
    assert browser.run("location.pathname") == "/e/shop"
    browser.run("window.stayed = true")
    traffic(url, token)
    browser.until("document.body.innerText.includes('A guardrail acted on old')")
    assert browser.run("window.stayed"), "the page changes by itself"
    pages.look("experiment", dark=True)
    reads(browser, url)
    pages.look("experiment, open", dark=True)
    browser.run("document.querySelector('form[action$=stop] [name=reason]').value = 'bold is good enough'")
    browser.press("form[action$=stop] button")
    assert "Stopped: bold is good enough" in browser.text()
    browser.press("a[href$='/report']")
    assert "Report: shop" in browser.text()
    pages.look("report")


def reads(browser, url):
    """Values of a picture by the arrow keys and under the pointer; dragging shows a period."""
    browser.run("document.querySelectorAll('details').forEach(it => { it.open = true })")
    browser.run("document.querySelector('.plot').focus()")
    assert "Point at a picture" in browser.run("document.querySelector('.told').innerText")
    for key in ("Home", "ArrowRight", "ArrowRight"):
        browser.send("Input.dispatchKeyEvent", type="keyDown", key=key)
    place = browser.run("JSON.parse(document.querySelector('svg[data-curves]').dataset.curves).at[2]")
    assert browser.run("document.querySelector('.plot').ariaValueNow") == "2"
    assert browser.run("document.querySelector('.plot').ariaValueText").startswith(f"{place}:")
    assert browser.run("document.querySelector('.told').innerText").startswith(f"{place}:")
    browser.run("document.querySelector('.plot').scrollIntoView()")
    box = browser.run("document.querySelector('.plot').getBoundingClientRect().toJSON()")
    for kind, share, button in (
        ("mousePressed", 0.3, "left"),
        ("mouseMoved", 0.6, "left"),
        ("mouseReleased", 0.6, "left"),
    ):
        where = {"x": box["left"] + share * box["width"], "y": box["top"] + 0.4 * box["height"]}
        browser.send("Input.dispatchMouseEvent", type=kind, button=button, clickCount=1, **where)
    browser.until("location.search.includes('begin=') && document.readyState === 'complete'")
    browser.run("document.querySelector('[name=axis]').value = 'time'")
    browser.press("form.look button")
    assert "axis=time" in browser.run("location.search")
    assert browser.run("document.querySelector('[name=begin]').value")
    assert "Only the period that you asked for" in browser.text()
    browser.go(f"{url}/e/shop")


@pytest.mark.slow
def test_from_a_plan_to_a_report(browser, served, tmp_path):
    url, token = served
    pages = Looker(browser, url)
    browser.size(*DESKTOP)
    plans(browser, pages, url, token, tmp_path)
    watches(browser, pages, url, token)
    for path in ("/", "/explore", "/access"):
        browser.go(f"{url}{path}")
        pages.look(path)
    assert browser.errors == []
    browser.go(f"{url}/e/none")
    assert "there is no experiment" in browser.text()
    pages.look("nothing")
    assert pages.wrong == []
    assert {each for each in browser.requests if not each.startswith((f"{url}/", "data:", "about:"))} == set()


def test_a_page_that_changes_keeps_focus_selection_and_what_is_typed(browser, served):
    url, token = served
    browser.errors.clear()
    with Client(url, token) as client:
        client.create({"name": "live", "arms": ["a", "b"], "policy": "round-robin", "support": [0, 1], "risk": "mean"})
    with Client(url, token, "live") as trial:
        for i in range(30):
            trial.tell(trial.ask(), i % 2)
        browser.size(*DESKTOP)
        browser.go(f"{url}/login")
        browser.fill(token=token)
        browser.press("main form button")
        browser.go(f"{url}/e/live")
        browser.run("document.querySelectorAll('details').forEach(it => { it.open = true })")
        opened = browser.run("document.querySelectorAll('details[open]').length")  # one that is new begins closed
        browser.fill(reason="because")
        browser.run("document.querySelector('a[href*=events]').focus(); window.scrollTo(0, 700);"
                    " getSelection().selectAllChildren(document.getElementById('arms'))")  # fmt: skip
        for decisions in (31, 32):
            trial.tell(trial.ask(), 1)
            browser.until(f"document.body.innerText.includes('{decisions} decisions')")
            assert browser.run("document.activeElement.matches('a[href*=events]')")
            assert browser.run("getSelection().toString()") == "The arms"
            assert browser.run("document.querySelector('[name=reason]').value") == "because"
            assert browser.run("document.querySelectorAll('details[open]').length") >= opened > 0
            assert browser.run("scrollY") == 700
        trial.pause(reason="lunch")
        browser.until("document.querySelector('.events').innerText.includes('lunch')")
        assert browser.run("document.activeElement.matches('a[href*=events]')")
        assert browser.run("document.querySelectorAll('.told').length === document.querySelectorAll('.plot').length")
    assert browser.errors == []


def test_what_is_looked_for_is_found(browser):
    """A check must be able to fail."""
    browser.size(*PHONE)
    browser.go("data:text/html,<main><p id=x style='color:gray;background:silver'>words</main>")
    browser.run("document.getElementById('x').style.width = '900px'; console.error('oh'); fetch('http://other.invalid')"
                ".catch(() => true)")  # fmt: skip
    assert "900px" in browser.too_wide()[0]
    browser.run(
        "document.body.innerHTML += '<svg class=chart viewBox=\"0 0 90 20\"><text x=60 y=15>1,000,000</text></svg>'"
    )
    assert browser.cut_words() == ["1,000,000"]
    assert any("oh" in each for each in browser.errors)
    assert "http://other.invalid/" in browser.requests
    if has_axe():
        assert any("color-contrast" in each for each in browser.violations())
