"""MV-LCB with Bernstein's inequalities in place of Hoeffding's."""

import math
from typing import NamedTuple

from prudent.policies.contract import UNSET, Arm, policies


@policies.add("bernstein-mv-lcb", serves="mean-variance")
class BernsteinMVLCB(NamedTuple):
    """Lower confidence bound on the mean-variance from empirical Bernstein bounds [Maurer09].

    B = max(0, √V − b√(2x/(s−1)))² − ρ [μ̂ + √(2 V x₂/s) + 7 b x₂/(3(s−1))],  x = log(1/δ), x₂ = log(2/δ),

    with V the unbiased variance and b the range of rewards. A remark that is commented out in the source of
    [Sani12] adds to the standard deviation where a lower bound must subtract; this is the corrected index. Arms with
    fewer than two pulls come first.
    Unless given, δ = 1/n². Assumes rewards in an interval of length `range`.

    Examples
    --------
    >>> from prudent import Agent, BernsteinMVLCB
    >>> agent = Agent(BernsteinMVLCB(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    delta: float = UNSET
    range: float = UNSET

    def score(self, arm: Arm) -> float:
        s = arm.pulls
        if s < 2:
            return -math.inf
        unbiased = arm.variance * s / (s - 1.0)
        x = math.log(1.0 / self.delta)
        x2 = math.log(2.0 / self.delta)
        mean = arm.mean + math.sqrt(2.0 * unbiased * x2 / s) + 7.0 * self.range * x2 / (3.0 * (s - 1.0))
        if math.isinf(self.rho):
            return -mean
        deviation = max(0.0, math.sqrt(unbiased) - self.range * math.sqrt(2.0 * x / (s - 1.0)))
        return deviation * deviation - self.rho * mean

    def score_bound(self, low: Arm, high: Arm) -> float:
        # Term by term: the variance's part grows with the variance and the pulls, the mean's part falls with the mean,
        # the variance and fewer pulls.
        if low.pulls < 2:
            return math.inf
        s, x2 = high.pulls, math.log(2.0 / self.delta)
        least = low.variance * s / (s - 1.0)
        mean = low.mean + math.sqrt(2.0 * least * x2 / s) + 7.0 * self.range * x2 / (3.0 * (s - 1.0))
        if math.isinf(self.rho):
            return -mean
        most = high.variance * low.pulls / (low.pulls - 1.0)
        deviation = math.sqrt(most) - self.range * math.sqrt(2.0 * math.log(1.0 / self.delta) / (s - 1.0))
        return max(0.0, deviation) ** 2 - self.rho * mean
