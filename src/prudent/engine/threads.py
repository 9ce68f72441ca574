"""Chunks of runs on threads; kernels release the lock, so that threads are enough."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from prudent.engine.streams import tasks
from prudent.errors import check_integer


def play_all(
    play: Callable[[int, slice], None], runs: int, workers: int, progress: Callable[[int], Any] | None
) -> None:
    """Call `play(chunk, part)` for every chunk of the runs; the first error stops the rest.

    A single worker is this thread: starting another would take longer than a small simulation.
    """

    def play_task(first_chunk: int, parts: list[slice]) -> int:
        for chunk, part in enumerate(parts, first_chunk):
            play(chunk, part)
        return parts[-1].stop - parts[0].start

    if workers == 1:
        for task in tasks(runs):
            finished = play_task(*task)
            if progress is not None:
                progress(finished)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(play_task, *task) for task in tasks(runs)]
        try:
            for done in as_completed(waiting):
                finished = done.result()
                if progress is not None:
                    progress(finished)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def count_workers(owner: str, workers: int | None) -> int:
    """The number of threads asked for; by default every core this process may use."""
    return usable_cores() if workers is None else check_integer(owner, "workers", workers, low=1)


def usable_cores() -> int:
    """How many cores this process may use; all there are on systems that do not tell (macOS, Windows)."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
