"""Leaping behind a leader for scores that fall with the clock, or with the cost of the best arm.

A score with a clock never rises with it, at fixed statistics, and one that asks for `best_cost` never rises when that
does. So a rival's score for a moment to come, a later clock or a larger best cost, is a floor until then. Of the
leader, a bound on its score in all rounds of a block is known. If the bound lies below the floors, the block is its.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import Laws, may_tie
from prudent.base.arrays import Array, Counts, Marks
from prudent.compile.types import absorbed, borrowed, either, helper, kernel
from prudent.engine.floors import FIRST_STEP, Floors, clearly_below, compare
from prudent.engine.leap.blocks import Sources
from prudent.engine.leap.first_passage import make_stacks
from prudent.engine.leap.leader import BLOCKS_KEPT, MIN_BLOCK, Table, box_of, cut, pull, stage, step_on, take
from prudent.engine.record import BAD_SCORE, FINE, HALTED, Record, Statistics, clear, no_statistics, write_down
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.scoring import compares, own_cost, score_of
from prudent.policies.ties import lowest

MIN_FIRST_BLOCK = 8
"""The smallest block to ask for."""

GAP_SHARE = 0.8
"""How much of the gap to the rivals a block should use up: more fails too often, and less makes more blocks."""

LONGEST_PAUSE = 16
"""Where no block fits, so many rounds at most are simulated before the next look: a look costs little."""


class Guesses(NamedTuple):
    """What the sizes of blocks are guessed from; it affects only the time.

    Of each arm as the leader, in a block as long as its pulls: by how much it and its rivals approach each other, and
    by how much its cost may grow; `closing` is −1 before its first block. Of each arm as a rival: how fast its score
    falls with the moment.
    """

    closing: Array
    climb: Array
    slope: Array


@kernel
def lead_falling(
    policy: ReadyPolicy,
    src: Sources,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Generator,
) -> int:
    """Run a policy with a `score_bound` whose score asks for `t` or `best_cost`; arguments as for `step_scores`."""
    n_runs, _, n_arms = record.pulls.shape
    ties, table = may_tie(laws, n_arms), Table(src, no_statistics(n_arms), make_stacks(src, BLOCKS_KEPT))
    floors = Floors(np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms))
    known = table, floors, Guesses(np.empty(n_arms), np.empty(n_arms), np.empty(n_arms))
    for run in range(n_runs):
        status = run_falling(policy, run, ties, laws, best, rounds, record, halt, known, rng)
        if status != FINE:
            return status
    return FINE


@kernel
def run_falling(
    policy: ReadyPolicy,
    run: int,
    ties: bool,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    known: tuple[Table, Floors, Guesses],
    rng: Generator,
) -> int:
    """One run: a block where it may fit, else a round."""
    rounds, halt, known, rng = borrowed((rounds, halt, known, rng))
    table, floors, guesses = known
    arms = table.arms
    pulls, mean, variance, cost, floor, at = arms.pulls, arms.mean, arms.variance, floors.cost, floors.floor, floors.at
    clear(arms)
    table.stacks.n_ahead[:] = 0
    cost[:], floor[:], at[:], floors.step[:] = math.inf, -math.inf, math.inf, FIRST_STEP
    guesses.closing[:], guesses.climb[:], guesses.slope[:] = -1.0, 0.0, 0.0
    t, leader, score, best_cost, tried, pause = 0, 0, -math.inf, math.inf, 0, 2
    # Of the rivals: the one with the smallest floor, up to which moment all floors hold, and the smallest cost.
    near, rival, ceiling, other_cost = 0, -math.inf, -math.inf, math.inf
    moment = moment_of(policy, best_cost, 1)
    horizon = rounds[len(rounds) - 1]  # no later clock is asked for
    for snapshot in range(len(rounds)):
        while t < rounds[snapshot]:
            if halt[0]:
                return HALTED
            if ties or moment > ceiling or not clearly_below(score, rival):
                leader, near, rival, ceiling, other_cost = choose(policy, arms, floors, moment, ties)
                if leader < 0:
                    return BAD_SCORE
                score = floor[leader]
            gap, size = rival + guesses.slope[near] * (at[near] - moment) - score, 0
            enough = GAP_SHARE * gap * pulls[leader] >= MIN_FIRST_BLOCK * guesses.closing[leader]
            if enough and t >= tried and clearly_below(score, rival):
                clocks, costs = (t, rounds[snapshot] - t, horizon), (best_cost, other_cost)
                size, near, ceiling = block_of(policy, leader, clocks, moment, score, gap, costs, known, rng)
                rival = floor[near]
            if size > 0:
                take(table, leader)
                pause = 2
            else:
                if t >= tried:
                    tried, pause = t + pause, min(2 * pause, LONGEST_PAUSE)
                size = advance(policy, leader, t, min(tried, rounds[snapshot]) - t, ties, table, floor, rng)
                if size == 0:
                    return BAD_SCORE
                if size > 1:  # of any arm, so no floor holds
                    ceiling = -math.inf
            t += size
            clock = min(t + 1, horizon)
            arm = Arm(pulls[leader], mean[leader], variance[leader])
            cost[leader], at[leader] = own_cost(policy, arm, 0), -math.inf
            best_cost = min(cost[leader], other_cost)
            moment = moment_of(policy, best_cost, clock)
            if moment <= ceiling:
                score = score_of(policy, arm, best_cost, clock, rng, 0)
                floor[leader], at[leader] = score, moment
                if math.isnan(score):
                    return BAD_SCORE
        write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@absorbed
def block_of(
    policy: ReadyPolicy,
    leader: int,
    clocks: tuple[int, int, int],
    moment: float,
    score: float,
    gap: float,
    costs: tuple[float, float],
    known: tuple[Table, Floors, Guesses],
    rng: Generator,
) -> tuple[int, int, float]:
    """Have a block on the leader's stack of which every round is its own.

    Returns the size of the block, 0 if there is none, and what is known of the rivals' floors afterwards. The first
    round is the leader's by its score, and all others by its bound. The bound of a score that asks for the best cost
    holds while the leader's own cost is the smallest.
    """
    (t, most, horizon), (best_cost, other_cost), (table, floors, guesses) = clocks, costs, known
    pulls, mean, variance = table.arms
    floor, at, slope, now = floors.floor, floors.at, guesses.slope, Arm(pulls[leader], mean[leader], variance[leader])
    closing, climb, room = guesses.closing[leader], guesses.climb[leader], other_cost - best_cost
    size, whole = fitting(most, now.pulls, gap, closing, room, climb), False
    near, ceiling, _ = nearest(leader, floors)
    if size >= MIN_FIRST_BLOCK:
        size = stage(table, leader, size, most, rng)
        while size >= MIN_BLOCK and not whole:
            low, high = box_of(table, leader)
            # One round more than needed: then the rivals' scores are those of the round after the block.
            clock = min(t + size + 1, horizon)
            bound, last, highest = reach(policy, low, high, t + 2, clock)
            for i in range(len(pulls)):
                if i != leader and (at[i] < last or not clearly_below(bound, floor[i])):
                    later = score_of(policy, Arm(pulls[i], mean[i], variance[i]), highest, clock, rng, 0)
                    if last != at[i] and 0.0 <= (floor[i] - later) / (last - at[i]) < math.inf:
                        slope[i] = (floor[i] - later) / (last - at[i])
                    floor[i], at[i] = later, last
            near, ceiling, _ = nearest(leader, floors)
            whole = clearly_below(bound, floor[near]) and clearly_below(highest, other_cost)
            closing = max(bound - score + slope[near] * (last - moment), 0.0) / size * now.pulls
            climb = max(highest - best_cost, 0.0) / size * now.pulls
            if not whole:
                gap = floor[near] + slope[near] * (at[near] - moment) - score
                size = min(size // 2, fitting(size, now.pulls, gap, closing, room, climb))
                if size >= MIN_BLOCK:
                    cut(table, leader, size, rng)
        guesses.closing[leader], guesses.climb[leader] = closing if closing < math.inf else 0.0, climb
    return size if whole else 0, near, ceiling


@helper
def fitting(most: int, pulls: int, gap: float, closing: float, room: float, climb: float) -> int:
    """How many rewards to take at once, where a gap closes by closing/pulls with each, and a room by climb/pulls."""
    if closing <= 0.0:
        return min(most, MIN_FIRST_BLOCK if closing < 0.0 else pulls // 4 + 1)
    growth = gap / closing
    if climb > 0.0:
        growth = min(growth, room / climb)
    return int(min(GAP_SHARE * growth * pulls, float(most)))


@absorbed
def nearest(leader: int, floors: Floors) -> tuple[int, float, float]:
    """Of the leader's rivals: the one with the smallest floor, up to which moment all floors hold, and the smallest
    cost. An arm without rivals is its own."""
    near, ceiling, cost, floor = leader, math.inf, math.inf, floors.floor
    for i in range(len(floor)):
        if i != leader:
            ceiling, cost = min(ceiling, floors.at[i]), min(cost, floors.cost[i])
            if near == leader or floor[i] < floor[near]:
                near = i
    return near, ceiling, cost


def _choose_by_cost(
    policy: ReadyPolicy, arms: Statistics, floors: Floors, moment: float, ties: bool
) -> tuple[int, int, float, float, float]:
    """The arm with the smallest score, ties to the lowest number, or −1 if a score is not a number. Of its rivals the
    nearest, its floor, up to which moment all floors hold, and the smallest cost."""
    leader = compare(policy, arms, floors, None, moment, ties)
    near, ceiling, cost = nearest(leader, floors)
    return leader, near, floors.floor[near], ceiling, cost


def _choose_by_clock(
    policy: ReadyPolicy, arms: Statistics, floors: Floors, moment: float, ties: bool
) -> tuple[int, int, float, float, float]:
    # All scores are computed, and without branches, since this is done in most rounds. Costs do not matter, and which
    # rival is the nearest is not asked while all floors are scores of this moment.
    floor, at, pulls, mean, variance = floors.floor, floors.at, arms.pulls, arms.mean, arms.variance
    leader, score, rival, t = 0, math.inf, math.inf, int(moment)
    for i in range(len(floor)):
        here = -math.inf
        if pulls[i] > 0:
            here = score_of(policy, Arm(pulls[i], mean[i], variance[i]), 0.0, t, 0, 0)
            if math.isnan(here):
                return -1, 0, 0.0, 0.0, 0.0
        floor[i], at[i] = here, moment
        rival = min(rival, max(score, here))
        leader = i if here < score else leader
        score = min(score, here)
    if ties:
        first = lowest(floor, arms)
        leader, rival = first, rival if first == leader else score
    return leader, leader, rival, moment, math.inf


def _reach_of_cost(policy: ReadyPolicy, low: Arm, high: Arm, first: int, last: int) -> tuple[float, float, float]:
    """A bound on the leader's score in a block, from the `first` clock to the `last`; the last moment, and the largest
    cost."""
    highest = -math.inf
    for mean in (low.mean, high.mean):
        for variance in (low.variance, high.variance):
            highest = max(highest, own_cost(policy, Arm(high.pulls, mean, variance), 0))
    return policy.score_bound(low, high), highest, highest


def _several(
    policy: ReadyPolicy, leader: int, t: int, count: int, ties: bool, table: Table, scores: Array, rng: Generator
) -> int:
    """Simulate rounds one by one, `count` at most, the first of them the leader's; returns how many, 0 for a NaN."""
    pull(table, leader, rng)
    return count if step_on(policy, t + 1, count - 1, ties, table, scores, rng) else 0


def _one(
    policy: ReadyPolicy, leader: int, t: int, count: int, ties: bool, table: Table, scores: Array, rng: Generator
) -> int:
    pull(table, leader, rng)
    return 1


advance = either(compares, _one, _several)
choose = either(compares, _choose_by_cost, _choose_by_clock)
reach = either(
    compares,
    _reach_of_cost,
    lambda policy, low, high, first, last: (policy.score_bound(low, high, first), float(last), -math.inf),
)
moment_of = either(compares, lambda policy, best_cost, clock: best_cost, lambda policy, best_cost, clock: float(clock))
"""What scores fall with."""
