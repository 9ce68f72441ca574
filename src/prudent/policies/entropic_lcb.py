"""A lower confidence bound on the entropic cost."""

import math
from typing import NamedTuple

from prudent.base.arrays import Array
from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.kl_ucb import kl_upper


@policies.add("entropic-lcb", serves="entropic")
class EntropicLCB(NamedTuple):
    """Lower confidence bound on the entropic cost λ⁻¹ log E e^{−λX}, the risk of [Maillard13].

    With x in [low, high], y = (e^{−λ(x−low)} − a)/(1 − a), a = e^{−λ(high−low)}, lies in [0, 1]. Its mean is at least
    the smallest q with s·kl(ȳ, q) ≤ log(1/δ), except with probability δ (Chernoff), and the bound is

        B = λ⁻¹ log(a + (1 − a) q) − low;  the arm with the smallest B is pulled.

    [Maillard13] bounds the divergence of whole laws. This bound concerns only the mean of y, and costs O(s)
    exponentials for the arm just pulled. Unless given, δ = 1/n². Assumes rewards in [low, high].

    Examples
    --------
    >>> from prudent import Agent, EntropicLCB
    >>> agent = Agent(EntropicLCB(lam=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    lam: float = UNSET
    low: float = UNSET
    high: float = UNSET
    delta: float = UNSET

    def score(self, arm: Arm, rewards: Array) -> float:
        total = 0.0
        for i in range(arm.pulls):
            total += math.exp(-self.lam * (rewards[i] - self.low))
        floor = math.exp(-self.lam * (self.high - self.low))
        y = (total / arm.pulls - floor) / (1.0 - floor)
        q = 1.0 - kl_upper(1.0 - y, math.log(1.0 / self.delta) / arm.pulls)
        least = floor + (1.0 - floor) * q
        # Where the exponentials underflow, no cost is below that of the largest reward.
        return max(-self.high, math.log(least) / self.lam - self.low) if least > 0.0 else -self.high
