"""MV-LCB without a known horizon."""

import math
from typing import NamedTuple

from prudent.base.errors import check_finite, check_positive
from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.mv_lcb import largest_lower_bound, lower_bound, width_factor


@policies.add("anytime-mv-lcb", serves="mean-variance")
class AnytimeMVLCB(NamedTuple):
    """MV-LCB with the exploration sequence ε_t = a log t in place of log(1/δ) (Remark 2 of [Sani12], section 3.1).

    a > 2 keeps the analysis; a = 4 becomes UCB1 as ρ → ∞. The other parameters are MV-LCB's.
    Assumes rewards in an interval of length `range`.

    Examples
    --------
    >>> from prudent import Agent, AnytimeMVLCB
    >>> agent = Agent(AnytimeMVLCB(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    a: float = 4.0
    c: float = 5.0
    range: float = UNSET
    unbiased: bool = False

    def score(self, arm: Arm, t: int) -> float:
        width = width_factor(self.rho, self.c, self.range) * math.sqrt(self.a * math.log(t) / 2.0)
        return lower_bound(arm, self.rho, width, self.unbiased)

    def score_bound(self, low: Arm, high: Arm, t: int) -> float:
        width = width_factor(self.rho, self.c, self.range) * math.sqrt(self.a * math.log(t) / 2.0)
        return largest_lower_bound(low, high, self.rho, width, self.unbiased)

    def check(self) -> None:
        check_positive("anytime-mv-lcb", "a", self.a)
        check_finite("anytime-mv-lcb", "c", self.c, low=0.0, hint="5 is the paper's constant")
