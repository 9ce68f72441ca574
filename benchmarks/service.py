"""What the service costs: time, processor time, bytes and memory, each beside what it must not exceed.

    python benchmarks/service.py                        with 1,000,000 decisions, ten minutes or so
    python benchmarks/service.py --decisions 100000

Times depend on the machine and on what else it does, so most figures are ratios of two that are measured in turn, and
processor time is given where it says more. Files are made in a temporary folder, or in --folder on another disk.
"""

import argparse
import asyncio
import contextlib
import http.client
import itertools
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prudent.service import messages as m
from prudent.service.log.store import open_store
from prudent.service.spec import decoded
from prudent.service.work import service as service_module
from prudent.service.work.service import Service
from prudent.service.work.transaction import Command

SPEC = {"name": "shop", "arms": ["A", "B", "C", "D"], "policy": "mv-lcb(rho=1)", "horizon": 10**6, "support": [0, 1]}
CLIENTS = 32
SECONDS = 4.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--do", choices=("load", "first-answer"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.do is not None:
        {"load": load, "first-answer": first_answer}[given.do](given.folder, given.decisions)
        return
    print(f"{'':64}{'measured':>14}{'demanded':>14}")
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        group_commit(folder)
        one_client(folder)
        over_http(folder)
        bulk(folder)
        with_many(folder, given.decisions)


def show(what: str, measured: str, demanded: str = "") -> None:
    """A line of the table."""
    print(f"{what:64}{measured:>14}{demanded:>14}", flush=True)


@contextlib.contextmanager
def serving(path: Path) -> Any:
    """A service on a file, with one experiment."""
    service = Service(open_store(str(path)), patience=0.0).start()
    service.create(decoded(SPEC))
    try:
        yield service
    finally:
        service.close()


async def asks_and_tells(service: Service, seconds: float) -> int:
    """What so many clients get done, each with one request at a time: how many commands."""
    until, keys, done = time.perf_counter() + seconds, itertools.count(), 0

    async def client() -> None:
        nonlocal done
        while time.perf_counter() < until:
            answer = await service.do("shop", m.Ask(), key=f"{id(until)}-{next(keys)}")
            await service.do("shop", m.Tell(random.random()), decision=answer.decisions[0].decision)
            done += 2

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return done


def group_commit(folder: Path) -> None:
    """All that waits in one transaction, against one transaction each, in turns."""
    rates: dict[int, list[float]] = {1: [], service_module.MOST: []}
    costs = []
    with serving(folder / "group.db") as service:
        for most in [*rates] * 3:
            service_module.MOST = most
            cpu, since = time.process_time(), time.perf_counter()
            done = asyncio.run(asks_and_tells(service, SECONDS / 2))
            rates[most].append(done / (time.perf_counter() - since))
            if most > 1:
                costs.append((time.process_time() - cpu) / done)
    alone, together = (statistics.median(found) for found in rates.values())
    show(f"commands a second, {CLIENTS} clients, one commit each", f"{alone:,.0f}")
    show(f"commands a second, {CLIENTS} clients, group commit", f"{together:,.0f}")
    show("  ratio", f"{together / alone:.1f}", "≥ 5")
    show("processor time a command, with clients, without HTTP", f"{min(costs) * 1e6:.0f} µs")


def one_client(folder: Path) -> None:
    """One request at a time, and one sync of a file beside each."""
    asked, synced, told = [], [], []
    with serving(folder / "one.db") as service, (folder / "synced").open("wb") as file:
        for number in range(400):
            synced.append(timed(lambda: _sync(file)))
            since = time.perf_counter()
            answer = service.run("shop", m.Ask(), key=str(number))
            asked.append(time.perf_counter() - since)
            told.append(timed(lambda one=answer: service.run("shop", m.Tell(0.5), decision=one.decisions[0].decision)))
    one, ask, tell = (1e3 * statistics.median(found) for found in (synced, asked, told))
    show("one client: median time of a decision", f"{ask:.2f} ms", f"≤ {one + 2.0:.2f} ms")
    show("one client: median time of a reward", f"{tell:.2f} ms", f"≤ {one + 2.0:.2f} ms")
    show("  median time of a sync of 4 kB beside them", f"{one:.2f} ms")


def _sync(file: Any) -> None:
    file.write(bytes(4096))
    file.flush()
    os.fdatasync(file.fileno())


def timed(act: Callable[[], Any]) -> float:
    """How long it takes."""
    since = time.perf_counter()
    act()
    return time.perf_counter() - since


def bulk(folder: Path) -> None:
    """Rewards by the thousand."""
    with serving(folder / "bulk.db") as service:
        made = [service.run("shop", m.Ask(count=1000)).decisions for _ in range(20)]
        requests = [m.TellMany([m.Told(random.random(), decision=one.decision) for one in part]) for part in made]
        cpu, since = time.process_time(), time.perf_counter()
        for request in requests:
            service.run("shop", request)
        seconds, cpu = time.perf_counter() - since, time.process_time() - cpu
    show("bulk rewards a second", f"{20_000 / seconds:,.0f}", "≥ 10,000")
    show("  a second of processor time", f"{20_000 / cpu:,.0f}")


def with_many(folder: Path, decisions: int) -> None:
    """After many decisions: bytes, memory, start, verification, and the time of an answer."""
    path = folder / "many.db"
    done = subprocess.run([*_again("load", path, decisions)], stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done
    loaded = json.loads(done.stdout)
    show(f"commands a second of processor time, groups of 256, {decisions:,}", f"{loaded['rate']:,.0f}")
    show(f"memory after {decisions:,} decisions and rewards", f"{loaded['memory'] / 1024:.0f} MB", "≤ 200 MB")
    _start("SIGKILL", path, decisions)
    _start("a stop in peace", path, decisions)
    with serving(path) as large, serving(folder / "small.db") as small:
        large.store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = path.stat().st_size / decisions
        show("bytes a decision with its reward, each with a key", f"{size:.0f}", "≤ 350")
        _compare(large, small)
        cpu = time.process_time()
        verified = large.verify("shop")
        cpu = time.process_time() - cpu
        assert verified.ok, verified
        show("events verified a second", f"{verified.events / verified.seconds:,.0f}", "≥ 50,000")
        show("  a second of processor time", f"{verified.events / cpu:,.0f}")


def _again(what: str, path: Path, decisions: int) -> list[str]:
    return [sys.executable, __file__, "--do", what, "--folder", str(path), "--decisions", str(decisions)]


def _start(after: str, path: Path, decisions: int) -> None:
    out = subprocess.run(_again("first-answer", path, decisions), stdout=subprocess.PIPE, text=True, check=True).stdout
    took = json.loads(out)
    show(f"first answer after {after}, without imports", f"{took['seconds']:.2f} s", "≤ 3 s")
    show(f"  processor time, {took['events']:,} events after the snapshot", f"{took['cpu']:.2f} s")


def _compare(large: Service, small: Service) -> None:
    """Answers of both, in turns."""
    times: dict[Any, list[float]] = {large: [], small: []}
    for number in range(3000):
        for service, found in times.items():
            found.append(timed(lambda service=service, number=number: service.run("shop", m.Ask(), key=f"n{number}")))
    for name, share in (("median", 0.5), ("99 %", 0.99)):
        after, before = (sorted(found)[round(share * len(found))] for found in times.values())
        show(f"time of a decision, {name}, against that in a new experiment", f"{after / before:.2f}", "≤ 1.2")


def load(path: Path, decisions: int) -> None:
    """Make so many decisions with rewards, say what it took, and die."""
    service = Service(open_store(str(path)), patience=0.0).start()
    service.create(decoded(SPEC))
    chance, cpu = random.Random(1), 0.0

    def act(commands: list[Command]) -> list[Any]:
        nonlocal cpu
        since = time.thread_time()
        results = service.writer.carry_out(commands)
        cpu += time.thread_time() - since
        return results

    for start in range(0, decisions, 256):
        keys = [f"{start + i}-{chance.random()}" for i in range(min(256, decisions - start))]
        made = service.write(lambda keys=keys: act([Command("shop", m.Ask(), key=key) for key in keys]))
        rewards = [Command("shop", m.Tell(chance.random()), decision=answer.decisions[0].decision) for answer in made]
        service.write(lambda rewards=rewards: act(rewards))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"rate": 2 * decisions / cpu, "memory": memory}), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def first_answer(path: Path, decisions: int) -> None:
    """How long it takes from opening the database to an answer."""
    since, cpu = time.perf_counter(), time.process_time()
    service = Service(open_store(str(path)), patience=0.0).start()
    service.run("shop", m.Ask())
    took = {"seconds": time.perf_counter() - since, "cpu": time.process_time() - cpu}
    (experiment,) = service.store.experiments()
    took["events"] = experiment.seq - max(service.store.snapshots(experiment.id), default=0)
    print(json.dumps(took))
    service.close()


def over_http(folder: Path) -> None:
    """What a command takes of the server's processor time, with HTTP."""
    command = [sys.executable, "-m", "prudent", "serve", "--database", str(folder / "http.db"), "--port", "0"]
    with subprocess.Popen([*command, "--rate", "1e9"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        words = ""
        while not ("http://" in words and "pru_" in words):
            line = server.stdout.readline()
            assert line, words
            words += line
        token = next(word for word in words.split() if word.startswith("pru_"))
        port = int(words.split("http://")[1].split()[0].rstrip("/.,;").rpartition(":")[2])
        _call(port, token, "POST", "/v1/experiments", SPEC)
        asyncio.run(_load_http(port, token, 1.0))
        cpu = _cpu(server.pid)
        done = asyncio.run(_load_http(port, token, SECONDS))
        cpu = _cpu(server.pid) - cpu
        server.send_signal(signal.SIGTERM)
        server.wait(20)
    show(f"commands a second over HTTP, {CLIENTS} connections", f"{done / SECONDS:,.0f}")
    show("processor time of the server a command, with HTTP", f"{cpu / done * 1e6:.0f} µs", "≤ 200 µs")


def _cpu(process: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _call(port: int, token: str, method: str, path: str, body: Any) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body), headers)
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    assert answer.status < 300, found
    return found


async def _load_http(port: int, token: str, seconds: float) -> int:
    """How many commands clients get done, each with one request at a time on a connection of its own."""
    until, keys, done = time.perf_counter() + seconds, itertools.count(random.getrandbits(60)), 0
    head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"

    async def request(reader: Any, writer: Any, line: str, more: str, body: str) -> Any:
        writer.write(f"{line} HTTP/1.1\r\n{head}{more}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 201"), answer
        size = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return json.loads(await reader.readexactly(size))

    async def client() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until:
            key = f"Idempotency-Key: {next(keys)}\r\n"
            answer = await request(reader, writer, "POST /v1/experiments/shop/decisions", key, "{}")
            where = answer["decisions"][0]["decision"]
            await request(reader, writer, f"PUT /v1/decisions/{where}/reward", "", json.dumps({"reward": 0.5}))
            done += 2
        writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return done


if __name__ == "__main__":
    main()
