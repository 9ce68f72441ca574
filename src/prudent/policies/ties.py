"""Which of two scores is smaller, for all who compare them: ties are broken by the rule, never by rounding.

Means and variances are kept by a recursion, so their last digits depend on the order of the rewards: two arms whose
rewards are the same, or whose scores are equal as fractions, differ by rounding. Taking the smaller one would break
such a tie by chance. So a score is below another only if it is by more than rounding can account for.

How much that is: a recursion over s rewards errs by about u√s of the mean's size and, in the variance, of
σ(σ + |μ|), with u = 2⁻⁵³; eight times that is allowed for. This is right for every law. Equal scores, which arms with
finitely many values have often and others never, are found equal. Different scores that are so close together are an
accident of probability about s·10⁻¹⁵, whatever the law, because scores of two arms are σ/√s or σ²/√s apart.
Where a tie can still be missed, see docs: conventions.
"""

import math
from typing import Any

from prudent.base.arrays import Array
from prudent.compile.types import helper
from prudent.policies.contract import Arm

ALLOWED = 8.0 * 2.0**-53
CLEAR = 1e-6
"""Scores that differ by more than this share of all that they are made of need no closer look."""


@helper
def arm_of(arms: Any, i: int) -> Arm:
    """What is known of arm i, from the arrays for all arms."""
    return Arm(arms.pulls[i], arms.mean[i], arms.variance[i])


@helper
def below(score: float, arm: Arm, other: float, other_arm: Arm) -> bool:
    """Whether the score of an arm is smaller than that of another arm, by more than rounding."""
    if not score < other:
        return False
    gap = other - score
    size = abs(score) + abs(arm.mean) + arm.variance + abs(other) + abs(other_arm.mean) + other_arm.variance
    if gap > CLEAR * size or math.isinf(gap):
        return True
    return gap > rounding(score, arm) + rounding(other, other_arm)


@helper
def rounding(score: float, arm: Arm) -> float:
    """How much rounding may have moved the score of an arm.

    A score made of means has the unit of rewards, one made of variances its square. The smaller of both counts, so
    that the allowance is never too large, whatever the unit; the score itself has its own.
    """
    if arm.variance == 0.0:  # of equal rewards, whose mean is exact
        return ALLOWED * abs(score)
    deviation = math.sqrt(arm.variance)
    return ALLOWED * math.sqrt(arm.pulls) * (abs(score) + (deviation + abs(arm.mean)) * min(deviation, 1.0))


@helper
def lowest(scores: Array, arms: object) -> int:
    """The arm with the smallest score, ties to the lowest number."""
    best = 0
    for i in range(1, len(scores)):
        if below(scores[i], arm_of(arms, i), scores[best], arm_of(arms, best)):
            best = i
    return best
