"""VTS: Thompson sampling of the variance for the mean-variance."""

from typing import NamedTuple

from prudent.compile.types import helper
from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.posteriors import InverseGamma, inverse_gamma
from prudent.risk.mean_variance import mean_variance


@policies.add("vts", serves="mean-variance")
class VTS(NamedTuple):
    """Thompson sampling of the variance, the mean as estimated [Zhu20].

    τ ~ Gamma(α, rate β);  the arm with the smallest 1/τ − ρ μ̂ is pulled. Made for small ρ; for large ρ it may never
    find the best arm. The paper starts with α = β = ½ and a reward x adds ½ to α and s/(s+1)·(x − μ̂)²/2 to β; those
    squares add up to s V̂, so α = ½ + s/2 and β = ½ + s V̂/2. Assumes Gaussian rewards of a
    standard deviation about `sd`, which the paper has as 1; β then starts at sd²/2.

    Examples
    --------
    >>> from prudent import VTS, Agent
    >>> agent = Agent(VTS(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    sd: float = UNSET

    def draws(self, arm: Arm) -> tuple[InverseGamma]:
        return (believed_variance(arm, self.sd),)

    def score(self, arm: Arm, variance: float) -> float:
        return mean_variance(arm.mean, variance, self.rho)


@helper
def believed_variance(arm: Arm, sd: float) -> InverseGamma:
    """The law of 1/τ, τ ~ Gamma(½ + s/2, rate sd²/2 + s V̂/2)."""
    return inverse_gamma(0.5 + 0.5 * arm.pulls, 0.5 * sd * sd + 0.5 * arm.pulls * arm.variance)
