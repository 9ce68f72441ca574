"""Mean-CVaR-LCB: MV-LCB with the variance replaced by the CVaR, as the paper's conclusions propose."""

import math
from typing import NamedTuple

from prudent.base.arrays import Array
from prudent.base.errors import check_number
from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.empirical import lower_tail_mean


@policies.add("mean-cvar-lcb", serves="mean-cvar")
class MeanCVaRLCB(NamedTuple):
    """Lower confidence bound on the mean-CVaR, with the deviation of [Brown07] in the composition of [Sani12].

    B = w Ĉ − (1 − w) μ̂ − (w/α + 1 − w) b √(log(1/δ) / 2s);  the arm with the smallest B is pulled.

    Ĉ is minus the mean of the worst α-fraction of the s rewards, and w = `weight`. Divided by w = 1/(1 + ρ) this reads
    Ĉ − ρ μ̂ − (1/α + ρ) b √(log(1/δ) / 2s): MV-LCB with the CVaR in place of the variance and 1/α in place of 5. The
    true cost is below B with probability δ at most, for any law: Ĉ is the smallest value over q of the mean of
    q + (−X − q)⁺/α, so it is at most the value at the true quantile, and with −(1 − w) X that is a mean of independent
    terms in an interval of length (w/α + 1 − w) b, to which Hoeffding's inequality applies. Costs O(α s) for the arm
    just pulled. Unless given, δ = 1/n². Assumes rewards in an interval of length b = `range`.

    Examples
    --------
    >>> from prudent import Agent, MeanCVaRLCB
    >>> agent = Agent(MeanCVaRLCB(alpha=0.1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    alpha: float = UNSET
    weight: float = UNSET
    delta: float = UNSET
    range: float = UNSET

    def score(self, arm: Arm, rewards: Array) -> float:
        tail_mean = lower_tail_mean(rewards, self.alpha, 0.0, 0.0)
        spread = (self.weight / self.alpha + 1.0 - self.weight) * self.range
        width = spread * math.sqrt(math.log(1.0 / self.delta) / (2.0 * arm.pulls))
        return -self.weight * tail_mean - (1.0 - self.weight) * arm.mean - width

    def check(self) -> None:
        if self.weight is not UNSET:
            hint = "0 is the mean, 1 is the CVaR; for CVaR − ρ · mean pass 1/(1 + ρ)"
            check_number("mean-cvar-lcb", "weight", self.weight, low=0.0, high=1.0, hint=hint)
