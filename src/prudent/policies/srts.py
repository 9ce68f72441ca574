"""SRTS: Thompson sampling for the Sharpe ratio."""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.base.errors import PrudentError
from prudent.policies.contract import UNSET, Arm, Setting, policies
from prudent.policies.posteriors import drawn
from prudent.policies.vts import believed_variance
from prudent.risk.base import RiskMeasure

_NO_REWARDS = np.empty(0)
"""A measure of mean and variance looks at none; not made anew in every score, because not every target can."""


@policies.add("srts", serves="sharpe")
class SRTS(NamedTuple):
    """The Sharpe ratio of a Gaussian law drawn from its normal-gamma posterior [Shah25].

    τ ~ Gamma(½ + s/2, rate (sd² + s V̂)/2) and θ ~ N(μ̂, 1/(s τ));  the arm with the largest θ/√(ε₀ + 1/τ) is pulled,
    or with the smallest cost for another measure of mean and variance. Unlike MVTS the mean is drawn given the
    variance, so no scale is needed; `sd` is only the prior's guess and soon forgotten. Only the paper's abstract was at
    hand: its prior and how it regularises the ratio could not be checked. Assumes Gaussian rewards.

    Examples
    --------
    >>> from prudent import SRTS, Agent
    >>> agent = Agent(SRTS(), arms=["a", "b"], horizon=100, support=(0, 1), risk="sharpe(epsilon=0.01)")
    >>> agent.ask()
    'a'
    """

    risk: RiskMeasure = UNSET
    sd: float = UNSET

    def tuned(self, setting: Setting) -> "SRTS":
        if not self.risk.by_moments:
            raise PrudentError("srts: risk must be one that mean and variance determine, as sharpe; npts-sg takes any")
        return self

    def score(self, arm: Arm, rng: Generator) -> float:
        variance = drawn(believed_variance(arm, self.sd), rng)
        mean = arm.mean + rng.standard_normal() * math.sqrt(variance / arm.pulls)
        return float(self.risk.estimate(mean, variance, _NO_REWARDS))
