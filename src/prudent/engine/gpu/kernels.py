"""The kernels of a GPU: a thread for each run, or a lane for each arm of a run, the twins of all runs, and two coins.

Both kernels of runs draw from the same streams, so that which one is taken does not change the results. The number of
arms is a constant in each, because the arrays of a thread need a size when they are compiled.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from prudent.arms.sampling import draw, include
from prudent.engine.gpu.coins import fill_row, respond_in_row
from prudent.engine.gpu.device import cached
from prudent.engine.gpu.generator import REWARDS, SCORES
from prudent.engine.gpu.loops import Room, draw_twins, step_run, stream_of
from prudent.engine.record import BAD_SCORE, FINE
from prudent.policies.contract import Arm
from prudent.policies.scoring import own_cost, score_of

ALL = 0xFFFFFFFF
"""Every lane of a warp."""

REGISTERS = 80
"""Of a thread that scores all arms in every round: with so few, 100,000 runs are in an H200 at once, a fifth faster
than with more. A thread that scores one arm is slower with fewer than it asks for."""


@cache
def of_threads(n_arms: int, rescored: bool, ties: bool, gaussian: bool) -> Any:
    """A thread for each run."""
    places = n_arms + 1  # in a name, since Numba takes no sum for a constant

    def run_in_thread(policy, laws, rounds, record, key, first, status):  # type: ignore[no-untyped-def]
        at = cuda.grid(1)
        if at < record.pulls.shape[0]:
            pulls = cuda.local.array(n_arms, np.int32)
            mean = cuda.local.array(n_arms, np.float64)
            variance = cuda.local.array(n_arms, np.float64)
            scores = cuda.local.array(n_arms, np.float64)
            spare = cuda.local.array(places, np.float64)
            taken = cuda.local.array(1, np.int32)
            room, run = Room(pulls, mean, variance, scores, spare, taken), first + at
            end = step_run(policy, rescored, ties, gaussian, laws, rounds, record, at, key, run, room)
            if end != FINE:
                status[0] = end

    return cached(run_in_thread, max_registers=REGISTERS if rescored else None)


@cache
def of_lanes(n_arms: int, rescored: bool, compared: bool, gaussian: bool) -> Any:
    """A lane for each arm: 2, 4, …, 32 neighbouring threads of a warp play one run, whose arms are at most as many.

    Rewards of Gaussian arms are one normal a round, whichever arm is pulled: each lane draws a pair in turn for all.
    """
    wide = width(n_arms)

    def run_in_lanes(policy, laws, rounds, record, key, first, status):  # type: ignore[no-untyped-def]
        lane, at = cuda.grid(1) % wide, cuda.grid(1) // wide
        begin, run = cuda.laneid - lane, first + at
        i, there = min(lane, n_arms - 1), lane < n_arms
        taken = cuda.local.array(1, np.int32)
        spare, left = cuda.local.array(1, np.float64), cuda.local.array(1, np.float64)
        spare[0] = math.nan
        place, deviation = laws.table[laws.start[i]], laws.table[laws.start[i] + 1] if gaussian else 0.0
        pulls, mean, variance = 0, 0.0, 0.0
        score = -math.inf if there else math.inf
        even, odd = 0.0, 0.0
        t = 0
        for snapshot in range(len(rounds)):
            last = rounds[snapshot]
            while t < last:
                best_cost = math.inf
                if compared:
                    if there and pulls > 0:
                        best_cost = own_cost(policy, Arm(pulls, mean, variance), None)
                    apart = wide // 2
                    while apart > 0:
                        best_cost = min(best_cost, cuda.shfl_xor_sync(ALL, best_cost, apart))
                        apart //= 2
                if rescored and there and pulls > 0:
                    rng = stream_of(key, run, SCORES + i, t, taken, spare, 0)
                    score = score_of(policy, Arm(pulls, mean, variance), best_cost, t + 1, rng, None)
                    if math.isnan(score):
                        status[0] = BAD_SCORE
                pulled, low = np.int32(lane), score
                apart = wide // 2
                while apart > 0:
                    rival, other = cuda.shfl_xor_sync(ALL, pulled, apart), cuda.shfl_xor_sync(ALL, low, apart)
                    if other < low or (other == low and rival < pulled):
                        pulled, low = rival, other
                    apart //= 2
                noise = 0.0
                if gaussian:
                    turn = t % (2 * wide)
                    if turn == 0:
                        left[0] = math.nan
                        even = stream_of(key, run, REWARDS, t + 2 * lane, taken, left, 0).standard_normal()
                        odd = left[0]
                    noise = cuda.shfl_sync(ALL, even if turn % 2 == 0 else odd, begin + turn // 2)
                t += 1
                if lane == pulled:
                    if gaussian:
                        reward = place + deviation * noise
                    else:
                        left[0] = math.nan
                        reward = draw(laws, i, stream_of(key, run, REWARDS, t - 1, taken, left, 0))
                    pulls += 1
                    mean, variance = include(pulls, mean, variance, reward)
                    if not rescored:
                        score = score_of(policy, Arm(pulls, mean, variance), 0.0, t, 0, None)
                        if math.isnan(score):
                            status[0] = BAD_SCORE
            if there and at < record.pulls.shape[0]:
                record.pulls[at, snapshot, i] = pulls
                record.mean[at, snapshot, i] = mean
                record.variance[at, snapshot, i] = variance

    return cached(run_in_lanes)


def width(n_arms: int) -> int:
    """How many lanes a run takes: a power of two that is no less than the arms, and 2."""
    return 1 << max(1, (n_arms - 1).bit_length())


@cache
def of_twins() -> Any:
    """A thread for each arm of each run: what the best arm would have given in place of that arm.

    Nothing is drawn if a run before ended badly, since its pulls may be any number.
    """

    def twins_in_thread(laws, best, rounds, record, key, first, status):  # type: ignore[no-untyped-def]
        runs, _, n_arms = record.pulls.shape
        at, i = cuda.grid(1) // n_arms, cuda.grid(1) % n_arms
        if at < runs and status[0] == FINE:
            taken, spare = cuda.local.array(1, np.int32), cuda.local.array(1, np.float64)
            draw_twins(laws, best, rounds, record, at, i, key, first + at, taken, spare)

    return cached(twins_in_thread)


@cache
def of_last_rows() -> Any:
    """Threads for each row of the last layer of two coins."""

    def last_rows(layer, left, right, costs, offset, n):  # type: ignore[no-untyped-def]
        place = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
        if place < (n + 1) * (n + 2) // 2:
            fill_row(layer, left, right, costs, offset, n, place, cuda.threadIdx.x, cuda.blockDim.x)

    return cached(last_rows)


@cache
def of_rows() -> Any:
    """Threads for each row of the layer of two coins after t rounds."""

    def rows(following, layer, offset, n, t):  # type: ignore[no-untyped-def]
        place = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
        if place < (t + 1) * (t + 2) // 2:
            respond_in_row(following, layer, offset, n, t, place, cuda.threadIdx.x, cuda.blockDim.x)

    return cached(rows)
