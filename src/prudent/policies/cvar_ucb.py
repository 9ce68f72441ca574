"""CVaR-UCB: the CVaR of an optimistic distribution."""

import math
from typing import NamedTuple

from prudent.base.arrays import Array
from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.empirical import lower_tail_mean


@policies.add("cvar-ucb", serves="cvar")
class CVaRUCB(NamedTuple):
    """The CVaR of the best law within the band F̂ ± ε of Dvoretzky, Kiefer and Wolfowitz [Tamkin19].

    U − (1/α) Σ_i (X_(i+1) − X_(i)) clip(i/s − ε, 0, α),  X_(s+1) = U = `high`,  ε = √(log(2/δ) / 2s);

    the largest is pulled. The worst ε-fraction of the rewards count as U, so this is the mean of the quantiles from ε
    to ε + α, in O((α + ε) s) for the arm just pulled. Unless given, δ = 1/n². Assumes rewards of at most `high`.

    Examples
    --------
    >>> from prudent import Agent, CVaRUCB
    >>> agent = Agent(CVaRUCB(alpha=0.1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    alpha: float = UNSET
    high: float = UNSET
    delta: float = UNSET

    def score(self, arm: Arm, rewards: Array) -> float:
        shift = math.sqrt(math.log(2.0 / self.delta) / (2.0 * arm.pulls))
        return -lower_tail_mean(rewards, self.alpha, shift, self.high)
