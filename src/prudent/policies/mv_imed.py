"""MV-IMED: the arm for which the evidence against it is weakest."""

import math
from typing import NamedTuple

from prudent.compile.types import helper
from prudent.confidence.divergence import gaussian
from prudent.policies.contract import UNSET, Arm, policies


@policies.add("mv-imed", serves="mean-variance")
class MVIMED(NamedTuple):
    """The smallest (s − 2)·K(μ̂, V̂, ĉ) + log s is pulled, sK + log s if ρ = 0 (docs: mv-imed; after IMED [Honda15]).

    ĉ is the smallest empirical mean-variance, and K the smallest divergence of the arm's empirical Gaussian from a
    Gaussian of cost ĉ. Each arm is pulled three times first. With s in place of s − 2 and ρ > 0 an arm whose first
    rewards happen to lie close together would be left for too long, and the expected regret would grow as a power of n;
    with ρ = 0 such an arm looks good. Needs no range, horizon, prior or draws, and has no unit. Assumes Gaussian
    rewards; an arm with three equal rewards is taken for a constant.

    Examples
    --------
    >>> from prudent import MVIMED, Agent
    >>> agent = Agent(MVIMED(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET

    def score(self, arm: Arm, best_cost: float) -> float:
        return gaussian_index(arm, best_cost, self.rho, 2.0 if self.rho > 0.0 else 0.0)

    def score_bound(self, low: Arm, high: Arm) -> float:
        return math.log(high.pulls)


@helper
def gaussian_index(arm: Arm, best_cost: float, rho: float, less: float) -> float:
    """(s − less) K + log s for Gaussian arms; −∞ for fewer than three rewards."""
    if arm.pulls < 3:
        return -math.inf
    return (arm.pulls - less) * gaussian(arm.mean, arm.variance, best_cost, rho) + math.log(arm.pulls)
