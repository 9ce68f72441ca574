"""What is known of an arm: estimates, and intervals that hold at all times at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent.confidence import always, betting
from prudent.live.arm import ArmState, ordered
from prudent.risk.base import Interval, RiskMeasure
from prudent.risk.mean_variance import MeanVariance


class Estimate(NamedTuple):
    """What is known about an arm. Mean, variance (divided by the pulls) and cost are None before its first reward."""

    arm: Any
    pulls: int
    mean: float | None
    variance: float | None
    cost: float | None
    open_asks: int
    retired: bool


class Intervals(NamedTuple):
    """Confidence sequences of an arm, see `Agent.intervals`. None before its first reward and where none is known."""

    arm: Any
    pulls: int
    mean: Interval | None
    variance: Interval | None
    cost: Interval | None
    quantile: Interval | None


def estimate(label: Any, arm: ArmState, risk: RiskMeasure) -> Estimate:
    """Mean, variance and cost, as far as they are known."""
    if arm.pulls == 0:
        return Estimate(label, 0, None, None, None, arm.open_asks, arm.retired)
    with np.errstate(over="ignore"):  # a cost too large for a float is infinite
        cost = float(risk.estimate(arm.mean, arm.variance, ordered(arm)))
    return Estimate(label, arm.pulls, arm.mean, arm.variance, cost, arm.open_asks, arm.retired)


def intervals(
    label: Any,
    arm: ArmState,
    risk: RiskMeasure,
    quantile: float | None,
    failure: float,
    support: tuple[float, float],
) -> Intervals:
    """Each may miss, ever, with probability `failure`."""
    if arm.pulls == 0:
        return Intervals(label, 0, None, None, None, None)
    within = failure, *support
    with np.errstate(over="ignore"):
        if arm.ledger is None:
            known = arm.pulls, arm.mean, arm.variance
            mean, variance = always.mean_bounds(*known, *within), always.variance_bounds(*known, *within)
        else:
            mean = betting.mean_bounds(arm.ledger, arm.pulls, arm.mean, *within)
            variance = betting.variance_bounds(arm.ledger, arm.pulls, arm.mean, *within)
        asked = None if quantile is None else always.quantile_bounds(ordered(arm), quantile, *within)
    (cost,) = cost_bounds([arm], risk, failure, support)
    found = (bounds and Interval(*map(float, bounds)) for bounds in (mean, variance, cost, asked))
    return Intervals(label, arm.pulls, *found)


def cost_bounds(
    arms: Sequence[ArmState], risk: RiskMeasure, failure: float, support: tuple[float, float], times: float = 1.0
) -> list[tuple[float, float] | None]:
    """Where the cost of each arm lies, at all times; None where nothing is known.

    With `times` they are the bounds that so many times the rewards would give if they went on as they have been; only
    for measures of which mean and variance are all that counts.
    """
    bets = [i for i, arm in enumerate(arms) if arm.ledger is not None and isinstance(risk, MeanVariance)]
    found: list[tuple[float, float] | None] = [None] * len(arms)
    with np.errstate(over="ignore"):
        for i, arm in enumerate(arms):
            if arm.pulls > 0 and i not in bets:
                pulls: Any = arm.pulls if times == 1.0 else times * arm.pulls
                found[i] = risk.always_bounds(pulls, arm.mean, arm.variance, ordered(arm), failure, *support)
        if bets and isinstance(risk, MeanVariance):  # all at once: the search takes its time
            ledgers, pulls = (times * np.array([getattr(arms[i], part) for i in bets]) for part in ("ledger", "pulls"))
            means = [arms[i].mean for i in bets]
            lows, highs = betting.mean_variance_bounds(ledgers, pulls, means, risk.rho, failure, *support)
            for i, low, high in zip(bets, lows, highs, strict=True):
                found[i] = float(low), float(high)
    return found
