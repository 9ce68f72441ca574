"""Who may do what: tokens with scopes, for all experiments or some, until they expire or are revoked.

A token is `pru_<id>_<secret>`. The database holds the id and SHA-256 of the secret; 256 random bits need no slower
hash. Whoever has no valid token learns nothing from the answer, nor from its time: every token is looked up in memory,
and its secret compared with some hash, whether the id exists or not.
"""

import asyncio
import contextlib
import hashlib
import hmac
import secrets
import string
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from prudent.base.errors import PrudentError, near, shown
from prudent.service.http.accesses import Access, note_access
from prudent.service.log.store import StoreError
from prudent.service.messages import Answer, Name, Request
from prudent.service.problems import RequestError
from prudent.service.spec import check_text

SCOPES = {
    "decide": "ask for decisions",
    "reward": "report rewards",
    "read": "look at experiments",
    "admin": "create and change experiments and tokens, and all of the others",
}
PERSON = "person-"
"""How the ids of people begin whom a proxy names."""

FRESH = 2_000
"""Milliseconds for which the tokens in memory are taken for those in the database, which other processes change."""

SECONDS = 3.0
"""How long a request waits for tokens to be read."""

_LETTERS = string.ascii_letters + string.digits


class NewToken(Request):
    """What a token allows. Without `experiments` it holds for all, also later ones. `expires` is a time."""

    scopes: Annotated[list[Literal["decide", "reward", "read", "admin"]], Meta(min_length=1, max_length=4)]
    experiments: Annotated[list[Name], Meta(min_length=1, max_length=1000)] | None = None
    expires: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    note: Annotated[str, Meta(max_length=200)] = ""


class TokenInfo(Answer):
    """A token without its secret, which nobody can read again."""

    id: str
    scopes: list[str]
    experiments: list[str] | None
    created: int
    expires: int | None = None
    revoked: int | None = None
    note: str = ""


class MadeToken(TokenInfo, kw_only=True):
    """A new token. It is shown this once."""

    token: str


class Token(NamedTuple):
    """A row of its table. `experiments` is None for all."""

    number: int
    id: str
    hash: bytes
    scopes: frozenset[str]
    experiments: frozenset[str] | None
    created: int
    expires: int | None
    revoked: int | None
    note: str

    def allows(self, scope: str) -> bool:
        """Whether it has this scope; `admin` has all."""
        return scope in self.scopes or "admin" in self.scopes

    def covers(self, experiment: str) -> bool:
        """Whether it holds for this experiment."""
        return self.experiments is None or experiment in self.experiments

    @property
    def person(self) -> str:
        """The name of somebody whom a proxy names; nothing for a token."""
        return self.note if self.id.startswith(PERSON) else ""

    def info(self) -> TokenInfo:
        """What may be shown of it."""
        names = None if self.experiments is None else sorted(self.experiments)
        times = self.created, self.expires, self.revoked
        return TokenInfo(self.id, sorted(self.scopes), names, *times, self.note)


_NOBODY = Token(0, "", bytes(32), frozenset(), frozenset(), 0, None, 0, "")
"""What an id that does not exist is compared with: no secret has this hash, and it is revoked."""


class Tokens:
    """The tokens of a database. `write` lets the thread that writes do something, and waits for it."""

    def __init__(self, store: Any, write: Callable[[Callable[[], Any]], Any], clock: Callable[[], int]) -> None:
        self._store, self._write, self._clock = store, write, clock
        self._known: dict[str, Token] = {}
        self._until = 0
        self._reading = threading.Lock()  # so that what was read before a revocation never replaces what came after
        # Every request needs the tokens, so that what others read must not keep them waiting.
        self.thread = ThreadPoolExecutor(1, "prudent-tokens")
        self._asking = threading.Lock()
        self._read: Future[None] | None = None

    @property
    def stale(self) -> bool:
        """Whether they must be read again before `find`."""
        return not self._until - FRESH <= self._clock() < self._until

    async def current(self) -> None:
        """See that the tokens in memory are those of the database, before `find`. Whoever comes meanwhile waits for the
        same read; `StoreError` if it takes too long."""
        if not self.stale:
            return
        with self._asking:
            if self._read is None or self._read.done():
                self._read = self.thread.submit(self.refresh)
            read = self._read
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(read)), SECONDS)
        except TimeoutError:
            raise StoreError(f"the tokens could not be read within {SECONDS:g} s") from None

    def refresh(self) -> None:
        """Read all tokens again. They are few, and a flood of wrong ones then never reaches the database."""
        with self._reading:
            now = self._clock()
            rows = self._store.read(f"SELECT {', '.join(Token._fields)} FROM token ORDER BY number")
            self._known = {row[1]: _token(row) for row in rows}
            self._until = now + FRESH

    def find(self, text: str) -> Token | None:
        """The valid token that this is. Of the reasons why it is none, nothing can be told."""
        parts = text.split("_")
        prefix, name, secret = parts if len(parts) == 3 else ("", "", "")
        known = self._known.get(name, _NOBODY)
        same = hmac.compare_digest(_hash(secret), known.hash)
        return self._valid(known) if same and prefix == "pru" else None

    def of(self, number: int) -> Token | None:
        """The valid token of this number."""
        return next((self._valid(token) for token in self._known.values() if token.number == number), None)

    def called(self, number: int) -> str:
        """What people call the owner of a token: its note, or its id; nothing for who has none."""
        known = next((token for token in self._known.values() if token.number == number), None)
        return "" if known is None else known.note or f"token {known.id}"

    def _valid(self, token: Token) -> Token | None:
        """The token, unless it is revoked or has expired."""
        live = token.revoked is None and (token.expires is None or self._clock() < token.expires)
        return token if live else None

    def all(self) -> list[Token]:
        """Every token, revoked and expired ones too."""
        self.refresh()
        return list(self._known.values())

    def create(
        self,
        scopes: Sequence[str],
        experiments: Sequence[str] | None = None,
        expires: int | None = None,
        note: str = "",
        by: int = 0,
    ) -> tuple[str, Token]:
        """A new token: its text, which is kept nowhere, and what it allows; `by` is the token of who makes it."""
        for scope in scopes:
            if scope not in SCOPES:
                raise PrudentError(f"token: unknown scope {shown(scope)}; {near(scope, SCOPES)}")
        if not scopes:
            raise PrudentError(f"token: at least one scope is needed, of {', '.join(SCOPES)}")
        check_text("token", "note", note)
        now = self._clock()
        if expires is not None and expires <= now:
            raise PrudentError(f"token: expires must be later than now, {now} milliseconds since 1970, got {expires}")
        name, secret = _random(8).lower(), _random(43)  # 62 letters to the power 43 are 256 bits
        names = "*" if experiments is None else " ".join(sorted(set(experiments)))
        row = name, _hash(secret), " ".join(sorted(set(scopes))), names, now, expires, note
        self._add(row, Access(now, by, f"made token {name}", ""))
        return f"pru_{name}_{secret}", self._known[name]

    def _add(self, row: tuple[Any, ...], access: Access) -> None:
        """A new row, with the next number."""

        def insert() -> None:
            with self._store.transaction():
                (last,) = self._store.database.execute("SELECT COALESCE(MAX(number), 0) FROM token")[0]
                columns = "number, id, hash, scopes, experiments, created, expires, note"
                sql = f"INSERT INTO token ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                self._store.database.execute(sql, last + 1, *row)
                note_access(self._store, access._replace(token=access.token or last + 1))

        self._write(insert)
        self.refresh()

    def enrolled(self, person: str, caller: str) -> Token | None:
        """The row of somebody whom a trusted proxy names, made when they come first, so that logs say who did what.
        It allows nothing by itself, and nobody has its secret; None if it was revoked."""
        name = f"{PERSON}{hashlib.sha256(person.encode()).hexdigest()[:16]}"
        if name not in self._known:
            row = name, _hash(secrets.token_hex(32)), "", "*", self._clock(), None, person
            with contextlib.suppress(StoreError):  # another process may have been faster
                self._add(row, Access(self._clock(), 0, "came first, by the proxy", caller))
            self.refresh()
        found = self._known.get(name)
        return None if found is None else self._valid(found)

    def revoke(self, name: str, by: int = 0) -> None:
        """End a token. In this process it ends at once, in others within two seconds."""
        now = self._clock()
        self.refresh()
        if name not in self._known:
            raise RequestError("not-found", f"token: there is none with the id {shown(name)}")

        def update() -> None:
            with self._store.transaction():
                sql = "UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL"
                self._store.database.execute(sql, now, name)
                note_access(self._store, Access(now, by, f"revoked token {name}", ""))

        self._write(update)
        self.refresh()


def _token(row: Sequence[Any]) -> Token:
    number, name, digest, scopes, experiments, *rest = row
    names = None if experiments == "*" else frozenset(experiments.split())
    return Token(number, name, bytes(digest), frozenset(scopes.split()), names, *rest)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()


def _random(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))
