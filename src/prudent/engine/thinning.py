"""Leaping behind a leader for scores with draws, by thinning.

A level separates the leader from its rivals: if its score is below, and theirs are not, it is pulled. A failure is a
number drawn that may break this: of a rival one that takes its score below the level, of the leader one that takes its
own to the level or above. Rates bound the failures' probabilities in every round of a block. So the rounds in which
some failure comes into question, the candidates, are known from one geometric variable, and all others are the
leader's. A candidate fails with its probability over its rate, and then the scores of that round are compared.

Why this is exact: given all rewards, the numbers drawn are independent across rounds and arms. The leader, the level,
the block and the rates follow from the past and from the blocks' totals, never from numbers to be drawn. Candidates are
independent, so nothing is known of the rounds after a block without one (docs: leaping).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from prudent.arrays import Array, Marks
from prudent.compiled import helper, kernel
from prudent.engine.blocks import Sources
from prudent.engine.passage import Stacks
from prudent.engine.record import Statistics
from prudent.engine.stacks import MOST_BLOCKS, SHORTEST, box_of, cut, pull, stage, take
from prudent.engine.surfaces import height, propose, rival_rate, surface, weak_point
from prudent.policies.base import Arm
from prudent.policies.posteriors import drawn
from prudent.policies.scoring import score_of
from prudent.policies.tails import hazard, normal_above, normal_tail
from prudent.policies.ties import arm_of

LEAST_GAIN, GAIN_OF_FEW = 10.0, 60.0
"""Leaping pays if candidates are farther apart than so many rounds, and blocks longer: 10, and 60 over the number of
arms, since rounds of few arms cost little one by one."""

LARGEST = 8.0
"""The largest block of an arm, times its pulls."""

KEPT = 3
"""After so many pulls of rivals a new level is found."""

LEADER = 2
"""The leader has two failures, at the first places of the rates; arm i has the place LEADER + i."""


NOTHING, LEADER_S_FIRST, LEADER_S_SECOND, RIVALS = 0, 1, 2, 4
"""What fails in a round, added up: the leader's first or second number may, some rival's did."""


class Table(NamedTuple):
    """Where blocks come from, what is known of the arms, and the blocks that were drawn and not taken yet."""

    src: Sources
    arms: Statistics
    stacks: Stacks


class Book(NamedTuple):
    """Of each failure its rate, log(1 − rate), and the sum of these from there on; of each rival two numbers that
    describe its failure, whether it failed in a round, and its score then."""

    rate: Array
    log: Array
    rest: Array
    first: Array
    second: Array
    failed: Marks
    score: Array


class Level(NamedTuple):
    """What separates the leader from its rivals: the level `at`, of which `share` belongs to the first number drawn.

    The others are for guesses, which affect only the time. The leader's `centre`, the score of ordinary numbers, should
    stay `margin` below the level, and moves by about `swing` while its `pulls` double.
    """

    leader: int
    at: float
    share: float
    centre: float
    margin: float
    swing: float
    pulls: int


@kernel
def make_book(n_arms: int) -> Book:
    """An empty one."""
    n = LEADER + n_arms
    first, second, failed, score = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms, np.bool_), np.zeros(n_arms)
    return Book(np.zeros(n), np.zeros(n), np.zeros(n + 1), first, second, failed, score)


@kernel
def stride_drawn(policy: Any, left: int, table: Table, book: Book, rng: Any) -> int:
    """The leader's rounds, block by block, and those of rivals between them; returns the number of rounds."""
    src, arms, ahead, n_ahead = table.src, table.arms, table.stacks.ahead, table.stacks.n_ahead
    pulls, mean, variance, atoms = arms.pulls, arms.mean, arms.variance, src.n_atoms
    made, kept, gain = 0, 0, LEAST_GAIN + GAIN_OF_FEW / len(pulls)
    level = find_level(policy, left, arms, book)
    rivals, log_rivals = sums_of_rivals(book)
    for _ in range(MOST_BLOCKS):
        leader = level.leader
        if leader < 0 or left - made < SHORTEST:
            break
        now = Arm(pulls[leader], mean[leader], variance[leader])
        centre = outlook(policy, now)[0]
        size = block_size(level, rivals, centre, now.pulls, left - made)
        moved = abs(centre - level.centre) > 0.2 * (level.at - level.centre) or 10 * now.pulls > 13 * level.pulls
        if size < SHORTEST or moved or kept >= KEPT or rivals * gain > 1.0:
            if now.pulls == level.pulls and kept == 0:
                break
            level, kept = find_level(policy, left - made, arms, book), 0
            rivals, log_rivals = sums_of_rivals(book)
            continue
        size, one, other = stage(src, atoms, ahead, n_ahead, leader, size, left - made, rng), 1.0, 1.0
        while True:
            low, high = now, now
            if size > 1:  # the first round of the block sees none of its rewards
                low, high = box_of(now, ahead, n_ahead, leader, 0)
            one, other = leader_rates(policy, low, high, level.at, level.share)
            if size == 1 or one + other <= max(rivals, 0.1 / size):
                break
            size = size // 2
            cut(src, atoms, ahead, n_ahead, leader, size, rng)
        if one + other > 0.5:
            break
        book.rate[0], book.rate[1], book.log[0], book.log[1] = one, other, math.log1p(-one), math.log1p(-other)
        total = max(-log_rivals - book.log[0] - book.log[1], 1e-300)
        # How far the next candidate is must not be known before the block is fixed, nor be remembered after it.
        safe, failures = 0, NOTHING
        while safe < size and failures == NOTHING:
            wait = rng.standard_exponential() / total
            if wait >= size - safe:
                safe = size
            else:
                safe += int(wait)
                failures = candidates(policy, level, arms, book, rng)
                safe += failures == NOTHING
        made += safe
        if 0 < safe < size:
            cut(src, atoms, ahead, n_ahead, leader, safe, rng)
        if safe > 0:
            take(pulls, mean, variance, ahead, n_ahead, leader)
        if failures != NOTHING:
            winner = settle(policy, level, failures, arms, book, rng)
            pull(src, atoms, pulls, mean, variance, ahead, n_ahead, winner, rng)
            made += 1
            if winner != leader:
                kept += 1
                note_rate(policy, level.at, winner, arms, book)
                rivals, log_rivals = sums_of_rivals(book)
    return made


@helper
def outlook(policy: Any, arm: Arm) -> tuple[float, float, float]:
    """The score of numbers at their laws' locations, and what the standard deviation of each changes of it."""
    laws = policy.draws(arm)
    score = surface(policy, arm, laws)
    location, _, deviation = laws[0].place()
    return height(score, location) + score.b, abs(score.q1 + 2.0 * score.q2 * location) * deviation, score.w


@kernel
def find_level(policy: Any, left: int, arms: Statistics, book: Book) -> Level:
    """The leader and a level above its centre, with the rivals' rates in the book; no leader, −1, if it does not pay.

    A higher level lets the leader take longer blocks, and multiplies the rivals' rates by e for every 1/slope. About
    1/slope is best, and the optimum is flat.
    """
    none = Level(-1, 0.0, 0.0, 0.0, 0.0, 0.0, 0)
    leader, here = 0, math.inf
    for i in range(len(arms.pulls)):
        book.score[i], one, other = outlook(policy, arm_of(arms, i))
        book.first[i] = math.hypot(one, other)
        if book.score[i] < here:
            leader, here = i, book.score[i]
    total, slope, nearest = 0.0, 0.0, math.inf
    for i in range(len(arms.pulls)):
        if i != leader:
            gap, width = book.score[i] - here, book.first[i]
            nearest = min(nearest, gap)
            if gap < 37.0 * width:
                total += normal_tail(gap / width)
                slope += normal_tail(gap / width) * hazard(gap / width) / width
    arm = arm_of(arms, leader)
    if not 0.0 < nearest < math.inf or arm.pulls < SHORTEST:
        return none
    slope = slope / total if total > 0.0 else 60.0 / nearest
    _, one, other = outlook(policy, arm)
    deviations = max(0.5, math.sqrt(-2.0 * math.log(0.05 * max(min(total, 1.0), 1.0 / left))) - 0.5)
    margin = deviations * (one + other)
    room = min(max(0.8 / slope, 1.3 * margin), 0.6 * nearest)
    # In a block of u times its pulls the mean moves by about ½σu at most, and the variance by V̂u.
    swing, step = 0.0, 0.05 * math.sqrt(arm.variance)
    for move in (-step, step):
        swing = max(swing, 10.0 * (outlook(policy, Arm(arm.pulls, arm.mean + move, 1.1 * arm.variance))[0] - here))
    growth = min((room - margin) / swing, LARGEST) if swing > 0.0 else LARGEST
    gain = LEAST_GAIN + GAIN_OF_FEW / len(arms.pulls)
    if growth * arm.pulls < gain:
        return none
    at, rivals = here + room, 0.0
    for i in range(len(arms.pulls)):
        book.rate[LEADER + i], book.log[LEADER + i] = 0.0, 0.0
        if i != leader:
            note_rate(policy, at, i, arms, book)
            rivals += book.rate[LEADER + i]
            if rivals * gain > 1.0:
                return none
    return Level(leader, at, share_of(policy, arm, growth, at, deviations), here, margin, swing, arm.pulls)


@helper
def share_of(policy: Any, arm: Arm, growth: float, at: float, deviations: float) -> float:
    """The part of the level that the first number drawn may use up: all of it if there is no second one."""
    wider = Arm(arm.pulls, arm.mean, (1.0 + growth) * arm.variance)
    laws = policy.draws(wider)
    score = surface(policy, wider, laws)
    location, _, deviation = laws[0].place()
    return at - score.b if score.w == 0.0 else height(score, location + deviations * deviation)


def level_above(policy: Any, arm: Arm, deviations: float) -> tuple[float, float]:
    """A level so many standard deviations above the score of ordinary numbers, and the first number's share."""
    centre, one, other = outlook(policy, arm)
    at = centre + deviations * (one + other)
    return at, share_of(policy, arm, 0.0, at, deviations)


@kernel
def note_rate(policy: Any, at: float, i: int, arms: Statistics, book: Book) -> None:
    """Write the rate of arm i, a rival, into the book."""
    arm = arm_of(arms, i)
    laws = policy.draws(arm)
    rate, book.first[i], book.second[i] = rival_rate(laws[0], surface(policy, arm, laws), at)
    book.rate[LEADER + i], book.log[LEADER + i] = rate, math.log1p(-rate) if rate < 1.0 else -math.inf


@helper
def sums_of_rivals(book: Book) -> tuple[float, float]:
    """The sum of the rivals' rates, and of log(1 − rate); afresh each time, since differences would lose digits."""
    total, log_total = 0.0, 0.0
    for j in range(LEADER, len(book.rate)):
        total += book.rate[j]
        log_total += book.log[j]
    return total, log_total


@helper
def block_size(level: Level, rivals: float, centre: float, pulls: int, left: int) -> int:
    """How many rewards to take at once: as many as keep the leader's own failures rare."""
    room, size = level.at - centre - level.margin, LARGEST * pulls
    if room <= 0.0:
        return 0
    if room < LARGEST * level.swing:
        size = room / level.swing * pulls
    if size * rivals > 1.5:
        size = 1.5 / rivals
    return int(min(size, float(left)))


@helper
def leader_rates(policy: Any, low: Arm, high: Arm, at: float, share: float) -> tuple[float, float]:
    """Bounds on the probabilities of the leader's two failures, for all statistics between those of `low` and `high`.

    Locations, concentrations and edges are monotone in each statistic, so their extremes are at corners.
    """
    laws = policy.draws(low)
    score = surface(policy, low, laws)
    location, concentration, _ = laws[0].place()
    edge, upper = weak_point(score, location, share)
    b, w = score.b, score.w
    for pulls in (low.pulls, high.pulls):
        for mean in (low.mean, high.mean):
            for variance in (low.variance, high.variance):
                arm = Arm(pulls, mean, variance)
                laws = policy.draws(arm)
                score = surface(policy, arm, laws)
                there, dense, _ = laws[0].place()
                x, above = weak_point(score, there, share)
                if above != upper:
                    return 1.0, 1.0
                location = max(location, there) if upper else min(location, there)
                edge = min(edge, x) if upper else max(edge, x)
                concentration = min(concentration, dense)
                b, w = max(b, score.b), max(w, score.w)
    return chance(laws[0], location, concentration, edge, upper), chance_of_second(at - share - b, w)


@helper
def chance(law: Any, location: float, concentration: float, edge: float, upper: bool) -> float:
    """`loose`, 0 for an edge that no number passes."""
    if math.isinf(edge):
        return 0.0 if upper == (edge > 0.0) else 1.0
    return law.loose(location, concentration, edge, upper)


@helper
def chance_of_second(room: float, w: float) -> float:
    """The probability that the part of the second number, w times a normal, exceeds the room there is for it."""
    if w == 0.0:
        return 0.0
    return normal_tail(room / w) if room > 0.0 else 1.0


@kernel
def candidates(policy: Any, level: Level, arms: Statistics, book: Book, rng: Any) -> int:
    """What failed, or may have, in a round in which some failure is a candidate.

    Each failure is one with the probability of its rate, given that one is. Rivals' proposals are made at once.
    """
    found, failures, rest = False, NOTHING, book.rest
    rest[len(rest) - 1] = 0.0
    for j in range(len(rest) - 2, -1, -1):
        rest[j] = rest[j + 1] + book.log[j]
    for j in range(len(book.rate)):
        sure, i = 1.0 if found else -math.expm1(rest[j]), j - LEADER
        hit = book.rate[j] > 0.0 and rng.random() * sure < book.rate[j]
        found = found or hit
        if hit and i < 0:
            failures += LEADER_S_FIRST if j == 0 else LEADER_S_SECOND
        if i >= 0:
            book.failed[i] = False
        if hit and i >= 0:
            arm = arm_of(arms, i)
            laws = policy.draws(arm)
            score = surface(policy, arm, laws)
            book.failed[i], book.score[i] = propose(laws[0], score, level.at, book.first[i], book.second[i], rng)
            if book.failed[i] and failures < RIVALS:
                failures += RIVALS
    return failures


@kernel
def settle(policy: Any, level: Level, failures: int, arms: Statistics, book: Book, rng: Any) -> int:
    """The arm pulled in a round in which rivals failed, or the leader may have."""
    arm = arm_of(arms, level.leader)
    laws = policy.draws(arm)
    law, score = laws[0], surface(policy, arm, laws)
    location, concentration, _ = law.place()
    edge, upper = weak_point(score, location, level.share)
    x, one, other = 0.0, failures & LEADER_S_FIRST > 0, failures & LEADER_S_SECOND > 0
    if one:
        one = rng.random() * book.rate[0] < chance(law, location, concentration, edge, upper)
    if one:
        one, x = law.tilted(edge, upper, rng)
    if other:
        other = rng.random() * book.rate[1] < chance_of_second(level.at - level.share - score.b, score.w)
    if not (failures >= RIVALS or one or other):
        return level.leader
    if not one:
        x = drawn(law, rng)
        while x > edge if upper else x < edge:
            x = drawn(law, rng)
    lowest = height(score, x) + score.b
    if score.w > 0.0:
        least = (level.at - level.share - score.b) / score.w
        z = normal_above(least, rng) if other else rng.standard_normal()
        while z > least and not other:
            z = rng.standard_normal()
        lowest += score.w * z
    winner = level.leader
    for i in range(len(arms.pulls)):
        if i == level.leader or (lowest < level.at and not book.failed[i]):
            continue
        if not book.failed[i]:
            book.score[i] = score_of(policy, arm_of(arms, i), 0.0, 0, rng, 0)
            while book.score[i] < level.at:
                book.score[i] = score_of(policy, arm_of(arms, i), 0.0, 0, rng, 0)
        if book.score[i] < lowest:
            winner, lowest = i, book.score[i]
    return winner
