"""How commands reach experiments: a running service, or its database while no service runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prudent.base.errors import PrudentError
from prudent.cli.output import all_of, json_option
from prudent.service.log.address import is_postgresql

if TYPE_CHECKING:
    from prudent.client import Client

DATABASE = "prudent.db"
MAGIC = b"SQLite format 3\0"
"""How files of SQLite begin."""

database_option = click.option(
    "--database",
    default=DATABASE,
    show_default=True,
    envvar="PRUDENT_DATABASE",
    metavar="FILE",
    help="A SQLite file, or postgresql://… for PostgreSQL.",
)
where_options = all_of(
    database_option,
    click.option("--server", envvar="PRUDENT_SERVER", metavar="URL", help="A running service, instead of its file."),
    click.option("--token", envvar="PRUDENT_TOKEN", metavar="TOKEN", help="For --server; better as PRUDENT_TOKEN."),
    json_option,
)
"""Where the experiments are; these options are those of `opened`."""


@contextmanager
def opened(
    database: str, server: str | None, token: str | None, experiment: str | None = None, *, new: bool = False
) -> Iterator["Client"]:
    """A client of the service, or of its database, which is made if it is `new`."""
    from prudent.client import ServiceError

    with _remote(server, token, experiment) if server else _local(database, experiment, new) as client:
        try:
            yield client
        except ServiceError as error:
            raise PrudentError(f"trial: {error.detail}") from error


def _remote(server: str, token: str | None, experiment: str | None) -> "Client":
    from prudent.client import Client

    if not token:
        raise PrudentError("trial: --server needs a token; set PRUDENT_TOKEN, or pass --token TOKEN")
    try:
        return Client(server, token, experiment, timeout=600.0)  # a long log takes its time to verify
    except ValueError as error:
        raise PrudentError(f"trial: {error}") from None


def _local(database: str, experiment: str | None, new: bool) -> "Client":
    with serving_packages("trial"):
        from prudent.service.http.local import client_of
        from prudent.service.log.store import open_store
        from prudent.service.work.service import Service

    check_database("trial", database, new=new)
    # A long log takes its time; and nothing is sent from here.
    service = Service(open_store(database), answer_within=None, private_webhooks=True).start()
    try:
        service.close_windows()  # what a running service would have done meanwhile
        return client_of(service, experiment)
    except BaseException:
        service.close()
        raise


def check_database(owner: str, database: str, *, new: bool = False) -> None:
    """Refuse a file that is not there, unless it may be `new`, and a name that no file can have."""
    if not database.strip() or "\0" in database:
        raise PrudentError(f"{owner}: --database must name a file, such as {DATABASE}, got {database!r}")
    if is_postgresql(database):
        return
    path = Path(database)
    if path.is_dir():
        raise PrudentError(f"{owner}: {database} is a folder; name a file in it, such as {path / DATABASE}")
    if not new and not path.exists():
        fix = "name another with --database, or begin with: prudent trial create experiment.json"
        raise PrudentError(f"{owner}: there is no database {database}; {fix}")
    if path.exists():
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
        if start not in (b"", MAGIC):
            raise PrudentError(f"{owner}: {database} is not a database of prudent; name another with --database")


@contextmanager
def serving_packages(owner: str) -> Iterator[None]:
    """Imports of what comes with an extra; the error says which."""
    try:
        yield
    except ModuleNotFoundError as error:
        fix = "install the extra serve, in a clone: python -m pip install '.[serve]'"
        raise PrudentError(f"{owner}: the service needs {error.name}, which is not installed; {fix}") from None


def where(settings: dict[str, object]) -> dict[str, Any]:
    """The options of `opened`, which leave the settings."""
    return {name: settings.pop(name) for name in ("database", "server", "token")}
