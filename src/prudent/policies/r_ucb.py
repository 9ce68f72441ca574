"""R-UCB: a width that grows a little faster, so that no scale of the rewards need be known."""

import math
from typing import NamedTuple

from prudent.base.errors import check_number
from prudent.policies.contract import MEAN, UNSET, Arm, policies


@policies.add("r-ucb", serves=MEAN)
class RUCB(NamedTuple):
    """μ̂ + sd √((log t)^a · log t / s) [Ashutosh21]; the largest is pulled. Ignores risk.

    UCB1 fails if the scale of the rewards is assumed too small. Here the width outgrows every scale, and the price is
    regret of the order (log n)^{1+a} in place of log n. The paper allows every slowly growing f(t) in place of
    (log t)^a; a = `power` = 2 is the choice in its public code. `sd` only sets the unit, so that a bad guess delays
    learning and does not prevent it. Assumes tails no heavier than those of some Gaussian law.

    Examples
    --------
    >>> from prudent import RUCB, Agent
    >>> agent = Agent(RUCB(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    power: float = 2.0
    sd: float = UNSET

    def score(self, arm: Arm, t: int) -> float:
        return -arm.mean - self.sd * math.sqrt(math.pow(math.log(t), 1.0 + self.power) / arm.pulls)

    def check(self) -> None:
        check_number(
            "r-ucb", "power", self.power, low=0.0, high=10.0, hint="2 as published; 0 is UCB1 with √(log t / s)"
        )
