"""An upper confidence bound on a quantile."""

import math
from typing import NamedTuple

from prudent.base.arrays import Array
from prudent.policies.contract import UNSET, Arm, policies


@policies.add("quantile-ucb", serves="var")
class QuantileUCB(NamedTuple):
    """The empirical quantile at α + ε, ε = √(log(2/δ) / 2s);  the arm with the largest is pulled.

    The band is that of [Szorenyi15], who seek the best quantile to a given precision; here it serves to keep regret
    small. The α-quantile is below X_(⌈(α+ε)s⌉) except with probability δ/2. While that rank is beyond s, `high` is used
    in its place. Costs O(1) for the arm just pulled. Unless given, δ = 1/n². Assumes rewards of at most `high`.

    Examples
    --------
    >>> from prudent import Agent, QuantileUCB
    >>> agent = Agent(QuantileUCB(alpha=0.1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    alpha: float = UNSET
    high: float = UNSET
    delta: float = UNSET

    def score(self, arm: Arm, rewards: Array) -> float:
        shift = math.sqrt(math.log(2.0 / self.delta) / (2.0 * arm.pulls))
        rank = math.ceil((self.alpha + shift) * arm.pulls)
        return float(-rewards[rank - 1]) if rank <= arm.pulls else -self.high
