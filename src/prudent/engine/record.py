"""What a kernel records about each run: the statistics of every arm, and those of the best arm's twins.

The true regret compares the rewards received with n samples of the best arm i*: the observed ones, and for every
other arm i as many unobserved ones as i was pulled, its "twins" (the paper's Y). Only their mean and variance matter,
so they are drawn as blocks.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.arms.sampling import Laws, draw_block, merge
from prudent.compiled import kernel
from prudent.policies import Arms


class Record(NamedTuple):
    """Arrays over (run, snapshot, arm)."""

    pulls: NDArray[np.int64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    twin_mean: NDArray[np.float64]
    twin_variance: NDArray[np.float64]

    @classmethod
    def empty(cls, runs: int, snapshots: int, arms: int) -> "Record":
        shape = (runs, snapshots, arms)
        return cls(np.empty(shape, np.int64), *(np.empty(shape) for _ in range(4)))

    def part(self, runs: slice) -> "Record":
        """A view of some of the runs."""
        return Record._make(array[runs] for array in self)


@kernel
def write_down(record: Record, run: int, snapshot: int, arms: Arms, laws: Laws, best: int, rng: Any) -> None:
    """Copy the arms' statistics into the record, and let the twins catch up with the pulls."""
    for i in range(len(arms.pulls)):
        pulls, mean, variance = arms.pulls[i], arms.mean[i], arms.variance[i]
        record.pulls[run, snapshot, i] = pulls
        record.mean[run, snapshot, i] = mean
        record.variance[run, snapshot, i] = variance
        if i != best:
            known, mean, variance = 0, 0.0, 0.0
            if snapshot > 0:
                known = record.pulls[run, snapshot - 1, i]
                mean = record.twin_mean[run, snapshot - 1, i]
                variance = record.twin_variance[run, snapshot - 1, i]
            more_mean, more_variance = draw_block(laws, best, pulls - known, rng)
            mean, variance = merge(known, mean, variance, pulls - known, more_mean, more_variance)
        record.twin_mean[run, snapshot, i] = mean
        record.twin_variance[run, snapshot, i] = variance
