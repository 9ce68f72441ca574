"""Where a database is: a file of SQLite, or an address of PostgreSQL, and how either is printed without a password."""

import os
import re
from urllib.parse import quote

from prudent.base.errors import PrudentError

SCHEMES = ("postgresql://", "postgres://")
FIX = "name a file, or postgresql://user@host/name for PostgreSQL, with its password in PGPASSWORD or ~/.pgpass"
_PAIRS = re.compile(
    r"\b(host|hostaddr|port|dbname|user|password|service|passfile|sslmode)\s*=.*\b(host|dbname|user|password|service)\s*="
    r"|\bpassword\s*=",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN = re.compile(r"[\w.,:/\[\]-]*")


def is_postgresql(where: str) -> bool:
    """Whether this is an address of PostgreSQL; what looks like an address and is none is refused, without its text."""
    if where.startswith(SCHEMES):
        return True
    if not os.path.exists(where) and ("://" in where or _PAIRS.search(where)):
        raise PrudentError(f"database: this is neither a file nor an address of the form postgresql://…; {FIX}")
    return False


def parsed(address: str) -> dict[str, str]:
    """The parts of an address of PostgreSQL. One that could be read in two ways may hold a piece of a password where
    a host or a name should be, so it is refused before anybody quotes it."""
    import psycopg

    refused = PrudentError(
        "database: the address of PostgreSQL cannot be read; write it as postgresql://user@host/name, and within user,"
        " password and name write @ as %40, / as %2F, ? as %3F, % as %25 and a blank as %20"
    )
    authority, _, rest = address.partition("://")[2].replace("?", "/", 1).partition("/")
    if "@" in rest or authority.count("@") > 1:
        raise refused
    try:
        parts = {name: str(value) for name, value in psycopg.conninfo.conninfo_to_dict(address).items()}
    except psycopg.Error:
        raise refused from None
    if not re.fullmatch(r"[\d,]*", parts.get("port", "")) or "://" in parts.get("dbname", ""):
        raise refused
    return parts


def shown(where: str) -> str:
    """A database as messages name it: its file, or host and name alone."""
    if not is_postgresql(where):
        return where
    parts = parsed(where)
    given = parts.get("host", os.environ.get("PGHOST", "")), parts.get("dbname", os.environ.get("PGDATABASE", ""))
    host, name = (part if _PLAIN.fullmatch(part) else "…" for part in given)
    return f"postgresql://{quote(host, safe=',:[]…')}/{name}"
