"""Where tasks are played: threads, processes, or a Dask cluster. All give the same numbers.

Threads and processes are joblib's. The cluster is addressed through distributed itself: its scheduler plays the tasks
of a lost worker again and hands results over one by one, while tasks are still being made, which joblib's Dask backend
hides behind its batches. A backend takes tasks as it has room, and yields what is done in any order.
"""

import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool

from prudent.errors import PrudentError
from prudent.study.play import Done, Task, play

PATIENCE = 20.0
"""Seconds to wait for a scheduler to answer."""

JOBLIB = {"threads": "threading", "processes": "loky"}


class WorkerLostError(Exception):
    """A worker died with tasks that must be played again."""


def local(tasks: Iterable[Task], backend: str, workers: int) -> Iterator[Done]:
    """Play on this machine. A dead process ends it with `WorkerLostError`: joblib gives up the pool."""
    if backend not in JOBLIB:
        raise PrudentError(f"run: backend must be threads or processes, got {backend!r}")
    settings: dict[str, Any] = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": 2 * workers}
    pool = Parallel(n_jobs=workers, backend=JOBLIB[backend], **settings)
    done = pool(delayed(play)(task) for task in tasks)
    try:
        for each in done:  # noqa: UP028, since `yield from` would close `done` before the remark below is silenced
            yield each
    except BrokenProcessPool as error:
        raise WorkerLostError(str(error)) from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's remark on tasks given up, when what is done cannot be kept
            done.close()


def cluster(tasks: Iterable[Task], address: str) -> Iterator[Done]:
    """Play on a Dask cluster, two tasks to every thread it has. Results come back here; workers need no shared disk."""
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise PrudentError("run: a cluster needs Dask; pip install 'prudent[cluster]'") from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PrudentError(f"run: no Dask scheduler answers at {address}: {error}") from None
    source = iter(tasks)
    with client:
        waiting = as_completed(loop=client.loop)

        def top_up() -> None:
            room = 2 * max(sum(client.nthreads().values()), 1)
            while waiting.count() < room and (task := next(source, None)) is not None:
                waiting.add(client.submit(play, task, pure=False))

        top_up()
        try:
            for future in waiting:
                yield future.result()
                future.release()
                top_up()
        except KilledWorker as error:
            raise PrudentError(f"run: every worker that took a task died, memory perhaps: {error}") from None
        except CancelledError:
            raise PrudentError(f"run: the cluster at {address} is gone; finished cells are kept, run again") from None
