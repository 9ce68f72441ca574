"""CVaR-TS: Thompson sampling for the CVaR of Gaussian arms."""

import math
from statistics import NormalDist
from typing import NamedTuple

from numpy.random import Generator

from prudent.policies.contract import UNSET, Arm, Setting, policies
from prudent.policies.mts import believed_mean
from prudent.policies.posteriors import drawn
from prudent.policies.vts import believed_variance


@policies.add("cvar-ts", serves="cvar")
class CVaRTS(NamedTuple):
    """The CVaR of a Gaussian law drawn from the posterior [Chang20].

    θ ~ N(μ̂, 1/s) and τ ~ Gamma(½ + s/2, rate ½ + s V̂/2) as in MVTS;  the arm with the largest mean of its worst
    α-fraction, θ − φ(Φ⁻¹(α)) / (α √τ), is pulled. The paper maximises the mean among the arms whose CVaR keeps a limit,
    and the CVaR if none does; this is the second case. Assumes Gaussian rewards whose standard deviation is at most
    `sd`, which the paper has as 1.

    Examples
    --------
    >>> from prudent import Agent, CVaRTS
    >>> agent = Agent(CVaRTS(alpha=0.1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    alpha: float = UNSET
    sd: float = UNSET

    def tuned(self, setting: Setting) -> "_GaussianTail":
        normal = NormalDist()
        tail = normal.pdf(normal.inv_cdf(self.alpha)) / self.alpha if self.alpha < 1.0 else 0.0
        return _GaussianTail(tail, self.sd)


class _GaussianTail(NamedTuple):
    """Minus the mean of the worst fraction, which lies `tail` standard deviations below the mean."""

    tail: float
    sd: float

    def score(self, arm: Arm, rng: Generator) -> float:
        deviation = math.sqrt(drawn(believed_variance(arm, self.sd), rng))
        return self.tail * deviation - drawn(believed_mean(arm, self.sd), rng)
