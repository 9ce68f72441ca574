"""Leaping behind a leader for scores with draws, by thinning.

A rate bounds the probability of an event in every round of a block. So the rounds in which the event comes into
question, the candidates, are known from one geometric variable, and all others are the leader's. In a candidate round
the event happens with its probability over its rate.

There are two kinds of events. Of the leader: the first number drawn makes its part of the score larger than a share. Of
each rival: its score would be below the leader's if the leader's first part were that share. Where neither happens, the
leader is pulled. A round has one rival as its candidate at most, which is pulled if its score is the smallest of all.
As only one arm can have that, these events exclude each other, and their probabilities may be added.

Why this is exact: given all rewards, the numbers drawn are independent across rounds and arms. The leader, the share,
the block and the rates follow from the past and from the blocks' totals, never from numbers to be drawn. Candidates are
independent, so nothing is known of the rounds after a block without one (docs: leaping).
"""

import math

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import Laws
from prudent.base.arrays import Array, Counts, Marks
from prudent.compile.types import absorbed, borrowed, helper, kernel
from prudent.engine.leap.blocks import Sources
from prudent.engine.leap.boxes import Book, Region, chance, find_region, gain_for, inside, make_book, rate_of, room_in
from prudent.engine.leap.drawn_scores import Surface, height, propose, surface, weak_point
from prudent.engine.leap.first_passage import make_stacks
from prudent.engine.leap.leader import BLOCKS_KEPT, MIN_BLOCK, Table, box_of, cut, known_of, pull, stage, step_on, take
from prudent.engine.record import BAD_SCORE, FINE, HALTED, Record, clear, no_statistics, write_down
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.posteriors import drawn
from prudent.policies.scoring import score_of

FIRST_ROUNDS = 4
"""So many rounds for each arm before the first leap."""

MOST_BLOCKS = 10_000
"""After so many blocks the loop looks up, so that a run can be stopped."""

NOT_YET = -1
"""No arm is known to be pulled."""


@kernel
def lead_drawn(
    policy: ReadyPolicy,
    src: Sources,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Generator,
) -> int:
    """Run a policy whose score has `draws`; arguments as for `step_scores`."""
    n_runs, _, n_arms = record.pulls.shape
    arms, stacks, book = no_statistics(n_arms), make_stacks(src, BLOCKS_KEPT), make_book(n_arms)
    table, scores = Table(src, arms, stacks), np.empty(n_arms)
    for run in range(n_runs):
        clear(arms)
        stacks.n_ahead[:] = 0
        t, pause = 0, FIRST_ROUNDS * n_arms
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                if halt[0]:
                    return HALTED
                stretch = min(pause, rounds[snapshot] - t)
                if not step_on(policy, t, stretch, False, table, scores, rng):
                    return BAD_SCORE
                t += stretch
                made = stride(policy, rounds[snapshot] - t, table, book, rng)
                # After a try that failed the next one comes later and later, or ties would cost double.
                pause = min(2 * pause, max(128, t // 16)) if made == 0 else FIRST_ROUNDS
                t += made
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@kernel
def stride(policy: ReadyPolicy, left: int, table: Table, book: Book, rng: Generator) -> int:
    """The leader's rounds, block by block, and those of rivals between them; returns the number of rounds.

    A round that was a candidate and is the leader's all the same is `decided`: the next block begins with it.
    """
    table, book, rng = borrowed((table, book, rng))
    made, decided, new = 0, 0, True
    if left < MIN_BLOCK:
        return 0
    region = find_region(policy, left, table.arms, book)
    rivals = at_first = sum_of(book.rate)
    total = hazard_of(rivals, region.rate)
    for _ in range(MOST_BLOCKS):
        leader = region.leader
        if leader < 0 or left - made < MIN_BLOCK:
            break
        # The first round of a block sees none of its rewards: there must be room around the statistics as they are.
        now = known_of(table, leader)
        room = room_in(region, now)
        size = min(int(min(room * now.pulls, 2.0 / total)), left - made, region.high.pulls - now.pulls)
        if size < MIN_BLOCK or room < 0.2 * region.growth or not 0.3 * at_first <= rivals <= 3.0 * at_first:
            if new:
                break
            if decided:
                pull(table, leader, rng)
                made, decided = made + 1, 0
            region, new = find_region(policy, left - made, table.arms, book), True
            rivals = at_first = sum_of(book.rate)
            total = hazard_of(rivals, region.rate)
            continue
        size, new = stage(table, leader, size, left - made, rng), False
        while size > 1:
            low, high = box_of(table, leader)
            if inside(low, high, region):
                break
            size = size // 2
            cut(table, leader, size, rng)
        # How far the next candidate is must not be known before the block is fixed, nor be remembered after it.
        wait = decided + rng.standard_exponential() / total
        if wait >= size:
            take(table, leader)
            made, decided = made + size, 0
            continue
        safe, decided = int(wait), 1
        if safe > 0:
            cut(table, leader, safe, rng)
            take(table, leader)
            made += safe
        winner = settle(policy, region, rivals, table, book, rng)
        if winner != leader:
            pull(table, winner, rng)
            made, decided = made + 1, 0
            book.rate[winner], book.first[winner], book.second[winner] = rate_of(
                policy, known_of(table, winner), region
            )
            rivals = sum_of(book.rate)
            total = hazard_of(rivals, region.rate)
            if rivals * gain_for(len(book.rate)) > 1.0:
                break
    if decided:
        pull(table, region.leader, rng)
    return made + decided


@helper
def sum_of(rate: Array) -> float:
    """The sum of the rivals' rates, afresh each time, since differences would lose digits."""
    total = 0.0
    for i in range(len(rate)):
        total += rate[i]
    return total


@helper
def hazard_of(rivals: float, leader: float) -> float:
    """Minus the logarithm of the probability that a round has no candidate, and never 0."""
    return -math.log1p(-min(rivals, 0.5)) - math.log1p(-min(leader, 0.5)) + 1e-300


@helper
def picked(rate: Array, share: float) -> int:
    """The rival whose rate covers this share of the sum."""
    i = 0
    while i < len(rate) - 1 and share >= rate[i]:
        share -= rate[i]
        i += 1
    while rate[i] == 0.0:  # by rounding of the sum
        i -= 1
    return i


@absorbed
def settle(policy: ReadyPolicy, region: Region, rivals: float, table: Table, book: Book, rng: Generator) -> int:
    """The arm pulled in a round with a candidate."""
    leader = region.leader
    now, winner = known_of(table, leader), NOT_YET
    if region.rate > 0.0 and rng.random() * (region.rate + rivals - region.rate * rivals) < region.rate:
        winner = above_share(policy, region, now, rivals, table, rng)
    if winner == NOT_YET:
        i = picked(book.rate, rivals * rng.random())
        proposal = book.rate[i], book.first[i], book.second[i]
        below, score = duel(policy, region.share, now, known_of(table, i), proposal, rng)
        winner = i if below and is_smallest(policy, i, leader, score, table, rng) else leader
    return winner


@helper
def above_share(policy: ReadyPolicy, region: Region, now: Arm, rivals: float, table: Table, rng: Generator) -> int:
    """The arm pulled if the leader's first part exceeds its share, in a round in which that is a candidate; else the
    leader, or NOT_YET if a rival is a candidate too."""
    laws = policy.draws(now)
    law, score = laws[0], surface(policy, now, laws)
    location, concentration, _ = law.place()
    edge, upper = weak_point(score, location, region.share)
    above, x = rng.random() * region.rate < chance(law, location, concentration, edge, upper), 0.0
    if above:
        above, x = law.tilted(edge, upper, rng)
    if not above:
        return NOT_YET if rng.random() < rivals else region.leader
    winner, least = region.leader, height(score, x) + score.b + score.w * rng.standard_normal()
    for i in range(len(table.arms.pulls)):
        if i != region.leader:
            other = score_of(policy, known_of(table, i), 0.0, 0, rng, 0)
            if other < least:
                winner, least = i, other
    return winner


@absorbed
def duel(
    policy: ReadyPolicy, share: float, now: Arm, other: Arm, proposal: tuple[float, float, float], rng: Generator
) -> tuple[bool, float]:
    """Whether a rival that is a candidate has a smaller score than the leader, and its score."""
    laws, others = policy.draws(now), policy.draws(other)
    score, theirs, law = surface(policy, now, laws), surface(policy, other, others), laws[0]
    below, own, more = propose(others[0], theirs, score.b, score.w, share, proposal, rng)
    if not below:
        return False, 0.0
    first = 0.0
    if score.q1 != 0.0 or score.q2 != 0.0:
        edge, upper = weak_point(score, law.place()[0], share)
        x = drawn(law, rng)
        while x > edge if upper else x < edge:
            x = drawn(law, rng)
        first = height(score, x)
    return own + more < first, own + more + normal_part(score, theirs, more, rng)


@helper
def normal_part(score: Surface, theirs: Surface, more: float, rng: Generator) -> float:
    """The normal part of the leader's score, given by how much a rival's exceeds it."""
    if score.w == 0.0:
        return score.b
    total = score.w * score.w + theirs.w * theirs.w
    middle = score.b - score.w * score.w / total * (more - theirs.b + score.b)
    return middle + score.w * theirs.w / math.sqrt(total) * rng.standard_normal()


@helper
def is_smallest(policy: ReadyPolicy, i: int, leader: int, score: float, table: Table, rng: Generator) -> bool:
    """Whether the score of arm i, which is below the leader's, is below all others."""
    for j in range(len(table.arms.pulls)):
        if j not in (i, leader) and score_of(policy, known_of(table, j), 0.0, 0, rng, 0) < score:
            return False
    return True
