"""What is known of an arm: estimates, and intervals that hold at all times at once."""

from typing import Any, NamedTuple

import numpy as np

from prudent.confidence import always
from prudent.live.state import ArmState, ordered
from prudent.risk.base import Interval, RiskMeasure


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
    known, within = (arm.pulls, arm.mean, arm.variance), (failure, *support)
    with np.errstate(over="ignore"):
        found = (
            always.mean_bounds(*known, *within),
            always.variance_bounds(*known, *within),
            risk.always_bounds(*known, ordered(arm), *within),
            None if quantile is None else always.quantile_bounds(ordered(arm), quantile, *within),
        )
    return Intervals(label, arm.pulls, *(bounds and Interval(*map(float, bounds)) for bounds in found))
