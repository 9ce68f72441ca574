"""The scaffold under `simulate`, `identify` and `simulate_portfolio`: checks, chunks, streams, complaints, timing."""

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from prudent.arrays import Counts
from prudent.engine.record import COMPLAINTS, FINE
from prudent.engine.streams import stream
from prudent.engine.threads import count_workers, play_all
from prudent.errors import PrudentError, check_integer

LONGEST = 2**53
"""Rounds of the longest run: beyond it floats cannot count them."""


class Job(NamedTuple):
    """How many runs, from which random seed, on how many threads; `progress` is called with the runs just finished."""

    owner: str
    runs: int
    seed: int
    workers: int
    progress: Callable[[int], Any] | None

    @classmethod
    def checked(
        cls, owner: str, runs: int, seed: int, workers: int | None, progress: Callable[[int], Any] | None
    ) -> "Job":
        """What the user asked for, or an error in the name of the `owner`."""
        runs = check_integer(owner, "runs", runs, low=1)
        seed = check_integer(owner, "seed", seed, low=0)
        return cls(owner, runs, seed, count_workers(owner, workers), progress)

    def run(self, cell: str, subject: str, play: Callable[[slice, np.random.Generator], int]) -> float:
        """Call `play(part, rng)` for every chunk of the runs, with the chunk's own stream; returns the seconds taken.

        `play` returns a status; one that is not FINE becomes an error about the `subject`.
        """

        def play_chunk(chunk: int, part: slice) -> None:
            status = play(part, stream(self.seed, cell, chunk))
            if status != FINE:
                raise PrudentError(f"{subject}: {COMPLAINTS[status]}")

        started = time.perf_counter()
        play_all(play_chunk, self.runs, self.workers, self.progress)
        return time.perf_counter() - started


def rounds_of(owner: str, horizon: int, snapshots: Iterable[int]) -> Counts:
    """The rounds at which to write statistics down, ascending; the last is the horizon."""
    horizon = check_integer(owner, "horizon", horizon, low=1, high=LONGEST)
    early = {check_integer(owner, "snapshots", n, low=1, high=horizon) for n in snapshots}
    return np.array(sorted(early | {horizon}), dtype=np.int64)
