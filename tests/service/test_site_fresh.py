"""Pages are computed once for all who look, and show at once what somebody did."""

import asyncio
import time
from urllib.parse import urlencode

import pytest

from helpers.service.served_experiments import InProcessService
from prudent.service.problems import RequestError
from prudent.service.views.cache import Views


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"))
    site.pages(pause=60.0)
    yield site
    site.close()


def get(site, path, tag=None):
    headers = [("cookie", f"prudent={site.session()}"), *([("if-none-match", tag)] if tag else [])]
    return site("GET", path, token=None, headers=headers)


class Looking:
    """A cache that counts how often it looks, and how often something is made of a view."""

    def __init__(self, site, pause, wrong=False):
        self.views, self.looks, self.made, self._wrong, self._site = Views(self, pause), 0, 0, wrong, site
        self.store = site.service.store

    async def look(self, name):
        self.looks += 1
        return await self._site.service.look(name)

    def make(self):
        self.made += 1
        if self._wrong:
            raise RequestError("busy", "not now")
        return self.made

    async def page(self, name="one"):
        view = await self.views.lately(name)
        return view, await self.views.once(view, "page", self.make)


def test_many_who_look_at_once_make_one_computation(site):
    cache = Looking(site, 60.0)

    async def look():
        return await asyncio.gather(*(cache.page() for _ in range(20)))

    assert len({id(view) for view, _ in site.loop.run_until_complete(look())}) == 1
    assert (cache.looks, cache.made) == (1, 1)


def test_it_is_computed_again_after_a_pause_and_only_if_something_happened(site):
    for pause, expected in ((60.0, 1), (0.0, 2)):
        cache = Looking(site, pause)
        for _ in range(3):
            site.loop.run_until_complete(cache.page())
        assert (cache.looks, cache.made) == (1, 1)
        site.decision("one")
        site.loop.run_until_complete(cache.page())
        assert (cache.looks, cache.made) == (expected, expected)


def test_programs_get_the_state_as_it_is_and_pages_keep_theirs(site):
    cache = Looking(site, 60.0)
    shown, _ = site.loop.run_until_complete(cache.page())
    assert site.loop.run_until_complete(cache.views.now("one")) is shown
    site.decision("one")
    now = site.loop.run_until_complete(cache.views.now("one"))
    assert now.seq == shown.seq + 1
    assert site.loop.run_until_complete(cache.page())[0] is shown


def test_a_view_that_takes_long_is_shown_longer(site):
    cache = Looking(site, 0.001)
    view, _ = site.loop.run_until_complete(cache.page())
    time.sleep(0.01)
    site.decision("one")
    assert site.loop.run_until_complete(cache.page())[0] is not view
    view, _ = site.loop.run_until_complete(cache.page())
    site.loop.run_until_complete(cache.views.once(view, "slow", lambda: busy(0.05)))
    time.sleep(0.01)
    site.decision("one")
    assert site.loop.run_until_complete(cache.page())[0] is view


def busy(seconds):
    """Keep the processor at work."""
    since = time.thread_time()
    while time.thread_time() - since < seconds:
        pass


def test_what_was_looked_at_before_a_change_is_not_kept_after_it(site):
    cache = Looking(site, 60.0)
    look = cache.look

    async def slowly(name):
        view = await look(name)
        cache.views.forget(name)  # somebody acts while this is on its way
        return view

    cache.look = slowly
    before, _ = site.loop.run_until_complete(cache.page())
    cache.look = look
    site.decision("one")
    assert site.loop.run_until_complete(cache.page())[0].seq > before.seq


def test_an_error_is_for_those_who_looked_and_for_nobody_after(site):
    cache = Looking(site, 60.0, wrong=True)
    for _ in range(2):
        with pytest.raises(RequestError, match="not now"):
            site.loop.run_until_complete(cache.page())
    assert cache.made == 2
    with pytest.raises(RequestError, match="no experiment"):
        site.loop.run_until_complete(cache.page("none"))


def test_who_acts_sees_it_at_once(site):
    before = get(site, "/e/two")
    assert b"running" in before.body
    form = urlencode({"reason": "lunch"}).encode()
    headers = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")]
    site("POST", "/e/two/pause", form, token=None, headers=[*headers, ("cookie", f"prudent={site.session()}")])
    assert b"Paused: lunch" in get(site, "/e/two").body


def test_others_may_see_it_a_pause_later_and_are_told_if_it_is_the_same(site):
    tag = get(site, "/e/one/live").headers["etag"]
    site.decision("one")
    assert get(site, "/e/one/live", tag).status == 304


def test_a_log_that_was_altered_is_told_although_nothing_happens_in_it(site):
    tag = get(site, "/e/one/live").headers["etag"]
    site.service.follower.alarms.append("the log of one: altered")
    try:
        answer = get(site, "/e/one/live", tag)
        assert answer.status == 200
        assert b"the log of one: altered" in answer.body
    finally:
        site.service.follower.alarms.clear()
