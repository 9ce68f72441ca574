"""A proxy that is trusted says who somebody is; nobody else can."""

import html
import re

import pytest

from helpers.service.html_pages import HERE, HOSTILE, get
from helpers.service.served_experiments import InProcessService
from prudent import PrudentError
from prudent.service.http.single_sign_on import single_sign_on

PROXY, OTHER = "10.0.0.2", "10.0.0.9"
ROLES = ["*=read", "owners=admin", "robots=decide,reward"]


def trusting(**other):
    given = {"header": "X-Forwarded-User", "addresses": [PROXY], "roles": ROLES, "groups": "X-Groups", **other}
    return single_sign_on(*given.values(), behind_proxy=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"), behind_proxy=True, sign_on=trusting())
    site.pages(pause=0.0)
    site.service.forecasts.of = lambda number, state, patience=0.0: None
    yield site
    site.close()


def seen(site, path, person="Ada", groups="", client=PROXY, method="GET", body=None):
    headers = [("x-forwarded-user", person)] if person is not None else []
    headers += [("x-groups", groups)] if groups else []
    form = [HERE, ("content-type", "application/x-www-form-urlencoded")] if body else []
    return site(method, path, body, token=None, headers=[*headers, *form], client=client)


def test_the_proxy_says_who_somebody_is_and_roles_what_they_may(site):
    assert seen(site, "/e/one").status == 200
    assert "What you can do" not in seen(site, "/e/one").body.decode()
    assert seen(site, "/e/one/pause", method="POST", body=b"reason=x").status == 403
    assert "What you can do" in seen(site, "/e/one", groups="staff, owners").body.decode()
    assert seen(site, "/e/one/pause", groups="owners", method="POST", body=b"reason=lunch").status == 303
    assert "— Ada" in seen(site, "/e/one").body.decode()
    assert ">Ada<" in seen(site, "/").body.decode()


@pytest.mark.parametrize("client", [OTHER, None, "127.0.0.1", "nonsense", "::ffff:10.0.0.9"])
def test_nobody_else_can_say_so(site, client):
    answer = seen(site, "/e/one", groups="owners", client=client)
    assert (answer.status, answer.headers["location"]) == (303, "/login?then=/e/one")
    assert seen(site, "/e/one", client="::ffff:10.0.0.2").status == 200


def test_an_address_that_others_write_down_is_not_that_of_the_connection(site):
    headers = [("x-forwarded-user", "Eve"), ("x-forwarded-for", PROXY)]
    assert site("GET", "/e/one", None, token=None, headers=headers, client=OTHER).status == 303


def test_programs_need_tokens_all_the_same(site):
    assert seen(site, "/v1/experiments", groups="owners").status == 401


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "a\u0000b", "a\nb"])
def test_a_name_that_is_none_is_refused(site, name):
    assert seen(site, "/", name).status == 400


def test_a_name_given_twice_is_refused(site):
    twice = [("x-forwarded-user", "Ada"), ("x-forwarded-user", "Eve")]
    assert site("GET", "/", None, token=None, headers=twice, client=PROXY).status == 400


def test_names_are_text_and_people_are_told_apart(site):
    printable = [name for name in HOSTILE if name.isprintable()]
    assert seen(site, "/", "\u202eRTL").status == 400
    for name in [*printable, "Ada ", "ada"]:
        assert seen(site, "/", name).status == 200
    people = {token.note: token.id for token in site.service.tokens.all() if token.person}
    assert {"Ada", "ada", *printable} <= people.keys()
    assert "Ada " not in people
    assert len(set(people.values())) == len(people)
    page = get(site, "/access").body.decode()
    assert "<script>alert" not in page
    assert html.escape(HOSTILE[1], quote=False).replace('"', "&#34;") in page


def test_somebody_who_is_revoked_may_not_come_in(site):
    assert seen(site, "/", "Bob").status == 200
    (bob,) = [token for token in site.service.tokens.all() if token.note == "Bob"]
    assert site.service.tokens.find(f"pru_{bob.id}_x") is None
    site.service.tokens.revoke(bob.id)
    assert seen(site, "/", "Bob", groups="owners").status == 403


def test_who_came_in_is_on_a_page_for_those_who_are_responsible(site):
    site.session("read")
    text, token = site.service.tokens.create(["read"], note="for Monday", by=0)
    site.service.tokens.revoke(token.id)
    assert seen(site, "/", "Cleo").status == 200
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", get(site, "/access").body.decode()))
    for words in (f"for Monday: made token {token.id}", f"revoked token {token.id}", "Cleo: came first, by the proxy",
                  "signed in", "by the proxy by their groups"):  # fmt: skip
        assert words in page, words
    assert text not in page
    assert get(site, "/access", "read").status == 403


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"header": ""}, "need --trust-header"),
        ({"header": "a b"}, "a header is named by"),
        ({"groups": "a:b"}, "a header is named by"),
        ({"addresses": []}, "--trust-from, the address"),
        ({"addresses": ["proxy"]}, "an address or a network"),
        ({"addresses": ["127.0.0.1"]}, "must not be this machine"),
        ({"addresses": ["0.0.0.0/0"]}, "must not be this machine"),
        ({"addresses": ["::1"]}, "must not be this machine"),
        ({"roles": []}, "needs --role"),
        ({"roles": ["owners"]}, "a group and scopes"),
        ({"roles": ["owners=admn"]}, "did you mean admin"),
    ],
)
def test_what_cannot_be_safe_is_refused(other, words):
    with pytest.raises(PrudentError, match=words):
        trusting(**other)
    with pytest.raises(PrudentError, match="needs --behind-proxy"):
        single_sign_on("X-User", [PROXY], ROLES, "", behind_proxy=False)
