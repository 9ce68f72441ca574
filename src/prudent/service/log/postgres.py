"""PostgreSQL 15 or later: any number of workers, who take turns at each experiment.

The row of an experiment is locked while it is written to, and the log's primary key would stop a second writer who
believed to hold the lock. Short time limits cut off a worker that stands still in a transaction.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from prudent.base.errors import PrudentError
from prudent.service.log.address import parsed, shown
from prudent.service.log.patience import EVERYTHING, Patience
from prudent.service.log.store import StoreError

LIMITS = {"lock_timeout": "2s", "statement_timeout": "5s", "idle_in_transaction_session_timeout": "5s"}
"""What the server allows every connection, of readers too."""

NETWORK = {
    "connect_timeout": "3",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",  # milliseconds; systems that do not have it do without
}
"""How a connection notices that the other machine is gone; the address may say otherwise."""

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
    using = ""  # it has statistics, and chooses the index by itself

    def __init__(self, address: str, *, relaxed: bool = False) -> None:
        try:
            import psycopg
        except ImportError:
            fix = "install the extra postgres, in a clone: python -m pip install '.[postgres]'"
            raise PrudentError(f"database: PostgreSQL needs psycopg; {fix}") from None
        self._psycopg, self._relaxed = psycopg, relaxed
        self._parts: dict[str, Any] = {**NETWORK, **parsed(address)}
        self.patience = Patience()
        self._connection: Any = None
        self._readers: list[Any] = []  # connections that nobody uses now
        self._closed = False
        try:
            version = self._writer().info.server_version
        except StoreError as error:
            self.close()
            fix = "does it run, and may you?"
            raise PrudentError(f"database: cannot connect to {shown(address)}: {error}; {fix}") from None
        if version < 150000:
            self.close()
            raise PrudentError(f"database: PostgreSQL must be 15 or later, got {version}")

    def begin(self) -> None:
        """Tried again once on a new connection, since the server may have been started anew."""
        try:
            self._write("BEGIN")
        except StoreError:
            self._drop()
            self._write("BEGIN")

    def commit(self) -> None:
        self._write("COMMIT")

    def rollback(self) -> None:
        """Close the connection if it cannot roll back: the server then forgets the transaction by itself."""
        try:
            if self._connection is not None:
                with self._errors(), self.patience.waiting(self._connection):
                    self._connection.execute("ROLLBACK")
        except StoreError:
            self._drop()

    def execute(self, sql: str, *values: Any) -> list[Any]:
        return self._write(translated(sql), values)

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self.patience.refuse(sql)
        connection = self._writer()
        with self._errors(sql), self.patience.waiting(connection), connection.cursor() as cursor:
            cursor.executemany(translated(sql), rows)
        self.patience.answered(sql)

    def create(self, sql: str) -> None:
        for ours, theirs in TYPES.items():
            sql = sql.replace(ours, theirs)
        self._write(sql)

    def lock_tables(self) -> None:
        """Two workers may start at the same moment."""
        self.execute("SELECT pg_advisory_xact_lock(?)", LOCK)

    def clock(self) -> int | None:
        """What time it is there, in milliseconds since 1970."""
        return int(self.read("SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000")[0][0])

    def read(self, sql: str, *values: Any) -> list[Any]:
        """Tried again once on a new connection, since the server may have been started anew."""
        self.patience.refuse(sql)
        try:
            connection = self._readers.pop()
        except IndexError:
            return self._read_with(self._connect(), sql, values)
        try:
            return self._read_with(connection, sql, values)
        except StoreError:
            if not connection.closed:
                raise
            self.patience.refuse(sql)
            return self._read_with(self._connect(), sql, values)

    def _read_with(self, connection: Any, sql: str, values: Sequence[Any]) -> list[Any]:
        """Read, and keep the connection for the next reader if it is still good."""
        try:
            with self._errors(sql), self.patience.waiting(connection):
                found = connection.execute(translated(sql), values).fetchall()
            self.patience.answered(sql)
            return list(found)
        except BaseException as error:
            if not isinstance(error, StoreError):  # such as Ctrl-C in the middle of an answer
                connection.close()
            raise
        finally:
            if self._closed or connection.closed:
                connection.close()
            else:
                self._readers.append(connection)

    def scrub(self) -> None:
        """Old versions of rows are the business of VACUUM, and of whoever keeps the server's log and backups."""

    def close(self) -> None:
        self._closed = True
        for connection in (*self._readers, self._connection):
            with contextlib.suppress(Exception):
                connection.close()
        self.patience.close()

    def _write(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        what = f"{sql} {values}" if sql.endswith(self.locking) else sql  # a row is held, or a whole table
        self.patience.refuse(what)
        connection = self._writer()
        with self._errors(what), self.patience.waiting(connection):
            cursor = connection.execute(sql, values)
            found = cursor.fetchall() if cursor.description else []
        self.patience.answered(what)
        return found

    def _writer(self) -> Any:
        """The connection that writes, made anew if it was lost."""
        if self._connection is None or self._connection.closed:
            self._connection = self._connect({"synchronous_commit": "off"} if self._relaxed else {})
        return self._connection

    def _connect(self, more: Mapping[str, str] = MappingProxyType({})) -> Any:
        """A new connection with its limits."""
        with self._errors():
            connection = self._psycopg.connect(**self._parts, autocommit=True)
        limits = {**LIMITS, **more}
        setting = ", ".join("set_config(%s, %s, false)" for _ in limits)
        try:
            with self._errors(), self.patience.waiting(connection):
                connection.execute(f"SELECT {setting}", [text for pair in limits.items() for text in pair])
        except BaseException:
            connection.close()
            raise
        return connection

    def _drop(self) -> None:
        with contextlib.suppress(Exception):
            self._connection.close()
        self._connection = None

    @contextlib.contextmanager
    def _errors(self, statement: str = "") -> Iterator[None]:
        """Errors of the database are one class outside. What was waited for in vain is not tried again at once."""
        try:
            yield
        except self._psycopg.Error as error:
            why = error.diag.message_primary or str(error).strip() or type(error).__name__
            if password := self._parts.get("password"):
                why = why.replace(password, "…")
            errors = self._psycopg.errors
            if isinstance(error, errors.ConnectionTimeout):
                self.patience.failed(EVERYTHING, why)
            else:  # the server answers
                self.patience.answered(statement)
                if statement and isinstance(error, errors.LockNotAvailable | errors.QueryCanceled):
                    self.patience.failed(statement, why)
            raise StoreError(why) from error


@cache
def translated(sql: str) -> str:
    """The statement with the marks of psycopg."""
    return sql.replace("?", "%s")
