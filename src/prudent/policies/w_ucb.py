"""W-UCB: a confidence bound for measures that distort probabilities, and for all others with an interval."""

import math
from typing import Any, NamedTuple

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.policies.contract import ANY, UNSET, Arm, Setting, policies
from prudent.risk.base import RiskMeasure


@policies.add("w-ucb", serves=ANY)
class WUCB(NamedTuple):
    """The lowest cost of a law within the band F̂ ± √(3 log t / 2s);  the arm with the smallest is pulled [Gopalan17].

    The true distribution function is outside the band with probability 2/t³ at most [Massart90]. The paper has the
    distorted mean of rewards in an interval of length b, with a weight function |w(p) − w(q)| ≤ L |p − q|^a, and pulls
    the smallest ρ̂ − L b (3 log t / 2s)^{a/2}. Within the band the cost can move by no more than that; here it is the
    cost at the band's edge, which is never lower and needs neither L nor a. A measure whose interval is not made from
    the band uses its own, with the same 2/t³. Costs O(s) per arm and round. Assumes rewards in [low, high], and a
    measure with an interval.

    Examples
    --------
    >>> from prudent import WUCB, Agent
    >>> agent = Agent(WUCB(), arms=["a", "b"], horizon=100, support=(0, 1), risk="mean-variance(rho=1)")
    >>> agent.ask()
    'a'
    """

    risk: RiskMeasure = UNSET
    low: float = UNSET
    high: float = UNSET

    def tuned(self, setting: Setting) -> "_Band":
        if not hasattr(self.risk, "bounds"):
            raise PrudentError("w-ucb: no confidence interval is known for this risk; take npts, which needs none")
        return _Band(self.risk, self.low, self.high)


class _Band(NamedTuple):
    """W-UCB with its measure as kernels take it."""

    risk: Any
    low: float
    high: float

    def score(self, arm: Arm, t: int, rewards: Array) -> float:
        failure = min(1.0, 2.0 / math.pow(t, 3.0))
        bounds = self.risk.bounds(arm.pulls, arm.mean, arm.variance, rewards, failure, self.low, self.high)
        return float(bounds[0])
