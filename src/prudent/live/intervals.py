"""Where an arm's true values lie, valid however often one looks."""

from typing import Any, NamedTuple

from prudent.live.state import ArmState, ordered
from prudent.risk.base import Interval, RiskMeasure
from prudent.risk.mean_variance import MeanVariance
from prudent.sequences import check_quantile, mean_bounds, mean_variance_bounds, quantile_bounds, variance_bounds


class Intervals(NamedTuple):
    """Confidence sequences of an arm, see `Agent.intervals`. None before its first reward and where none is known."""

    arm: int
    pulls: int
    mean: Interval | None
    variance: Interval | None
    cost: Interval | None
    quantile: Interval | None


def arm_intervals(
    number: int,
    arm: ArmState,
    risk: RiskMeasure,
    quantile: float | None,
    failure: float,
    support: tuple[float, float],
) -> Intervals:
    """Each may fail at any time with probability `failure` in all."""
    if quantile is not None:
        check_quantile(quantile)  # before the first reward too
    if arm.pulls == 0:
        return Intervals(number, 0, None, None, None, None)
    known, within = (arm.pulls, arm.mean, arm.variance), (failure, *support)
    return Intervals(
        number,
        arm.pulls,
        _interval(mean_bounds(*known, *within)),
        _interval(variance_bounds(*known, *within)),
        _cost(arm, risk, *within),
        None if quantile is None else _interval(quantile_bounds(ordered(arm), quantile, *within)),
    )


def _cost(arm: ArmState, risk: RiskMeasure, failure: float, low: float, high: float) -> Interval | None:
    """A measure's own bounds hold at a fixed time; those at n pulls get failure/n(n + 1), in all Σ = failure."""
    if isinstance(risk, MeanVariance):
        return _interval(mean_variance_bounds(arm.pulls, arm.mean, arm.variance, risk.rho, failure, low, high))
    bounds = getattr(risk, "bounds", None)
    if bounds is None:
        return None
    share = failure / (arm.pulls * (arm.pulls + 1))
    return _interval(bounds(arm.pulls, arm.mean, arm.variance, ordered(arm), share, low, high))


def _interval(bounds: tuple[Any, Any]) -> Interval:
    return Interval(*map(float, bounds))
