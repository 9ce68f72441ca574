"""What the whole experiment has given so far: its variance and where it comes from, its regret, and what it saved.

All of it follows from what is kept of each arm. With n = ΣT_i rewards of mean μ̂ = Σ(T_i/n)μ̂_i,

    variance of all rewards = Σ(T_i/n)σ̂_i² (within arms) + Σ(T_i/n)(μ̂_i − μ̂)² (from moving between arms),

exactly. The cost ĉ of what was received is known without error, and K intervals [l_i, u_i] of costs at level 1 − δ/K
hold together, at all times, with probability 1 − δ. So the regret per round, ĉ minus the smallest cost of an arm, lies
in [ĉ − min u_i, ĉ − min l_i]. An even split costs the average of the arms' costs plus the variance of their means, so
half of δ goes to intervals of costs, and half to intervals of means.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.base.text import count, counted, minus, number, risk_name
from prudent.engine.python.arm import ordered
from prudent.live.evidence import Evidence, statistics_of
from prudent.live.intervals import bounds
from prudent.live.labels import listed
from prudent.results.regret import exploration_risk
from prudent.risk.base import Interval
from prudent.risk.mean_variance import MeanVariance

ENUMERATED = 12
"""Of so many arms all corners of a box are tried; it takes 2¹² of them."""


class Summary(NamedTuple):
    """The experiment so far, retired arms included; `str()` says it in words.

    `mean`, `variance` and `cost` are those of all rewards as one sequence, None before the first. `variance` is the
    sum of `within` arms and `moving` between them, the exploration risk. `regret` per round, the cost `even` that an
    even split between the arms in play has, and `saved`, which is that minus `cost`, hold all together at any time
    with probability `level`; where one is None, `why` says the reason.
    """

    rewards: int
    level: float
    why: str
    mean: float | None = None
    variance: float | None = None
    within: float | None = None
    moving: float | None = None
    cost: float | None = None
    regret: Interval | None = None
    even: Interval | None = None
    saved: Interval | None = None

    def __str__(self) -> str:
        if self.mean is None or self.variance is None or self.moving is None:
            return "Nothing can be said yet, because no arm has a reward."
        share = self.moving / self.variance if self.variance > 0.0 else 0.0
        lines = [
            f"{counted(self.rewards, 'reward')} of mean {_number(self.mean)} and variance {_number(self.variance)}; "
            f"{_percent(share)} of the variance comes from moving between arms."
        ]
        if self.cost is not None:
            lines.append(f"Their cost is {_number(self.cost)}.")
        sure = f"with {100.0 * self.level:g} % confidence"
        if self.regret is not None:
            lines.append(f"The regret per round is {_between(self.regret)} {sure}.")
        if self.even is not None and self.saved is not None:
            lines.append(f"An even split would have cost {_between(self.even)}: {_saved(self.saved)}.")
        return " ".join([*lines, f"{self.why}."] if self.why else lines)


def summary(evidence: Evidence, level: float) -> Summary:
    """Of all arms' rewards. Retired arms share in the failure, because whoever retired them had looked."""
    arms, risk = evidence[:2]
    pulls, means, variances = statistics_of(arms)
    total = evidence.total
    if total == 0:
        return Summary(0, level, "No arm has a reward")
    mean, within = (float((pulls * part).sum() / total) for part in (means, variances))
    moving = float(exploration_risk(pulls, means))
    cost = _cost(evidence, mean, within + moving)
    why = _missing(evidence, cost)
    known = Summary(total, level, why, mean, within + moving, within, moving, cost)
    if why or cost is None:
        return known
    some, failure = evidence.some(evidence.playing), (1.0 - level) / len(arms)
    splits = isinstance(risk, MeanVariance) and risk.rho < math.inf
    costs = bounds(some, "cost", failure / 2.0 if splits else failure)
    if any(ends is None for ends in costs):
        return known._replace(why=f"No confidence interval is known for {risk_name(risk)}")
    low, high = np.array(costs).T
    known = known._replace(regret=Interval(cost - float(high.min()), cost - float(low.min())))
    if not isinstance(risk, MeanVariance):
        return known._replace(why="What an even split costs is known for mean-variance only")
    spread = spread_between(*np.array(bounds(some, "mean", failure / 2.0)).T) if splits else Interval(0.0, 0.0)
    even = Interval(float(low.mean()) + spread.low, float(high.mean()) + spread.high)
    return known._replace(even=even, saved=Interval(even.low - cost, even.high - cost))


def spread_between(low: Array, high: Array) -> Interval:
    """Where the variance of some numbers lies if each lies within its limits.

    It is convex in them. It is smallest where each is as near to m as it may be, for the m that is then their average.
    It is largest at a corner; with more than `ENUMERATED` numbers, of which nobody can try all, it is the largest over
    corners of the mean square around the best fixed c, which is no less, and more by at most the largest width
    squared/4K.
    """
    start, end = float(low.min()), float(high.max())
    m = _crossing(lambda m: np.clip(m, low, high).mean() - m, start, end)
    smallest = np.clip(m, low, high).var()
    if len(low) <= ENUMERATED:
        upper = np.array(list(product((False, True), repeat=len(low))))
        largest = np.where(upper, high, low).var(-1).max()
    else:
        middle = (low + high) / 2.0
        c = _crossing(lambda c: np.where(middle > c, high, low).mean() - c, start, end)
        largest = np.maximum((low - c) ** 2, (high - c) ** 2).mean()
    return Interval(float(smallest), float(largest))


def _crossing(falling: Callable[[float], float], left: float, right: float) -> float:
    """Where a function that falls from left to right changes its sign, to rounding."""
    for _ in range(100):
        middle = 0.5 * (left + right)
        left, right = (middle, right) if falling(middle) > 0.0 else (left, middle)
    return right


def _cost(evidence: Evidence, mean: float, variance: float) -> float | None:
    """The cost of all rewards as one sequence; None if it needs every reward and they are not remembered."""
    arms, risk = evidence[:2]
    if not risk.by_moments and any(arm.rewards is None for arm in arms):
        return None
    rewards = np.empty(0) if risk.by_moments else np.sort(np.concatenate([ordered(arm) for arm in arms]))
    with np.errstate(over="ignore"):  # a cost too large for a float is infinite
        return float(risk.estimate(mean, variance, rewards))


def _missing(evidence: Evidence, cost: float | None) -> str:
    """Why there is no interval; empty if there may be one."""
    playing = evidence.playing
    waiting = evidence.labels(i for i in playing if evidence.arms[i].pulls == 0)
    if not playing:
        return "Regret is not known, because no arm is in play"
    if cost is None:
        return f"{risk_name(evidence.risk)} needs every reward, and they are not remembered"
    if not np.isfinite(evidence.support).all():
        return "Regret is not known, because intervals need a bounded support"
    if waiting:
        return f"Regret is not known, because {listed(waiting)} {'has' if len(waiting) == 1 else 'have'} no reward yet"
    return ""


def _number(value: float) -> str:
    return minus(number(value, 3))


def _between(ends: Interval) -> str:
    return f"between {_number(ends.low)} and {_number(ends.high)}"


def _saved(ends: Interval) -> str:
    """What was saved, per round, in words."""
    if ends.low >= 0.0:
        return f"{_number(ends.low)} to {_number(ends.high)} per round were saved"
    if ends.high <= 0.0:
        return f"{_number(-ends.high)} to {_number(-ends.low)} per round were lost"
    return f"up to {_number(ends.high)} per round were saved, or up to {_number(-ends.low)} lost"


def _percent(share: float) -> str:
    return "less than 1 %" if 0.0 < share < 0.01 else f"{count(round(100.0 * share))} %"
