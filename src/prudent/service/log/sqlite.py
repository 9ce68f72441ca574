"""SQLite: one file, one process that serves it, one connection that writes.

Versions before 3.51.3 may damage a file if two connections write or tidy up its write-ahead log at the same moment.
So one connection does both, and a lock beside the file keeps other processes away.
"""

import contextlib
import logging
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from prudent.base.errors import PrudentError
from prudent.service.log.store import StoreError

OURS = 0x70727564
"""What marks a file as a database of prudent: its first letters."""

PRIVATE = 0o600
"""The rights of files: a database holds the keys by which units and decisions are recognised."""

log = logging.getLogger("prudent.service")


class SQLite:
    """The database in a file, which is made if it is not there. `relaxed` does not wait for the disk."""

    several_workers = False
    locking = ""  # BEGIN IMMEDIATE locks the whole file
    using = " INDEXED BY {}"  # or it would read every row of an experiment until one of those that the index has

    def __init__(self, path: str | os.PathLike[str], *, relaxed: bool = False) -> None:
        self.path = Path(path).resolve()  # one file has one name, so that everybody meets at the same lock
        self._readers: list[sqlite3.Connection] = []  # connections that nobody uses now
        self._closed = False
        self._lock = _held(self.path)
        try:
            with _errors():
                _prepare(self.path)
                self._writer = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
                self._check_whose()
                self._writer.execute("PRAGMA journal_mode = WAL")
                self._writer.execute(f"PRAGMA synchronous = {'NORMAL' if relaxed else 'FULL'}")
                self._writer.execute("PRAGMA fullfsync = 1")  # what macOS calls a sync does not wait for the disk
                self._writer.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten
                self._writer.execute("PRAGMA busy_timeout = 5000")
        except PrudentError:
            self._lock.close()
            raise
        except StoreError as error:
            self._lock.close()
            fix = "is it a database of prudent, and may this user write to its folder?"
            raise PrudentError(f"database: cannot open {self.path}: {error}; {fix}") from None

    def _check_whose(self) -> None:
        """Refuse the database of another program, and mark a new one as ours."""
        ((mark,),) = self._writer.execute("PRAGMA application_id")
        ((tables,),) = self._writer.execute("SELECT COUNT(*) FROM sqlite_master")
        if mark != OURS and tables:
            raise StoreError("it belongs to another program")
        if mark != OURS:
            self._writer.execute(f"PRAGMA application_id = {OURS}")

    def begin(self) -> None:
        with _errors():
            self._writer.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        with _errors():
            self._writer.execute("COMMIT")

    def rollback(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def execute(self, sql: str, *values: Any) -> list[Any]:
        with _errors():
            return self._writer.execute(sql, values).fetchall()

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with _errors():
            self._writer.executemany(sql, rows)

    def create(self, sql: str) -> None:
        self.execute(sql)

    def lock_tables(self) -> None:
        """No other process has the file."""

    def clock(self) -> int | None:
        """It has none but that of this machine."""
        return None

    def read(self, sql: str, *values: Any) -> list[Any]:
        with _errors(), self._reader() as reader:
            return reader.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else uses meanwhile, and that can change nothing."""
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True, check_same_thread=False)
            connection.execute("PRAGMA busy_timeout = 5000")
        try:
            yield connection
        finally:
            if self._closed:
                connection.close()
            else:
                self._readers.append(connection)

    def scrub(self) -> None:
        """Empty the write-ahead log, which holds old versions of rows; somebody who reads meanwhile may prevent it."""
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._closed = True
        for connection in (*self._readers, self._writer):
            connection.close()
        self._lock.close()


def copy_database(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
    """A copy as of now into a new file, which is there only when it is whole; others may go on writing.

    All pages are copied in one step, since a copy in several begins again whenever somebody writes in between. It is
    made in a folder of its own beside `out`, which has a name that nothing else has, and that nobody else may enter.
    """
    source, out = Path(path).resolve(), Path(out)
    try:
        _check_single(source)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".prudent-backup-") as folder:
            part = Path(folder) / out.name
            _create(part)
            with (
                _errors(),
                contextlib.closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as database,
                contextlib.closing(sqlite3.connect(part)) as copy,
            ):
                database.backup(copy)
            part.replace(out)
    except (StoreError, OSError) as error:
        raise PrudentError(
            f"backup: cannot copy {path} to {out}: {error}; is the one a database, and is there room?"
        ) from None


def _prepare(path: Path) -> None:
    """Make the file if it is not there, so that only its owner can read it; SQLite gives the same rights to the files
    that it makes beside it."""
    try:
        _create(path)
    except FileExistsError:
        _check_single(path)
        mode = path.stat().st_mode
        if os.name == "posix" and path.is_file() and mode & 0o077:  # elsewhere it says nothing about others
            log.warning(
                "other users of this machine may open %s (mode %03o), which holds what units are recognised by;"
                " unless that is wanted: chmod 600 %s*",
                *(path, mode & 0o777, path),
            )
    except OSError as error:
        raise StoreError(error.strerror or str(error)) from error


def _create(path: Path) -> None:
    """A new file that only its owner can read and write, whatever the mask of this process says."""
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE)
    if hasattr(os, "fchmod"):
        os.fchmod(file, PRIVATE)
    os.close(file)


def _check_single(path: Path) -> None:
    """Refuse a file with two names (hard links): SQLite keeps its newest part beside the name, so that who opens it by
    the other one sees an older database, and damages it by writing."""
    names = path.stat().st_nlink
    if names > 1 and path.is_file():
        raise PrudentError(
            f"database: {path} is one of {names} names of the same file (hard links), and a database must have one;"
            " remove the others, or serve a copy of it"
        )


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Errors of the database are one class outside."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(str(error)) from error


def _held(database: Path) -> IO[bytes]:
    """A lock on a database that this process holds until it closes it or ends, however it ends."""
    path = database.with_name(database.name + ".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(PRIVATE)
        file = path.open("ab")
    except OSError as error:
        raise PrudentError(
            f"database: cannot write beside {path}: {error.strerror}; choose another place with --database"
        ) from None
    try:
        try:
            import fcntl
        except ImportError:
            import msvcrt  # Windows

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise PrudentError(
            f"database: {database.name} is in use by another process of prudent;"
            " use its address (--server URL), or stop it first. For several processes take PostgreSQL"
        ) from None
    return file
