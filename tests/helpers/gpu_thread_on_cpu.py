"""The loop of a GPU's thread on the CPU, with the same generator: its law can be tested where there is no GPU."""

from typing import Any

import numpy as np

from prudent.arms.sampling import GaussianLaws
from prudent.compile.types import kernel
from prudent.engine.gpu.generator import philox
from prudent.engine.gpu.loops import Room, draw_twins, step_run, stream_of
from prudent.engine.gpu.playing import equal_scores, is_rescored
from prudent.engine.record import FINE, Record


@kernel
def play_runs(
    policy: Any,
    rescored: bool,
    ties: bool,
    gaussian: bool,
    laws: Any,
    best: int,
    rounds: Any,
    record: Record,
    key: Any,
    first: int,
) -> int:
    """All runs of a record, one after the other."""
    runs, _, n_arms = record.pulls.shape
    # Of another type than on a GPU: numba-cuda would take what is put in line on the CPU for its own.
    pulls, taken = np.empty(n_arms, np.int32), np.empty(1, np.int64)
    room = Room(pulls, np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms + 1), taken)
    for at in range(runs):
        end = step_run(policy, rescored, ties, gaussian, laws, rounds, record, at, key, first + at, room)
        if end != FINE:
            return end
        for i in range(n_arms):
            draw_twins(laws, best, rounds, record, at, i, key, first + at, taken, room.spare)
    return FINE


@kernel
def draws_of(key: Any, block: int, t: int, run: int, owner: int) -> Any:
    """128 bits of the generator."""
    return philox(key, block, t, run, owner)


@kernel
def draw_all(key: Any, found: Any) -> None:
    """As many draws of ten methods as the rows are long."""
    taken, spare = np.empty(1, np.int64), np.full(1, np.nan)
    for t in range(found.shape[1]):
        rng = stream_of(key, 0, 0, t, taken, spare, 0)
        found[0, t], found[1, t] = rng.uniform(), rng.normal(1.0, 2.0)
        found[2, t], found[3, t] = rng.exponential(3.0), rng.standard_gamma(0.4)
        found[4, t], found[5, t] = rng.gamma(6.0, 0.5), rng.chisquare(5.0)
        found[6, t], found[7, t] = rng.standard_t(4.0), rng.beta(2.0, 0.7)
        found[8, t], found[9, t] = rng.integers(3, 9), rng.binomial(200, 0.3)


def played(
    ready: Any, laws: Any, rounds: list[int], n_arms: int, runs: slice, *, key: int = 1, loop=play_runs
) -> Record:
    """Some runs of a policy that is ready, on arms of which the first is the best."""
    record = Record.empty(runs.stop - runs.start, len(rounds), n_arms)
    facts = is_rescored(ready), equal_scores(laws, n_arms), type(laws) is GaussianLaws
    assert loop(ready, *facts, laws, 0, np.array(rounds), record, np.uint64(key), runs.start) == FINE
    return record
