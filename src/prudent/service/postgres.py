"""PostgreSQL 15 or later: any number of workers, who take turns at each experiment.

The row of an experiment is locked while it is written to, and the log's primary key would stop a second writer who
believed to hold the lock. Short time limits cut off a worker that stands still in a transaction.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from prudent.errors import PrudentError
from prudent.service.store import StoreError

LIMITS = {"lock_timeout": "2s", "statement_timeout": "10s", "idle_in_transaction_session_timeout": "5s"}

LOCK = 7_078_853_010
"""The number of the lock under which tables are made and changed."""

TYPES = {
    "INTEGER": "BIGINT",
    "REAL": "DOUBLE PRECISION",
    "BLOB": "BYTEA",
    " WITHOUT ROWID": "",
}


class PostgreSQL:
    """The database at an address such as postgresql://user@host/name. `relaxed` does not wait for the disk."""

    several_workers = True
    locking = " FOR NO KEY UPDATE"  # lets others read, and insert rows that refer to it
    by_open = ""  # it has statistics, and chooses the index by itself

    def __init__(self, address: str, *, relaxed: bool = False) -> None:
        try:
            import psycopg
        except ImportError:
            raise PrudentError("database: PostgreSQL needs psycopg; pip install 'prudent[postgres]'") from None
        self._psycopg, self._address, self._relaxed = psycopg, address, relaxed
        self._connection: Any = None
        self._readers: list[Any] = []  # connections that nobody uses now
        self._closed = False
        try:
            version = self._writer().info.server_version
        except StoreError as error:
            where = re.sub(r"//[^@/]*@", "//…@", address)  # without the password
            raise PrudentError(f"database: cannot connect to {where}: {error}; does it run, and may you?") from None
        if version < 150000:
            raise PrudentError(f"database: PostgreSQL must be 15 or later, got {version}")

    def begin(self) -> None:
        """Tried again once on a new connection, since the server may have been started anew."""
        try:
            with self._errors():
                self._writer().execute("BEGIN")
        except StoreError:
            self._drop()
            with self._errors():
                self._writer().execute("BEGIN")

    def commit(self) -> None:
        with self._errors():
            self._writer().execute("COMMIT")

    def rollback(self) -> None:
        """Close the connection if it cannot roll back: the server then forgets the transaction by itself."""
        try:
            with self._errors():
                if self._connection is not None:
                    self._connection.execute("ROLLBACK")
        except StoreError:
            self._drop()

    def execute(self, sql: str, *values: Any) -> list[Any]:
        with self._errors():
            cursor = self._writer().execute(translated(sql), values)
            return cursor.fetchall() if cursor.description else []

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._errors(), self._writer().cursor() as cursor:
            cursor.executemany(translated(sql), rows)

    def create(self, sql: str) -> None:
        for ours, theirs in TYPES.items():
            sql = sql.replace(ours, theirs)
        with self._errors():
            self._writer().execute(sql)

    def lock_tables(self) -> None:
        """Two workers may start at the same moment."""
        self.execute("SELECT pg_advisory_xact_lock(?)", LOCK)

    def read(self, sql: str, *values: Any) -> list[Any]:
        """Tried again once on a new connection, since the server may have been started anew."""
        try:
            connection = self._readers.pop()
        except IndexError:
            return self._read_with(None, sql, values)
        try:
            return self._read_with(connection, sql, values)
        except StoreError:
            return self._read_with(None, sql, values)

    def _read_with(self, connection: Any, sql: str, values: Sequence[Any]) -> list[Any]:
        """Read, and keep the connection for the next reader if it is still good."""
        with self._errors():
            connection = self._connect() if connection is None else connection
            try:
                found = connection.execute(translated(sql), values).fetchall()
            except BaseException:
                connection.close()
                raise
        if self._closed:
            connection.close()
        else:
            self._readers.append(connection)
        return list(found)

    def scrub(self) -> None:
        """Old versions of rows are the business of VACUUM, and of whoever keeps the server's log and backups."""

    def close(self) -> None:
        self._closed = True
        for connection in (*self._readers, self._connection):
            with contextlib.suppress(Exception):
                connection.close()

    def _writer(self) -> Any:
        """The connection that writes, made anew if it was lost."""
        if self._connection is None or self._connection.closed:
            with self._errors():
                self._connection = self._connect()
                for name, value in LIMITS.items():
                    self._connection.execute(f"SET {name} = '{value}'")
                if self._relaxed:
                    self._connection.execute("SET synchronous_commit = off")
        return self._connection

    def _connect(self) -> Any:
        return self._psycopg.connect(self._address, autocommit=True, connect_timeout=3)

    def _drop(self) -> None:
        with contextlib.suppress(Exception):
            self._connection.close()
        self._connection = None

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the database are one class outside."""
        try:
            yield
        except self._psycopg.Error as error:
            raise StoreError(str(error).strip() or type(error).__name__) from error


@cache
def translated(sql: str) -> str:
    """The statement with the marks of psycopg."""
    return sql.replace("?", "%s")
