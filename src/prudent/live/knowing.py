"""What is known of an arm: estimates, and intervals that hold at all times at once."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard

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
    labels: Sequence[Any],
    arms: Sequence[ArmState],
    risk: RiskMeasure,
    quantile: float | None,
    failure: float,
    support: tuple[float, float],
) -> list[Intervals]:
    """Each may miss, ever, with probability `failure`."""
    means = moment_bounds("mean_bounds", arms, failure, support)
    joint = moment_bounds("joint_bounds", arms, failure, support)
    costs = costs_of(joint, risk.rho) if moments_do(risk) else cost_bounds(arms, risk, failure, support)
    found = []
    for label, arm, mean, both, cost in zip(labels, arms, means, joint, costs, strict=True):
        asked = None
        if quantile is not None and arm.pulls > 0:
            asked = always.quantile_bounds(ordered(arm), quantile, failure, *support)
        known = (mean, both and both[1], cost, asked)
        found.append(Intervals(label, arm.pulls, *(ends and Interval(*map(float, ends)) for ends in known)))
    return found


def costs_of(joint: Sequence[Any], rho: float) -> list[tuple[float, float] | None]:
    """Where σ² − ρ μ lies, from intervals of mean and variance that hold together: what `cost_bounds` would search
    for once more."""
    return [both and (both[1][0] - rho * both[0][1], both[1][1] - rho * both[0][0]) for both in joint]


def moments_do(risk: RiskMeasure) -> TypeGuard[MeanVariance]:
    """Whether the cost follows from mean and variance by `costs_of`; with ρ = ∞ the mean alone is sharper."""
    return isinstance(risk, MeanVariance) and math.isfinite(risk.rho)


def cost_bounds(
    arms: Sequence[ArmState], risk: RiskMeasure, failure: float, support: tuple[float, float], times: float = 1.0
) -> list[tuple[float, float] | None]:
    """Where the cost of each arm lies, at all times; None where nothing is known.

    With `times` they are the bounds that so many times the rewards would give if they went on as they have been; only
    for measures of which mean and variance are all that counts.
    """
    if isinstance(risk, MeanVariance):
        return moment_bounds("mean_variance_bounds", arms, failure, support, times, risk.rho)
    found: list[tuple[float, float] | None] = [None] * len(arms)
    with np.errstate(over="ignore"):
        for i, arm in enumerate(arms):
            if arm.pulls > 0:
                pulls: Any = arm.pulls if times == 1.0 else times * arm.pulls
                found[i] = risk.always_bounds(pulls, arm.mean, arm.variance, ordered(arm), failure, *support)
    return found


def moment_bounds(
    what: str,
    arms: Sequence[ArmState],
    failure: float,
    support: tuple[float, float],
    times: float = 1.0,
    *rho: float,
) -> list[Any]:
    """The function `what` of `betting`, or of `always` for arms without a ledger; None without rewards.

    All arms of a kind are searched at once, which takes little longer than one.
    """
    found: list[Any] = [None] * len(arms)
    for kind in (betting, always):
        some = [i for i, arm in enumerate(arms) if arm.pulls > 0 and (arm.ledger is None) == (kind is always)]
        if not some:
            continue
        pulls, means = (np.array([getattr(arms[i], part) for i in some], float) for part in ("pulls", "mean"))
        if kind is betting:
            known = times * np.array([arms[i].ledger for i in some]), times * pulls, means
        else:
            known = times * pulls, means, np.array([arms[i].variance for i in some])
        with np.errstate(over="ignore"):
            ends = np.array(getattr(kind, what)(*known, *rho, failure, *support))
        for i, own in zip(some, np.moveaxis(ends, -1, 0).tolist(), strict=True):
            found[i] = own
    return found
