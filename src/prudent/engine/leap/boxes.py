"""Where a leader may move while all rates hold, for scores with draws (prudent.engine.leap.drawn).

Guesses here affect only the time of a run: which arm leads, how large its region is, and how much of its score the
first number may make.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.compile.types import helper, kernel
from prudent.engine.leap.drawn_scores import height, rival_rate, surface, weak_point
from prudent.engine.leap.leader import MIN_BLOCK
from prudent.engine.record import Statistics
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.tails import hazard, normal_tail
from prudent.policies.ties import arm_of

LEAST_GAIN, GAIN_OF_FEW = 4.0, 20.0
"""Leaping pays if candidates are farther apart than so many rounds, and blocks longer: 4, and 20 over the number of
arms, since rounds of few arms cost little one by one."""

WASTE = 0.35
"""The leader's room to move makes candidates about e^WASTE times as many as they must be, and blocks longer."""

TRIES = 8
"""So many smaller regions are tried where a guess was too large."""

MAX_GROWTH = 2.0
"""The leader's pulls may grow by this multiple of them within a region."""


class Book(NamedTuple):
    """Of each rival its rate and two numbers that describe its proposals, of each arm its score with usual numbers."""

    rate: Array
    first: Array
    second: Array
    centre: Array


class Region(NamedTuple):
    """Statistics of the leader, from `low` to `high`, for which all rates hold.

    There its first part exceeds `share` with a probability of `rate` at most, and its normal part has no larger mean or
    standard deviation than b and w. In a block of u times its pulls its mean moves by about u·`sway` at most, and its
    variance by u·`spread`; `growth` is the u for which the region is made.
    """

    leader: int
    low: Arm
    high: Arm
    share: float
    rate: float
    b: float
    w: float
    growth: float
    sway: float
    spread: float


@kernel
def make_book(n_arms: int) -> Book:
    """An empty one."""
    return Book(np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms))


@helper
def gain_for(n_arms: int) -> float:
    """How many rounds, one by one, take as long as a candidate and its block."""
    return LEAST_GAIN + GAIN_OF_FEW / n_arms


@helper
def room_in(region: Region, now: Arm) -> float:
    """How much of its pulls the leader may probably take at once without leaving the region; below 0 outside of it."""
    low, high = region.low, region.high
    by_mean = min(high.mean - now.mean, now.mean - low.mean) / region.sway
    return 0.8 * min(by_mean, min(high.variance - now.variance, now.variance - low.variance) / region.spread)


@helper
def inside(low: Arm, high: Arm, region: Region) -> bool:
    """Whether all means and variances between those of `low` and `high` are in the region."""
    if low.mean < region.low.mean or high.mean > region.high.mean:
        return False
    return low.variance >= region.low.variance and high.variance <= region.high.variance


@helper
def outlook(policy: ReadyPolicy, arm: Arm) -> tuple[float, float, float, float]:
    """The score of numbers at their laws' locations, the first part of it, and what the standard deviations of the
    first number and of the normal part change of it."""
    laws = policy.draws(arm)
    score = surface(policy, arm, laws)
    location, _, deviation = laws[0].place()
    first = height(score, location)
    return first + score.b, first, abs(score.q1 + 2.0 * score.q2 * location) * deviation, score.w


@kernel
def find_region(policy: ReadyPolicy, left: int, arms: Statistics, book: Book) -> Region:
    """The leader's region, with the rivals' rates in the book; no leader, −1, if it does not pay.

    In a larger region blocks are longer, and the rivals' rates are e times as large for every 1/slope that the leader's
    score may rise.
    """
    none = Region(-1, Arm(0, 0.0, 0.0), Arm(0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    leader, here, scale, gain = 0, math.inf, 0.0, gain_for(len(arms.pulls))
    for i in range(len(arms.pulls)):
        arm = arm_of(arms, i)
        book.centre[i], _, one, other = outlook(policy, arm)
        book.rate[i], book.first[i], book.second[i] = 0.0, one, other
        scale = max(scale, arm.variance + arm.mean * arm.mean)
        if book.centre[i] < here:
            leader, here = i, book.centre[i]
    arm, one, other = arm_of(arms, leader), book.first[leader], book.second[leader]
    total, slope, nearest = 0.0, 0.0, math.inf
    for i in range(len(arms.pulls)):
        if i != leader:
            gap = book.centre[i] - here
            width = math.sqrt(book.first[i] * book.first[i] + book.second[i] * book.second[i] + other * other)
            nearest = min(nearest, gap)
            if gap < 37.0 * width:
                total += normal_tail(gap / width)
                slope += normal_tail(gap / width) * hazard(gap / width) / width
    if arm.pulls < MIN_BLOCK or not 0.0 < nearest < math.inf:
        return none
    slope = slope / total if total > 0.0 else 60.0 / nearest
    deviations = deviations_for(total, left, nearest, one)
    most, least = 0.6 * nearest - deviations * one, max(WASTE / slope, 0.3 * deviations * one)
    # Where candidates are rarer than the leader's doublings, more of them cost nothing.
    spare, rivals = -math.log(5.0 * total * arm.pulls + 1e-300) / slope - deviations * one, 0.0
    room = min(max(least, spare), most)
    for _ in range(TRIES):
        region = region_around(policy, leader, arm, here, scale, room, deviations)
        if region.growth * arm.pulls < gain:
            return none
        rivals = 0.0
        for i in range(len(arms.pulls)):
            if i != leader:
                book.rate[i], book.first[i], book.second[i] = rate_of(policy, arm_of(arms, i), region)
                rivals += book.rate[i]
        apart = deviations_for(rivals, left, nearest, one)
        if apart > deviations + 0.5:  # rivals are rarer than guessed, so the leader may not be a candidate so often
            deviations = apart
            room = min(room, 0.6 * nearest - deviations * one)
        elif room <= least or rivals * region.growth * arm.pulls < 2.0:
            return region if max(rivals, region.rate) * gain <= 1.0 else none
        else:
            room = max(0.3 * room, least)
    return none


@helper
def deviations_for(rivals: float, left: int, nearest: float, one: float) -> float:
    """How many deviations the share lies above the leader's usual first part: so many that rivals are candidates more
    often than the leader, and less than half of the way to the nearest rival."""
    if one == 0.0:
        return 0.0
    return min(math.sqrt(-2.0 * math.log(0.1 * max(min(rivals, 1.0), 0.1 / left))), 0.4 * nearest / one)


@helper
def region_around(
    policy: ReadyPolicy, leader: int, arm: Arm, here: float, scale: float, room: float, deviations: float
) -> Region:
    """A region in which the leader's score rises by about `room` at most; statistics that do not matter are free."""
    step = 0.1 * math.sqrt(max(arm.variance, 1e-6 * scale)) + 1e-150
    square = step * step
    by_mean, by_variance = 0.0, abs(outlook(policy, Arm(arm.pulls, arm.mean, arm.variance + square))[0] - here) / square
    for move in (-step, step):
        by_mean = max(by_mean, abs(outlook(policy, Arm(arm.pulls, arm.mean + move, arm.variance))[0] - here) / step)
    spread = max(arm.variance, 1e-24 * scale) + 1e-300
    sway = 0.5 * math.sqrt(spread)
    swing = by_mean * sway + by_variance * spread
    growth = min(room / swing, MAX_GROWTH) if swing > 0.0 else MAX_GROWTH
    move = sway * growth if by_mean > 0.0 else 1e3 * math.sqrt(scale)
    low_variance, high_variance = arm.variance / (1.0 + growth), arm.variance + spread * growth
    if by_variance == 0.0:
        low_variance, high_variance = 0.0, 1e6 * scale
    low = Arm(arm.pulls, arm.mean - move, low_variance)
    high = Arm(arm.pulls + int(min(MAX_GROWTH * arm.pulls, 4e18)), arm.mean + move, high_variance)
    share = -math.inf
    for mean in (low.mean, high.mean):
        _, first, one, _ = outlook(policy, Arm(arm.pulls, mean, high.variance))
        share = max(share, first + deviations * one)
    rate, b, w = leader_bounds(policy, low, high, share)
    return Region(leader, low, high, share, rate, b, w, growth, sway, spread)


@helper
def leader_bounds(policy: ReadyPolicy, low: Arm, high: Arm, share: float) -> tuple[float, float, float]:
    """For all statistics between those of `low` and `high`: a bound on the probability that the first part of the score
    exceeds `share`, and bounds on mean and standard deviation of the normal part.

    Locations, concentrations and edges are monotone in each statistic, so their extremes are at corners.
    """
    laws = policy.draws(low)
    location, concentration, _ = laws[0].place()
    edge, upper = weak_point(surface(policy, low, laws), location, share)
    b, w, sure = -math.inf, 0.0, False
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
def rate_of(policy: ReadyPolicy, arm: Arm, region: Region) -> tuple[float, float, float]:
    """The rate of a rival, and two numbers for its proposals."""
    laws = policy.draws(arm)
    return rival_rate(laws[0], surface(policy, arm, laws), region.b, region.w, region.share)
