"""The list of experiments: a page of them at a time, by name, state, owner and date; thousands take no longer than a
few."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from prudent.service.log.store import Beginning
from prudent.service.views.answers import STATES
from prudent.service.views.words import day

AT_A_TIME = 25
"""Experiments on a page."""

LONGEST = 63
"""Letters of what is searched for."""

SORTS: dict[str, tuple[str, Callable[["Row"], Any], bool]] = {
    "changed": ("last event", lambda row: row.changed, True),
    "began": ("beginning", lambda row: row.began, True),
    "name": ("name", lambda row: row.name, False),
    "owner": ("owner", lambda row: (row.owner, row.name), False),
}
"""Orders by their names in an address: in words, by what, and whether the largest comes first."""


class Row(NamedTuple):
    """What the list says of an experiment without its state. Times are those of the log."""

    name: str
    state: str
    owner: str
    began: int
    changed: int

    @property
    def days(self) -> tuple[str, str]:
        """When it began, and when something last happened."""
        return day(self.began), day(self.changed)


class Listing(NamedTuple):
    """A page of the list, what was asked for, and the way to others."""

    rows: list[Row]
    asked: dict[str, str]
    page: int
    pages: int
    found: int

    @property
    def earlier(self) -> str | None:
        """The address of the page before this one."""
        return self._address(self.page - 1) if self.page > 1 else None

    @property
    def later(self) -> str | None:
        """The address of the page after this one."""
        return self._address(self.page + 1) if self.page < self.pages else None

    def _address(self, page: int) -> str:
        return "/?" + urlencode({**{name: text for name, text in self.asked.items() if text}, "page": page})


def listing(known: Sequence[Beginning], query: Mapping[str, str], owner: Callable[[int], str]) -> Listing:
    """The page that is asked for; one that is not there is the nearest that is. `owner` names that of a token."""
    asked = {
        "search": query.get("search", "").strip().lower()[:LONGEST],
        "state": query.get("state", "") if query.get("state", "") in STATES else "",
        "sort": query.get("sort", "") if query.get("sort", "") in SORTS else "",
    }
    rows = [Row(each.name, each.status, owner(each.by), each.began, each.at) for each in known]
    found = [
        row
        for row in rows
        if (asked["search"] in row.name or asked["search"] in row.owner.lower())
        and (asked["state"] == row.state or (not asked["state"] and row.state != "archived"))
    ]
    _, by, largest_first = SORTS[asked["sort"] or "changed"]
    found.sort(key=by, reverse=largest_first)
    pages = max(1, -(-len(found) // AT_A_TIME))
    page = min(max(1, _number(query.get("page", ""))), pages)
    some = found[(page - 1) * AT_A_TIME : page * AT_A_TIME]
    return Listing(some, asked, page, pages, len(found))


def _number(text: Any) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 1
