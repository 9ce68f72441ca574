"""The command `serve`, and the copy of its database."""

import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from prudent.base.errors import PrudentError, check_integer, check_positive
from prudent.cli.paths import FILE, check_file
from prudent.cli.reach import check_database, database_option, serving_packages
from prudent.service.log.address import is_postgresql

PROXY = "A proxy in front speaks TLS; only then other addresses than those of this machine are served."
HOST = "A name under which callers reach it, besides its address; several are possible."
EXPLORE = "Let everybody who reaches the service use the page to explore, without a token."
TRUST = "The header in which a proxy that signs people in writes who somebody is, such as X-Forwarded-User."
ROLE = "What a group may do on pages, such as owners=admin; everybody is the group *."
PRIVATE = "Let webhooks go to this machine and its network, and over plain HTTP."
RELAXED = "Do not wait for the disk: faster, but a power failure may lose what was answered."


@click.group(invoke_without_command=True, short_help="Run the experiment service.")
@database_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=int, default=8080, show_default=True, help="The port; 0 takes a free one.")
@click.option("--workers", type=int, default=1, show_default=True, help="Processes; more than one need PostgreSQL.")
@click.option("--behind-proxy", is_flag=True, help=PROXY)
@click.option("--allowed-host", "allowed_hosts", multiple=True, metavar="NAME", help=HOST)
@click.option("--trust-header", default="", metavar="NAME", help=TRUST)
@click.option(
    "--trust-from", multiple=True, metavar="ADDRESS", help="The proxy's address or network; several are possible."
)
@click.option(
    "--trust-groups", default="", metavar="NAME", help="The header in which the proxy writes a person's groups."
)
@click.option("--role", "roles", multiple=True, metavar="GROUP=SCOPES", help=ROLE)
@click.option("--rate", type=float, default=5000.0, show_default=True, help="Requests a second that a token may make.")
@click.option("--queue-limit", type=int, default=2000, show_default=True, help="Requests that may wait; more get 503.")
@click.option("--relaxed", is_flag=True, help=RELAXED)
@click.option("--access-log", is_flag=True, help="Log every request, without its body.")
@click.option("--json-log", is_flag=True, help="Write the log as JSON, an object a line.")
@click.option("--open-explore", is_flag=True, help=EXPLORE)
@click.option("--allow-private-webhooks", is_flag=True, help=PRIVATE)
@click.option("--demo", is_flag=True, help="Three simulated experiments to look around in; nothing is kept.")
@click.pass_context
def serve(ctx: click.Context, /, **settings: Any) -> None:
    """Run experiments for programs, over HTTP, until it is stopped (Ctrl-C, or SIGTERM).

    The first start prints a token that may do everything, once. Make others with `prudent trial token`.

    prudent serve --database shop.db --port 8080

    prudent serve --demo
    """
    if ctx.invoked_subcommand is not None:
        ctx.obj = settings["database"]
        return
    with serving_packages("serve"):
        from prudent.service.http.server import Settings
        from prudent.service.http.server import serve as run
    check_database("serve", settings["database"], new=True)
    check_integer("serve", "port", settings["port"], low=0, high=65535)
    check_integer("serve", "workers", settings["workers"], low=1, high=64)
    check_integer("serve", "queue-limit", settings["queue_limit"], low=1, high=1_000_000)
    check_positive("serve", "rate", settings["rate"])
    if settings["demo"]:
        settings["database"] = str(Path(ctx.with_resource(TemporaryDirectory(prefix="prudent-"))) / "demo.db")
    signal.set_wakeup_fd(-1)  # requests have longer to end than other commands have, and the server sees to it
    run(Settings(**settings))


@serve.command(short_help="Copy the database into a file.")
@click.argument("out", type=FILE)
@click.pass_obj
def backup(database: str, out: Path) -> None:
    """Copy the database into the file OUT, whether a service runs or not.

    The copy is a database as it was at one moment, and can be served. For PostgreSQL use pg_dump.

    prudent serve --database shop.db backup shop-monday.db
    """
    with serving_packages("serve"):
        from prudent.service.log.sqlite import copy_database
    if is_postgresql(database):
        raise PrudentError("serve: a backup of PostgreSQL is made with its own pg_dump, which is as whole as this")
    check_database("serve", database)
    check_file("serve", out)
    if out.exists():
        raise PrudentError(f"serve: {out} is there already; choose another name for the copy, or remove it first")
    copy_database(database, str(out))
    click.echo(f"{out}: {out.stat().st_size:,} bytes")
