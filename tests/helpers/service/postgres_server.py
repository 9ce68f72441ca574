"""A real PostgreSQL server for tests: in a folder of its own, as a user without rights, reached by a socket there."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg

CONFIGURATION = """
listen_addresses = ''
max_connections = 50
shared_buffers = 32MB
logging_collector = off
"""


def programs() -> Path | None:
    """The folder with initdb and postgres, if PostgreSQL 15 or later is installed."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    return next((place for place in places if (place / "postgres").exists() and (place / "initdb").exists()), None)


class PostgresServer:
    """Starts with `start`, stops at once with `stop`, and can be started again on the same data."""

    def __init__(self, *, durable: bool = False) -> None:
        place = programs()
        assert place is not None
        self.programs, self.folder = place, Path(tempfile.mkdtemp(prefix="prudent-pg-"))
        self.user = "nobody" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.data = self.folder / "data"
        self._run("initdb", "--no-sync", "-A", "trust", "-U", "prudent", "-E", "UTF8", "--locale", "C", "-D", self.data)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(CONFIGURATION + f"fsync = {'on' if durable else 'off'}\n")
        self.start()

    def start(self) -> None:
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.data, "-l", log, "-w", "-t", "60", "-o", f"-k {self.folder}", "start")

    def stop(self, how: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self.data, "-m", how, "-w", "stop")

    def close(self) -> None:
        """Stop it, and remove all it left."""
        with contextlib.suppress(AssertionError):  # it is stopped already
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def address(self, database: str = "postgres") -> str:
        """For `open_store`."""
        return f"postgresql:///{database}?host={self.folder}&user=prudent"

    def new_database(self, name: str) -> str:
        """The address of a new, empty database."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.programs / program), *map(str, arguments)]
        # A daemon that kept the pipes open would keep us waiting, so its words go to a file.
        with tempfile.TemporaryFile() as words:
            done = subprocess.run(command, check=False, user=self.user, cwd=self.folder, stdout=words, stderr=words)
            words.seek(0)
            assert done.returncode == 0, words.read().decode()
