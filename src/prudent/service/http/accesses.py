"""Who came in, and which tokens were made and ended: a list for those who are responsible, of the last ten thousand."""

from typing import Any, NamedTuple

KEPT = 10_000
"""Lines that are kept."""

LONGEST = 100
"""Characters of an address."""


class Access(NamedTuple):
    """A line: when, the number of the token, what happened, and the address from which, if it is known."""

    at: int
    token: int
    what: str
    caller: str


def note_access(store: Any, access: Access) -> None:
    """A new line, inside of a transaction."""
    execute = store.database.execute
    (last,) = execute("SELECT COALESCE(MAX(number), 0) FROM access")[0]
    values = (last + 1, *access[:3], access.caller[:LONGEST])
    execute("INSERT INTO access (number, at, token, what, caller) VALUES (?, ?, ?, ?, ?)", *values)
    execute("DELETE FROM access WHERE number <= ?", last + 1 - KEPT)


def last_accesses(store: Any, limit: int) -> list[Access]:
    """The last lines, the newest first."""
    sql = f"SELECT at, token, what, caller FROM access ORDER BY number DESC LIMIT {int(limit)}"
    return [Access(*row) for row in store.read(sql)]
