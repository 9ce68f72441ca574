"""Pages are computed once for all who look, and show at once what somebody did."""

import asyncio
from urllib.parse import urlencode

import pytest

from helpers.service.served_experiments import InProcessService
from prudent.service.problems import RequestError
from prudent.service.site.fresh import Fresh


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"))
    site.pages(pause=60.0)
    yield site
    site.close()


def get(site, path, tag=None):
    headers = [("cookie", f"prudent={site.session()}"), *([("if-none-match", tag)] if tag else [])]
    return site("GET", path, token=None, headers=headers)


def counting(site, pause, wrong=False):
    """A cache that counts how often it computes."""
    made = []

    def make(view):
        made.append(view.fold.seq)
        if wrong:
            raise RequestError("busy", "not now")
        return {"seq": view.fold.seq}

    return Fresh(site.service, make, pause), made


def test_many_who_look_at_once_make_one_computation(site):
    fresh, made = counting(site, 60.0)

    async def look():
        return await asyncio.gather(*(fresh.of("one") for _ in range(20)))

    assert len({id(kept) for kept in site.loop.run_until_complete(look())}) == 1
    assert len(made) == 1


def test_it_is_computed_again_after_a_pause_and_only_if_something_happened(site):
    for pause, expected in ((60.0, 1), (0.0, 2)):
        fresh, made = counting(site, pause)
        for _ in range(3):
            site.loop.run_until_complete(fresh.of("one"))
        assert len(made) == 1
        site.decision("one")
        site.loop.run_until_complete(fresh.of("one"))
        assert len(made) == expected


def test_an_error_is_for_those_who_looked_and_for_nobody_after(site):
    fresh, made = counting(site, 60.0, wrong=True)
    for _ in range(2):
        with pytest.raises(RequestError, match="not now"):
            site.loop.run_until_complete(fresh.of("one"))
    assert len(made) == 2
    with pytest.raises(RequestError, match="no experiment"):
        site.loop.run_until_complete(fresh.of("none"))


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
