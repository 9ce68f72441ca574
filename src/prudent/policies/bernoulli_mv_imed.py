"""MV-IMED for rewards that are 0 or 1."""

import math
from typing import NamedTuple

from prudent.confidence.divergence import bernoulli
from prudent.policies.contract import UNSET, Arm, policies


@policies.add("bernoulli-mv-imed", serves="mean-variance", binary=True)
class BernoulliMVIMED(NamedTuple):
    """IMED for the mean-variance of 0/1 rewards: the smallest s·K(p̂, ĉ) + log s is pulled
    (docs: mv-imed; after the IMED of [Honda15]).

    ĉ is the smallest empirical mean-variance, and K the smallest divergence kl(p̂, q) over the probabilities q of cost
    ĉ or less. Assumes rewards that are `high`, a success, or `low`, a failure: 1 or 0.

    Examples
    --------
    >>> from prudent import Agent, BernoulliMVIMED
    >>> agent = Agent(BernoulliMVIMED(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    low: float = UNSET
    high: float = UNSET

    def score(self, arm: Arm, best_cost: float) -> float:
        length = self.high - self.low
        # Other rewards break the model, and must not break the index.
        p = min(1.0, max(0.0, (arm.mean - self.low) / length))
        if math.isinf(self.rho):
            cost = (best_cost + self.low) / length
        else:
            cost = (best_cost + self.rho * self.low) / (length * length)
        return arm.pulls * bernoulli(p, cost, self.rho / length) + math.log(arm.pulls)
