"""The loop of a GPU's thread on the CPU, with the same generator: its law can be tested where there is no GPU."""

from typing import Any

import numpy as np

from prudent.arms.sampling import GaussianLaws
from prudent.compiled import kernel
from prudent.engine.gpu.loops import Room, draw_twins, step_run
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
    pulls, taken = np.empty(n_arms, np.int32), np.empty(1, np.int32)
    room = Room(pulls, np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms + 1), taken)
    for at in range(runs):
        end = step_run(policy, rescored, ties, gaussian, laws, rounds, record, at, key, first + at, room)
        if end != FINE:
            return end
        for i in range(n_arms):
            draw_twins(laws, best, rounds, record, at, i, key, first + at, taken, room.spare)
    return FINE


def played(
    ready: Any, laws: Any, best: int, rounds: list[int], n_arms: int, runs: int, *, key: int = 1, first: int = 0
) -> Record:
    """So many runs of a policy that is ready."""
    record = Record.empty(runs, len(rounds), n_arms)
    facts = is_rescored(ready), equal_scores(laws, n_arms), type(laws) is GaussianLaws
    end = play_runs(ready, *facts, laws, best, np.array(rounds), record, np.uint64(key), first)
    assert end == FINE
    return record
