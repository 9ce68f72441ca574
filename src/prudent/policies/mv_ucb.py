"""MV-UCB: a confidence bound on the mean-variance whose width grows with log t, as UCB1's does."""

import math
from typing import NamedTuple

from prudent.base.errors import check_positive
from prudent.policies.contract import UNSET, Arm, Setting, policies
from prudent.policies.mv_lcb import width_factor
from prudent.risk.mean_variance import mean_variance


@policies.add("mv-ucb", serves="mean-variance")
class MVUCB(NamedTuple):
    """V̂ − ρ μ̂ − b √(log t / s);  the arm with the smallest is pulled [Vakili16].

    Unless given, b = √(3/2) (2 + ρ): on [0, 1] the variance errs by more than 2√(3 log t / 2s) or the mean by more than
    √(3 log t / 2s) with probability O(t⁻³). It is MV-LCB with log t in place of log(1/δ):
    `anytime-mv-lcb` with c = 2 and a = 3. Assumes rewards in an interval of length r = `range`; b is then
    √(3/2) (2 r² + ρ r).

    Examples
    --------
    >>> from prudent import MVUCB, Agent
    >>> agent = Agent(MVUCB(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    b: float = UNSET
    range: float = UNSET

    def score(self, arm: Arm, t: int) -> float:
        return mean_variance(arm.mean, arm.variance, self.rho) - self.b * math.sqrt(math.log(t) / arm.pulls)

    def score_bound(self, low: Arm, high: Arm, t: int) -> float:
        return self.score(Arm(high.pulls, low.mean, high.variance), t)

    def tuned(self, setting: Setting) -> "MVUCB":
        if self.b is not UNSET:
            return self
        return self._replace(b=math.sqrt(1.5) * width_factor(self.rho, 2.0, self.range))

    def check(self) -> None:
        if self.b is not UNSET:
            check_positive("mv-ucb", "b", self.b, hint="leave it out for √(3/2) (2 + ρ), enough on [0, 1]")
