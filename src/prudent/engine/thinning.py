"""Leaping behind a leader for scores with draws, by thinning.

A rate bounds the probability of an event in every round of a block. So the rounds in which the event comes into question,
the candidates, are known from one geometric variable, and all others are the leader's. In a candidate round the event
happens with its probability over its rate.

There are two kinds of events. Of the leader: the first number drawn takes its part of the score above a share of it. Of
each rival: its score is below the leader's, if the leader's first part is that share. Where neither happens, the leader
is pulled. A round has one rival as its candidate at most, and that rival is pulled if its score is the smallest of all.
As only one arm can have that, these events exclude each other, and the probabilities of candidates may be added.

Why this is exact: given all rewards, the numbers drawn are independent across rounds and arms. The leader, the share, the
block and the rates follow from the past and from the blocks' totals, never from numbers to be drawn. Candidates are
independent, so nothing is known of the rounds after a block without one (docs: leaping).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from prudent.arrays import Array
from prudent.compiled import helper, kernel
from prudent.engine.blocks import Sources
from prudent.engine.passage import Stacks
from prudent.engine.record import Statistics
from prudent.engine.stacks import MOST_BLOCKS, SHORTEST, box_of, cut, pull, stage, take
from prudent.engine.surfaces import Surface, height, propose, rival_rate, surface, weak_point
from prudent.policies.base import Arm
from prudent.policies.posteriors import drawn
from prudent.policies.scoring import score_of
from prudent.policies.tails import hazard, normal_tail
from prudent.policies.ties import arm_of

LEAST_GAIN, GAIN_OF_FEW = 4.0, 20.0
"""Leaping pays if candidates are farther apart than so many rounds, and blocks longer: 4, and 20 over the number of
arms, since rounds of few arms cost little one by one."""

WASTE = 0.35
"""The leader's room to move makes candidates e^WASTE times as many as they must be, and blocks longer."""

NOT_YET = -2
"""No arm is known to be pulled."""

LARGEST = 2.0
"""How many times the leader's pulls may multiply in a region."""


class Table(NamedTuple):
    """Where blocks come from, what is known of the arms, and the blocks that were drawn and not taken yet."""

    src: Sources
    arms: Statistics
    stacks: Stacks


class Book(NamedTuple):
    """Of each rival: its rate, two numbers that describe what it proposes, and its score with ordinary numbers."""

    rate: Array
    first: Array
    second: Array
    centre: Array


class Region(NamedTuple):
    """Statistics of the leader, from `low` to `high`, for which all rates hold.

    There its first part exceeds `share` with a probability of `rate` at most, and its normal part has no larger mean or
    standard deviation than b and w. `growth` is how much of its own pulls the leader may take at once.
    """

    leader: int
    low: Arm
    high: Arm
    share: float
    rate: float
    b: float
    w: float
    growth: float
    per_mean: float
    per_variance: float


@kernel
def make_book(n_arms: int) -> Book:
    """An empty one."""
    return Book(np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms))


@kernel
def stride_drawn(policy: Any, left: int, table: Table, book: Book, rng: Any) -> int:
    """The leader's rounds, block by block, and those of rivals between them; returns the number of rounds."""
    src, arms, ahead, n_ahead = table.src, table.arms, table.stacks.ahead, table.stacks.n_ahead
    pulls, mean, variance, atoms = arms.pulls, arms.mean, arms.variance, src.n_atoms
    rate, first, second = book.rate, book.first, book.second
    made, decided, new, gain = 0, 0, True, gain_for(len(pulls))
    region = find_region(policy, left, arms, book)
    rivals = at_first = sum_of(rate)
    total = hazard_of(rivals, region.rate)
    for _ in range(MOST_BLOCKS):
        leader = region.leader
        if leader < 0 or left - made < SHORTEST:
            break
        now = Arm(pulls[leader], mean[leader], variance[leader])
        room = room_in(region, now)
        size = min(int(min(room * now.pulls, 2.0 / total)), left - made, region.high.pulls - now.pulls)
        if size < SHORTEST or room < 0.2 * region.growth or not 0.3 * at_first <= rivals <= 3.0 * at_first:
            if new:
                break
            if decided:
                pull(src, atoms, pulls, mean, variance, ahead, n_ahead, leader, rng)
                made, decided = made + 1, 0
            region, new = find_region(policy, left - made, arms, book), True
            rivals = at_first = sum_of(rate)
            total = hazard_of(rivals, region.rate)
            continue
        size, new = stage(src, atoms, ahead, n_ahead, leader, size, left - made, rng), False
        while size > 1:
            low, high = box_of(now, ahead, n_ahead, leader, 0)  # the first round of the block sees none of its rewards
            if inside(low, high, region):
                break
            size = size // 2
            cut(src, atoms, ahead, n_ahead, leader, size, rng)
        # How far the next candidate is must not be known before the block is fixed, nor be remembered after it.
        wait = decided + rng.standard_exponential() / total
        if wait >= size:
            take(pulls, mean, variance, ahead, n_ahead, leader)
            made, decided = made + size, 0
            continue
        safe, decided = int(wait), 1
        if safe > 0:
            cut(src, atoms, ahead, n_ahead, leader, safe, rng)
            take(pulls, mean, variance, ahead, n_ahead, leader)
            made += safe
            now = Arm(pulls[leader], mean[leader], variance[leader])
        winner = leader
        if region.rate > 0.0 and rng.random() * (region.rate + rivals - region.rate * rivals) < region.rate:
            winner = above_share(policy, region, now, rivals, arms, rng)
        else:
            winner = NOT_YET
        if winner == NOT_YET:
            i = picked(rate, rivals * rng.random())
            other, winner = Arm(pulls[i], mean[i], variance[i]), leader
            below, score = duel(policy, region, now, other, rate[i], first[i], second[i], rng)
            if below and (len(pulls) == 2 or is_smallest(policy, i, leader, score, arms, rng)):
                winner = i
        if winner != leader:
            pull(src, atoms, pulls, mean, variance, ahead, n_ahead, winner, rng)
            made, decided = made + 1, 0
            rate[winner], first[winner], second[winner] = rate_of(
                policy, Arm(pulls[winner], mean[winner], variance[winner]), region
            )
            rivals = sum_of(rate)
            total = hazard_of(rivals, region.rate)
            if rivals * gain > 1.0:
                break
    if decided:
        pull(src, atoms, pulls, mean, variance, ahead, n_ahead, region.leader, rng)
    return made + decided


@helper
def gain_for(n_arms: int) -> float:
    """How many rounds one by one take as long as a candidate."""
    return LEAST_GAIN + GAIN_OF_FEW / n_arms


@helper
def sum_of(rate: Array) -> float:
    """The sum of the rivals' rates, afresh each time, since differences would lose digits."""
    total = 0.0
    for i in range(len(rate)):
        total += rate[i]
    return total


@helper
def hazard_of(rivals: float, leader: float) -> float:
    """Minus the logarithm of the probability that a round has no candidate."""
    return max(-math.log1p(-min(rivals, 0.999)) - math.log1p(-min(leader, 0.999)), 1e-300)


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


@helper
def room_in(region: Region, now: Arm) -> float:
    """How much of its pulls the leader may probably take at once within the region: in a block of u times them its mean
    moves by about ½σu at most, and its variance by V̂u."""
    low, high = region.low, region.high
    room = min(high.mean - now.mean, now.mean - low.mean) * region.per_mean
    room = min(room, min(high.variance - now.variance, now.variance - low.variance) * region.per_variance)
    return 0.8 * min(room, region.growth)


@helper
def inside(low: Arm, high: Arm, region: Region) -> bool:
    """Whether all statistics between `low` and `high` are in the region."""
    if low.mean < region.low.mean or high.mean > region.high.mean or high.pulls > region.high.pulls:
        return False
    return low.variance >= region.low.variance and high.variance <= region.high.variance


@helper
def outlook(policy: Any, arm: Arm) -> tuple[float, float, float]:
    """The score of numbers at their laws' locations, and what the standard deviation of each changes of it."""
    laws = policy.draws(arm)
    score = surface(policy, arm, laws)
    location, _, deviation = laws[0].place()
    return height(score, location) + score.b, abs(score.q1 + 2.0 * score.q2 * location) * deviation, score.w


@kernel
def find_region(policy: Any, left: int, arms: Statistics, book: Book) -> Region:
    """The leader and where it may move, with the rivals' rates in the book; no leader, −1, if it does not pay.

    In a larger region blocks are longer, and the rivals' rates are e times as large for every 1/slope that the leader's
    score may rise.
    """
    none = Region(-1, Arm(0, 0.0, 0.0), Arm(0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    leader, here, gain = 0, math.inf, gain_for(len(arms.pulls))
    for i in range(len(arms.pulls)):
        book.rate[i] = 0.0
        book.centre[i], one, other = outlook(policy, arm_of(arms, i))
        book.first[i] = one * one + other * other
        if book.centre[i] < here:
            leader, here = i, book.centre[i]
    arm = arm_of(arms, leader)
    if arm.pulls < SHORTEST:
        return none
    _, one, other = outlook(policy, arm)
    total, slope, nearest = 0.0, 0.0, math.inf
    for i in range(len(arms.pulls)):
        if i != leader:
            gap, width = book.centre[i] - here, math.sqrt(book.first[i] + other * other)
            nearest = min(nearest, gap)
            if gap < 37.0 * width:
                total += normal_tail(gap / width)
                slope += normal_tail(gap / width) * hazard(gap / width) / width
    if not 0.0 < nearest < math.inf or total * gain > 1.0:
        return none
    slope = slope / total if total > 0.0 else 60.0 / nearest
    deviations = math.sqrt(-2.0 * math.log(0.1 * max(total, 0.1 / left)))
    # In a block of u times its pulls the mean moves by about ½σu at most, and the variance by V̂u.
    swing, step = 0.0, 0.05 * math.sqrt(arm.variance)
    for move in (-step, step):
        swing = max(swing, 10.0 * (outlook(policy, Arm(arm.pulls, arm.mean + move, 1.1 * arm.variance))[0] - here))
    room = min(max(WASTE / slope, 0.3 * deviations * one), 0.5 * nearest)
    growth = min(room / swing, LARGEST) if swing > 0.0 else LARGEST
    if growth * arm.pulls < gain:
        return none
    region = region_around(policy, leader, arm, growth, deviations)
    rivals = 0.0
    for i in range(len(arms.pulls)):
        if i != leader:
            book.rate[i], book.first[i], book.second[i] = rate_of(policy, arm_of(arms, i), region)
            rivals += book.rate[i]
            if rivals * gain > 1.0:
                return none
    return region if region.rate * gain <= 1.0 else none


@helper
def region_around(policy: Any, leader: int, arm: Arm, growth: float, deviations: float) -> Region:
    """A region in which the leader may grow by so much, and a share that its first part seldom exceeds there."""
    half = max(0.5 * math.sqrt(arm.variance), 1e-12 * abs(arm.mean), 1e-150)
    move = half * growth
    low = Arm(arm.pulls, arm.mean - move, arm.variance / (1.0 + growth))
    most = int(min((1.0 + LARGEST) * arm.pulls, 4e18))
    high = Arm(most, arm.mean + move, arm.variance * (1.0 + growth) + 1e-300)
    share = max(share_of(policy, Arm(arm.pulls, low.mean, high.variance), deviations),
                share_of(policy, Arm(arm.pulls, high.mean, high.variance), deviations))
    rate, b, w = leader_bounds(policy, low, high, share)
    return Region(leader, low, high, share, rate, b, w, growth, 1.0 / half, 1.0 / max(arm.variance, 1e-300))


@helper
def share_of(policy: Any, arm: Arm, deviations: float) -> float:
    """The first part of a score so many standard deviations above the ordinary; 0 if there is none."""
    laws = policy.draws(arm)
    score = surface(policy, arm, laws)
    location, _, deviation = laws[0].place()
    return height(score, location) + deviations * abs(score.q1 + 2.0 * score.q2 * location) * deviation


@helper
def leader_bounds(policy: Any, low: Arm, high: Arm, share: float) -> tuple[float, float, float]:
    """For all statistics between those of `low` and `high`: a bound on the probability that the first part of the score
    exceeds `share`, and on mean and standard deviation of the normal part.

    Locations, concentrations and edges are monotone in each statistic, so their extremes are at corners.
    """
    laws = policy.draws(low)
    score = surface(policy, low, laws)
    location, concentration, _ = laws[0].place()
    edge, upper = weak_point(score, location, share)
    b, w, sure = score.b, score.w, False
    for pulls in (low.pulls, high.pulls):
        for mean in (low.mean, high.mean):
            for variance in (low.variance, high.variance):
                arm = Arm(pulls, mean, variance)
                laws = policy.draws(arm)
                score = surface(policy, arm, laws)
                there, dense, _ = laws[0].place()
                x, above = weak_point(score, there, share)
                sure = sure or above != upper
                location = max(location, there) if upper else min(location, there)
                edge = min(edge, x) if upper else max(edge, x)
                concentration = min(concentration, dense)
                b, w = max(b, score.b), max(w, score.w)
    return 1.0 if sure else chance(laws[0], location, concentration, edge, upper), b, w


@helper
def chance(law: Any, location: float, concentration: float, edge: float, upper: bool) -> float:
    """`loose`, 0 for an edge that no number passes."""
    if math.isinf(edge):
        return 0.0 if upper == (edge > 0.0) else 1.0
    return law.loose(location, concentration, edge, upper)


@helper
def rate_of(policy: Any, arm: Arm, region: Region) -> tuple[float, float, float]:
    """The rate of a rival, and two numbers for its proposals."""
    laws = policy.draws(arm)
    return rival_rate(laws[0], surface(policy, arm, laws), region.b, region.w, region.share)


@kernel
def above_share(policy: Any, region: Region, arm: Arm, rivals: float, arms: Statistics, rng: Any) -> int:
    """The arm pulled if the leader's first part exceeds its share, in a round in which that is a candidate; else the
    leader, or NOT_YET if a rival is a candidate too."""
    laws = policy.draws(arm)
    law, score = laws[0], surface(policy, arm, laws)
    location, concentration, _ = law.place()
    edge, upper = weak_point(score, location, region.share)
    if rng.random() * region.rate < chance(law, location, concentration, edge, upper):
        above, x = law.tilted(edge, upper, rng)
        if above:
            mine = height(score, x) + score.b + score.w * rng.standard_normal()
            return smallest(policy, region.leader, mine, arms, rng)
    return NOT_YET if rng.random() < rivals else region.leader


@helper
def duel(
    policy: Any, region: Region, arm: Arm, other: Arm, rate: float, first: float, second: float, rng: Any
) -> tuple[bool, float]:
    """Whether a rival that is a candidate has a smaller score than the leader, and its score."""
    laws, others = policy.draws(arm), policy.draws(other)
    score, theirs, law = surface(policy, arm, laws), surface(policy, other, others), laws[0]
    below, own, more = propose(others[0], theirs, score.b, score.w, region.share, rate, first, second, rng)
    if not below:
        return False, 0.0
    if score.q1 != 0.0 or score.q2 != 0.0:
        edge, upper = weak_point(score, law.place()[0], region.share)
        x = drawn(law, rng)
        while x > edge if upper else x < edge:
            x = drawn(law, rng)
        below = own + more < height(score, x)
    else:
        below = own + more < 0.0
    return below, own + more + normal_part(score, theirs, more, rng)


@helper
def normal_part(score: Surface, theirs: Surface, more: float, rng: Any) -> float:
    """The normal part of the leader's score, given by how much a rival's exceeds it."""
    if score.w == 0.0:
        return score.b
    total = score.w * score.w + theirs.w * theirs.w
    middle = score.b - score.w * score.w / total * (more - theirs.b + score.b)
    return middle + score.w * theirs.w / math.sqrt(total) * rng.standard_normal()


@kernel
def is_smallest(policy: Any, i: int, leader: int, score: float, arms: Statistics, rng: Any) -> bool:
    """Whether the score of arm i, which is below the leader's, is below all others."""
    for j in range(len(arms.pulls)):
        if j not in (i, leader) and score_of(policy, arm_of(arms, j), 0.0, 0, rng, 0) < score:
            return False
    return True


@kernel
def smallest(policy: Any, leader: int, score: float, arms: Statistics, rng: Any) -> int:
    """The arm with the smallest score where the leader's is known, and nothing of the others."""
    winner = leader
    for i in range(len(arms.pulls)):
        if i != leader:
            other = score_of(policy, arm_of(arms, i), 0.0, 0, rng, 0)
            if other < score:
                winner, score = i, other
    return winner
