"""ρ-NPTS: Thompson sampling without a model, for every risk measure."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.base.arrays import Array
from prudent.base.errors import check_finite
from prudent.policies.contract import ANY, UNSET, Arm, policies
from prudent.risk.base import RiskMeasure


@policies.add("npts", serves=ANY)
class NPTS(NamedTuple):
    """ρ-NPTS: the risk of the rewards, weighted at random ([Chang22]; for the mean [Riou20]).

    The weights are Dirichlet(1, …, 1) over the s rewards and `best`, the end of the support that makes an arm look
    best;  the arm with the smallest cost is pulled. Unlike the paper, each arm is pulled once before the first draw.
    Costs O(s) exponential draws per arm and round, so O(n²) a run. Assumes rewards in a known interval, of which `best`
    is an end, and a continuous risk measure.

    Examples
    --------
    >>> from prudent import NPTS, Agent
    >>> agent = Agent(NPTS(), arms=["a", "b"], horizon=100, support=(0, 1), risk="cvar(alpha=0.1)")
    >>> agent.ask()
    'a'
    """

    risk: RiskMeasure = UNSET
    best: float = UNSET

    def score(self, arm: Arm, rng: Generator, rewards: Array) -> float:
        # A Dirichlet(1, …, 1) weight is an exponential divided by the sum of all.
        values, weights = np.empty(arm.pulls + 1), np.empty(arm.pulls + 1)
        place, total = np.searchsorted(rewards, self.best), 0.0
        for i in range(arm.pulls + 1):
            values[i] = self.best if i == place else rewards[i - (i > place)]
            weights[i] = rng.standard_exponential()
            total += weights[i]
        for i in range(arm.pulls + 1):
            weights[i] /= total
        return self.risk.weigh(values, weights)

    def check(self) -> None:
        if self.best is UNSET:
            return
        check_finite("npts", "best", self.best, hint="the end of the rewards' interval that makes an arm look best")
