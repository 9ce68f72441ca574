"""U-UCB: the empirical CVaR and a bonus."""

import math
from typing import NamedTuple

from prudent.base.arrays import Array
from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.empirical import lower_tail_mean


@policies.add("u-ucb", serves="cvar")
class UUCB(NamedTuple):
    """Ĉ + (b/α) √(log t / s), Ĉ the mean of the worst α-fraction of the rewards [Cassel18];  the largest is pulled.

    The paper's general policy, with the CVaR's modulus of continuity b/α in the distance of distribution functions and
    exploration 2 log t. Costs O(α s) per arm and round. Assumes rewards in an interval of length b = `range`.

    Examples
    --------
    >>> from prudent import UUCB, Agent
    >>> agent = Agent(UUCB(alpha=0.1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    alpha: float = UNSET
    range: float = UNSET

    def score(self, arm: Arm, t: int, rewards: Array) -> float:
        tail_mean = lower_tail_mean(rewards, self.alpha, 0.0, 0.0)
        return -tail_mean - self.range / self.alpha * math.sqrt(math.log(t) / arm.pulls)
