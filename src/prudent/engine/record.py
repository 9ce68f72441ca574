"""What a kernel records about each run: the statistics of every arm, and those of the best arm's twins.

The true regret compares the rewards received with n samples of the best arm i*: the observed ones, and for every
other arm i as many unobserved ones as i was pulled, its "twins" (the paper's Y). Only their mean and variance matter,
so they are drawn as blocks. Each snapshot has twins and a stream of its own: what is written down on the way changes
no number of the run, nor of another snapshot.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import Laws, draw_block
from prudent.base.arrays import Array, Counts, Marks
from prudent.compile.types import kernel, simpler_for
from prudent.policies.contract import Arms

FINE, BAD_SCORE, BAD_PHASE, BAD_COST, HALTED = range(5)
"""How a kernel ends."""

COMPLAINTS = {
    BAD_SCORE: "its score is not a number (NaN); does it divide by zero or take the root of a negative?",
    BAD_PHASE: "its phase chose no arm, returned fewer than 0 repetitions, or was done without costs to choose by",
    BAD_COST: "an estimated cost is not a number (NaN); does the risk measure divide by zero?",
    HALTED: "was stopped before its end",
}


class Statistics(NamedTuple):
    """What a policy that scores arms leads to: per arm the pulls, mean and variance."""

    pulls: Counts
    mean: Array
    variance: Array


class Past(NamedTuple):
    """Where runs go on from: the arms' statistics as arrays (run, arm), and the rounds that the policy has counted.

    For a policy of phases also how often each arm is still due, which arms were chosen, and which it has not struck
    out.
    """

    pulls: Counts
    mean: Array
    variance: Array
    elapsed: int
    due: Counts
    chosen: Marks
    alive: Marks


@kernel
def no_statistics(n_arms: int) -> Statistics:
    """No pulls yet."""
    return Statistics(np.zeros(n_arms, np.int64), np.zeros(n_arms), np.zeros(n_arms))


@kernel
def clear(arms: Any) -> None:
    """Back to no pulls."""
    arms.pulls[:] = 0
    arms.mean[:] = 0.0
    arms.variance[:] = 0.0


@kernel
def copy_statistics(arms: Statistics, to: Statistics) -> None:
    """Write the arms' statistics into others, one by one: Numba takes a second to compile an assignment of arrays."""
    for i in range(len(arms.pulls)):
        to.pulls[i], to.mean[i], to.variance[i] = arms.pulls[i], arms.mean[i], arms.variance[i]


@kernel
def no_arms(n_arms: int, room: int) -> Arms:
    """No pulls yet, for a policy of phases, with room for so many rewards an arm."""
    cost, alive = np.full(n_arms, np.inf), np.ones(n_arms, np.bool_)
    rewards = np.empty((n_arms, room))
    return Arms(np.zeros(n_arms, np.int64), np.zeros(n_arms), np.zeros(n_arms), cost, alive, rewards)


@kernel
def clear_arms(arms: Arms) -> None:
    """Back to no pulls, with every arm alive."""
    clear(arms)
    arms.cost[:] = np.inf
    arms.alive[:] = True


class Record(NamedTuple):
    """Arrays over (run, snapshot, arm)."""

    pulls: Counts
    mean: Array
    variance: Array
    twin_mean: Array
    twin_variance: Array

    @classmethod
    def empty(cls, runs: int, snapshots: int, arms: int) -> "Record":
        shape = (runs, snapshots, arms)
        return cls(np.zeros(shape, np.int64), *(np.zeros(shape) for _ in range(4)))

    def part(self, runs: slice) -> "Record":
        """A view of some of the runs."""
        return type(self)._make(array[runs] for array in self)

    def multiply(self, unit: float) -> None:
        """From a unit of rewards to rewards."""
        if unit != 1.0:
            for means, variances in ((self.mean, self.variance), (self.twin_mean, self.twin_variance)):
                means[:] *= unit
                variances[:] *= unit * unit


class RecordOfArms(Record):
    """A record without twins, for runs of which no regret is asked."""

    __slots__ = ()

    @classmethod
    def empty(cls, runs: int, snapshots: int, arms: int) -> "RecordOfArms":
        made, none = Record.empty(runs, snapshots, arms), np.empty((runs, snapshots, 0))
        return cls(*made[:3], none, none)


@kernel
def write_down(record: Record, run: int, snapshot: int, arms: Any, laws: Laws, best: int, rng: Generator) -> None:
    """Copy the arms' statistics into the record; at the horizon, draw the twins."""
    for i in range(len(arms.pulls)):
        record.pulls[run, snapshot, i] = arms.pulls[i]
        record.mean[run, snapshot, i] = arms.mean[i]
        record.variance[run, snapshot, i] = arms.variance[i]
    if snapshot == record.pulls.shape[1] - 1 and record.twin_mean.shape[2] > 0:
        draw_twins(record, run, snapshot, laws, best, rng)


@simpler_for(write_down, RecordOfArms)
def _write_arms(record: Record, run: int, snapshot: int, arms: Any, laws: Laws, best: int, rng: Generator) -> None:
    for i in range(len(arms.pulls)):
        record.pulls[run, snapshot, i] = arms.pulls[i]
        record.mean[run, snapshot, i] = arms.mean[i]
        record.variance[run, snapshot, i] = arms.variance[i]


@kernel
def draw_twins(record: Record, run: int, snapshot: int, laws: Laws, best: int, rng: Generator) -> None:
    """As many unobserved rewards of the best arm as each other arm was pulled; the best arm's are its own."""
    for i in range(record.pulls.shape[2]):
        mean, variance = record.mean[run, snapshot, i], record.variance[run, snapshot, i]
        if i != best:
            mean, variance = draw_block(laws, best, record.pulls[run, snapshot, i], rng)
        record.twin_mean[run, snapshot, i] = mean
        record.twin_variance[run, snapshot, i] = variance


@kernel
def draw_all_twins(record: Record, snapshot: int, laws: Laws, best: int, rng: Generator) -> None:
    """The twins of every run at a snapshot before the horizon."""
    for run in range(len(record.pulls)):
        draw_twins(record, run, snapshot, laws, best, rng)
