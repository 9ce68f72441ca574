"""A study on a Dask scheduler with two worker processes, one of them killed on the way: overhead a cell, same bytes.

    python benchmarks/cluster.py [CELLS]

Needs the extra `cluster`. Prints milliseconds a cell on the cluster and on two threads of this process, and whether the
compacted files of both are the same bytes.
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from distributed import LocalCluster
from studies import tiny

from prudent.study import Store, run


def compacted(store: Store) -> dict[str, bytes]:
    """The parts of a store, gathered into their final form."""
    store.compact()
    return {path.name: path.read_bytes() for path in store.parts.iterdir()}


def main(cells: int = 10_000) -> None:
    study, folder = tiny(cells), Path(tempfile.mkdtemp())
    count, killed = len(study.cells), []
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        run(tiny(200), folder / "warm", backend=address)

        def progress(_: int) -> None:
            if not killed and len(list((folder / "cluster" / "parts").glob("*.parquet"))) >= 3:
                killed.append(next(iter(cluster.workers.values())).process.pid)
                os.kill(killed[0], signal.SIGKILL)

        started = time.perf_counter()
        store = run(study, folder / "cluster", backend=address, progress=progress)
        on_cluster = time.perf_counter() - started
    run(tiny(200), folder / "warm-threads", workers=2)
    started = time.perf_counter()
    threads = run(study, folder / "threads", workers=2)
    on_threads = time.perf_counter() - started
    same = compacted(store) == compacted(threads)
    print(f"{count:,} cells, 2 worker processes, {len(killed)} killed: {on_cluster:.1f} s, ", end="")
    print(f"{1e3 * on_cluster / count:.3f} ms a cell")
    print(f"2 threads: {on_threads:.1f} s, {1e3 * on_threads / count:.3f} ms a cell")
    print(f"the cluster adds {1e3 * (on_cluster - on_threads) / count:.3f} ms a cell; same bytes: {same}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
