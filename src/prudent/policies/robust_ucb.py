"""Robust UCB: a confidence bound on the mean of rewards with heavy tails."""

import math
from typing import NamedTuple

from prudent.base.arrays import Array
from prudent.base.errors import check_number, check_positive
from prudent.policies.contract import MEAN, UNSET, Arm, policies


@policies.add("robust-ucb", serves=MEAN)
class RobustUCB(NamedTuple):
    """μ̂_B + 4 a (2 log t / s)^{(p−1)/p}, μ̂_B the mean with rewards beyond ±B counted as 0 (Theorem 1 of [Bubeck13]).

    B = a (s / (2 log t))^{1/p} grows with the pulls;  the largest is pulled. Ignores risk. The paper truncates the j-th
    reward of an arm at B with j in place of s. With one B for all of them the same bound holds, since the bias is
    a^p/B^{p−1} and the variance a^p B^{2−p}; Bernstein's inequality then needs 1 + √2 + 1/3 of the 4. Costs a step for
    each reward that is truncated, per arm and round. Assumes E|X|^p ≤ a^p for a = `size` and an order p in (1, 2]:
    variances may be infinite.

    Examples
    --------
    >>> from prudent import Agent, RobustUCB
    >>> agent = Agent(RobustUCB(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    order: float = 2.0
    size: float = UNSET

    def score(self, arm: Arm, t: int, rewards: Array) -> float:
        exploration = 2.0 * math.log(t) / arm.pulls
        total, first, last = arm.mean * arm.pulls, 0, arm.pulls - 1
        # |x| > B without a division by log 1.
        while first <= last and math.pow(abs(rewards[first]) / self.size, self.order) * exploration > 1.0:
            total -= rewards[first]
            first += 1
        while last >= first and math.pow(abs(rewards[last]) / self.size, self.order) * exploration > 1.0:
            total -= rewards[last]
            last -= 1
        width = 4.0 * self.size * math.pow(exploration, 1.0 - 1.0 / self.order)
        return float(-total / arm.pulls - width)

    def check(self) -> None:
        hint = "2 if the variance is finite, 1.5 if E|X|^1.5 is"
        check_number("robust-ucb", "order", self.order, low=1.0, high=2.0, open_low=True, hint=hint)
        if self.size is not UNSET:
            check_positive("robust-ucb", "size", self.size, hint="the order-th root of the largest E|X|^order")
