"""Rewards that a policy sees late, at the end of each batch of rounds.

The choices are those of an agent that is asked for a whole batch before it is told any of its rewards (docs: live).
Statistics are kept twice: as they are, which is what a run leaves, and as the policy has `seen` them.
"""

from prudent.base.arrays import Array
from prudent.compile.types import helper
from prudent.engine.record import Statistics, copy_statistics
from prudent.policies.contract import Arms, ReadyPolicy
from prudent.policies.scoring import cost_of, insert, keep
from prudent.policies.ties import arm_of, below


@helper
def least_busy(scores: Array, seen: Statistics, arms: Statistics) -> int:
    """The arm with the smallest score, ties to the one with the fewest rewards not seen yet, then the lowest number."""
    best = 0
    for i in range(1, len(scores)):
        one, other = arm_of(seen, i), arm_of(seen, best)
        less_busy = arms.pulls[i] - seen.pulls[i] < arms.pulls[best] - seen.pulls[best]
        if below(scores[i], one, scores[best], other) or (less_busy and not below(scores[best], other, scores[i], one)):
            best = i
    return best


@helper
def show(policy: ReadyPolicy, arms: Statistics, late: Array, seen: Arms) -> None:
    """A policy of phases gets to see a batch: its rewards take their places among those kept, if any are."""
    for row in range(len(late)):
        i = int(late[row, 0])
        insert(seen.rewards, i, seen.pulls[i], late[row, 1])
        seen.pulls[i] += 1
    copy_statistics(arms, Statistics(seen.pulls, seen.mean, seen.variance))
    for i in range(len(seen.pulls)):
        if seen.pulls[i] > 0:
            seen.cost[i] = cost_of(policy, seen, i)


@helper
def show_scorer(policy: ReadyPolicy, arms: Statistics, late: Array, seen: Statistics, kept: Array) -> None:
    """A policy that scores arms gets to see a batch: what its score asks for is kept."""
    for row in range(len(late)):
        i = int(late[row, 0])
        keep(policy, kept, i, seen.pulls[i], late[row, 1])
        seen.pulls[i] += 1
    copy_statistics(arms, seen)
