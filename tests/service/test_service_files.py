"""The files of a database: who may read them, under which name, how they are copied; and that no password is shown."""

import contextlib
import logging
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from prudent import PrudentError
from prudent.cli import main
from prudent.service.log.address import shown
from prudent.service.log.sqlite import copy_database
from prudent.service.log.store import open_store
from prudent.service.spec import decoded
from prudent.service.work.service import Service

SPEC = {"name": "shop", "arms": ["A", "B"], "policy": "mv-lcb(rho=1)", "horizon": 1000, "support": [0, 1]}
posix = pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")


@contextlib.contextmanager
def serving(path):
    service = Service(open_store(str(path)), patience=0.0).start()
    try:
        yield service
    finally:
        service.close()


@pytest.fixture(autouse=True)
def this_process_goes_on(monkeypatch):
    """A process that serves opens no file that a spec names, for good; here it also runs other tests."""
    monkeypatch.setattr("prudent.base.registry._may_open", True)


@pytest.fixture(params=[0o000, 0o022, 0o277])
def mask(request):
    """What new files of this process may not have."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def rights(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@posix
def test_only_the_owner_can_read_a_database_and_its_copies(tmp_path, mask):
    with serving(tmp_path / "shop.db") as service:
        service.create(decoded(SPEC))
        copy_database(tmp_path / "shop.db", tmp_path / "copy.db")
        found = rights(tmp_path)
    assert found.keys() >= {"shop.db", "shop.db-wal", "shop.db-shm", "copy.db"}
    assert {name: mode for name, mode in found.items() if mode & 0o077} == {}
    assert found["shop.db"] == found["copy.db"] == 0o600


@posix
def test_a_database_that_others_may_read_is_told_and_left_as_it_is(tmp_path, caplog):
    path = tmp_path / "shop.db"
    open_store(str(path)).close()
    assert caplog.records == []
    path.chmod(0o640)
    open_store(str(path)).close()
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "(mode 640)" in record.getMessage()
    assert f"chmod 600 {path}*" in record.getMessage()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_a_second_name_of_a_file_that_is_served_is_refused(tmp_path, make):
    (tmp_path / "elsewhere").mkdir()
    alias = tmp_path / "elsewhere" / "alias.db"
    with serving(tmp_path / "shop.db") as service:
        service.create(decoded(SPEC))
        make(alias, tmp_path / "shop.db")
        with pytest.raises(PrudentError, match=r"in use by another process|2 names of the same file \(hard links\)"):
            open_store(str(alias))


def test_a_symbolic_link_leads_to_the_one_database(tmp_path):
    alias = tmp_path / "alias.db"
    alias.symlink_to(tmp_path / "shop.db")  # which is not there yet
    with serving(alias) as service:
        service.create(decoded(SPEC))
        with pytest.raises(PrudentError, match=r"shop\.db is in use by another process"):
            open_store(str(tmp_path / "shop.db"))
    with serving(tmp_path / "shop.db") as service:
        assert service.view("shop").state.seq == 1


def test_a_file_with_two_names_is_neither_served_nor_copied(tmp_path):
    open_store(str(tmp_path / "shop.db")).close()
    (tmp_path / "alias.db").hardlink_to(tmp_path / "shop.db")
    for act in (open_store, lambda path: copy_database(path, tmp_path / "copy.db")):
        with pytest.raises(PrudentError, match=r"alias\.db is one of 2 names .*serve a copy of it"):
            act(str(tmp_path / "alias.db"))
    (tmp_path / "alias.db").unlink()
    open_store(str(tmp_path / "shop.db")).close()


@pytest.mark.parametrize("whole", [True, False])
def test_a_copy_touches_no_other_file_of_its_folder(tmp_path, whole):
    with serving(tmp_path / "shop.db") as service:
        service.create(decoded(SPEC))
    if not whole:
        (tmp_path / "shop.db").write_bytes(b"SQLite format 3\0 and then something else")
    names = ["out.db.part", "out.db-journal", ".out.db", "out.db.lock", "out.db-wal"]
    for name in names:
        (tmp_path / name).write_text("precious")
    command = ["serve", "--database", str(tmp_path / "shop.db"), "backup", str(tmp_path / "out.db")]
    done = CliRunner().invoke(main, command)
    assert (done.exit_code == 0) == whole, done.output
    found = {path.name for path in tmp_path.iterdir() if not path.name.startswith("shop.db")}
    assert found == {*names, *["out.db"] * whole}
    assert {(tmp_path / name).read_text() for name in names} == {"precious"}


def test_a_copy_that_fails_leaves_nothing_behind(tmp_path):
    open_store(str(tmp_path / "shop.db")).close()
    (tmp_path / "out.db").mkdir()  # so that it fails at the very end
    with pytest.raises(PrudentError, match="cannot copy "):
        copy_database(tmp_path / "shop.db", tmp_path / "out.db")
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith("shop.db")} == {"out.db"}


# Passwords

SECRETS = ("sEc", "ret9")
READABLE = [
    "postgresql://bob:sEcret9@db.example.org/shop",
    "postgres://bob:sEcret9@db.example.org:5432/shop",
    "postgresql://bob:sEc%2Fret9@db.example.org/shop",
    "postgresql://db.example.org/shop?user=bob&password=sEcret9",
    "postgresql://db.example.org/shop?password=sEc%40ret9&user=bob&connect_timeout=1",
    "postgresql:///shop?host=db.example.org&password=sEcret9",
    "postgresql://bob@db.example.org/shop?sslpassword=sEcret9",
]
UNREADABLE = [
    "postgresql://bob:sEc/ret9@127.0.0.1/shop",
    "postgresql://bob:1/sEcret9@127.0.0.1/shop",
    "postgresql://bob:sEc@ret9@127.0.0.1/shop",
    "postgresql://bob:sEc?ret9@127.0.0.1/shop",
    "postgresql://bob:sEc ret9@127.0.0.1/shop",
    "postgresql://bob:sEc%ret9@127.0.0.1/shop",
    "postgresql://bob:sEcret9@[127.0.0.1/shop",
    "postgresql://127.0.0.1/shop?user=bob&pasword=sEcret9",
    "postgresql://127.0.0.1:sEcret9/shop",
    "postgresql:///?dbname=postgresql://bob:sEcret9@127.0.0.1/shop",
    "host=127.0.0.1 dbname=shop user=bob password=sEcret9",
    "password = 'sEc ret9'",
    "POSTGRESQL://bob:sEcret9@127.0.0.1/shop",
    "postgresql+psycopg://bob:sEcret9@127.0.0.1/shop",
    "mysql://bob:sEcret9@127.0.0.1/shop",
]


@pytest.mark.parametrize("address", READABLE)
def test_of_an_address_host_and_name_are_shown(address):
    assert shown(address) == "postgresql://db.example.org/shop"


@pytest.mark.parametrize("address", [*READABLE, *UNREADABLE])
@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["trial", "list"], ["serve", "backup", "out.db"]])
def test_no_message_holds_a_password(address, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.1")  # nobody is asked where the host is
    monkeypatch.setenv("PGPORT", "1")
    done = CliRunner().invoke(main, [command[0], "--database", address, *command[1:]] if command[0] == "serve"
                              else [*command, "--database", address])  # fmt: skip
    assert done.exit_code == 2, done.output
    assert "database" in done.output or "pg_dump" in done.output
    assert not any(part in done.output for part in SECRETS), done.output
    assert list(tmp_path.iterdir()) == [], "it was taken for a file"


def test_what_the_server_says_comes_without_the_password(postgres, monkeypatch):
    """Also if the password comes from the environment."""
    monkeypatch.setenv("PGPASSWORD", "sEcret9")
    missing = f"postgresql://nobody-here:sEcret9@/missing?host={postgres.folder}"
    with pytest.raises(PrudentError, match=r"cannot connect to postgresql://.*/missing: ") as refused:
        open_store(missing)
    assert "sEc" not in str(refused.value)
    assert "sEc" not in shown(postgres.address())
    assert shown(postgres.address()).endswith("/postgres")
