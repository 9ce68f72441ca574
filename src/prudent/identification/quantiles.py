"""Which arm has the largest quantile, with bounds on quantiles that hold at all times and for every law."""

import math
from typing import Any, NamedTuple

import numpy as np

from prudent.arrays import Array, Marks
from prudent.compiled import kernel
from prudent.errors import PrudentError
from prudent.identification import DELTA
from prudent.policies.base import UNSET, Arms, Setting, strategies
from prudent.risk.tails import VaR

WEIGHT = 50.0
"""How many rewards the prior of the bounds is worth; every number is valid, and this one is good for some hundreds."""


@strategies.add("qlucb", needs=DELTA)
class QLUCB(NamedTuple):
    """In each round pull the arm of largest lower bound on the α-quantile, and the largest upper bound of the others.

    This is QLUCB of [Howard22], with ε = 0. Stops when that lower bound reaches that upper bound. The bounds hold for
    all times at once with probability 1 − δ/K: of s rewards S lie at or below the quantile, ties decided by coins so
    that each does with probability α. Then B(a + S, b + s − S)/B(a, b)/(α^S (1 − α)^(s−S)) is a martingale of mean 1,
    and by Ville's inequality stays below K/δ. With a = 50α and b = 50(1 − α) this leaves S between two ranks, and the
    quantile between the rewards there. Of equal bounds that of the arm with fewer pulls counts. Assumes nothing about
    the rewards; the risk must be `var`.

    Examples
    --------
    >>> from prudent import QLUCB, Bandit, Uniform, identify
    >>> bandit = Bandit([Uniform(0, 1), Uniform(1, 2)])
    >>> found = identify(bandit, QLUCB(), risk="var(alpha=0.5)", delta=0.1, runs=3)
    >>> found.recommended.tolist()
    [1, 1, 1]
    """

    delta: float = UNSET
    alpha: float = UNSET

    def tuned(self, setting: Setting) -> "QLUCB":
        if not isinstance(setting.risk, VaR) or setting.risk.alpha != self.alpha or self.alpha == 1.0:
            fix = "pass var(alpha=…) with alpha below 1, or take lucb"
            raise PrudentError(f"qlucb: seeks the largest quantile, got the risk {setting.risk}; {fix}")
        return self

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Any) -> int:
        n_arms = len(arms.pulls)
        chosen[:] = arms.pulls == 0
        if chosen.any():
            return 1
        low, high = np.empty(n_arms), np.empty(n_arms)
        for i in range(n_arms):
            least, most = quantile_ranks(self.alpha, arms.pulls[i], math.log(n_arms / self.delta))
            low[i] = arms.rewards[i, least - 1] if least > 0 else -math.inf
            high[i] = arms.rewards[i, most] if most < arms.pulls[i] else math.inf
        leader = first_of_largest(low, arms.pulls, -1)
        rival = first_of_largest(high, arms.pulls, leader)
        if low[leader] >= high[rival]:
            arms.alive[:] = False
            arms.alive[leader] = True
            return 0
        chosen[leader] = True
        chosen[rival] = True
        return 1


@kernel
def first_of_largest(bounds: Array, pulls: Any, other: int) -> int:
    """The arm of largest bound but for one; of equal ones that with fewer pulls."""
    best = -1
    for i in range(len(bounds)):
        if i == other:
            continue
        if best < 0 or bounds[i] > bounds[best] or (bounds[i] == bounds[best] and pulls[i] < pulls[best]):
            best = i
    return best


@kernel
def quantile_ranks(alpha: float, pulls: int, limit: float) -> tuple[int, int]:
    """The smallest and the largest S for which the log of the martingale, convex in S, is below the limit."""
    return furthest(alpha, pulls, limit, -1), furthest(alpha, pulls, limit, pulls + 1)


@kernel
def furthest(alpha: float, pulls: int, limit: float, bad: int) -> int:
    """Of the S between αs and one that is not below the limit, the last that is."""
    good = int(alpha * pulls)
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if log_martingale(alpha, pulls, middle) < limit:
            good = middle
        else:
            bad = middle
    return good


@kernel
def log_martingale(alpha: float, pulls: int, below: int) -> float:
    """log of B(a + S, b + s − S)/B(a, b)/(α^S (1 − α)^(s−S)), a = 50α, b = 50(1 − α)."""
    a, b = WEIGHT * alpha, WEIGHT * (1.0 - alpha)
    mixed = math.lgamma(a + below) + math.lgamma(b + pulls - below) - math.lgamma(WEIGHT + pulls)
    prior = math.lgamma(a) + math.lgamma(b) - math.lgamma(WEIGHT)
    return mixed - prior - below * math.log(alpha) - (pulls - below) * math.log1p(-alpha)
