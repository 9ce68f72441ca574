"""Thompson sampling for Gaussian rewards."""

import math
from typing import NamedTuple

from prudent.policies.contract import MEAN, UNSET, Arm, policies
from prudent.policies.posteriors import Normal, normal


@policies.add("thompson", serves=MEAN)
class Thompson(NamedTuple):
    """θ ~ N(μ̂, σ²/s), the posterior under a flat prior;  the largest is pulled [Thompson33]. Ignores risk.

    Assumes Gaussian rewards of a known standard deviation σ = `sd`, or any whose tails are no heavier (1/2 on [0, 1]).

    Examples
    --------
    >>> from prudent import Agent, Thompson
    >>> agent = Agent(Thompson(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    sd: float = UNSET

    def draws(self, arm: Arm) -> tuple[Normal]:
        return (normal(arm.mean, self.sd / math.sqrt(arm.pulls)),)

    def score(self, arm: Arm, theta: float) -> float:
        return -theta
