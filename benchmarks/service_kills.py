"""Kills of the service under load, restarts of its database, and many clients at once: is anything lost or there twice?

    python benchmarks/service_kills.py
    python benchmarks/service_kills.py --kills 100 --restarts 5 --decisions 10000 --seed 7

By default there are 1,000 kills on each database and 200 over HTTP, 20 restarts, and 100,000 decisions.
After each kill the log is compared with what clients were told; the first difference ends the program with an error.
A new database is taken after every 50 kills. PostgreSQL must be installed, and is started in a temporary folder.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.service.postgres_server import PostgresServer
from helpers.service.worker_kills import KillCounts, kill_often
from helpers.service.worker_pairs import many_clients, restart_often, same_key_at_once
from helpers.service.workers import Nursery

EACH = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--decisions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    nursery = Nursery()
    try:
        with tempfile.TemporaryDirectory() as folder:
            kill("SQLite", lambda i: f"{folder}/{i}.db", nursery, given.kills, given.seed)
            kill("SQLite, over HTTP", lambda i: f"{folder}/web{i}.db", nursery, given.kills // 5, given.seed, web=True)
        with contextlib.closing(PostgresServer(durable=True)) as server:
            many(nursery, server, given.decisions)
            kill("PostgreSQL", lambda i: server.new_database(f"kills{i}"), nursery, given.kills, given.seed)
        with contextlib.closing(PostgresServer(durable=True)) as server:  # one that has little to look after
            restart(nursery, server, given.restarts)
    finally:
        nursery.close()


def kill(name: str, place: Callable[[int], str], nursery: Nursery, kills: int, seed: int, *, web: bool = False) -> None:
    """Kill a worker so often on one kind of database."""
    since, steps, totals = time.monotonic(), Counter[str](), Counter[str]()
    for i in range(0, kills, EACH):
        done = kill_often(nursery, place(i), min(EACH, kills - i), seed=seed + i, clients=12, failing=40, web=web)
        steps += done.steps
        totals += Counter(dict(zip(KillCounts._fields[1:], done[1:], strict=True)))
        print(
            f"{name}: {steps.total():,} kills, {totals['decisions']:,} decisions and {totals['rewards']:,} rewards"
            f" acknowledged in {totals['tries']:,} tries, {totals['events']:,} events: none lost, none twice"
            f" ({time.monotonic() - since:.0f} s)",
            flush=True,
        )
    print(f"    {totals['messages']:,} decisions told to a receiver of webhooks, {totals['repeats']:,} of them twice")
    print("    " + ", ".join(f"{step}: {count}" for step, count in steps.items()))


def many(nursery: Nursery, server: PostgresServer, decisions: int) -> None:
    """One key from 50 threads at once, and 32 clients, over two workers."""
    answers = same_key_at_once(nursery, server.new_database("one_key"), 50)
    made = {answer["decisions"][0]["decision"] for answer in answers}
    print(f"PostgreSQL, two workers: one key 50 times at once, {len(made)} decision")
    done = many_clients(nursery, server.new_database("many"), 32, decisions)
    print(
        f"PostgreSQL, two workers, 32 clients: {done.decisions:,} decisions and their rewards in {done.seconds:.0f} s,"
        f" {done.events:,} events without a gap, the arms of one agent in that order"
    )


def restart(nursery: Nursery, server: PostgresServer, restarts: int) -> None:
    """The database is stopped at once and started again."""
    done = restart_often(nursery, server, server.new_database("restarts"), restarts, 16)
    print(
        f"PostgreSQL stopped at once {restarts} times under two workers: both answer {min(done.seconds):.1f} to"
        f" {max(done.seconds):.1f} s after the order, {min(done.workers):.1f} to {max(done.workers):.1f} s after the"
        f" database is back, {done.acknowledged:,} acknowledged, none lost"
    )


if __name__ == "__main__":
    main()
