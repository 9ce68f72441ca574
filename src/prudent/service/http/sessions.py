"""Who is signed in: sessions of browsers, each of a token.

The cookie holds 256 random bits and nothing of the token; the database holds their SHA-256. A session ends when
somebody signs out, when its token is revoked or expires, and after a week. It holds in every process of the service:
one that does not know a session looks it up in the database, however many do not know theirs, four times a second.
"""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Any

from prudent.service.http.accesses import Access, note_access
from prudent.service.http.tokens import FRESH, Token, Tokens
from prudent.service.log.store import StoreError
from prudent.service.work.children import in_own_thread

COOKIE = "prudent"
LIFE = 7 * 86_400_000
"""Milliseconds for which a session lasts."""

MOST = 20
"""Sessions of one token; the oldest ends when there is one more."""

PAUSE = 0.25
"""Seconds between two looks into the database for sessions that are not known."""

SECONDS = 3.0
"""How long a request waits for sessions to be read."""

LENGTH = 43
"""Characters of a session: 256 bits as base64."""


class Sessions:
    """The sessions of a database. `write` lets the thread that writes do something, and waits for it."""

    def __init__(
        self, store: Any, write: Callable[[Callable[[], Any]], Any], clock: Callable[[], int], tokens: Tokens
    ) -> None:
        self._store, self._write, self._clock, self._tokens = store, write, clock, tokens
        self._known: dict[bytes, tuple[int, int]] = {}  # the number of the token, and when the session ends
        self._until = 0
        self._looked = -PAUSE  # when the last look into the database began
        self._looking = asyncio.Lock()
        self._ended: set[bytes] = set()

    async def find(self, text: str) -> Token | None:
        """The token of a session, if both are valid."""
        if len(text) != LENGTH:
            return None
        arrived, digest = time.monotonic(), _hash(text)
        if digest not in self._known or not self._until - FRESH <= self._clock() < self._until:
            await self._look(arrived)
        number, ends = self._known.get(digest, (0, 0))
        return self._tokens.of(number) if self._clock() < ends else None

    async def create(self, token: Token, caller: str = "") -> str:
        """A new session, which is kept nowhere as it is."""
        text = secrets.token_urlsafe(32)
        digest, now = _hash(text), self._clock()
        ends = now + LIFE if token.expires is None else min(now + LIFE, token.expires)

        def insert() -> None:
            execute = self._store.database.execute
            with self._store.transaction():
                execute("DELETE FROM session WHERE ends <= ?", now)
                execute(
                    "DELETE FROM session WHERE token = ? AND hash NOT IN"
                    " (SELECT hash FROM session WHERE token = ? ORDER BY ends DESC LIMIT ?)",
                    token.number,
                    token.number,
                    MOST - 1,
                )
                execute("INSERT INTO session (hash, token, ends) VALUES (?, ?, ?)", digest, token.number, ends)
                note_access(self._store, Access(now, token.number, "signed in", caller))

        await in_own_thread(lambda: self._write(insert))
        self._known[digest] = token.number, ends
        return text

    async def end(self, text: str, token: Token | None = None, caller: str = "") -> None:
        """Sign out. In this process the session ends at once, in others within two seconds."""
        digest = _hash(text)

        def delete() -> None:
            with self._store.transaction():
                self._store.database.execute("DELETE FROM session WHERE hash = ?", digest)
                if token is not None:
                    note_access(self._store, Access(self._clock(), token.number, "signed out", caller))

        await in_own_thread(lambda: self._write(delete))
        self._known.pop(digest, None)
        self._ended.add(digest)  # for a look that began before

    async def _look(self, arrived: float) -> None:
        """Read all sessions, unless somebody has begun to do so after the request `arrived`."""
        async with self._looking:
            if self._looked >= arrived:
                return
            await asyncio.sleep(self._looked + PAUSE - time.monotonic())
            self._looked, now = time.monotonic(), self._clock()
            reading = in_own_thread(
                lambda: self._store.read("SELECT hash, token, ends FROM session WHERE ends > ?", now)
            )
            try:
                rows = await asyncio.wait_for(reading, SECONDS)
            except TimeoutError:
                raise StoreError(f"the sessions could not be read within {SECONDS:g} s") from None
            found = {bytes(digest): (number, ends) for digest, number, ends in rows}
            self._known = {digest: known for digest, known in found.items() if digest not in self._ended}
            self._ended &= found.keys()
            self._until = now + FRESH


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()
