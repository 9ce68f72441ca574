"""UCB1, the standard policy for the mean alone."""

import math
from typing import NamedTuple

from prudent.policies.contract import MEAN, UNSET, Arm, policies


@policies.add("ucb1", serves=MEAN)
class UCB1(NamedTuple):
    """Upper confidence bound on the mean, μ̂ + b√(2 log t / s) [Auer02]; the largest is pulled. Ignores risk.

    Assumes rewards in an interval of length b = `range`.

    Examples
    --------
    >>> from prudent import UCB1, Agent
    >>> agent = Agent(UCB1(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    range: float = UNSET

    def score(self, arm: Arm, t: int) -> float:
        return -arm.mean - self.range * math.sqrt(2.0 * math.log(t) / arm.pulls)

    def score_bound(self, low: Arm, high: Arm, t: int) -> float:
        return self.score(Arm(high.pulls, low.mean, high.variance), t)
