"""Services for tests, on both databases. Without a PostgreSQL server its tests are left out, and say so."""

import itertools
import os

import pytest

from helpers.service.clock import Clock
from helpers.service.postgres_server import PostgresServer, programs
from helpers.service.workers import Nursery
from prudent.service.log.store import open_store
from prudent.service.work.service import Service

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def installed_postgres():
    """Leaves tests out where PostgreSQL is not installed."""
    if programs() is None:
        pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")


@pytest.fixture(scope="session")
def postgres(installed_postgres):
    """A PostgreSQL server."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))])
def database(request, tmp_path):
    """Where a new, empty database is."""
    if request.param == "sqlite":
        return str(tmp_path / "prudent.db")
    return request.getfixturevalue("postgres").new_database(f"t{next(NUMBERS)}")


@pytest.fixture(scope="session")
def nursery():
    """Where processes come from that serve a database."""
    if not hasattr(os, "fork"):
        pytest.skip("workers are forked, which this system cannot do")
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def service(database, clock):
    """A running service. Windows close only when the test says so: `service.close_windows()`."""
    service = Service(open_store(database, relaxed=True), clock, patience=3600.0).start()
    yield service
    service.close()
