"""MTS: Thompson sampling of the mean for the mean-variance."""

import math
from typing import Any, NamedTuple

from prudent.compiled import helper
from prudent.policies.base import UNSET, Arm, policies
from prudent.risk.mean_variance import mean_variance


@policies.add("mts", serves="mean-variance")
class MTS(NamedTuple):
    """Thompson sampling of the mean, the variance as estimated [Zhu20].

    θ ~ N(μ̂, 1/s);  the arm with the smallest V̂ − ρ θ is pulled. Made for large ρ, where errors of the mean matter most;
    for small ρ it may never find the best arm. Assumes Gaussian rewards whose standard deviation is at most `sd`,
    which the paper has as 1; then sd²/s is wide enough.

    Examples
    --------
    >>> from prudent import MTS, Agent
    >>> agent = Agent(MTS(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    sd: float = UNSET

    def score(self, arm: Arm, rng: Any) -> float:
        return mean_variance(sampled_mean(arm, self.sd, rng), arm.variance, self.rho)


@helper
def sampled_mean(arm: Arm, sd: float, rng: Any) -> float:
    """θ ~ N(μ̂, sd²/s)."""
    return float(arm.mean + sd * rng.standard_normal() / math.sqrt(arm.pulls))
