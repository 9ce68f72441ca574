"""Chunks of runs on threads; kernels release the lock, so that threads are enough."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from prudent.base.arrays import Marks
from prudent.base.errors import check_integer
from prudent.engine.streams import tasks

MOST_WORKERS = 1024
"""More threads or processes would only burden the system."""

_outer: ContextVar[Marks | None] = ContextVar("outer", default=None)


@contextmanager
def halted_by(halt: Marks) -> Iterator[None]:
    """Simulations in here, which may be many, end soon after this flag is set."""
    token = _outer.set(halt)
    try:
        yield
    finally:
        _outer.reset(token)


def is_halted() -> bool:
    """Whether simulations in here are to end."""
    outer = _outer.get()
    return outer is not None and bool(outer[0])


def play_all(
    play: Callable[[int, slice, Marks], None], runs: int, workers: int, progress: Callable[[int], object] | None
) -> None:
    """Call `play(chunk, part, halt)` for every chunk of the runs; the first error stops the rest.

    Kernels end soon after `halt[0]` is set. The main thread only waits, because inside a kernel it would be deaf to
    Ctrl-C; then it does not wait any longer, not even for a kernel that is still being compiled.
    """
    outer = _outer.get()
    halt = np.zeros(1, np.bool_) if outer is None else outer

    def play_task(first_chunk: int, parts: list[slice]) -> int:
        for chunk, part in enumerate(parts, first_chunk):
            play(chunk, part, halt)
        return parts[-1].stop - parts[0].start

    if workers == 1 and threading.current_thread() is not threading.main_thread():
        for task in tasks(runs):
            finished = play_task(*task)
            if progress is not None:
                progress(finished)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        for done in as_completed([pool.submit(play_task, *task) for task in tasks(runs)]):
            finished = done.result()
            if progress is not None:
                progress(finished)
    except BaseException:
        halt[0] = True
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def count_workers(owner: str, workers: int | None) -> int:
    """The number of threads asked for; by default every core this process may use."""
    return usable_cores() if workers is None else check_integer(owner, "workers", workers, low=1, high=MOST_WORKERS)


def usable_cores() -> int:
    """How many cores this process may use; all there are on systems that do not tell (macOS, Windows)."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
