"""Pages as a browser asks for them, forms as it sends them, the tags of a page, and texts that must stay texts."""

from html.parser import HTMLParser
from urllib.parse import urlencode

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "=cmd|' /C calc'!A0", "\u202eRTL"]
HOSTILE += ["a'b\"c"]
FORM = ("content-type", "application/x-www-form-urlencoded")
HERE = ("sec-fetch-site", "same-origin")


def get(site, path, scope="admin", **about):
    """A page, as somebody with a cookie sees it."""
    cookie = [("cookie", f"prudent={site.session(scope)}")] if scope else []
    return site("GET", path, token=None, headers=[*cookie, *about.pop("headers", [])], **about)


def post(site, path, form, scope="admin", headers=(HERE,)):
    """What a form sends."""
    cookie = [("cookie", f"prudent={site.session(scope)}")] if scope else []
    return site("POST", path, urlencode(form).encode(), token=None, headers=[FORM, *headers, *cookie])


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words += data
