"""Units are never stored, and after they are forgotten nobody can find out who they were."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from prudent.service import messages as m
from prudent.service.spec import decoded
from prudent.service.work.transaction import Command

SPEC = {"name": "e", "arms": ["A", "B"], "policy": "ucb1", "support": [0, 1], "sticky": True}
UNITS = [f"ann{i}@example.org" for i in range(10)]


def files(database):
    """All that is on disk, the write-ahead log too."""
    return b"".join(path.read_bytes() for path in Path(database).parent.glob(Path(database).name + "*"))


@pytest.fixture
def asked(service):
    """An experiment with units and keys. Its row has grown between others, so that old versions lie about; its salt."""
    for name in ("before", "e", "after"):
        service.create(decoded({**SPEC, "name": name}))
    for unit in UNITS:
        service.run("e", m.Ask(unit=unit), key=f"key of {unit}")
    for number in range(5):
        service.run("e", m.BODIES["add"](f"{number}" + 100 * "x", "new"))
    return service.store.experiment("e").salt


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_files_hold_neither_units_nor_digests_of_them_without_the_salt(service, database, asked):
    text = files(database)
    assert asked in text
    for unit in UNITS:
        assert unit.encode() not in text
        request = msgspec.json.encode(m.Ask(unit=unit))
        for size in (5, 8, 16):
            assert hashlib.blake2b(request, digest_size=size).digest() not in text
            assert hashlib.blake2b(unit.encode(), digest_size=size).digest() not in text


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_salt_is_gone_from_the_files_at_once(service, database, asked):
    service.run("e", m.BODIES["forget"]("they asked us to"))
    assert asked not in files(database)
    assert service.store.experiment("e").salt in files(database)


def test_log_and_replay_are_unharmed(service, asked):
    """The same unit is somebody new, and a repeated request without a unit is still known."""
    before = service.view("e").state.to_json()
    service.run("e", m.BODIES["add"]("last", "new"), key="arm")
    service.run("e", m.BODIES["forget"]("they asked us to"), key="forget")
    assert service.run("e", m.BODIES["forget"]("they asked us to"), key="forget").again
    assert service.run("e", m.BODIES["add"]("last", "new"), key="arm").again
    assert service.store.experiment("e").salt != asked
    assert not service.run("e", m.Ask(unit=UNITS[0])).again
    assert service.run("e", m.Ask(unit=UNITS[0])).again
    found = service.verify("e")
    assert (found.ok, found.events) == (True, msgspec.json.decode(before)["seq"] + 3)


def test_forgetting_and_asking_in_one_transaction_is_as_one_after_the_other(service, asked):
    commands = [
        Command("e", m.Ask(unit=UNITS[0])),
        Command("e", m.BODIES["forget"]("now")),
        Command("e", m.Ask(unit=UNITS[0])),
    ]
    answers = service.write(lambda: service.writer.carry_out(commands))
    assert [answers[0].again, answers[2].again] == [True, False]
    assert service.run("e", m.Ask(unit=UNITS[0])).decisions == answers[2].decisions
