"""Normal-UCB: the best index for the mean of Gaussian rewards whose variance is not known."""

import math
from typing import NamedTuple

from prudent.policies.contract import MEAN, Arm, policies


@policies.add("normal-ucb", serves=MEAN)
class NormalUCB(NamedTuple):
    """μ̂ + √(V̂ (t^{2/(s−2)} − 1)) [Cowan18]; the largest is pulled, each arm three times first. Ignores risk.

    It is asymptotically optimal for the mean: what it loses over log n tends to Σ 2Δ / log(1 + Δ²/σ²). With 2/s in the
    exponent, or with two pulls first, regret would be polynomial, because V̂ is too often near 0. No unit and no scale
    enters. Assumes Gaussian rewards.

    Examples
    --------
    >>> from prudent import Agent, NormalUCB
    >>> agent = Agent(NormalUCB(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    def score(self, arm: Arm, t: int) -> float:
        if arm.pulls < 3:
            return -math.inf
        return -arm.mean - math.sqrt(arm.variance * math.expm1(2.0 * math.log(t) / (arm.pulls - 2)))
