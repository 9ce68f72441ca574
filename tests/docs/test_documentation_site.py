"""The built documentation: every link leads somewhere, and every page fits a small telephone, without another host.

`make docs` builds it; without it these tests are skipped.
"""

import re
import shutil
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from helpers import newcomer
from helpers.browser import CHROMIUM, Browser

SITE = Path(__file__).parents[2] / "docs/_build/site"
PAGES = sorted(SITE.rglob("*.html"))
pytestmark = pytest.mark.skipif(not PAGES, reason="the documentation is not built; make docs builds it")
in_chromium = pytest.mark.skipif(CHROMIUM is None or shutil.which("bash") is None, reason="needs Chromium and bash")

WIDTH = 320
TOO_WIDE = f"""[...document.querySelectorAll('.content *')].filter(it => {{
    const box = it.getBoundingClientRect();
    if (box.right <= {WIDTH + 1} || !box.width || !box.height) return false;
    for (let up = it.parentElement; !up.matches('.content'); up = up.parentElement)
        if (getComputedStyle(up).overflowX !== 'visible' && up.getBoundingClientRect().right <= {WIDTH + 1})
            return false;
    return true;
}}).map(it => it.outerHTML.slice(0, 150))"""
"""What reaches beyond the edge, outside of boxes that scroll or cut by themselves."""


class Reader(HTMLParser):
    """What a page links to, what it loads, and where links to it may point."""

    def __init__(self) -> None:
        super().__init__()
        self.links, self.loads, self.ids = set(), set(), set()
        self.words, self._code = [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        elif (source := found.get("src") or (tag == "link" and found.get("href"))) and not source.startswith("data:"):
            self.loads.add(source)
        if tag in ("pre", "code", "script", "style"):
            self._code.append(tag)

    def handle_endtag(self, tag):
        if self._code and tag == self._code[-1]:
            self._code.pop()

    def handle_data(self, data):
        if not self._code:
            self.words.append(data)


@cache
def read(page):
    reader = Reader()
    reader.feed(page.read_text("utf-8"))
    return reader


def test_every_link_leads_to_a_page_and_a_place_in_it():
    wrong = []
    for page in PAGES:
        for link in read(page).links | read(page).loads:
            parts = urlsplit(link)
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not (parts.scheme or parts.netloc) and not target.exists():
                wrong.append((page.name, link))
            elif not parts.scheme and parts.fragment and target.suffix == ".html":
                wrong += [(page.name, link)] if unquote(parts.fragment) not in read(target).ids else []
    assert not wrong


def test_no_page_shows_raw_tex_or_markdown():
    """Formulas and mark-up that were not understood would stand in the text as they were typed."""
    raw = re.compile(r"\\[a-z]{2,}|\$[^$]+\$|\{cite\}|\]\([^)]*\.(md|html)")
    assert raw.search(r"as \frac{1}{2}")
    assert raw.search("for $n$ rounds")
    wrong = [(page.name, found[0]) for page in PAGES if (found := raw.search("".join(read(page).words)))]
    assert not wrong


def test_nothing_is_loaded_from_another_host():
    loads = {load for page in PAGES for load in read(page).loads}
    assert not [load for load in loads if urlsplit(load).netloc]
    styles = "".join(path.read_text("utf-8") for path in SITE.rglob("*.css"))
    assert not re.findall(r"@import|url\([\"']?(?:https?:)?//", styles)


@pytest.mark.parametrize("role", newcomer.ROLES)
def test_a_newcomer_finds_the_tutorial_of_their_role_and_copies_the_code_that_is_tested(role):
    """tests/helpers/newcomer.py runs what they copy; tests/docs/test_pages.py runs the pages, which is the same."""
    pages = newcomer.way(role)
    source = (SITE.parents[1] / f"tutorials/{role}.md").read_text("utf-8")
    shown, written = newcomer.code_of(pages[-1]), re.findall(r"```python\n(.*?)```", source, flags=re.DOTALL)
    assert shown == written, "if the page was changed since the site was built: make docs"


@in_chromium
def test_every_page_fits_a_small_telephone_and_asks_for_nothing_outside_its_folder():
    browser = Browser()
    try:
        browser.size(WIDTH, 640)
        wrong = []
        for page in PAGES:
            browser.go(page.as_uri())
            wrong += [(page.name, each) for each in browser.run(TOO_WIDE)]
        assert not wrong
        assert not browser.errors
        browser.run("document.querySelector('.content').innerHTML = '<p style=\"width: 500px\">wide</p>'")
        assert len(browser.run(TOO_WIDE)) == 1  # it would be seen
        assert {url for url in browser.requests if not url.startswith((SITE.as_uri(), "data:"))} <= {"about:blank"}
    finally:
        browser.close()


@in_chromium
def test_the_search_finds_a_page_and_the_dark_is_dark():
    browser = Browser()
    try:
        browser.size(1280, 900)
        browser.darken("dark")
        browser.go(f"{(SITE / 'search.html').as_uri()}?q=leaping")
        browser.until("document.querySelectorAll('#search-results li').length")
        assert "Leaping" in browser.text()
        red, green, blue = map(
            int, re.findall(r"\d+", browser.run("getComputedStyle(document.body).backgroundColor"))[:3]
        )
        assert red + green + blue < 200
        assert not browser.errors
    finally:
        browser.close()
