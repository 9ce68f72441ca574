"""kl-UCB: the tightest confidence bound on a mean in [0, 1]."""

import math
from typing import NamedTuple

from prudent.base.errors import check_finite
from prudent.compile.types import helper
from prudent.policies.contract import MEAN, UNSET, Arm, policies


@policies.add("kl-ucb", serves=MEAN)
class KLUCB(NamedTuple):
    """The largest q with s·kl(μ̂, q) ≤ log t + c log log t;  the arm with the largest q is pulled [Garivier11].

    kl is the divergence of Bernoulli laws. The analysis uses c = 3, its paper's experiments c = 0. Ignores risk.
    Assumes rewards in [low, high]; means are counted from low, in units of high − low.

    Examples
    --------
    >>> from prudent import KLUCB, Agent
    >>> agent = Agent(KLUCB(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    c: float = 0.0
    low: float = UNSET
    high: float = UNSET

    def score(self, arm: Arm, t: int) -> float:
        log = math.log(t)
        level = log if self.c == 0.0 or t < 2 else max(0.0, log + self.c * math.log(log))
        length = self.high - self.low
        return -self.low - length * kl_upper((arm.mean - self.low) / length, level / arm.pulls)

    def score_bound(self, low: Arm, high: Arm, t: int) -> float:
        return self.score(Arm(high.pulls, low.mean, high.variance), t)

    def check(self) -> None:
        check_finite("kl-ucb", "c", self.c, low=0.0, hint="0 in practice, 3 in the proof")


@helper
def kl_upper(p: float, level: float) -> float:
    """The largest q in [p, 1] with kl(p, q) ≤ level.

    For a convex function, Newton's steps that start to the right of the root stay there and decrease, so no bracket is
    needed. The start is the smaller of two bounds: Pinsker's, and the one with p log p in place of p log(p/q).
    """
    if p >= 1.0:
        return 1.0
    p = max(p, 0.0)
    entropy = p * math.log(p) if p > 0.0 else 0.0
    rest = (1.0 - p) * math.exp((entropy - level) / (1.0 - p))
    q = min(p + math.sqrt(0.5 * level), 1.0 - rest)
    while p < q < 1.0:
        divergence = (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
        if p > 0.0:
            divergence += p * math.log(p / q)
        step = (divergence - level) * q * (1.0 - q) / (q - p)
        if step <= 1e-14 * q:
            break
        q -= step
    return min(1.0, max(p, q))
