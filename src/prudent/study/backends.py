"""Where tasks are simulated: threads, processes, or a Dask cluster. All give the same numbers.

Threads and processes are joblib's. The cluster is addressed through distributed itself: its scheduler repeats the tasks
of a lost worker and hands results over one by one, while tasks are still being made, which joblib's Dask backend hides
behind its batches. A backend is opened before anything is written, so that one that does not answer leaves nothing
behind. Then it takes tasks as it has room, and yields what is done in any order; to add one, write such a context and
name it in BACKENDS.
"""

import logging
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool

from prudent.base.arrays import Marks
from prudent.base.errors import PrudentError, near, shown
from prudent.engine.threads import halted_by
from prudent.study.play import Done, Task, play

SCHEDULER_SECONDS = 20.0
"""Seconds to wait for a scheduler to answer."""

LONELY = 5.0
"""Seconds without any worker of a cluster after which that is said."""

Complain = Callable[[str], object]
Backend = Callable[[Iterable[Task]], Iterator[Done]]
Opened = AbstractContextManager[Backend]
JOBLIB = {"threads": "threading", "processes": "loky"}


class WorkerLostError(Exception):
    """A worker died with tasks that must be simulated again."""


def choose_backend(name: str) -> Callable[[int, Complain], Opened]:
    """What opens a backend: "threads", "processes", or the address of a cluster, such as "tcp://host:8786"."""
    for known, backend in BACKENDS.items():
        if isinstance(name, str) and (name == known or (known.endswith("://") and name.startswith(known))):
            return partial(backend, name)
    hint = near(shown(name, str), BACKENDS)
    raise PrudentError(f"run: backend must be one of {', '.join(BACKENDS)}, got {shown(name)}; {hint}")


@contextmanager
def local(name: str, workers: int, _: Complain) -> Iterator[Backend]:
    """On this machine."""
    yield partial(_locally, JOBLIB[name], workers)


def _locally(kind: str, workers: int, tasks: Iterable[Task]) -> Iterator[Done]:
    """What is done, as it is done. A dead process ends it with `WorkerLostError`: joblib gives up the pool."""
    settings = {"initializer": end_with, "initargs": (os.getpid(),)} if kind == "loky" else {}
    pool = Parallel(workers, kind, return_as="generator_unordered", batch_size=1, **settings)
    halt = np.zeros(1, np.bool_)
    done = pool(delayed(_play_until)(halt, task) for task in tasks)
    try:
        for each in done:  # noqa: UP028, since `yield from` would close `done` before the remark below is silenced
            yield each
    except BrokenProcessPool as error:
        raise WorkerLostError(str(error)) from None
    finally:
        halt[0] = True  # what threads are still at is given up; processes are killed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's remark on tasks given up, when what is done cannot be kept
            done.close()


def _play_until(halt: Marks, task: Task) -> Done:
    """On a thread of this process, end soon after `halt[0]` is set."""
    with halted_by(halt):
        return play(task)


def end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed without a chance to end its workers."""

    def watch() -> None:
        while _is_child_of(parent):
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _is_child_of(parent: int) -> bool:
    """Whether the parent lives: an orphan gets another one, but on Windows, where it keeps the number of the dead."""
    if sys.platform == "win32":
        known = multiprocessing.parent_process()
        return known is None or known.is_alive()
    return os.getppid() == parent


@contextmanager
def cluster(address: str, _: int, complain: Complain) -> Iterator[Backend]:
    """On a Dask cluster, two tasks to every thread it has. Results come back here; workers need no shared disk."""
    try:
        from distributed import Client
    except ImportError:
        fix = "install the extra cluster, in a clone: python -m pip install '.[cluster]'"
        raise PrudentError(f"run: a cluster needs Dask; {fix}") from None
    with silence("distributed"):
        try:
            client = Client(address, timeout=SCHEDULER_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise PrudentError(f"run: no Dask scheduler answers at {address}: {error}") from None
        with client:
            yield partial(_on_cluster, client, address, complain)


def _on_cluster(client: Any, address: str, complain: Complain, tasks: Iterable[Task]) -> Iterator[Done]:
    """What is done, as it is done; without workers it waits, and says so."""
    from distributed import KilledWorker, as_completed

    # Results are fetched as they come: asked for, one on a worker that died meanwhile would be waited for in silence.
    source, waiting = iter(tasks), as_completed(loop=client.loop, with_results=True)
    gone = f"run: the cluster at {address} is gone; finished cells are kept, run again"

    def threads() -> int:
        try:
            return sum(client.nthreads().values())
        except (OSError, CancelledError):
            raise PrudentError(gone) from None

    def top_up() -> None:
        room = 2 * max(threads(), 1)
        while waiting.count() < room and (task := next(source, None)) is not None:
            waiting.add(client.submit(play, task, pure=False))

    def wait() -> None:
        """Until something is done; without a word only while there are workers."""
        looked, alone = time.monotonic(), False
        while not waiting.has_ready():
            time.sleep(0.01)
            if time.monotonic() - looked > LONELY:
                was_alone, alone, looked = alone, threads() == 0, time.monotonic()
                if alone and not was_alone:
                    complain(f"no worker is connected to {address}; waiting (Ctrl-C ends it, finished cells are kept)")
                if was_alone and not alone:
                    break
        else:
            if not alone:
                return
        complain(f"a worker is connected to {address} again; going on")

    top_up()
    try:
        while not waiting.is_empty():
            wait()
            future, result = next(waiting)
            if isinstance(result, CancelledError):
                raise result
            yield result
            future.release()
            top_up()
    except KilledWorker as error:
        raise PrudentError(f"run: every worker that took a task died, memory perhaps: {error}") from None
    except CancelledError:
        raise PrudentError(gone) from None


@contextmanager
def silence(name: str) -> Iterator[None]:
    """Keep a library's log to itself: what matters of it becomes one error."""
    known = [logging.getLogger(each) for each in (name, *logging.root.manager.loggerDict) if each.startswith(name)]
    before = [logger.disabled for logger in known]
    for logger in known:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in zip(known, before, strict=True):
            logger.disabled = was


BACKENDS: dict[str, Callable[[str, int, Complain], Opened]] = {
    "threads": local,
    "processes": local,
    "tcp://": cluster,
    "tls://": cluster,
}
"""By name, or by how an address begins."""
