"""MV-LCB, the paper's first algorithm."""

import math
from typing import NamedTuple

from prudent.base.errors import check_finite
from prudent.compile.types import helper
from prudent.policies.contract import UNSET, Arm, Setting, policies
from prudent.risk.mean_variance import mean_variance


@policies.add("mv-lcb", serves="mean-variance")
class MVLCB(NamedTuple):
    """Lower confidence bound on the mean-variance (Fig. 1 of [Sani12]).

    B = V̂ − ρ μ̂ − (c + ρ) √(log(1/δ) / 2s);  the arm with the smallest B is pulled.

    c = 5 is the paper's constant; c = 1 with the unbiased variance is enough on [0, 1] (docs: theory). Unless given,
    δ = 1/n² as in Theorem 1. Assumes rewards in an interval of length b = `range`; the width is then
    (c b² + ρ b)√(log(1/δ)/2s).

    Examples
    --------
    >>> from prudent import MVLCB, Agent
    >>> agent = Agent(MVLCB(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    c: float = 5.0
    delta: float = UNSET
    range: float = UNSET
    unbiased: bool = False

    def tuned(self, setting: Setting) -> "MVIndex":
        width = width_factor(self.rho, self.c, self.range) * math.sqrt(math.log(1.0 / self.delta) / 2.0)
        return MVIndex(self.rho, width, self.unbiased)

    def check(self) -> None:
        hint = "5 is the paper's constant, 1 is enough with the unbiased variance"
        check_finite("mv-lcb", "c", self.c, low=0.0, hint=hint)

    @classmethod
    def sharp(cls, rho: float = UNSET) -> "MVLCB":
        """The tightest width known to be valid on [0, 1]: c = 1 with the unbiased variance (docs: theory)."""
        return cls(rho=rho, c=1.0, unbiased=True)


class MVIndex(NamedTuple):
    """MV-LCB once its problem is known: the index V̂ − ρ μ̂ − width/√s."""

    rho: float
    width: float
    unbiased: bool

    def score(self, arm: Arm) -> float:
        return lower_bound(arm, self.rho, self.width, self.unbiased)

    def score_bound(self, low: Arm, high: Arm) -> float:
        return largest_lower_bound(low, high, self.rho, self.width, self.unbiased)


@helper
def width_factor(rho: float, c: float, reward_range: float) -> float:
    """c b² + ρ b, what the deviations of variance and mean add up to; b alone when only the mean counts."""
    return reward_range if math.isinf(rho) else c * reward_range * reward_range + rho * reward_range


@helper
def lower_bound(arm: Arm, rho: float, width: float, unbiased: bool) -> float:
    """Empirical mean-variance minus width/√s; arms without an unbiased variance yet go first."""
    variance = arm.variance
    if unbiased:
        if arm.pulls < 2:
            return -math.inf
        variance *= arm.pulls / (arm.pulls - 1.0)
    return mean_variance(arm.mean, variance, rho) - width / math.sqrt(arm.pulls)


@helper
def largest_lower_bound(low: Arm, high: Arm, rho: float, width: float, unbiased: bool) -> float:
    """At least `lower_bound` of every arm between two."""
    # It falls with the mean, and grows with the variance and, through the width, with the pulls; the unbiased variance
    # also shrinks with the pulls, so it takes the fewest.
    variance = high.variance
    if unbiased:
        if low.pulls < 2:
            return math.inf
        variance *= low.pulls / (low.pulls - 1.0)
    return mean_variance(low.mean, variance, rho) - width / math.sqrt(high.pulls)
