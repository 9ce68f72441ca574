"""UCB-Tuned: UCB1 with the estimated variance in its width."""

import math
from typing import NamedTuple

from prudent.policies.contract import MEAN, UNSET, Arm, policies


@policies.add("ucb-tuned", serves=MEAN)
class UCBTuned(NamedTuple):
    """μ̂ + √(log t / s · min(b²/4, V̂ + b² √(2 log t / s))) (sec. 4 of [Auer02]); the largest is pulled. Ignores risk.

    The second term in the minimum is an upper bound on the variance, and b²/4 is the largest variance possible. It has
    no published guarantee. Assumes rewards in an interval of length b = `range`.

    Examples
    --------
    >>> from prudent import Agent, UCBTuned
    >>> agent = Agent(UCBTuned(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    range: float = UNSET

    def score(self, arm: Arm, t: int) -> float:
        exploration, square = math.log(t) / arm.pulls, self.range * self.range
        variance = min(0.25 * square, arm.variance + square * math.sqrt(2.0 * exploration))
        return -arm.mean - math.sqrt(exploration * variance)
