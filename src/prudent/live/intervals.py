"""Where mean, variance, cost and a quantile of each arm lie: intervals that hold at all times at once.

All of them come from limits *at a gain* s, beyond which the logarithm of a capital is s or more (`confidence.betting`).
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array
from prudent.confidence import anytime, betting
from prudent.confidence.anytime import MEAN_SHARE, Pair
from prudent.confidence.betting import LEVELS
from prudent.engine.python.arm import ArmState, ordered
from prudent.live.evidence import Evidence
from prudent.live.labels import Label
from prudent.risk.base import Interval
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.monotone import is_monotone

Ends: TypeAlias = tuple[float, float]
Quantity: TypeAlias = Literal["mean", "variance", "cost"]


class Intervals(NamedTuple):
    """Confidence sequences of an arm, see `Agent.intervals`. None before its first reward and where none is known."""

    arm: Label
    pulls: int
    mean: Interval | None
    variance: Interval | None
    cost: Interval | None
    quantile: Interval | None


def intervals(evidence: Evidence, failure: float, quantile: float | None = None) -> list[Intervals]:
    """Each may miss, ever, with probability `failure`."""
    arms, support = evidence.arms, evidence.support
    known = [bounds(evidence, what, failure) for what in ("mean", "variance", "cost")]
    found = []
    for i, arm in enumerate(arms):
        asked = None
        if quantile is not None and arm.pulls > 0:
            ends = quantiles(arm, np.array([quantile]), anytime.gains(failure), support)
            asked = Interval(*(float(end[0, 0]) for end in ends))
        mean, variance, cost = (each[i] for each in known)
        found.append(Intervals(evidence.label(i), arm.pulls, mean, variance, cost, asked))
    return found


def bounds(evidence: Evidence, what: Quantity, failure: float) -> list[Interval | None]:
    """Where a quantity of each arm lies, at all times; None where nothing is known."""
    spent = failure * MEAN_SHARE if needs_mean(evidence, what) else 0.0
    low, high = (ends[0] for ends in limits(evidence, what, anytime.gains(failure - spent), spent))
    ends = zip(np.minimum(low, high).tolist(), high.tolist(), strict=True)
    return [None if math.isinf(least) or math.isinf(most) else Interval(least, most) for least, most in ends]


def needs_mean(evidence: Evidence, what: Quantity) -> bool:
    """Whether limits of it need an interval of the mean, which takes its share of the failure."""
    risk = evidence.risk
    squared = what == "variance" or (what == "cost" and isinstance(risk, MeanVariance) and risk.rho < math.inf)
    return squared and not evidence.binary


def limits(evidence: Evidence, what: Quantity, gains: ArrayLike, failure: float, times: float = 1.0) -> Pair:
    """Limits from below and from above, arrays (gain, arm), infinite where nothing is known; `failure` is what the
    interval of the mean takes, where one is needed.

    With `times` they are those that so many times the rewards would give if they went on as they have been.
    """
    arms, risk, support = evidence[:3]
    if what == "cost" and not isinstance(risk, MeanVariance):
        return _limits_of_measure(evidence, np.asarray(gains, float), times)
    if what == "mean" or (what == "cost" and risk == MeanVariance(math.inf)):
        low, high = _of_moments("mean_limits", arms, support, times, gains)
        return (low, high) if what == "mean" else (-high, -low)
    rho = risk.rho if what == "cost" and isinstance(risk, MeanVariance) else 0.0
    if evidence.binary:
        return _of_two_values(arms, rho, _of_moments("mean_limits", arms, support, times, gains), support)
    return _of_moments("mean_variance_limits", arms, support, times, rho, gains, failure)


def _of_moments(name: str, arms: Sequence[ArmState], support: tuple[float, float], times: float, *asked: Any) -> Pair:
    """The function `name` of `betting`, or of `anytime` for arms without a ledger. All arms of a kind are searched at
    once, which takes little longer than one."""
    gains = len(asked[0] if len(asked) == 1 else asked[1])
    low, high = np.full((gains, len(arms)), -math.inf), np.full((gains, len(arms)), math.inf)
    for kind in (betting, anytime):
        some = [i for i, arm in enumerate(arms) if arm.pulls > 0 and (arm.ledger is None) == (kind is anytime)]
        if not some:
            continue
        pulls = times * np.array([arms[i].pulls for i in some], float)
        if kind is betting:
            known: tuple[Array, ...] = times * np.array([arms[i].ledger for i in some]), pulls
        else:
            known = pulls, *(np.array([getattr(arms[i], part) for i in some]) for part in ("mean", "variance"))
        with np.errstate(over="ignore"):
            low[:, some], high[:, some] = getattr(kind, name)(*known, *asked, support)
    return low, high


def quantiles(arm: ArmState, levels: Array, gains: ArrayLike, support: Ends) -> Pair:
    """Limits of quantiles from below and from above, arrays (gain, level), by bets on each level alone."""
    (low, high), rewards = support, ordered(arm)
    enough = betting.fewest_below(arm.pulls, levels, gains), betting.fewest_below(arm.pulls, 1.0 - levels, gains)
    return np.append(rewards[::-1], low)[enough[1] - 1], np.append(rewards, high)[enough[0] - 1]


def _of_two_values(arms: Sequence[ArmState], rho: float, means: Pair, support: Ends) -> Pair:
    """Limits of σ² − ρμ where rewards are one of the two ends of the support: what the limits of μ make of the function
    (high − μ)(μ − low) − ρμ, which rises up to one place and falls from there. Its least value between two limits is at
    one of them."""
    (low, high), seen = support, np.array([arm.pulls > 0 for arm in arms])
    known = np.array([arm.mean for arm in arms])
    left, right = np.clip(np.minimum(means[0], known), low, high), np.clip(np.maximum(means[1], known), low, high)

    def cost(mean: Array) -> Array:
        return (high - mean) * (mean - low) - rho * mean

    least, most = np.minimum(cost(left), cost(right)), cost(np.clip((low + high - rho) / 2.0, left, right))
    return np.where(seen, least, -math.inf), np.where(seen, most, math.inf)


def _limits_of_measure(evidence: Evidence, gains: Array, times: float) -> Pair:
    """By a band around the distribution, where the cost falls as rewards rise: bets on 128 levels share the capital.
    Otherwise by the measure's own `always_bounds`, which fail with a probability: that of two sides at each gain."""
    arms, risk, support = evidence[:3]
    low, high = np.full((len(gains), len(arms)), -math.inf), np.full((len(gains), len(arms)), math.inf)
    steps = np.diff(LEVELS, prepend=0.0, append=1.0)
    for i, arm in enumerate(arms):
        if arm.pulls == 0:
            continue
        if is_monotone(risk) and all(map(math.isfinite, support)):
            ends = quantiles(arm, LEVELS, gains + math.log(len(LEVELS)), support)
            for row, (left, right) in enumerate(zip(*ends, strict=True)):
                low[row, i] = risk.sample_cost(np.append(right, support[1]), steps)
                high[row, i] = risk.sample_cost(np.append(support[0], left), steps)
            continue
        pulls: Any = arm.pulls if times == 1.0 else times * arm.pulls
        for row, gain in enumerate(gains.tolist()):
            with np.errstate(over="ignore"):
                known = pulls, arm.mean, arm.variance, ordered(arm), min(2.0 * math.exp(-gain), 1.0)
                found = risk.always_bounds(*known, *support)
            if found is not None:
                low[row, i], high[row, i] = found
    return low, high
