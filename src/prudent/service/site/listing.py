"""The list of experiments: a page of them at a time, and a search by name; thousands take no longer than a few."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

AT_A_TIME = 25
"""Experiments on a page."""

LONGEST = 63
"""Letters of a name."""


class Listing(NamedTuple):
    """A page of the list: the experiments on it, and the way to others."""

    names: list[str]
    search: str
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
        return "/?" + urlencode({**({"search": self.search} if self.search else {}), "page": page})


def listing(names: list[str], query: dict[str, str]) -> Listing:
    """The page that is asked for; one that is not there is the nearest that is."""
    search = query.get("search", "").strip().lower()[:LONGEST]
    found = [name for name in names if search in name]
    pages = max(1, -(-len(found) // AT_A_TIME))
    page = min(max(1, _number(query.get("page", ""))), pages)
    some = found[(page - 1) * AT_A_TIME : page * AT_A_TIME]
    return Listing(some, search, page, pages, len(found))


def _number(text: Any) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 1
