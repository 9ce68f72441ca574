"""MaRaB: a pessimistic index, which avoids risk even while it explores."""

import math
from typing import NamedTuple

from prudent.base.arrays import Array
from prudent.base.errors import check_finite
from prudent.policies.contract import UNSET, Arm, policies


@policies.add("marab", serves="cvar")
class MaRaB(NamedTuple):
    """Ĉ − c √(log⌈t α⌉ / ⌈s α⌉), Ĉ the mean of the ⌈s α⌉ worst rewards [Galichet13];  the largest is pulled.

    The width is subtracted, so the arm with the best pessimistic CVaR is pulled and arms with few rewards are avoided.
    It has no guarantee, because an arm that started badly may never be tried again; some runs stay with a worse arm to
    the end. Costs O(α s) per arm and round. Assumes rewards in an interval of length b = `range`; the width is c b √….

    Examples
    --------
    >>> from prudent import Agent, MaRaB
    >>> agent = Agent(MaRaB(alpha=0.1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    alpha: float = UNSET
    c: float = 1.0
    range: float = UNSET

    def score(self, arm: Arm, t: int, rewards: Array) -> float:
        worst = math.ceil(arm.pulls * self.alpha)
        total = 0.0
        for i in range(worst):
            total += rewards[i]
        return float(self.range * self.c * math.sqrt(math.log(math.ceil(t * self.alpha)) / worst) - total / worst)

    def check(self) -> None:
        check_finite("marab", "c", self.c, low=0.0, hint="0 trusts the estimate")
