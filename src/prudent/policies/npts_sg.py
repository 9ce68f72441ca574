"""ρ-NPTS without an anchor: Thompson sampling without a model, for rewards without bounds."""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.base.arrays import Array
from prudent.base.errors import check_integer
from prudent.policies.contract import ANY, UNSET, Arm, policies
from prudent.risk.base import RiskMeasure


@policies.add("npts-sg", serves=ANY)
class NPTSSG(NamedTuple):
    """ρ-NPTS without an anchor: the risk of the rewards alone, weighted at random [Chang26].

    The weights are Dirichlet(1, …, 1) over the s rewards;  the arm with the smallest cost is pulled, each arm `first`
    times before. `npts` adds the best value of the support, which rewards without bounds do not have. Only the paper's
    abstract was at hand, so how it explores at first could not be checked. Some exploration is needed: the draws stay
    among the rewards seen, and if all of the best arm's first rewards are worse than another arm, it is never pulled
    again. That has a probability which falls geometrically in `first`. Costs O(s) exponential draws per arm and round,
    so O(n²) a run. Assumes a continuous risk measure and tails no heavier than those of some Gaussian law.

    Examples
    --------
    >>> from prudent import NPTSSG, Agent
    >>> agent = Agent(NPTSSG(), arms=["a", "b"], horizon=100, support=(0, 1), risk="mean-variance(rho=1)")
    >>> agent.ask()
    'a'
    """

    risk: RiskMeasure = UNSET
    first: int = 10

    def score(self, arm: Arm, rng: Generator, rewards: Array) -> float:
        if arm.pulls < self.first:
            return -math.inf
        weights, total = np.empty(arm.pulls), 0.0
        for i in range(arm.pulls):
            weights[i] = rng.standard_exponential()
            total += weights[i]
        for i in range(arm.pulls):
            weights[i] /= total
        return self.risk.weigh(rewards, weights)

    def check(self) -> None:
        check_integer("npts-sg", "first", self.first, low=1, hint="10 is usual; fewer may leave the best arm for good")
