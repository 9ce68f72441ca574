"""The scaffold under `simulate`, `identify` and `simulate_portfolio`: checks, chunks, streams, complaints, timing."""

import math
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Counts, Marks
from prudent.base.errors import PrudentError, check_integer, check_list, shown
from prudent.compile.announce import Compiling
from prudent.engine.record import COMPLAINTS, FINE
from prudent.engine.streams import stream
from prudent.engine.threads import count_workers, play_all

MAX_ROUNDS = 2**53
"""Rounds of the longest run: beyond it floats cannot count them."""

FIRST_SNAPSHOT = 10
"""The first of the snapshots "log": before it, hardly a policy has learnt anything."""


class Job(NamedTuple):
    """How many runs, from which random seed, on how many threads; `progress` is called with the runs just finished."""

    owner: str
    runs: int
    seed: int
    workers: int
    progress: Callable[[int], object] | None

    @classmethod
    def checked(
        cls, owner: str, runs: int, seed: int, workers: int | None, progress: Callable[[int], object] | None
    ) -> "Job":
        """What the user asked for, or an error in the name of the `owner`."""
        if progress is not None and not callable(progress):
            raise PrudentError(f"{owner}: progress must be a function of the runs just finished, got {shown(progress)}")
        runs = check_integer(owner, "runs", runs, low=1)
        if runs > MAX_ROUNDS:
            raise PrudentError(f"{owner}: runs must be at most 2^53, got {shown(runs)}; take fewer")
        seed = check_integer(owner, "seed", seed, low=0)
        return cls(owner, runs, seed, count_workers(owner, workers), progress)

    def run(self, cell: str, subject: str, play: Callable[[slice, Marks, np.random.Generator], int]) -> float:
        """Call `play(part, halt, rng)` for every chunk of the runs, with the chunk's own stream; the seconds taken.

        `play` returns a status; one that is not FINE becomes an error about the `subject`.
        """

        def play_chunk(chunk: int, part: slice, halt: Marks) -> None:
            with Compiling(subject):
                status = play(part, halt, stream(self.seed, cell, chunk))
            if status != FINE:
                raise PrudentError(f"{subject}: {COMPLAINTS[status]}")

        started = time.perf_counter()
        play_all(play_chunk, self.runs, self.workers, self.progress)
        return time.perf_counter() - started


def rounds_of(owner: str, horizon: int, snapshots: Iterable[int] | str) -> Counts:
    """The rounds at which to write statistics down, ascending; the last is the horizon. "log" are ten to a decade."""
    horizon = check_integer(owner, "horizon", horizon, low=1, high=MAX_ROUNDS)
    if isinstance(snapshots, str) and snapshots == "log":
        decades = math.log10(horizon / min(FIRST_SNAPSHOT, horizon))
        snapshots = (
            np.geomspace(min(FIRST_SNAPSHOT, horizon), horizon, math.ceil(10.0 * decades) + 1).round().astype(np.int64)
        )
    given = check_list(owner, "snapshots", snapshots, 'a list of rounds such as [100, 1000], or "log"')
    early = {check_integer(owner, "snapshots", n, low=1, high=horizon) for n in given}
    return np.array(sorted(early | {horizon}), dtype=np.int64)
