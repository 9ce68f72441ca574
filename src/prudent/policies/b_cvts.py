"""B-CVTS: Thompson sampling for the CVaR of bounded rewards."""

import math
from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Array
from prudent.policies.contract import UNSET, Arm, policies


@policies.add("b-cvts", serves="cvar")
class BCVTS(NamedTuple):
    """The CVaR of the rewards and of their upper bound, weighted at random [Baudry21].

    The weights w are Dirichlet(1, …, 1) over the s rewards and `high`. The index is max_q q − (1/α) Σ w (q − x)⁺, the
    mean of the worst α-fraction, and the arm with the largest index is pulled. This is ρ-NPTS for the CVaR.

    The weights of ascending rewards are the spacings of s uniforms, whose order statistics come one by one: 1 − U_(k+1)
    = (1 − U_(k)) exp(−E/(s − k)), E exponential. Only those up to α are drawn, so it costs O(α s) draws per arm and
    round. Assumes rewards of at most `high`, independent of each other.

    Examples
    --------
    >>> from prudent import BCVTS, Agent
    >>> agent = Agent(BCVTS(alpha=0.1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    alpha: float = UNSET
    high: float = UNSET

    def score(self, arm: Arm, rng: Generator, rewards: Array) -> float:
        beyond, total = 1.0, 0.0  # the weight of what is not drawn yet
        for k in range(arm.pulls):
            after = beyond * math.exp(-rng.standard_exponential() / (arm.pulls - k))
            if 1.0 - after >= self.alpha:
                return float(-(total + rewards[k] * (self.alpha - (1.0 - beyond))) / self.alpha)
            total += rewards[k] * (beyond - after)
            beyond = after
        return -(total + self.high * (self.alpha - (1.0 - beyond))) / self.alpha
