"""Floors of scores that compare an arm with the best one: with them few scores are computed.

Such a score takes `best_cost`, the smallest estimated cost of all arms, which changes with every reward of the best
arm, and every score with it. But a score never rises when `best_cost` does. So a score computed for a larger best cost
than the present one is a floor below the true score, and an arm whose floor is above the smallest score is not pulled,
whatever its score is. Which scores are computed, and for which best cost, affects only the time.
"""

import math
from typing import Any, NamedTuple

from prudent.base.arrays import Array
from prudent.compile.types import helper
from prudent.engine.record import Statistics
from prudent.policies.contract import ReadyPolicy
from prudent.policies.scoring import kept_of, score_of
from prudent.policies.ties import CLEAR, arm_of, lowest

SLACK = 1e-9
"""Floors and scores that differ by less, as a share of their size, are not told apart: then scores are computed."""

FIRST_STEP, LARGEST_STEP = 0.0625, 0.5
"""How far the best cost may rise before a floor fails, as a share of the arm's own distance from it."""


class Floors(NamedTuple):
    """What is known of scores: `floor[i]` is the score of arm i for a best cost of `at[i]`."""

    cost: Array
    floor: Array
    at: Array
    step: Array


@helper
def clearly_below(score: float, floor: float) -> bool:
    """Whether a score is below a floor by more than the rounding of both."""
    if not score < floor:
        return False
    gap = floor - score
    return gap > SLACK * (abs(score) + abs(floor)) or math.isinf(gap)


@helper
def compare(policy: ReadyPolicy, arms: Statistics, floors: Floors, kept: Any, best_cost: float, ties: bool) -> int:
    """The arm with the smallest score, ties to the lowest number; −1 if a score is not a number.

    Afterwards the other arms have floors that hold for a while.
    """
    floor, at, step, n_arms = floors.floor, floors.at, floors.step, len(floors.floor)
    for i in range(n_arms):
        if at[i] < best_cost:  # no floor any more
            step[i] = min(2.0 * step[i], LARGEST_STEP)
            if not score_again(policy, arms, floors, kept, i, best_cost):
                return -1
    pulled = smallest_floor(floor)
    while at[pulled] != best_cost and arms.pulls[pulled] > 0:
        step[pulled] = 0.5 * step[pulled]
        if not score_again(policy, arms, floors, kept, pulled, best_cost):
            return -1
        pulled = smallest_floor(floor)
    for i in range(n_arms):
        if at[i] != best_cost and arms.pulls[i] > 0:
            size = CLEAR * (abs(floor[i]) + abs(floor[pulled]) + sizes(arms, i) + sizes(arms, pulled)) if ties else 0.0
            near = not clearly_below(floor[pulled], floor[i]) or floor[i] - floor[pulled] <= size
            if near and not score_again(policy, arms, floors, kept, i, best_cost):
                return -1
    pulled = lowest(floor, arms) if ties else smallest_floor(floor)
    for i in range(n_arms):
        if i != pulled and at[i] == best_cost:
            look_ahead(policy, arms, floors, kept, i, best_cost, floor[pulled])
    return pulled


@helper
def sizes(arms: Statistics, i: int) -> float:
    """All that a score of arm i may be made of, as `prudent.policies.ties` has it."""
    return float(abs(arms.mean[i]) + arms.variance[i])


@helper
def smallest_floor(floor: Array) -> int:
    """The first arm with the smallest floor."""
    first = 0
    for i in range(1, len(floor)):
        if floor[i] < floor[first]:
            first = i
    return first


@helper
def score_again(policy: ReadyPolicy, arms: Statistics, floors: Floors, kept: Array, i: int, best_cost: float) -> bool:
    """Compute the score of arm i as it is now; whether it is a number."""
    seen = kept_of(policy, kept, i, arms.pulls[i])
    floors.floor[i], floors.at[i] = score_of(policy, arm_of(arms, i), best_cost, 0, 0, seen), best_cost
    return not math.isnan(floors.floor[i])


@helper
def look_ahead(
    policy: ReadyPolicy, arms: Statistics, floors: Floors, kept: Array, i: int, best_cost: float, smallest: float
) -> None:
    """Give arm i, whose score is known, a floor for a best cost a step above the present one, if it is of use."""
    if arms.pulls[i] == 0 or not clearly_below(smallest, floors.floor[i]):
        return
    later = best_cost + floors.step[i] * (floors.cost[i] - best_cost)
    floor = score_of(policy, arm_of(arms, i), later, 0, 0, kept_of(policy, kept, i, arms.pulls[i]))
    if later > best_cost and clearly_below(smallest, floor):
        floors.floor[i], floors.at[i] = floor, later
    else:
        floors.step[i] = 0.5 * floors.step[i]
