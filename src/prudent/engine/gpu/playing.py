"""Runs on a GPU: which policies and laws it takes, which kernel, and how runs are cut."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from prudent.arms.sampling import GaussianLaws, Laws, may_tie
from prudent.base.arrays import Counts
from prudent.base.errors import PrudentError
from prudent.compile.announce import Compiling, patience
from prudent.compile.types import public_methods
from prudent.engine.gpu import device
from prudent.engine.gpu.generator import Philox, key_of
from prudent.engine.jobs import Job
from prudent.engine.record import COMPLAINTS, FINE, HALTED, Record
from prudent.engine.threads import is_halted
from prudent.policies.contract import ReadyPolicy
from prudent.policies.scoring import compares, needs_no_clock, reads_rewards
from prudent.policies.units import core

MOST_ARMS = 1_000
"""Their statistics are in the memory of a thread."""

MOST_LANES = 32
"""Threads of a warp, which exchange numbers without memory."""

MOST_ROUNDS = 2**31 - 1
"""Pulls are counted by 32 bits there."""

MOST_RUNS = 2**32
"""A stream's counter has 32 bits for the run."""

AT_ONCE = 2**20
"""Runs in one launch at most; more of them fill no GPU better, and Ctrl-C waits for one launch."""

NUMBERS = 2**27
"""Numbers of the record in one launch at most, a GiB."""

BLOCK = 64
"""Threads of a block; 32 and 128 are as fast."""


def obstacle(ready: ReadyPolicy, n_arms: int, batch: int) -> str:
    """Why a GPU cannot run a policy; empty if it can."""
    if batch > 1:
        return "rewards are seen a batch at a time, and its kernels are for those seen at once (batch=1)"
    if core(ready) is not ready:
        return "it forgets, and kernels for GPUs keep only what is known of all rewards"
    if not hasattr(ready, "score"):
        return "it decides by phases, in arrays that a thread of a GPU cannot make"
    if reads_rewards(type(ready)):
        return "its score reads all rewards of an arm, or counts of them, for which a thread of a GPU has no room"
    if n_arms > MOST_ARMS:
        return f"a thread of a GPU has room for {MOST_ARMS:,} arms at most, and there are {n_arms:,}"
    return ""


def takes_lanes(n_arms: int, runs: int, rescored: bool) -> bool:
    """Whether a lane for each arm is faster than a thread for each run, as `benchmarks/gpu.py` measured on an H200.

    Where every arm is scored in every round, lanes share the work, until there are threads enough without. Where only
    the pulled arm is, the other lanes wait, so that this pays only as long as lanes would be idle anyway.
    """
    if n_arms > MOST_LANES:
        return False
    return runs <= 30_000 if rescored else runs * n_arms <= 80_000


def play(
    job: Job, cell: str, subject: str, ready: ReadyPolicy, laws: Laws, best: int, rounds: Counts, record: Record
) -> float:
    """Fill the record with the runs of a cell; the seconds it took."""
    if rounds[-1] > MOST_ROUNDS or job.runs > MOST_RUNS:
        most = f"{MOST_ROUNDS:,} rounds and {MOST_RUNS:,} runs"
        raise PrudentError(f"simulate: a GPU takes at most {most}, got {rounds[-1]:,} and {job.runs:,}")
    device.require()
    n_arms, started = record.pulls.shape[2], time.perf_counter()
    lanes = takes_lanes(n_arms, job.runs, is_rescored(ready)) and not equal_scores(laws, n_arms)
    size = max(1, min(AT_ONCE, NUMBERS // (len(Record._fields) * len(rounds) * n_arms)))
    with explained(), Compiling(subject):
        play_from = player(ready, laws, best, rounds, n_arms, key_of(job.seed, cell), lanes=lanes)
        for first in range(0, job.runs, size):
            part = record.part(slice(first, first + size))
            if (ended := play_from(first, part)) != FINE:
                raise PrudentError(f"{subject}: {COMPLAINTS[ended]}")
            if job.progress is not None:
                job.progress(len(part.pulls))
    return time.perf_counter() - started


def player(
    ready: ReadyPolicy, laws: Laws, best: int, rounds: Counts, n_arms: int, key: int, *, lanes: bool, block: int = BLOCK
) -> Callable[[int, Record], int]:
    """A function that plays runs, from a first one on, into a record, and returns a status.

    Neither `lanes`, whether a run has a lane for each arm, nor the threads of a `block` change the results.
    """
    device.teach()
    from numba import cuda

    from prudent.engine.gpu import kernels

    device.learn(ready)
    device.learn(laws)
    rescored, gaussian = is_rescored(ready), type(laws) is GaussianLaws
    if lanes:
        kernel, threads = kernels.of_lanes(n_arms, rescored, compares(type(ready)), gaussian), kernels.width(n_arms)
    else:
        kernel, threads = kernels.of_threads(n_arms, rescored, equal_scores(laws, n_arms), gaussian), 1
    there, snapshots = type(laws)(*map(cuda.to_device, laws)), cuda.to_device(rounds)

    def play(first: int, record: Record) -> int:
        runs, status = len(record.pulls), cuda.to_device(np.full(1, FINE))
        copy: Any = Record(*(cuda.device_array(array.shape, array.dtype) for array in record))
        tail = (snapshots, copy, np.uint64(key), first, status)
        with patience():
            kernel[-(-runs * threads // block), block](ready, there, *tail)
            kernels.of_twins()[-(-runs * n_arms // block), block](there, best, *tail)
        wait(cuda.event(timing=False))
        for array, filled in zip(record, copy, strict=True):
            filled.copy_to_host(array)
        return int(status.copy_to_host()[0])

    return play


@contextmanager
def explained() -> Iterator[None]:
    """Where the code of a policy or law is refused, say which draws there are: a user's own may ask for others."""
    try:
        yield
    except PrudentError as error:
        if isinstance(error.__cause__, NumbaError):
            methods = ", ".join(sorted(public_methods(Philox).keys() - {"bits"}))
            raise PrudentError(f"{error}; of rng, a GPU has only {methods}") from error.__cause__
        raise


def is_rescored(ready: ReadyPolicy) -> bool:
    """Whether every score may change in every round."""
    return compares(type(ready)) or not needs_no_clock(type(ready))


def equal_scores(laws: Laws, n_arms: int) -> bool:
    """Whether scores of two arms can be equal, so that ties need care; interpreted, since it is asked once."""
    loop: Any = may_tie
    return bool(loop.py_func(laws, n_arms))


def wait(event: Any) -> None:
    """Until the GPU has done what it was given so far; Ctrl-C and those who halt simulations need not wait for it."""
    event.record()
    while not event.query():
        if is_halted():
            raise PrudentError(f"simulate: {COMPLAINTS[HALTED]}")
        time.sleep(0.0005)
