"""Where tasks are simulated: threads, processes, or a Dask cluster. All give the same numbers.

Threads and processes are joblib's. The cluster is addressed through distributed itself: its scheduler repeats the tasks
of a lost worker and hands results over one by one, while tasks are still being made, which joblib's Dask backend hides
behind its batches. A backend takes tasks as it has room, and yields what is done in any order; to add one, write such a
function and name it in BACKENDS.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from functools import partial

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool

from prudent.errors import PrudentError, near
from prudent.study.play import Done, Task, play

PATIENCE = 20.0
"""Seconds to wait for a scheduler to answer."""

Backend = Callable[[Iterable[Task]], Iterator[Done]]
JOBLIB = {"threads": "threading", "processes": "loky"}


class WorkerLostError(Exception):
    """A worker died with tasks that must be simulated again."""


def choose_backend(name: str, workers: int) -> Backend:
    """What takes tasks: "threads", "processes", or the address of a cluster, such as "tcp://host:8786"."""
    for known, backend in BACKENDS.items():
        if name == known or (known.endswith("://") and name.startswith(known)):
            return partial(backend, name, workers)
    raise PrudentError(f"run: backend must be one of {', '.join(BACKENDS)}, got {name!r}; {near(name, BACKENDS)}")


def local(backend: str, workers: int, tasks: Iterable[Task]) -> Iterator[Done]:
    """On this machine. A dead process ends it with `WorkerLostError`: joblib gives up the pool."""
    pool = Parallel(workers, JOBLIB[backend], return_as="generator_unordered", batch_size=1)
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


def cluster(address: str, _: int, tasks: Iterable[Task]) -> Iterator[Done]:
    """On a Dask cluster, two tasks to every thread it has. Results come back here; workers need no shared disk."""
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


BACKENDS = {"threads": local, "processes": local, "tcp://": cluster, "tls://": cluster}
"""By name, or by how an address begins."""
