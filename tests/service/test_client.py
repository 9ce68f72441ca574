"""The client against a fake service that is silent, busy, and loses answers; and that it has all verbs twice."""

import ast
import asyncio
import inspect
import logging
import math
import multiprocessing
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import prudent.client
from helpers.service.fake_service import FakeService
from prudent.client import AsyncClient, Batch, Client, Decision, Lost, ServiceError, delivery, shapes, wire
from prudent.client.edge import Statistics

FOLDER = Path(prudent.client.__file__).parent


@pytest.fixture
def service():
    with FakeService() as one:
        yield one


@pytest.fixture
def client(service):
    with Client(service.url, "pru_token", "e", timeout=5.0) as one:
        yield one


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(wire, "FIRST_PAUSE", 0.005)
    monkeypatch.setattr(delivery, "REST", 0.1)


def away(**settings):
    """A client of a service that is not there."""
    with FakeService() as gone:
        url = gone.url
    return Client(url, "pru_token", "e", **{"timeout": 0.3, "retries": 1, **settings})


def test_asks_and_tells_go_over_one_connection(service, client):
    for _ in range(5):
        decision = client.ask(unit="u", among=["A"])
        assert decision.counted
        assert client.tell(decision, 0.5, latency=3) == {
            "decision": decision.id, "arm": "A", "reward": 0.5, "counted": "now",
        }  # fmt: skip
    assert service.connections == 1
    assert service.seen[0][2] == {"count": 1, "activate": "now", "unit": "u", "among": ["A"]}
    assert service.seen[1][:3] == (
        "PUT", f"/v1/decisions/{service.seen[0][3]}.0/reward", {"reward": 0.5, "metrics": {"latency": 3}},
    )  # fmt: skip


@pytest.mark.parametrize("trouble", ["silent", "lost", (503, {}), (429, {"Retry-After": "0"}), (502, {}), (504, {})])
def test_a_try_that_fails_is_repeated_with_the_same_key_and_counts_once(trouble, service, client):
    service.trouble.extend([trouble] * 3)
    decision = client.ask()
    keys = {key for *_, key in service.seen}
    assert len(service.seen) == 4
    assert len(keys) == 1
    assert list(service.decisions) == [decision.id]
    service.trouble.append(trouble)
    assert client.tell(decision, 1.0) is not None
    assert service.rewards == {decision.id: 1.0}
    assert client.lost == Lost()


def test_every_ask_has_a_key_of_its_own_unless_it_is_given(service, client):
    assert len({client.ask().id for _ in range(10)}) == 10
    assert client.ask(key="mine").id == client.ask(key="mine").id == "mine.0"


def test_a_connection_closed_meanwhile_costs_no_try(service):
    with Client(service.url, "pru_token", "e", retries=0) as client:
        client.ask()
        service.trouble.append("silent")  # as it looks if the service has closed a connection that was idle
        client.ask()
        service.trouble.append("close")
        client.ask()
        client.ask()
    assert service.connections == 3


def test_what_is_refused_is_not_repeated_and_carries_the_problem(service, client):
    decision = client.ask()
    client.tell(decision, 1.0)
    with pytest.raises(ServiceError, match="stands") as refused:
        client.tell(decision, 0.0)
    assert (refused.value.status, refused.value.kind, refused.value.problem["stands"]) == (409, "other-reward", 1.0)
    assert not refused.value.away
    assert len(service.seen) == 3


def test_a_page_of_somebody_else_is_told_from_an_answer(service, client):
    service.trouble.append("page")
    assert client.ask().counted
    assert len(service.seen) == 2
    gone = shapes.problem_of(shapes.Reply(404, {}, b"<html>"))
    assert (gone.status, gone.kind) == (404, "not-the-service")
    assert "is the address right" in str(gone)


def test_the_service_is_waited_for_as_long_as_it_asks(service, client, monkeypatch):
    slept = []
    monkeypatch.setattr(wire.time, "sleep", slept.append)
    service.trouble.append((503, {"Retry-After": "0.3"}))
    client.ask()
    assert slept == [0.3]
    service.trouble.append((503, {"Retry-After": "60"}))
    with pytest.raises(ServiceError, match="come back") as busy:
        client.ask()  # a wait beyond the time-out is none
    assert busy.value.status == 503
    assert slept == [0.3]


@pytest.mark.parametrize(("text", "wait"), [("2", 2.0), ("", 0.0), ("soon", 0.0), ("-3", 0.0), ("nan", 0.0)])
def test_retry_after_is_read(text, wait):
    assert wire.wait_of(shapes.Reply(503, {"retry-after": text}, b"")) == wait


def test_retry_after_may_be_a_date():
    from email.utils import formatdate

    found = wire.wait_of(shapes.Reply(503, {"retry-after": formatdate(time.time() + 30.0, usegmt=True)}, b""))
    assert 28.0 < found <= 30.0


def test_pauses_grow_and_are_random(monkeypatch):
    slept = []
    monkeypatch.setattr(wire.time, "sleep", slept.append)
    with pytest.raises(ServiceError, match=r"does not answer \(.*refused.*; tried 5 times\)"):
        away(timeout=60.0, retries=4).ask()
    assert len(slept) == 4
    assert all(0.5 <= pause / (0.005 * 2.0**i) <= 1.0 for i, pause in enumerate(slept))
    assert len({pause / 2.0**i for i, pause in enumerate(slept)}) == 4


def test_a_slow_answer_ends_with_the_time_out(service):
    service.trouble.append("slow")
    impatient = Client(service.url, "pru_token", "e", timeout=0.1)
    with impatient as client, pytest.raises(ServiceError, match="no answer in time") as error:
        client.ask()
    assert error.value.away
    assert error.value.status == 0


def test_the_fallback_arm_is_used_while_nobody_answers_and_reported_afterwards(service, caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(delivery.time, "monotonic", lambda: now[0])
    with Client(service.url, "pru_token", "e", fallback="B", retries=0, timeout=5.0) as client:
        service.trouble.extend(["silent", "page", (500, {})])
        decisions = []
        for _ in range(3):
            decisions.append(client.ask())
            decisions.append(client.ask())  # so soon after a failure nobody is asked
            now[0] += delivery.REST
        assert len(service.seen) == 3
        assert {(one.arm, one.counted, one.state) for one in decisions} == {("B", False, "fallback")}
        assert "does not answer" in decisions[0].why
        assert "a moment ago" in decisions[1].why
        assert client.tell(decisions[0], 1.0) is None
        assert client.withdraw(decisions[1]) == decisions[1]
        assert client.lost == Lost(fallbacks=6, uncounted=1)
        service.trouble.extend([None, (503, {})])
        assert client.ask().counted  # the answer counts, and the report after it gets none
        assert service.fallbacks == {}
        assert client.ask().counted
        assert list(service.fallbacks.values()) == [6]
        assert client.ask().counted
        assert client.lost.fallbacks == 6
    reports = [each for each in service.seen if each[1].endswith("/fallbacks")]
    assert len(reports) == 2
    assert reports[0] == reports[1]
    assert caplog.text.count("answered with the fallback arm") == 1


def test_without_a_fallback_an_absent_service_is_an_error():
    with pytest.raises(ServiceError, match="is the service running there"):
        away().ask()


def test_with_a_fallback_a_mistake_of_the_request_is_logged_and_not_counted(service, caplog):
    with Client(service.url, "pru_token", "e", fallback="B") as client:
        service.trouble.append((403, {}))
        assert client.ask() == Decision(None, "B", "fallback", why="come back")
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "the service refuses to make any: come back" in caplog.text
        assert client.lost == Lost()
        assert client.ask().counted


def test_an_experiment_that_is_paused_gives_the_fallback_and_is_told_nothing(service, monkeypatch):
    refused = ServiceError(409, "not-running", "the experiment is paused")
    with Client(service.url, "pru_token", "e", fallback="B") as client:
        monkeypatch.setattr(client._delivery, "call", lambda *_, **__: (_ for _ in ()).throw(refused))
        assert client.ask() == Decision(None, "B", "fallback", why="the experiment is paused")
        assert client.lost == Lost()


def test_rewards_wait_for_the_service_and_go_with_the_next_request(service):
    with Client(service.url, "pru_token", "e", retries=0) as client:
        first, second, third = client.ask_many(3)
        service.trouble.append((503, {}))
        assert client.tell(first, 1.0) is None
        assert client.lost == Lost(waiting=1)
        service.trouble.append((503, {}))
        assert client.tell_many([(second, 0.5)]) == [None]
        assert service.rewards == {}
        client.ask()
        assert service.rewards == {first.id: 1.0, second.id: 0.5}
        service.trouble.append((503, {}))
        assert client.tell(third, 0.25) is None
    assert service.rewards[third.id] == 0.25
    assert client.lost == Lost()


def test_too_many_rewards_drop_the_oldest_and_it_is_said(caplog):
    with away(retries=0, waiting=3) as client:
        for i in range(5):
            client.tell(f"d{i}", i)
        assert [entry["decision"] for entry in client._delivery._waiting] == ["d2", "d3", "d4"]
        assert client.lost == Lost(waiting=3, dropped=2)
    assert "closed before everything was delivered" in caplog.text
    assert "waiting=3, dropped=2" in caplog.text


def test_a_reward_that_is_refused_after_it_waited_is_counted_with_the_reason(service):
    with Client(service.url, "pru_token", "e", retries=0) as client:
        decision = client.ask()
        client.tell(decision, 1.0)
        service.trouble.append((503, {}))
        client.tell(decision, 0.0)
        client.ask()
        assert client.lost == Lost(refused=1, reason="1.0 stands")
        service.trouble.extend([(503, {}), None, (403, {})])
        client.tell(decision, 0.0)
        client.ask()
        assert client.lost == Lost(refused=2, reason="come back")


def test_many_rewards_go_in_requests_of_a_thousand_and_each_has_its_result(service, client):
    decisions = client.ask_many(1500)
    assert [each[2]["count"] for each in service.seen] == [1000, 500]
    results = client.tell_many([*((each, 1.0) for each in decisions), (Decision(None, "B"), 1.0), (decisions[0], 0.0)])
    assert [result and result["status"] for result in results] == [201] * 1500 + [None, 409]
    assert len(service.seen) == 4
    assert client.lost == Lost(uncounted=1)


def test_threads_share_a_client(service):
    with Client(service.url, "pru_token", "e") as client, ThreadPoolExecutor(8) as pool:
        decisions = list(pool.map(lambda _: client.ask(), range(80)))
        list(pool.map(lambda each: client.tell(each, 1.0), decisions))
    assert len(service.decisions) == len(service.rewards) == 80
    assert service.connections <= 8


def test_a_child_process_inherits_neither_connections_nor_what_waits(service):
    with Client(service.url, "pru_token", "e", retries=0) as client:
        client.ask()
        service.trouble.append((503, {}))
        client.tell("d", 1.0)

        def child(pipe):
            client.ask()
            pipe.send((client.lost, len(client._delivery._wire._idle)))
            client.close()

        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=child, args=(theirs,))
        process.start()
        process.join()
        assert ours.recv() == (Lost(), 1)
        assert service.rewards == {}
        assert service.connections == 2
        client.ask()
    assert service.connections == 2
    assert service.rewards == {"d": 1.0}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "localhost:8000"}, "url must be such as"),
        ({"url": "http://h/?a=b"}, "url must be such as"),
        ({"url": "http://"}, "url must be such as"),
        ({"url": "http://h/#part"}, "url must be such as"),
        ({"url": "ftp://h"}, "url must be such as"),
        ({"token": ""}, "token must be the text"),
        ({"token": "pru a"}, "token must be the text"),
        ({"token": "prü"}, "token must be the text"),
        ({"token": "pru\r\nHost: x"}, "token must be the text"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"timeout": math.nan}, "timeout must be above 0"),
        ({"retries": -1}, "retries must be a whole number, 0 or more, got -1"),
        ({"waiting": -1}, "waiting must be a whole number, 0 or more, got -1"),
        ({"url": 5}, "url must be such as .* got 5"),
        ({"url": None}, "url must be such as"),
        ({"url": b"http://h"}, "url must be such as"),
        ({"url": "http://h:99999"}, "url must be such as"),
        ({"url": "http://[h"}, "url must be such as"),
        ({"url": "http://h/a b"}, "url must be such as"),
        ({"url": "http://h\n"}, "url must be such as"),
        ({"url": "x" * 10_000}, r"got 'x+… \(10,002 characters\)$"),
        ({"url": "http://me:secret@h"}, "url must hold no password; pass token=… instead$"),
        ({"token": 5}, "token must be the text"),
        ({"token": None}, "token must be the text"),
        ({"timeout": "5"}, "timeout must be above 0 .* got '5'"),
        ({"timeout": None}, "timeout must be above 0"),
        ({"timeout": math.inf}, "timeout must be above 0"),
        ({"timeout": 1e300}, "timeout must be above 0"),
        ({"retries": 1.5}, "retries must be a whole number"),
        ({"retries": None}, "retries must be a whole number"),
        ({"waiting": "x"}, "waiting must be a whole number"),
        ({"experiment": 5}, "experiment must be text, got 5"),
        ({"fallback": 5}, "fallback must be text, got 5"),
        ({"fallback": ""}, "fallback must be text, got ''"),
    ],
)
def test_wrong_settings_are_refused_in_words(settings, message):
    with pytest.raises(ValueError, match=message):
        Client(**{"url": "http://127.0.0.1:1", "token": "pru_token", **settings})
    with pytest.raises(ValueError, match=message):
        AsyncClient(**{"url": "http://127.0.0.1:1", "token": "pru_token", **settings})


def test_verbs_about_an_experiment_need_its_name(service):
    with Client(service.url, "pru_token") as client, pytest.raises(ValueError, match="needs the name of an experiment"):
        client.ask()


def test_a_reward_that_is_no_number_is_refused_before_it_is_sent(service, client):
    with pytest.raises(ValueError, match="not JSON compliant"):
        client.tell("d", math.nan)
    np = pytest.importorskip("numpy")
    client.tell("d", np.float32(0.5))
    client.tell("e", np.int64(1))
    assert service.rewards == {"d": 0.5, "e": 1.0}


def test_names_in_paths_are_quoted(service, client):
    with pytest.raises(ServiceError, match=r"there is no /v1/decisions/a%2F%2E%2E|there is no /v1/decisions/a%2F\.\."):
        client.decision("a/..")


def test_the_address_may_have_a_path(service):
    with Client(f"{service.url}/trials/", "pru_token", "e") as client, pytest.raises(ServiceError) as refused:
        client.show()
    assert "/trials/v1/experiments/e" in str(refused.value)


def test_the_same_verbs_are_there_for_an_event_loop(service):
    async def use():
        async with AsyncClient(service.url, "pru_token", "e", timeout=5.0) as client:
            decisions = await asyncio.gather(*(client.ask(unit=f"u{i}") for i in range(20)))
            await asyncio.gather(*(client.tell(each, 1.0) for each in decisions))
            return client.lost

    assert asyncio.run(use()) == Lost()
    assert len(service.rewards) == 20
    verbs = [name for name, member in vars(Client).items() if inspect.isfunction(member) and name[0] != "_"]
    assert len(verbs) > 20
    for name in verbs:
        ours = getattr(AsyncClient, name)
        assert inspect.iscoroutinefunction(ours)
        assert name == "close" or inspect.signature(ours) == inspect.signature(getattr(Client, name))


def test_a_batch_is_the_split_in_a_random_order_that_its_seed_fixes(service, client):
    batch = client.batch(100)
    taken = [*batch.take(), *batch.take(60), *batch.take(60)]
    assert Counter(taken) == {"A": 90, "B": 10}
    assert batch.take(5) == []
    again = Batch("b", {"A": 90, "B": 10}, 7, lambda _: {})
    assert again.take(100) == taken
    assert Batch("b", {"A": 90, "B": 10}, 8, lambda _: {}).take(100) != taken
    first = Counter(Batch("b", {"A": 3, "B": 1}, seed, lambda _: {}).take()[0] for seed in range(1000))
    assert abs(first["B"] - 250) < 6.0 * math.sqrt(1000 * 3 / 16)


def test_a_batch_reports_merged_rewards_once(service, client):
    rng = random.Random(1)
    rewards = [1e6 + rng.random() for _ in range(5000)]
    batch = client.batch(5010)
    for reward in rewards[:3000]:
        batch.tell("A", reward)
    batch.tell_many("A", iter(rewards[3000:]))
    service.trouble.append("lost")
    batch.report()
    batch.report()
    (sent,) = service.batches.values()
    assert set(sent["arms"]) == {"A"}
    told = sent["arms"]["A"]
    assert told["count"] == 5000
    assert told["mean"] == pytest.approx(statistics.fmean(rewards), rel=1e-15)
    assert told["variance"] == pytest.approx(statistics.pvariance(rewards), rel=1e-9)
    for late in (batch.take, lambda: batch.tell("A", 1.0), lambda: batch.tell_many("B", [1.0])):
        with pytest.raises(ValueError, match="batch b1 is reported; get a new one"):
            late()


def test_a_batch_refuses_what_cannot_belong_to_it():
    batch = Batch("b", {"A": 2, "B": 0}, 1, lambda batch: batch.merged())
    for wrong in (math.nan, math.inf, 1e200):
        with pytest.raises(ValueError, match="finite"):
            batch.tell("A", wrong)
        with pytest.raises(ValueError, match="finite"):
            batch.tell_many("A", [0.0, wrong])
    with pytest.raises(ValueError, match="arm 'C' is not in the batch, which has A, B"):
        batch.tell("C", 1.0)
    with pytest.raises(ValueError, match="arm 'B' has 0 decisions in the batch, and 1 more rewards"):
        batch.tell("B", 1.0)
    with pytest.raises(ValueError, match="and 2 more rewards"):
        batch.tell_many("A", [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match="and 1 more rewards"):
        batch.tell("A", 9.0)
    with pytest.raises(ValueError, match="count must be a whole number, 1 or more"):
        batch.take(0)
    assert batch.report() == {"A": {"count": 2, "mean": 1.5, "variance": 0.25}}


def test_threads_share_a_batch():
    batch = Batch("b", {"A": 40_000}, 1, lambda batch: batch.merged())

    def work():
        while taken := batch.take(50):
            for arm in taken:
                batch.tell(arm, 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert batch.report() == {"A": {"count": 40_000, "mean": 1.0, "variance": 0.0}}


def test_merging_in_any_parts_gives_the_same():
    rng = random.Random(2)
    rewards = [rng.gauss(3.0, 2.0) for _ in range(1000)]
    whole = Statistics().and_more(rewards)
    parts = Statistics()
    while rewards:
        cut = rng.randint(1, 40)
        parts, rewards = parts.and_more(rewards[:cut]), rewards[cut:]
    assert parts == pytest.approx(whole, rel=1e-13)


def test_the_client_needs_the_standard_library_alone():
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            else:
                continue
            assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_folder_can_be_copied(tmp_path):
    import shutil

    shutil.copytree(FOLDER, tmp_path / "trials")
    code = "import sys, trials; assert trials.Client; assert not any(n.startswith('prudent') for n in sys.modules)"
    subprocess.run([sys.executable, "-S", "-c", code], check=True, cwd=tmp_path)


def test_nothing_is_logged_when_all_is_well(service, caplog):
    with caplog.at_level(logging.INFO), Client(service.url, "pru_token", "e") as client:
        client.tell(client.ask(), 1.0)
    assert caplog.text == ""
