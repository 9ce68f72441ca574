"""Plans that people make in the browser: what they typed, the file they uploaded, and what was found.

A draft belongs to a token. It is edited, waits to be computed, is computed, and is done then for good; whoever wants
another plan makes a copy. What fails or is cancelled is edited again, with words that say why.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from prudent.service.problems import RequestError

MOST = 100
"""Drafts of one token."""

LONGEST_QUEUE = 20
"""Drafts that wait to be computed."""

LATE = 60_000
"""Milliseconds after which a process that computes and says nothing is taken for dead."""

PILOT = "pilot"
"""The name under which the uploaded file is kept; what was found has names of its own."""


class Draft(NamedTuple):
    """A row of its table. `fields` are those of the form and `seen` what they mean, as JSON; `file` is the name of the
    uploaded file; `spec` that of the experiment which was started from it."""

    id: str
    token: int
    changed: int
    fields: str
    seen: str
    file: str
    state: str
    attempt: int
    queued: int
    beat: int
    done: int
    total: int
    words: str
    spec: str | None

    @property
    def form(self) -> dict[str, str]:
        """What was typed."""
        return dict(msgspec.json.decode(self.fields))

    @property
    def started(self) -> str | None:
        """The name of the experiment that was started from it."""
        return None if self.spec is None else str(msgspec.json.decode(self.spec)["name"])

    @property
    def tag(self) -> str:
        """Changes whenever the page changes."""
        return f'"{self.state}-{self.attempt}-{self.done}-{self.spec is None}"'


def _json(fields: Mapping[str, str]) -> str:
    return msgspec.json.encode(dict(fields)).decode()


COLUMNS = ", ".join(Draft._fields)


class Drafts:
    """The drafts of a database. `write` lets the thread that writes do something, and waits for it."""

    def __init__(self, store: Any, write: Callable[[Callable[[], Any]], Any], clock: Callable[[], int]) -> None:
        self._store, self._write, self._clock = store, write, clock

    def mine(self, token: int) -> list[Draft]:
        """All of a token, the newest first."""
        rows = self._store.read(f"SELECT {COLUMNS} FROM draft WHERE token = ? ORDER BY changed DESC, id", token)
        return [Draft(*row) for row in rows]

    def find(self, name: str, token: int | None = None) -> Draft:
        """The draft of that id; with `token`, only if it is that token's."""
        rows = self._store.read(f"SELECT {COLUMNS} FROM draft WHERE id = ?", name)
        if not rows or (token is not None and rows[0][1] != token):
            raise RequestError("not-found", "there is no such plan; was it made with another token?")
        return Draft(*rows[0])

    def file(self, name: str, file: str) -> bytes | None:
        """A file of a draft."""
        rows = self._store.read("SELECT data FROM draft_file WHERE draft = ? AND name = ?", name, file)
        return bytes(rows[0][0]) if rows else None

    def ahead(self, draft: Draft) -> int:
        """How many are computed before it."""
        sql = "SELECT COUNT(*) FROM draft WHERE id <> ? AND (state = 'computing' OR (state = 'waiting' AND queued < ?))"
        return int(self._store.read(sql, draft.id, draft.queued)[0][0])

    # Changes

    def create(self, token: int, like: Draft | None = None, title: str = "") -> str:
        """A new draft with a title, or like another one; its id."""
        name, now = secrets.token_hex(8), self._clock()
        fields, seen, file = (
            (_json({"title": title} if title else {}), "{}", "")
            if like is None
            else (like.fields, like.seen, like.file)
        )
        made = Draft(name, token, now, fields, seen, file, "editing", 0, 0, 0, 0, 0, "", None)

        def insert() -> None:
            (many,) = self._execute("SELECT COUNT(*) FROM draft WHERE token = ?", token)[0]
            if many >= MOST:
                raise RequestError("conflict", f"there are {MOST} plans already; delete some of them first")
            self._execute(f"INSERT INTO draft ({COLUMNS}) VALUES ({', '.join('?' * len(made))})", *made)
            if like is not None and (data := self.file(like.id, PILOT)) is not None:
                self._put(name, {PILOT: data})

        self._change(insert)
        return name

    def save(self, name: str, fields: Mapping[str, str], upload: tuple[str, bytes] | None, drop: bool = False) -> None:
        """Keep what was typed, and the file if there is a new one."""

        def update() -> None:
            self._check(name, "editing")
            self._execute("UPDATE draft SET fields = ?, changed = ? WHERE id = ?", _json(fields), self._clock(), name)
            if upload is not None or drop:
                self._execute("DELETE FROM draft_file WHERE draft = ?", name)
                self._execute("UPDATE draft SET file = ? WHERE id = ?", "" if upload is None else upload[0], name)
            if upload is not None:
                self._put(name, {PILOT: upload[1]})

        self._change(update)

    def keep_seen(self, name: str, seen: str) -> None:
        """Keep what the fields mean."""
        sql = "UPDATE draft SET seen = ?, words = '' WHERE id = ? AND state = 'editing'"
        self._change(lambda: self._execute(sql, seen, name))

    def enqueue(self, name: str) -> None:
        """Let it be computed."""

        def update() -> None:
            (many,) = self._execute("SELECT COUNT(*) FROM draft WHERE state = 'waiting'")[0]
            if many >= LONGEST_QUEUE:
                raise RequestError("busy", f"{many} plans are waiting already; try again in a few minutes")
            (last,) = self._execute("SELECT COALESCE(MAX(queued), 0) FROM draft")[0]
            self._execute(
                "UPDATE draft SET state = 'waiting', queued = ?, done = 0, total = 0, words = ''"
                " WHERE id = ? AND state = 'editing'",
                last + 1,
                name,
            )

        self._change(update)

    def cancel(self, name: str) -> None:
        """Do not compute it after all."""
        sql = "UPDATE draft SET state = 'editing', words = ? WHERE id = ? AND state IN ('waiting', 'computing')"
        self._change(lambda: self._execute(sql, "The computation was cancelled. What you typed is still here.", name))

    def delete(self, name: str) -> None:
        """Remove it with its files."""

        def remove() -> None:
            self._execute("DELETE FROM draft_file WHERE draft = ?", name)
            self._execute("DELETE FROM draft WHERE id = ?", name)

        self._change(remove)

    def start(self, name: str, spec: str) -> str:
        """Say that an experiment was started from it; its spec, which is an earlier one if there was one."""

        def update() -> str:
            draft = self._check(name, "done")
            if draft.spec is None:
                self._execute("UPDATE draft SET spec = ? WHERE id = ?", spec, name)
            return draft.spec or spec

        return str(self._change(update))

    def start_failed(self, name: str) -> None:
        """The experiment could not be created."""
        self._change(lambda: self._execute("UPDATE draft SET spec = NULL WHERE id = ?", name))

    # For whoever computes. A draft that was cancelled, and perhaps begun again, has another state or attempt.

    def begin_again(self) -> None:
        """What was being computed when the only process ended waits again."""
        self._change(lambda: self._execute("UPDATE draft SET state = 'waiting' WHERE state = 'computing'"))

    def take(self) -> Draft | None:
        """The next one to compute, if no other is being computed."""
        if not self._store.read("SELECT 1 FROM draft WHERE state IN ('waiting', 'computing') LIMIT 1"):
            return None

        def update() -> Draft | None:
            now = self._clock()
            waits = "(state = 'waiting' OR (state = 'computing' AND beat < ?))"
            rows = self._execute(
                f"UPDATE draft SET state = 'computing', attempt = attempt + 1, beat = ?, done = 0, total = 0 WHERE id ="
                f" (SELECT id FROM draft WHERE {waits} ORDER BY queued LIMIT 1) AND {waits} AND NOT EXISTS"
                f" (SELECT 1 FROM draft WHERE state = 'computing' AND beat >= ?) RETURNING {COLUMNS}",
                now,
                now - LATE,
                now - LATE,
                now - LATE,
            )
            return Draft(*rows[0]) if rows else None

        found: Draft | None = self._change(update)
        return found

    def going_on(self, draft: Draft, done: int, total: int) -> bool:
        """Say how far it has come; whether it is still wanted."""
        sql = "UPDATE draft SET beat = ?, done = ?, total = ? WHERE id = ? AND state = 'computing' AND attempt = ?"
        values = self._clock(), done, total, draft.id, draft.attempt
        return bool(self._change(lambda: self._execute(f"{sql} RETURNING id", *values)))

    def unfinished(self) -> set[str]:
        """The drafts that may still be computed."""
        return {name for (name,) in self._store.read("SELECT id FROM draft WHERE state <> 'done'")}

    def is_wanted(self, draft: Draft) -> bool:
        """Whether nobody has cancelled it."""
        sql = "SELECT 1 FROM draft WHERE id = ? AND state = 'computing' AND attempt = ?"
        return bool(self._store.read(sql, draft.id, draft.attempt))

    def end(self, draft: Draft, state: str, words: str = "", files: Mapping[str, bytes] | None = None) -> None:
        """It is done, with these files; or not, and why."""

        def update() -> None:
            sql = "UPDATE draft SET state = ?, words = ? WHERE id = ? AND state = 'computing' AND attempt = ?"
            if self._execute(f"{sql} RETURNING id", state, words, draft.id, draft.attempt):
                self._put(draft.id, files or {})

        self._change(update)

    def _check(self, name: str, state: str) -> Draft:
        rows = self._execute(f"SELECT {COLUMNS} FROM draft WHERE id = ?{self._store.database.locking}", name)
        if not rows:
            raise RequestError("not-found", "there is no such plan; it may have been deleted")
        draft = Draft(*rows[0])
        if draft.state != state:
            why = {"done": "it is done; make a copy to change it", "editing": "it has not been computed yet"}
            raise RequestError("conflict", f"the plan cannot change so: {why.get(draft.state, 'it is being computed')}")
        return draft

    def _put(self, name: str, files: Mapping[str, bytes]) -> None:
        sql = "INSERT INTO draft_file (draft, name, data) VALUES (?, ?, ?) ON CONFLICT (draft, name) DO UPDATE SET"
        for file, data in files.items():
            self._execute(f"{sql} data = excluded.data", name, file, data)

    def _execute(self, sql: str, *values: Any) -> list[Any]:
        found: list[Any] = self._store.database.execute(sql, *values)
        return found

    def _change(self, act: Callable[[], Any]) -> Any:
        def change() -> Any:
            with self._store.transaction():
                return act()

        return self._write(change)
