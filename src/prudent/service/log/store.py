"""What the service keeps: its tables, the same in both databases, and the statements that read or write them.

One connection writes, inside a transaction that the writer begins and commits. Readers have connections of their own
and never lock anything. `sqlite` and `postgres` say how to connect, and where the databases differ.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from prudent.base.errors import PrudentError
from prudent.service.log.address import is_postgresql
from prudent.service.log.events import LINK, Event

NOTABLE = (
    "kind NOT IN ('asked', 'activated', 'told', 'counted', 'defaulted', 'expired', 'withdrawn', 'outside', 'split',"
    " 'merged', 'fell-back')"
)
"""Events that are told one by one: what people and guards did. An index of the tables says the same."""

MIGRATIONS = [
    [
        "CREATE TABLE experiment (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,"
        " arms TEXT NOT NULL, secret BLOB NOT NULL, salt BLOB NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,"
        " chain BLOB NOT NULL, status TEXT NOT NULL)",
        "CREATE TABLE event (experiment INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,"
        " kind TEXT NOT NULL, decision INTEGER, arm INTEGER, value REAL, key BLOB, unit BLOB, body TEXT,"
        " by INTEGER NOT NULL, link BLOB NOT NULL, PRIMARY KEY (experiment, seq)) WITHOUT ROWID",
        "CREATE TABLE decision (experiment INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, arm INTEGER,"
        " state TEXT NOT NULL, due INTEGER, value REAL, body TEXT, PRIMARY KEY (experiment, seq)) WITHOUT ROWID",
        "CREATE INDEX decision_due ON decision (experiment, due, seq) WHERE due IS NOT NULL",
        "CREATE TABLE known (experiment INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL,"
        " many INTEGER NOT NULL, request BLOB, PRIMARY KEY (experiment, key)) WITHOUT ROWID",
        "CREATE TABLE snapshot (experiment INTEGER NOT NULL, seq INTEGER NOT NULL, state TEXT NOT NULL,"
        " version TEXT NOT NULL, PRIMARY KEY (experiment, seq)) WITHOUT ROWID",
        "CREATE TABLE token (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL,"
        " scopes TEXT NOT NULL, experiments TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER,"
        " revoked INTEGER, note TEXT NOT NULL)",
    ],
    [
        "CREATE TABLE series (experiment INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,"
        " arms TEXT NOT NULL, PRIMARY KEY (experiment, seq)) WITHOUT ROWID",
        "CREATE INDEX decision_open ON decision (experiment, seq) WHERE state IN ('open', 'waiting', 'told')",
    ],
    [
        "ALTER TABLE experiment ADD COLUMN again INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE experiment ADD COLUMN late INTEGER NOT NULL DEFAULT 0",
        "DELETE FROM snapshot",  # older ones lack the marks by which a change of rewards is noticed
    ],
    [
        "CREATE TABLE draft (id TEXT PRIMARY KEY, token INTEGER NOT NULL, changed INTEGER NOT NULL,"
        " fields TEXT NOT NULL, seen TEXT NOT NULL, file TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL,"
        " queued INTEGER NOT NULL, beat INTEGER NOT NULL, done INTEGER NOT NULL, total INTEGER NOT NULL,"
        " words TEXT NOT NULL, spec TEXT)",
        "CREATE TABLE draft_file (draft TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL,"
        " PRIMARY KEY (draft, name))",
    ],
    ["ALTER TABLE experiment ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0"],
    [
        "CREATE TABLE session (hash BLOB PRIMARY KEY, token INTEGER NOT NULL, ends INTEGER NOT NULL)",
        "DELETE FROM snapshot",  # older ones do not say which arm is the fallback
    ],
    [f"CREATE INDEX event_notable ON event (experiment, seq) WHERE {NOTABLE}"],
    [
        "ALTER TABLE decision ADD COLUMN propensity REAL",
        "DELETE FROM snapshot",  # older agents have no floors, and no bets on the cost itself
    ],
    [
        "CREATE TABLE access (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, token INTEGER NOT NULL,"
        " what TEXT NOT NULL, caller TEXT NOT NULL)",
    ],
    [
        "CREATE TABLE webhook (id TEXT PRIMARY KEY, url TEXT NOT NULL, secret BLOB NOT NULL, events TEXT NOT NULL,"
        " experiments TEXT NOT NULL, note TEXT NOT NULL, created INTEGER NOT NULL, failures INTEGER NOT NULL,"
        " trouble TEXT NOT NULL, again INTEGER NOT NULL, gone INTEGER, holder TEXT NOT NULL, until INTEGER NOT NULL)",
        "CREATE TABLE webhook_position (webhook TEXT NOT NULL, experiment INTEGER NOT NULL, seq INTEGER NOT NULL,"
        " PRIMARY KEY (webhook, experiment)) WITHOUT ROWID",
    ],
]

DELETED = "deleted"
"""The status of an experiment of which only the last event is left. It is in no list, and its name stays taken."""

ERASED_AT_A_TIME = 5_000
"""Rows of a table of a deleted experiment that go in one transaction, so that nobody waits for them."""

SCHEMA = len(MIGRATIONS)
"""The version of the tables. `MIGRATIONS[n]` leads from version n to n + 1."""

LEAST = 9
"""The oldest version of the tables whose software may work on these: what came since is only added, so that two
versions of the software run side by side during an upgrade, and the older one can be taken back. Software older than 9
knows nothing of archives, of deleted experiments and of rewards that are events."""


class Experiment(NamedTuple):
    """A row of its table: what is constant, and how far the log has come. `arms` are their labels, as JSON.

    Requests that changed nothing are not in the log, and are counted here: those that came `again`, and rewards that
    came too `late`. Counts are written with the next events, so that after a power failure the last may be missing.
    """

    id: int
    name: str
    spec: str
    arms: str
    secret: bytes
    salt: bytes
    seq: int
    at: int
    chain: bytes
    status: str
    again: int = 0
    late: int = 0
    ahead: int = 0


class Beginning(NamedTuple):
    """What the list of experiments says of one without its state; `by` is the number of the token that began it."""

    name: str
    status: str
    at: int
    began: int
    by: int


class Row(NamedTuple):
    """A decision, when it was made, and what became of it: `state` is waiting, open, told, done, defaulted, expired or
    withdrawn; a batch has no arm. `propensity` is the probability with which the arm was taken, if it is known."""

    seq: int
    at: int
    arm: int | None
    state: str
    due: int | None = None
    value: float | None = None
    body: str | None = None
    propensity: float | None = None


class UsedKey(NamedTuple):
    """A key or a sticky unit that was seen: which events it made, and the digest of the request."""

    key: bytes
    seq: int
    many: int
    request: bytes | None


class Database(Protocol):
    """How the two databases are spoken to. Statements have question marks; errors are `StoreError`."""

    several_workers: bool
    locking: str
    using: str

    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def execute(self, sql: str, *values: Any) -> list[Any]: ...
    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None: ...
    def read(self, sql: str, *values: Any) -> list[Any]: ...
    def create(self, sql: str) -> None: ...
    def lock_tables(self) -> None: ...
    def clock(self) -> int | None: ...
    def scrub(self) -> None: ...
    def close(self) -> None: ...


def open_store(where: str, *, relaxed: bool = False) -> "Store":
    """The store in a file (SQLite), or at an address that begins with postgresql://."""
    if is_postgresql(where):
        from prudent.service.log.postgres import PostgreSQL

        return _opened(PostgreSQL(where, relaxed=relaxed))
    from prudent.service.log.sqlite import SQLite

    return _opened(SQLite(where, relaxed=relaxed))


def _opened(database: Database) -> "Store":
    """The store, its tables as this version wants them."""
    try:
        return Store(database)
    except BaseException as error:
        database.close()
        if isinstance(error, StoreError):
            raise PrudentError(f"database: cannot be prepared: {error}; may this user write to it?") from None
        raise


class StoreError(Exception):
    """The database does not answer, or cannot write. Nothing of the transaction has happened."""


class Store:
    """Statements on the tables of one database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.begin, self.commit, self.rollback = database.begin, database.commit, database.rollback
        self.read, self.close = database.read, database.close
        self._migrate()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.begin()
        try:
            yield
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def _migrate(self) -> None:
        """Bring the tables to this version; those of a newer one are taken as they are if this one may, or refused."""
        with self.transaction():
            self.database.lock_tables()
            self.database.create("CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
            found = dict(self.database.execute(f"SELECT name, value FROM meta{self.database.locking}"))
            version = int(found.get("schema", 0))
            if int(found.get("least", version)) > SCHEMA:
                raise PrudentError(
                    f"database: written by a newer version of prudent (tables {version}, this one knows {SCHEMA});"
                    " upgrade prudent, or restore a backup made before the upgrade"
                )
            for step in MIGRATIONS[version:SCHEMA]:
                for statement in step:
                    self.database.create(statement)
            if version < SCHEMA:
                for name, value in (("schema", SCHEMA), ("least", LEAST)):
                    self.database.execute("DELETE FROM meta WHERE name = ?", name)
                    self.database.execute("INSERT INTO meta (name, value) VALUES (?, ?)", name, str(value))
            self.touch()  # who may not write learns it now

    def touch(self) -> None:
        """Write something that changes nothing."""
        self.database.execute("UPDATE meta SET value = value WHERE name = 'schema'")

    # Experiments

    def experiments(self) -> list[Experiment]:
        """All of them, in the order of creation."""
        return [
            Experiment(*row)
            for row in self.read(
                f"SELECT {', '.join(Experiment._fields)} FROM experiment WHERE status <> ? ORDER BY id", DELETED
            )
        ]

    def names(self) -> list[str]:
        """Those of all experiments, in the order of creation."""
        return [name for (name,) in self.read("SELECT name FROM experiment WHERE status <> ? ORDER BY id", DELETED)]

    def experiment(self, name: str, *, writing: bool = False, deleted: bool = False) -> Experiment | None:
        """The one of that name; `writing` sees what the open transaction wrote, `deleted` what is left of one that was
        deleted."""
        ask = self.database.execute if writing else self.read
        found = ask(f"SELECT {', '.join(Experiment._fields)} FROM experiment WHERE name = ?", name)
        row = Experiment(*found[0]) if found else None
        return None if row is None or (row.status == DELETED and not deleted) else row

    def deleted(self) -> list[int]:
        """The numbers of deleted experiments of which there is more than the last event."""
        sql = (
            "SELECT id FROM experiment WHERE status = ? AND EXISTS"
            " (SELECT 1 FROM event WHERE event.experiment = experiment.id AND event.seq < experiment.seq)"
        )
        return [number for (number,) in self.read(sql, DELETED)]

    def erase(self, number: int) -> bool:
        """Erase some of a deleted experiment, and its last events after everything else; whether there is more."""
        execute = self.database.execute
        execute("UPDATE experiment SET spec = '', arms = '[]', secret = ?, salt = ? WHERE id = ?", b"", b"", number)
        for table, column in (
            ("snapshot", "seq"),
            ("series", "seq"),
            ("known", "key"),
            ("decision", "seq"),
            ("event", "seq"),
        ):
            last = " AND seq < (SELECT seq FROM experiment WHERE id = ?)" if table == "event" else ""
            values = (number, number) if last else (number,)
            some = f"SELECT {column} FROM {table} WHERE experiment = ?{last} ORDER BY {column} LIMIT {ERASED_AT_A_TIME}"
            found = [value for (value,) in execute(some, *values)]
            for part in _parts(found):
                marks = ", ".join("?" * len(part))
                execute(f"DELETE FROM {table} WHERE experiment = ? AND {column} IN ({marks})", number, *part)
            if found:
                return True
        return False

    def locked(self, number: int) -> Experiment:
        """An experiment that nobody else writes to until the transaction ends."""
        columns = ", ".join(Experiment._fields)
        (row,) = self.database.execute(f"SELECT {columns} FROM experiment WHERE id = ?{self.database.locking}", number)
        return Experiment(*row)

    def add_experiment(self, experiment: Experiment) -> Experiment:
        """A new one, with the next number."""
        (last,) = self.database.execute("SELECT COALESCE(MAX(id), 0) FROM experiment")[0]
        made = experiment._replace(id=last + 1)
        marks = ", ".join("?" * len(made))
        self.database.execute(f"INSERT INTO experiment ({', '.join(made._fields)}) VALUES ({marks})", *made)
        return made

    def move(self, number: int, arms: str, seq: int, at: int, chain: bytes, status: str) -> None:
        """Say how far the log has come."""
        sql = "UPDATE experiment SET arms = ?, seq = ?, at = ?, chain = ?, status = ? WHERE id = ?"
        self.database.execute(sql, arms, seq, at, chain, status, number)

    def count_more(self, number: int, again: int, late: int) -> None:
        """So many more requests that changed nothing."""
        self.database.execute(
            "UPDATE experiment SET again = again + ?, late = late + ? WHERE id = ?", again, late, number
        )

    def move_clocks(self, now: int) -> None:
        """At a start: a log whose last time has not come yet goes on from there at the speed of the clock. Who has done
        so goes on, and stops as soon as the clock has caught up."""
        self.database.execute("UPDATE experiment SET ahead = at - ? WHERE at - ahead > ?", now, now)
        self.database.execute("UPDATE experiment SET ahead = 0 WHERE ahead > 0 AND at <= ?", now)

    def ahead(self, least: int) -> list[tuple[str, int]]:
        """Experiments whose log is ahead of the clock by that much, and by how much; the furthest first."""
        return list(self.read("SELECT name, ahead FROM experiment WHERE ahead >= ? ORDER BY ahead DESC, id", least))

    def last_time(self) -> int | None:
        """The last time in any log, as its clock would have said it without what it is ahead."""
        ((last,),) = self.read("SELECT MAX(at - ahead) FROM experiment")
        return None if last is None else int(last)

    def change_salt(self, number: int, salt: bytes) -> None:
        """Without the old salt nobody can tell who a unit was."""
        self.database.execute("UPDATE experiment SET salt = ? WHERE id = ?", salt, number)

    # The log

    def add_events(self, number: int, events: Iterable[tuple[Event, bytes]]) -> None:
        """New events with their links."""
        marks = ", ".join("?" * (len(Event._fields) + 2))
        self.database.execute_many(
            f"INSERT INTO event (experiment, {', '.join(Event._fields)}, link) VALUES ({marks})",
            [(number, *event, link[:LINK]) for event, link in events],
        )

    def events(self, number: int, after: int, limit: int, *, writing: bool = False) -> list[tuple[Event, bytes]]:
        """Events in their order, each with its link; `writing` sees what the open transaction wrote."""
        ask = self.database.execute if writing else self.read
        rows = ask(
            f"SELECT {', '.join(Event._fields)}, link FROM event WHERE experiment = ? AND seq > ? ORDER BY seq LIMIT ?",
            number,
            after,
            limit,
        )
        return [(Event(*row[:-1]), row[-1]) for row in rows]

    def bodies(self, number: int, kind: str, after: int, until: int) -> list[tuple[int, str]]:
        """What events of a kind hold besides, of those after one number and up to another that hold anything."""
        sql = "SELECT seq, body FROM event WHERE experiment = ? AND seq > ? AND seq <= ? AND kind = ?"
        return list(self.read(f"{sql} AND body IS NOT NULL ORDER BY seq", number, after, until, kind))

    # Decisions and keys

    def decisions(self, number: int, seqs: Sequence[int], *, writing: bool = True) -> dict[int, Row]:
        """Those of these numbers that exist."""
        ask = self.database.execute if writing else self.read
        found: dict[int, Row] = {}
        for part in _parts(seqs):
            marks = ", ".join("?" * len(part))
            sql = f"SELECT {', '.join(Row._fields)} FROM decision WHERE experiment = ? AND seq IN ({marks})"
            found |= {row[0]: Row(*row) for row in ask(sql, number, *part)}
        return found

    def decisions_after(self, number: int, after: int, limit: int) -> list[Row]:
        """Decisions in their order, without batches."""
        sql = (
            f"SELECT {', '.join(Row._fields)} FROM decision"
            " WHERE experiment = ? AND seq > ? AND arm IS NOT NULL ORDER BY seq LIMIT ?"
        )
        return [Row(*row) for row in self.read(sql, number, after, limit)]

    def add_decisions(self, number: int, rows: Iterable[Row]) -> None:
        """New ones, or new states of old ones."""
        marks = ", ".join("?" * (len(Row._fields) + 1))
        changes = ", ".join(f"{name} = excluded.{name}" for name in Row._fields[3:])
        self.database.execute_many(
            f"INSERT INTO decision (experiment, {', '.join(Row._fields)}) VALUES ({marks})"
            f" ON CONFLICT (experiment, seq) DO UPDATE SET {changes}",
            [(number, *row) for row in rows],
        )

    def due(self, number: int, now: int, limit: int) -> list[Row]:
        """Decisions whose window has closed, in the order in which it did."""
        sql = (
            f"SELECT {', '.join(Row._fields)} FROM decision WHERE experiment = ? AND due <= ? ORDER BY due, seq LIMIT ?"
        )
        return [Row(*row) for row in self.database.execute(sql, number, now, limit)]

    def next_due(self, number: int) -> int | None:
        """When the first window of an experiment closes."""
        sql = "SELECT due FROM decision WHERE experiment = ? AND due IS NOT NULL ORDER BY due LIMIT 1"
        found = self.read(sql, number)
        return found[0][0] if found else None

    def used_keys(self, number: int, keys: Sequence[bytes], *, writing: bool = True) -> dict[bytes, UsedKey]:
        """Those of these keys that were seen."""
        ask = self.database.execute if writing else self.read
        found: dict[bytes, UsedKey] = {}
        for part in _parts(keys):
            marks = ", ".join("?" * len(part))
            sql = f"SELECT {', '.join(UsedKey._fields)} FROM known WHERE experiment = ? AND key IN ({marks})"
            found |= {bytes(row[0]): UsedKey(*row) for row in ask(sql, number, *part)}
        return found

    def add_used_keys(self, number: int, keys: Iterable[UsedKey]) -> None:
        """Keys that were used now; a unit whose decision was withdrawn has a new one."""
        self.database.execute_many(
            "INSERT INTO known (experiment, key, seq, many, request) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (experiment, key) DO UPDATE SET seq = excluded.seq",
            [(number, *known) for known in keys],
        )

    # Snapshots

    def snapshots(self, number: int, *, writing: bool = False) -> dict[int, str]:
        """All that are kept, the newest first."""
        ask = self.database.execute if writing else self.read
        return dict(ask("SELECT seq, state FROM snapshot WHERE experiment = ? ORDER BY seq DESC", number))

    def add_snapshot(self, number: int, seq: int, state: str, version: str) -> None:
        """Keep the newest two of an experiment, so that one remains if the other turns out wrong."""
        self.database.execute(
            "INSERT INTO snapshot (experiment, seq, state, version) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            number,
            seq,
            state,
            version,
        )
        self.database.execute(
            "DELETE FROM snapshot WHERE experiment = ? AND seq NOT IN"
            " (SELECT seq FROM snapshot WHERE experiment = ? ORDER BY seq DESC LIMIT 2)",
            number,
            number,
        )

    # Statistics over time, for pictures

    def add_series(self, number: int, rows: Iterable[tuple[int, int, str]]) -> None:
        """More points: the event, its time, and the arms as JSON."""
        sql = "INSERT INTO series (experiment, seq, at, arms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        self.database.execute_many(sql, [(number, *row) for row in rows])

    def series(self, number: int) -> list[tuple[int, int, str]]:
        """All points."""
        return list(self.read("SELECT seq, at, arms FROM series WHERE experiment = ? ORDER BY seq", number))

    def oldest_open(self, number: int) -> int | None:
        """The time of the oldest decision that waits for its reward."""
        found = self.read(
            f"SELECT at FROM decision{self.database.using.format('decision_open')} WHERE experiment = ?"
            " AND state IN ('open', 'waiting', 'told') ORDER BY seq LIMIT 1",
            number,
        )
        return found[0][0] if found else None

    def notable(self, number: int, limit: int | None = None) -> list[Event]:
        """What people and guards did, of which the last ones if there is a limit."""
        most = "" if limit is None else f" LIMIT {int(limit)}"
        events = f"event{self.database.using.format('event_notable')}"
        sql = f"SELECT {', '.join(Event._fields)} FROM {events} WHERE experiment = ? AND {NOTABLE}"
        return [Event(*row) for row in reversed(self.read(f"{sql} ORDER BY seq DESC{most}", number))]

    def beginnings(self) -> list[Beginning]:
        """Of each experiment its name and state, when something last happened, when it began, and by whom."""
        return [
            Beginning(*row)
            for row in self.read(
                "SELECT experiment.name, experiment.status, experiment.at, event.at, event.by FROM experiment"
                " JOIN event ON event.experiment = experiment.id AND event.seq = 1 WHERE experiment.status <> ?"
                " ORDER BY experiment.id",
                DELETED,
            )
        ]


def _parts(values: Sequence[Any], size: int = 500) -> Iterator[Sequence[Any]]:
    """Some at a time, since a statement takes only so many."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
