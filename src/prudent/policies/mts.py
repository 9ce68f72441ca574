"""MTS: Thompson sampling of the mean for the mean-variance."""

import math
from typing import NamedTuple

from prudent.compile.types import helper
from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.posteriors import Normal, normal
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

    def draws(self, arm: Arm) -> tuple[Normal]:
        return (believed_mean(arm, self.sd),)

    def score(self, arm: Arm, theta: float) -> float:
        return mean_variance(theta, arm.variance, self.rho)


@helper
def believed_mean(arm: Arm, sd: float) -> Normal:
    """N(μ̂, sd²/s)."""
    return normal(arm.mean, sd / math.sqrt(arm.pulls))
