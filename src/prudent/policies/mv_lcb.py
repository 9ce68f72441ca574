"""MV-LCB, the seed's first algorithm."""

import math
from typing import NamedTuple

from prudent.compiled import helper
from prudent.policies.base import (
    UNSET,
    Arm,
    check_delta,
    check_rho,
    check_width,
    mean_variance,
    need_horizon,
    policy,
)


@policy("mv-lcb")
class MVLCB(NamedTuple):
    """Lower confidence bound on the mean-variance (Fig. 1 of [Sani12]).

    B = V̂ − ρ μ̂ − (c + ρ) √(log(1/δ) / 2s);  the arm with the smallest B is pulled.

    c = 5 is the paper's constant; c = 1 with the unbiased variance is enough on [0, 1] (docs/theory). Unless given,
    δ = 1/n² as in Theorem 1. For rewards in an interval of length b = `range` the width is (c b² + ρ b)√(log(1/δ)/2s).
    """

    rho: float = UNSET
    c: float = 5.0
    delta: float = UNSET
    range: float = 1.0
    unbiased: bool = False

    def score(self, arm: Arm) -> float:
        return lower_bound(arm, self.rho, self.c, self.range, self.unbiased, math.log(1.0 / self.delta))

    def tuned(self, horizon: int | None, n_arms: int) -> "MVLCB":
        if self.delta is not UNSET:
            return self
        # At n = 1 the rule gives δ = 1; the single pull is forced anyway.
        return self._replace(delta=min(0.5, need_horizon("mv-lcb", horizon) ** -2.0))

    def check(self) -> None:
        check_rho("mv-lcb", self.rho)
        check_width("mv-lcb", self.c, self.range)
        check_delta("mv-lcb", self.delta)

    @classmethod
    def sharp(cls, rho: float = UNSET) -> "MVLCB":
        """The tightest width known to be valid on [0, 1]: c = 1 with the unbiased variance (docs/theory)."""
        return cls(rho=rho, c=1.0, unbiased=True)


@helper
def lower_bound(arm: Arm, rho: float, c: float, reward_range: float, unbiased: bool, log_term: float) -> float:
    """Empirical mean-variance minus its confidence width, with `log_term` for log(1/δ)."""
    root = math.sqrt(log_term / (2.0 * arm.pulls))
    if math.isinf(rho):
        return -arm.mean - reward_range * root
    variance = arm.variance
    if unbiased:
        if arm.pulls < 2:
            return -math.inf
        variance *= arm.pulls / (arm.pulls - 1.0)
    width = (c * reward_range * reward_range + rho * reward_range) * root
    return mean_variance(arm.mean, variance, rho) - width
