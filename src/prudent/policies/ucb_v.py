"""UCB-V: a confidence bound on the mean that uses the estimated variance."""

import math
from typing import NamedTuple

from prudent.base.errors import check_number
from prudent.policies.contract import MEAN, UNSET, Arm, policies


@policies.add("ucb-v", serves=MEAN)
class UCBV(NamedTuple):
    """μ̂ + √(2 V̂ ζ log t / s) + 3 b ζ log t / s [Audibert09]; the largest is pulled. Ignores risk; needs ζ > 1.

    Assumes rewards in an interval of length b = `range`.

    Examples
    --------
    >>> from prudent import UCBV, Agent
    >>> agent = Agent(UCBV(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    zeta: float = 1.2
    range: float = UNSET

    def score(self, arm: Arm, t: int) -> float:
        exploration = self.zeta * math.log(t) / arm.pulls
        return -arm.mean - math.sqrt(2.0 * arm.variance * exploration) - 3.0 * self.range * exploration

    def score_bound(self, low: Arm, high: Arm, t: int) -> float:
        return self.score(Arm(high.pulls, low.mean, low.variance), t)

    def check(self) -> None:
        check_number("ucb-v", "zeta", self.zeta, low=1.0, open_low=True, open_high=True, hint="1.2 is usual")
