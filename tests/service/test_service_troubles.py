"""Full disks, damaged files, files that may not be written, clocks that are set: no answer, or the right one."""

import contextlib
import itertools
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from helpers.service.client_ledgers import integrity
from helpers.service.clock import Clock
from prudent import PrudentError
from prudent.service import messages as m
from prudent.service.log.sqlite import copy_database
from prudent.service.log.store import StoreError, open_store
from prudent.service.log.verify import take_in, verify
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work.clocks import steady_clock
from prudent.service.work.service import Service

SPEC = {"name": "shop", "arms": ["A", "B", "C"], "policy": "mv-lcb(rho=1)", "horizon": 1000, "support": [0, 1]}
HOUR, DAY = 3600.0, 86400.0


@contextlib.contextmanager
def serving(database, now=None, **more):
    """A service, closed in the end."""
    service = Service(open_store(str(database)), now, **{"patience": 0.0, **more}).start()
    try:
        yield service
    finally:
        service.close()


def soon(what, seconds=10.0):
    """Whether something is so within that time."""
    until = time.monotonic() + seconds
    while not what() and time.monotonic() < until:
        time.sleep(0.01)
    return what()


class Full:
    """A database whose place is about to be full, and has space again."""

    def __init__(self, how, folder):
        self.how, self.folder = how, folder
        if how == "tmpfs":
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], check=False)
            if done.returncode:
                pytest.skip("this user may not mount a small disk")

    def fill(self, service):
        """From now on little can be written."""
        if self.how == "pages":
            (pages,) = service.store.database.execute("PRAGMA page_count")[0]
            service.store.database.execute(f"PRAGMA max_page_count = {pages + 3}")
        elif self.how == "file size":
            self.limit = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, self.limit[1]))

    def empty(self, service):
        """There is space again."""
        if self.how == "pages":
            service.store.database.execute("PRAGMA max_page_count = 1000000")
        elif self.how == "file size":
            resource.setrlimit(resource.RLIMIT_FSIZE, self.limit)
        else:
            subprocess.run(["mount", "-o", "remount,size=16m", self.folder], check=True)

    def close(self):
        if self.how == "tmpfs":
            subprocess.run(["umount", "-l", self.folder], check=True)


@pytest.mark.parametrize("how", ["pages", "file size", "tmpfs"])
def test_a_full_disk_is_told_and_passes(how, tmp_path):
    with contextlib.closing(Full(how, tmp_path)) as disk, serving(tmp_path / "prudent.db") as service:
        service.create(decoded(SPEC))
        disk.fill(service)
        made = {}

        def ask_on():
            for number in itertools.count():
                made[number] = service.run("shop", m.Ask(count=100), key=f"k{number}").decisions

        with pytest.raises(RequestError) as refused:
            ask_on()
        assert refused.value.kind == "unavailable"
        assert "full" in service.writer.trouble or "disk" in service.writer.trouble
        assert service.ready() == ["the last attempt to write failed; the log of the service says why"]
        with pytest.raises(RequestError, match="cannot be written"):
            service.run("shop", m.Ask(count=1000), key="more")
        disk.empty(service)
        if how != "pages":  # nothing is to be written there but what had no space
            assert soon(lambda: service.ready() == [])
        again = {number: service.run("shop", m.Ask(count=100), key=f"k{number}") for number in [*made, len(made)]}
        assert [answer.again for answer in again.values()] == [True] * len(made) + [False]
        assert all(again[number].decisions == made[number] for number in made)
        assert service.ready() == []
        assert service.verify("shop").ok


@contextlib.contextmanager
def as_nobody():
    """Without the rights of root, for whom nothing is forbidden."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def allow(folder, mode):
    """Change what may be done with a folder, as its owner."""
    user = os.geteuid()
    os.seteuid(os.getuid())
    folder.chmod(mode)
    os.seteuid(user)


@pytest.fixture
def folder():
    """A folder that everybody can enter."""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o777)
        yield Path(path)


def test_a_file_that_may_not_be_written_is_refused_in_words(folder):
    with serving(folder / "prudent.db") as service:
        service.create(decoded(SPEC))
    for path in folder.iterdir():
        path.chmod(0o444)
    with as_nobody(), pytest.raises(PrudentError, match="cannot write beside"):
        open_store(str(folder / "prudent.db"))
    (folder / "prudent.db.lock").chmod(0o666)
    with as_nobody(), pytest.raises(PrudentError, match=r"readonly.*may this user write"):
        open_store(str(folder / "prudent.db"))
    folder.chmod(0o555)
    with as_nobody(), pytest.raises(PrudentError, match="may this user write"):
        open_store(str(folder / "prudent.db"))


def test_rights_that_are_lost_while_it_runs_cost_no_decision(folder):
    with as_nobody(), serving(folder / "prudent.db") as service:
        service.create(decoded(SPEC))
        made = service.run("shop", m.Ask(), key="before").decisions
        allow(folder, 0o000)
        for number in range(3):
            with contextlib.suppress(RequestError, StoreError):
                service.run("shop", m.Ask(), key=str(number))
                service.decision(made[0].decision)
        allow(folder, 0o777)
        assert service.run("shop", m.Ask(), key="before").decisions == made
        assert service.verify("shop").ok


def test_something_else_than_a_database_is_refused_in_words(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database\n" * 1000)
    with pytest.raises(PrudentError, match=r"cannot open .*notes\.txt: file is not a database"):
        open_store(str(tmp_path / "notes.txt"))
    with pytest.raises(PrudentError, match="cannot open"):
        open_store(str(tmp_path))
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE customers (name TEXT)")
    with pytest.raises(PrudentError, match=r"other\.db: it belongs to another program"):
        open_store(str(tmp_path / "other.db"))


def test_a_damaged_page_gives_no_wrong_answer(tmp_path):
    whole = tmp_path / "whole.db"
    with serving(whole) as service:
        service.create(decoded(SPEC))
        made = {f"k{i}": service.run("shop", m.Ask(), key=f"k{i}").decisions for i in range(600)}
        rewards = {one.decision: i / 1000 for i, (one,) in enumerate(made.values())}
        service.run("shop", m.TellMany([m.Told(reward, decision=one) for one, reward in rewards.items()]))
    pages, chance, noticed = whole.stat().st_size // 4096, random.Random(0), 0
    for trial, page in enumerate(chance.sample(range(1, pages), min(12, pages - 1))):
        path = tmp_path / f"{trial}.db"
        shutil.copy(whole, path)
        with path.open("r+b") as file:
            file.seek(4096 * page)
            file.write(bytes(4096) if trial % 2 else chance.randbytes(4096))
        try:
            with serving(path) as service:
                noticed += _right_or_silent(service, chance, made, rewards)
        except PrudentError:
            noticed += 1
    assert noticed >= 6


def _right_or_silent(service, chance, made, rewards):
    """Whether the service noticed the damage; it must not answer otherwise than before."""
    silent = False
    for key in chance.sample(sorted(made), 40):
        (one,) = made[key]
        try:
            (again,) = service.run("shop", m.Ask(), key=key).decisions
            assert (again.decision, again.arm) == (one.decision, one.arm)
            assert service.run("shop", m.Tell(rewards[one.decision]), decision=one.decision).again
        except RequestError as error:
            if error.kind != "unavailable":
                raise
            silent = True
    try:
        return not service.verify("shop").ok or silent
    except (StoreError, RequestError):
        return True


def test_a_damaged_snapshot_costs_time_only(database):
    with serving(database) as service:
        service.create(decoded(SPEC))
        service.run("shop", m.Ask(count=10))
    for text in ("{", "{}", '{"seq": 11}', "[]"):
        with contextlib.closing(open_store(str(database))) as store, store.transaction():
            store.database.execute("UPDATE snapshot SET state = ?", text)
        with serving(database) as service:
            assert service.view("shop").state.seq > 10
            service.run("shop", m.Ask())


def test_a_snapshot_that_cannot_be_kept_does_not_stop_the_service(database):
    with serving(database) as service:
        service.create(decoded(SPEC))
        commit, service.store.commit = service.store.commit, failing
        with pytest.raises(RequestError, match="the database does not answer; try again later"):
            service.follower.keep(1, 1, "{}")
        service.store.commit = commit
        service.run("shop", m.Ask())
        assert list(service.store.snapshots(1)) == []


def failing():
    """A commit on a bad day."""
    raise StoreError("no space")


def test_readiness_remembers_trouble_until_something_was_written(database):
    with serving(database, patience=HOUR) as service:
        service.create(decoded(SPEC))
        made = service.run("shop", m.Ask(), key="k").decisions
        tried = []
        commit, service.store.commit = service.store.commit, lambda: (tried.append(1), failing())
        with pytest.raises(RequestError) as refused:
            service.run("shop", m.Ask())
        assert refused.value.kind == "unavailable"
        assert soon(lambda: len(tried) > 2)  # it has tried again meanwhile
        assert service.ready() == ["the last attempt to write failed; the log of the service says why"]
        service.store.commit = commit
        assert soon(lambda: service.ready() == [])  # nobody has asked meanwhile
        assert service.run("shop", m.Ask(), key="k").decisions == made
        assert service.view("shop").state.tally[0].asked == 1


def test_what_a_replay_stumbles_over_is_told(database, monkeypatch):
    def stumble(state, event, link):
        if event.kind == "asked":
            raise ZeroDivisionError("a fault of ours")
        take_in(state, event, link)

    with serving(database) as service:
        service.create(decoded(SPEC))
        service.create(decoded({**SPEC, "name": "shop-2"}))
        monkeypatch.setattr("prudent.service.log.follower.take_in", stumble)
        service.run("shop-2", m.Ask())
        assert soon(lambda: service.ready() != [])
        said = "the log of an experiment is not whole; its page and the log of the service say which"
        assert service.ready() == [said]  # which needs no token, and so names none
        assert service.follower.alarms == ["the log of shop-2: a fault of ours"]
        service.run("shop", m.Ask())
        assert soon(lambda: len(service.follower.alarms) == 2)  # it goes on with others


def test_readers_do_not_pile_up(database):
    with serving(database) as service:
        service.create(decoded(SPEC))
        for _ in range(20):
            reader = threading.Thread(target=service.experiments)
            reader.start()
            reader.join()
        assert len(service.store.database._readers) <= 4


def test_a_transaction_does_not_take_more_than_it_can_carry(tmp_path):
    service = Service(open_store(str(tmp_path / "prudent.db")))
    many = m.TellMany([m.Told(0.5, arm="A", key=str(i)) for i in range(1000)])
    callers = [threading.Thread(target=service.run, args=("shop", many)) for _ in range(10)]
    for caller in callers:
        caller.start()
    assert soon(lambda: service.waiting == 10)
    service.writer.create(decoded(SPEC), 0)
    service.start()
    for caller in callers:
        caller.join()
    service.close()
    assert 3 <= service.commits <= 10


# Clocks


def test_the_clock_of_the_machine_may_be_set(monkeypatch):
    wall = time.time
    clock = steady_clock()
    first = clock()
    for shift in (-HOUR, DAY):
        monkeypatch.setattr(time, "time", lambda shift=shift: wall() + shift)
        assert 0 <= clock() - first < 60_000


@pytest.mark.parametrize("shift", [-HOUR, DAY])
def test_times_never_decrease_and_nothing_ends_early(database, shift):
    clock = Clock()
    begin = clock()
    with serving(database, clock, patience=HOUR) as service:
        service.create(decoded({**SPEC, "rewards": {"window": "2 d", "default": 0}}))
        first = service.run("shop", m.Ask()).decisions[0]
        clock.advance(shift)  # while it runs
        second = service.run("shop", m.Ask()).decisions[0]
        service.close_windows()
        assert [service.decision(one.decision).state for one in (first, second)] == ["open", "open"]
        assert second.due >= begin + 2 * 1000 * DAY
    clock.advance(shift)  # between two starts
    with serving(database, clock, patience=HOUR) as service:
        service.close_windows()
        service.run("shop", m.Ask())
        ends = {one.decision: service.decision(one.decision).state for one in (first, second)}
        assert ends[second.decision] == "open"
        assert ends[first.decision] == ("defaulted" if clock() >= first.due else "open")
        times = [line["at"] for line in service.events("shop", 0, 100)]
        assert times == sorted(times)
        clock.time = first.due - 1
        service.close_windows()
        clock.time = second.due
        service.close_windows()
        assert service.decision(second.decision).state == "defaulted"
        assert service.verify("shop").ok


def test_what_ended_while_the_service_was_away_can_still_be_told(database):
    clock = Clock()
    with serving(database, clock, patience=HOUR) as service:
        service.create(decoded({**SPEC, "rewards": {"window": "1 h", "default": 0}}))
        told, late, unused = service.run("shop", m.Ask(count=3)).decisions
    clock.advance(DAY)
    with serving(database, clock, patience=10.0) as service:
        assert not service.run("shop", m.Tell(1), decision=told.decision).again
        assert service.run("shop", m.Withdraw(), decision=unused.decision).state == "withdrawn"
        clock.advance(10.0)
        with pytest.raises(RequestError) as refused:
            service.run("shop", m.Tell(1), decision=late.decision)
        assert refused.value.kind == "window-closed"
        service.close_windows()
        assert [service.decision(one.decision).reward for one in (told, late)] == [1.0, 0.0]
        assert service.verify("shop").ok


# Tables and copies


def test_the_reward_of_a_decision_that_a_backup_does_not_know_counts_for_no_other(tmp_path):
    path, copy = tmp_path / "prudent.db", tmp_path / "copy.db"
    clock = Clock()
    with serving(path, clock) as service:
        service.create(decoded(SPEC))
        service.run("shop", m.Ask())
        copy_database(path, copy)
        lost = service.run("shop", m.Ask()).decisions[0]
    clock.advance(60)
    with serving(copy, clock) as service:
        with pytest.raises(RequestError, match="there is no decision"):
            service.run("shop", m.Tell(1), decision=lost.decision)
        other = service.run("shop", m.Ask()).decisions[0]
        assert other.decision.rpartition("-")[0] == lost.decision.rpartition("-")[0], "the same number"
        with pytest.raises(RequestError, match="there is no decision"):
            service.run("shop", m.Tell(1), decision=lost.decision)
        with pytest.raises(RequestError, match="there is no decision"):
            service.decision(lost.decision)
        assert not service.run("shop", m.Tell(1), decision=other.decision).again


def test_an_answer_waits_for_the_disk_unless_it_is_told_not_to(database):
    wanted = {False: ("2", "on"), True: ("1", "off")}
    ask = "SHOW synchronous_commit" if database.startswith("postgresql") else "PRAGMA synchronous"
    for relaxed, answers in wanted.items():
        with contextlib.closing(open_store(str(database), relaxed=relaxed)) as store:
            assert str(store.database.execute(ask)[0][0]) in answers


def test_a_second_process_is_refused_the_file_in_words(nursery, tmp_path):
    path = str(tmp_path / "prudent.db")
    worker = nursery.start(path).ready()
    with pytest.raises(PrudentError, match=r"prudent\.db is in use by another process.*--server"):
        open_store(path)
    worker.kill()
    assert worker.ended()
    open_store(path).close()


def test_tables_of_a_newer_version_are_refused(database):
    with contextlib.closing(open_store(str(database))) as store, store.transaction():
        store.database.execute("UPDATE meta SET value = '99' WHERE name IN ('schema', 'least')")
    for _ in range(2):  # what was refused leaves nothing behind
        with pytest.raises(PrudentError, match=r"newer version of prudent \(tables 99, this one knows"):
            open_store(str(database))


MORE = ["CREATE TABLE more (id INTEGER PRIMARY KEY)", "ALTER TABLE token ADD COLUMN more TEXT"]


def test_a_migration_that_is_killed_leaves_the_tables_as_they_were(nursery, database):
    for dies in (1, 2, 3, 6):  # while the first tables are made
        worker = nursery.start(str(database), dies=dies)
        assert worker.ended()
    with serving(database) as service:
        service.create(decoded(SPEC))
        made = service.run("shop", m.Ask(count=5), key="k").decisions
    for dies in (1, 2, 3):  # while they are changed
        worker = nursery.start(str(database), migration=MORE, dies=dies)
        assert worker.ended()
        with serving(database) as service:
            assert service.run("shop", m.Ask(count=5), key="k").decisions == made
    worker = nursery.start(str(database), migration=MORE).ready()
    worker.kill()
    assert worker.ended()
    with pytest.raises(PrudentError, match="newer version"):
        open_store(str(database))


def test_a_backup_under_load_is_a_beginning_of_the_log(tmp_path):
    with serving(tmp_path / "prudent.db") as service:
        service.create(decoded(SPEC))
        stop = threading.Event()

        def ask():
            for number in itertools.count():
                if stop.is_set():
                    return
                service.run("shop", m.Ask(count=10), key=f"{threading.get_ident()}-{number}")

        askers = [threading.Thread(target=ask) for _ in range(4)]
        for asker in askers:
            asker.start()
        copies = [tmp_path / f"copy{i}.db" for i in range(3)]
        for number, copy in enumerate(copies):
            assert soon(lambda so_far=200 * (number + 1): service.view("shop").state.seq > so_far)
            copy_database(tmp_path / "prudent.db", copy)
        stop.set()
        for asker in askers:
            asker.join()
        lines = service.events("shop", 0, 100_000)
        for copy in copies:
            assert integrity(copy) == "ok"
            with contextlib.closing(open_store(str(copy))) as store:
                (experiment,) = store.experiments()
                verified = verify(store, experiment)
                assert verified.ok
                assert verified.chain[:16] == lines[verified.events - 1]["link"]
        assert verified.events > 600
    with pytest.raises(PrudentError, match="cannot copy"):
        copy_database(copies[0], tmp_path / "nowhere" / "copy.db")
