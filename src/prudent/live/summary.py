"""What the whole experiment has given so far: its variance and where it comes from, its regret, and what it saved.

All of it follows from what is kept of each arm. With n = ΣT_i rewards of mean μ̂ = Σ(T_i/n)μ̂_i,

    variance of all rewards = Σ(T_i/n)σ̂_i² (within arms) + Σ(T_i/n)(μ̂_i − μ̂)² (from moving between arms),

exactly. The cost ĉ of what was received is known without error, and K intervals [l_i, u_i] of costs at level 1 − δ/K
hold together, at all times, with probability 1 − δ. So the regret per round, ĉ minus the smallest cost of an arm, lies
in [ĉ − min u_i, ĉ − min l_i]. What an even split costs follows from the intervals of mean and variance behind them.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from prudent.arrays import Array
from prudent.live.arm import ArmState, ordered
from prudent.live.knowing import cost_bounds, costs_of, moment_bounds, moments_do
from prudent.live.naming import listed
from prudent.regret import exploration_risk
from prudent.risk.base import Interval, RiskMeasure
from prudent.risk.mean_variance import MeanVariance
from prudent.text import count, counted, minus, number, risk_name

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


def summary(
    labels: Sequence[Any], arms: Sequence[ArmState], risk: RiskMeasure, level: float, support: tuple[float, float]
) -> Summary:
    """Of all arms' rewards. Retired arms share in the failure, because whoever retired them had looked."""
    pulls = np.array([arm.pulls for arm in arms])
    total = int(pulls.sum())
    if total == 0:
        return Summary(0, level, "No arm has a reward")
    means, variances = np.array([(arm.mean, arm.variance) for arm in arms]).T
    mean, within = (float((pulls * part).sum() / total) for part in (means, variances))
    moving = float(exploration_risk(pulls, means))
    cost = _cost(arms, risk, mean, within + moving)
    playing = [i for i, arm in enumerate(arms) if not arm.retired]
    why = (
        "Regret is not known, because no arm is in play"
        if not playing
        else _missing(risk, cost, [labels[i] for i in playing if arms[i].pulls == 0], support)
    )
    known = Summary(total, level, why, mean, within + moving, within, moving, cost)
    if why or cost is None:
        return known
    some, failure = [arms[i] for i in playing], (1.0 - level) / len(arms)
    joint = moment_bounds("joint_bounds", some, failure, support) if moments_do(risk) else []
    known_costs = costs_of(joint, risk.rho) if moments_do(risk) else cost_bounds(some, risk, failure, support)
    costs = [bounds for bounds in known_costs if bounds is not None]
    if len(costs) < len(some):
        return known._replace(why=f"No confidence interval is known for {risk_name(risk)}")
    least, most = (min(ends) for ends in zip(*costs, strict=True))
    known = known._replace(regret=Interval(cost - float(most), cost - float(least)))
    if not isinstance(risk, MeanVariance):
        return known._replace(why="What an even split costs is known for mean-variance only")
    even = _even(some, risk.rho, failure, support, joint)
    return known._replace(even=even, saved=Interval(even.low - cost, even.high - cost))


def even_cost(means: tuple[Array, Array], variances: tuple[Array, Array], rho: float) -> Interval:
    """Where σ² − ρμ of an even split between arms lies if their means and variances lie within these limits.

    It is the average of the σ_i² + (μ_i − m)² − ρμ_i, m the average of the μ_i, so variances count at their limits.
    In the μ_i it is convex. It is smallest where each is as near to m + ρ/2 as it may be, for the m that is then their
    average. It is largest at a corner; with more than `ENUMERATED` arms, of which nobody can try all, the largest over
    corners for the best fixed c in place of m, which is no less, and more by at most the largest width squared/4K.
    """
    low, high = means
    start, end = float(low.min()), float(high.max())
    m = _crossing(lambda m: np.clip(m + rho / 2.0, low, high).mean() - m, start - rho / 2.0, end)
    smallest = _spread(np.clip(m + rho / 2.0, low, high), rho)
    if len(low) <= ENUMERATED:
        upper = np.array(list(product((False, True), repeat=len(low))))
        largest = _spread(np.where(upper, high, low), rho).max()
    else:
        middle = (low + high) / 2.0 - rho / 2.0
        c = _crossing(lambda c: np.where(middle > c, high, low).mean() - c, start - rho / 2.0, end)
        largest = np.maximum((low - c) ** 2 - rho * low, (high - c) ** 2 - rho * high).mean()
    return Interval(float(variances[0].mean() + smallest), float(variances[1].mean() + largest))


def _even(
    arms: Sequence[ArmState], rho: float, failure: float, support: tuple[float, float], joint: list[Any]
) -> Interval:
    """What an even split costs, from the same intervals as the costs of arms."""
    if np.isinf(rho):
        left, right = np.mean(moment_bounds("mean_bounds", arms, failure, support), 0).tolist()
        return Interval(-right, -left)
    means, variances = np.moveaxis(np.array(joint), 0, -1)
    return even_cost((means[0], means[1]), (variances[0], variances[1]), rho)


def _spread(means: Array, rho: float) -> Any:
    """The variance of some means, minus ρ times their average."""
    return means.var(-1) - rho * means.mean(-1)


def _crossing(falling: Callable[[float], Any], left: float, right: float) -> float:
    """Where a function that falls from left to right changes its sign, to rounding."""
    for _ in range(100):
        middle = 0.5 * (left + right)
        left, right = (middle, right) if falling(middle) > 0.0 else (left, middle)
    return right


def _cost(arms: Sequence[ArmState], risk: RiskMeasure, mean: float, variance: float) -> float | None:
    """The cost of all rewards as one sequence; None if it needs every reward and they are not remembered."""
    if not risk.by_moments and any(arm.rewards is None for arm in arms):
        return None
    rewards = np.empty(0) if risk.by_moments else np.sort(np.concatenate([ordered(arm) for arm in arms]))
    with np.errstate(over="ignore"):  # a cost too large for a float is infinite
        return float(risk.estimate(mean, variance, rewards))


def _missing(risk: RiskMeasure, cost: float | None, waiting: list[Any], support: tuple[float, float]) -> str:
    """Why there is no interval; empty if there may be one."""
    if cost is None:
        return f"{risk_name(risk)} needs every reward, and they are not remembered"
    if not np.isfinite(support).all():
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
