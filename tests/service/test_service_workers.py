"""Several workers on one PostgreSQL database are as good as one, and survive its restart and each other's."""

import shutil
import signal
import subprocess
import time
from contextlib import closing

import pytest

from helpers.service.client_ledgers import PLAIN
from helpers.service.postgres_server import PostgresServer
from helpers.service.worker_pairs import Pair, call, many_clients, restart_often, same_key_at_once
from prudent.service import messages as m
from prudent.service.log.store import StoreError, open_store
from prudent.service.log.verify import verify
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work.service import Service

pytestmark = pytest.mark.xdist_group("postgres")


def test_one_key_is_one_decision_however_often_it_comes(nursery, postgres):
    answers = same_key_at_once(nursery, postgres.new_database("one_key"), 50)
    assert len({answer["decisions"][0]["decision"] for answer in answers}) == 1
    assert [answer.get("again", False) for answer in answers].count(False) == 1


@pytest.mark.slow
def test_two_workers_write_the_log_of_one(nursery, postgres):
    carried = many_clients(nursery, postgres.new_database("many_clients"), 32, 3000)
    assert carried.decisions >= 3000


@pytest.mark.slow
def test_workers_go_on_after_a_restart_of_the_database(nursery, postgres):
    server = PostgresServer()
    try:
        check_quiet_restart(server)
        restarts = restart_often(nursery, server, server.new_database("restarts"), 2)
    finally:
        server.close()
    assert max(restarts.seconds) < 15.0  # on a busy machine; benchmarks/service_kills.py prints the time
    assert restarts.acknowledged > 20


def check_quiet_restart(server):
    """Who did not ask while the database was away does not notice that it was."""
    with closing(Service(open_store(server.new_database("quiet"))).start()) as service:
        service.create(decoded(PLAIN))
        first = service.run("plain", m.Ask(), key="k").decisions[0]
        server.stop("immediate")
        server.start()
        assert service.run("plain", m.Ask(), key="k").decisions == [first]
    with closing(open_store(server.address("quiet"))) as store:
        assert [one.name for one in store.experiments()] == ["plain"]
        server.stop("immediate")
        server.start()
        assert [one.name for one in store.experiments()] == ["plain"]


@pytest.mark.parametrize("step", ["add_events", "commit"])
def test_a_worker_forgets_what_it_could_not_write(postgres, step):
    database = postgres.new_database(f"forgets_{step}")
    with closing(Service(open_store(database)).start()) as one, closing(Service(open_store(database)).start()) as two:
        one.create(decoded(PLAIN))
        one.run("plain", m.Ask())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(one.store, step, lose)
            with pytest.raises(RequestError, match="cannot be written or read"):
                one.run("plain", m.Ask(count=3), key="k")
        first = two.run("plain", m.Ask(count=5)).decisions
        again = one.run("plain", m.Ask(count=3), key="k")
        assert not again.again
        assert again.decisions[0].decision.startswith("1-8-"), "it follows what the other wrote"
        assert len({shown.decision for shown in (*first, *again.decisions)}) == 8
        assert two.verify("plain").ok


def lose(*_):
    """A statement that does not arrive."""
    raise StoreError("lost on the way")


@pytest.mark.skipif(not (shutil.which("pg_dump") and shutil.which("psql")), reason="no pg_dump is installed")
def test_a_dump_under_load_is_a_beginning_of_the_log(nursery, postgres, tmp_path):
    source, dump = postgres.new_database("dumped"), tmp_path / "dump.sql"
    with Pair(nursery, source, 4) as pair:
        while sum(client.answers for client in pair.clients) < 50:
            time.sleep(0.01)
        subprocess.run(["pg_dump", "--file", dump, source], check=True)
    restored = postgres.new_database("restored")
    subprocess.run(["psql", "-q", "--file", dump, restored], check=True, stdout=subprocess.DEVNULL)
    with closing(open_store(restored)) as copy, closing(open_store(source)) as store:
        (experiment,) = copy.experiments()
        verified = verify(copy, experiment)
        assert verified.ok
        ((_, link),) = store.events(experiment.id, verified.events - 1, 1)
        assert bytes.fromhex(verified.chain).startswith(link)
    assert 50 <= verified.events <= pair.checked()


def test_a_worker_that_stands_still_in_a_transaction_is_fenced_off(nursery, postgres):
    database = postgres.new_database("fenced")
    still = {"step": "before commit", "passes": 5, "how": signal.SIGSTOP}
    limits = {"idle_in_transaction_session_timeout": "1s"}
    with Pair(nursery, database, 4, first=still, limits=limits) as pair:
        stopped, other = pair.workers
        while stopped.state() != "stopped":
            time.sleep(0.01)
        call(other, "Ask", key="while the other stands still")
        before = [client.answers for client in pair.clients]
        stopped.kill(signal.SIGCONT)
        call(stopped, "Ask", key="after that")
        while not all(client.answers > old for client, old in zip(pair.clients, before, strict=True)):
            time.sleep(0.01)
    assert pair.checked() > 10
