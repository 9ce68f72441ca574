"""Requests a second on both databases: asks and tells over HTTP, with one client and with many.

    python benchmarks/databases.py                needs PostgreSQL, whose server it starts, with every commit on disk

Requests a second depend on the machine, its disk and what else it does. So the processor time of the service's
processes a request is given beside them; that of PostgreSQL is not in it.
"""

import argparse
import asyncio
import contextlib
import http.client
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import service as shared
from service import SPEC, _call, _cpu, _load_http

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.service.postgres_server import PostgresServer

ROWS = (
    ("SQLite", 1, 1),
    ("SQLite", 1, 32),
    *(("PostgreSQL", workers, clients) for workers in (1, 4) for clients in (1, 32)),
)
"""Which database, how many processes, and how many clients."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0)
    seconds = parser.parse_args().seconds
    print("| database | processes | clients | requests a second | processor time a request |")
    print("|---|---|---|---|---|")
    postgres = PostgresServer(durable=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for place, (database, workers, clients) in enumerate(ROWS):
                address = f"{folder}/{place}.db" if database == "SQLite" else postgres.new_database(f"d{place}")
                rate, cost = measured(address, workers, clients, seconds)
                print(f"| {database} | {workers} | {clients} | {rate:,.0f} | {1e6 * cost:,.0f} µs |", flush=True)
    finally:
        postgres.close()


def measured(address: str, workers: int, clients: int, seconds: float) -> tuple[float, float]:
    """Requests a second, and seconds of processor time a request."""
    with serving(address, workers) as (server, port, token):
        _call(port, token, "POST", "/v1/experiments", SPEC)
        shared.CLIENTS = clients
        asyncio.run(_load_http(port, token, 1.0))
        processes = [server.pid, *children(server.pid)]
        cpu, since = sum(map(_cpu, processes)), time.perf_counter()
        done = asyncio.run(_load_http(port, token, seconds))
        passed = time.perf_counter() - since
        return done / passed, (sum(map(_cpu, processes)) - cpu) / done


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))


@contextlib.contextmanager
def serving(address: str, workers: int) -> Iterator[tuple["subprocess.Popen[str]", int, str]]:
    """A server: its process, its port and a token."""
    prudent = [sys.executable, "-m", "prudent"]
    made = [*prudent, "trial", "token", "--scope", "admin", "--database", address]
    token = subprocess.run(made, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    command = [*prudent, "serve", "--database", address, "--port", "0", "--rate", "1e9", "--workers", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rpartition(":")[2])
        wait(port)
        yield server, port, token
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def wait(port: int) -> None:
    """Until all is ready."""
    for _ in range(200):
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.1)
    raise TimeoutError("the service does not become ready")


if __name__ == "__main__":
    main()
