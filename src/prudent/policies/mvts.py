"""MVTS: Thompson sampling of mean and variance for the mean-variance."""

from typing import NamedTuple

from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.mts import believed_mean
from prudent.policies.posteriors import InverseGamma, Normal
from prudent.policies.vts import believed_variance
from prudent.risk.mean_variance import mean_variance


@policies.add("mvts", serves="mean-variance")
class MVTS(NamedTuple):
    """Thompson sampling of mean and variance [Zhu20], for every ρ.

    τ ~ Gamma(α, rate β) as in VTS and θ ~ N(μ̂, 1/s) as in MTS, independent;  the arm with the smallest 1/τ − ρ θ is
    pulled. The posterior of a normal-gamma prior would give θ the variance 1/(s τ); the paper's 1/s is wider for
    variances below 1. Assumes Gaussian rewards whose standard deviation is at most `sd`, which the paper has as 1.

    Examples
    --------
    >>> from prudent import MVTS, Agent
    >>> agent = Agent(MVTS(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    sd: float = UNSET

    def draws(self, arm: Arm) -> tuple[InverseGamma, Normal]:
        return believed_variance(arm, self.sd), believed_mean(arm, self.sd)

    def score(self, arm: Arm, variance: float, theta: float) -> float:
        return mean_variance(theta, variance, self.rho)
