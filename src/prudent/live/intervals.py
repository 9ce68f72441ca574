"""Where mean, variance, cost and a quantile of each arm lie: intervals that hold at all times at once.

All of them come from limits *at a gain* s, beyond which the logarithm of a capital is s or more (`confidence.betting`).
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array
from prudent.confidence import anytime, betting, tails
from prudent.confidence.anytime import MEAN_SHARE, Pair
from prudent.confidence.betting import LEVELS
from prudent.engine.python.arm import ArmState, ordered
from prudent.live.evidence import Evidence, tail_of
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
    """Where a quantity of each arm lies, at all times; None where nothing is known.

    Of two values it is the image of the mean's interval, which fails only with it."""
    spent = failure * MEAN_SHARE if needs_mean(evidence, what) and not evidence.binary else 0.0
    low, high = (ends[0] for ends in limits(evidence, what, anytime.gains(failure - spent), spent))
    ends = zip(np.minimum(low, high).tolist(), high.tolist(), strict=True)
    return [None if math.isinf(least) or math.isinf(most) else Interval(least, most) for least, most in ends]


def needs_mean(evidence: Evidence, what: Quantity) -> bool:
    """Whether limits of it need an interval of the mean, which takes its share of the failure. The cost of two values
    does not if it only falls as the mean rises."""
    risk = evidence.risk
    if what == "mean" or (what == "cost" and not (isinstance(risk, MeanVariance) and risk.rho < math.inf)):
        return False
    return not (evidence.binary and _rho(evidence, what) >= evidence.support[1] - evidence.support[0])


def limits(evidence: Evidence, what: Quantity, gains: ArrayLike, failure: float, times: float = 1.0) -> Pair:
    """Limits from below and from above, arrays (gain, arm), infinite where nothing is known; `failure` is what the
    interval of the mean takes, where one is needed.

    With `times` they are those that so many times the rewards would give if they went on as they have been.
    """
    arms, risk, support = evidence[:3]
    if what == "cost" and not isinstance(risk, MeanVariance):
        return _limits_of_measure(evidence, np.asarray(gains, float), times)
    if what == "mean" or (what == "cost" and risk == MeanVariance(math.inf)):
        low, high = _of_moments("mean_limits", evidence, times, gains)
        return (low, high) if what == "mean" else (-high, -low)
    rho = _rho(evidence, what)
    if evidence.binary:
        means = _of_moments("mean_limits", evidence, times, gains)
        within = _of_moments("mean_limits", evidence, times, anytime.gains(failure)) if failure > 0.0 else means
        return _of_two_values(arms, rho, means, within, support)
    return _of_moments("mean_variance_limits", evidence, times, rho, gains, failure)


def _of_moments(name: str, evidence: Evidence, times: float, *asked: Any) -> Pair:
    """The function `name` of `betting`, or of `anytime` for arms without a ledger. All arms of a kind are searched at
    once, which takes little longer than one."""
    arms, _, support, binary = evidence
    ledgers = [ledger_of(arm, support, binary) for arm in arms]
    gains = len(asked[0] if len(asked) == 1 else asked[1])
    low, high = np.full((gains, len(arms)), -math.inf), np.full((gains, len(arms)), math.inf)
    for kind in (betting, anytime):
        some = [i for i, arm in enumerate(arms) if arm.pulls > 0 and (ledgers[i] is None) == (kind is anytime)]
        if not some:
            continue
        pulls = times * np.array([arms[i].pulls for i in some], float)
        if kind is betting:
            known: tuple[Array, ...] = times * np.array([ledgers[i] for i in some], float), pulls
        else:
            known = pulls, *(np.array([getattr(arms[i], part) for i in some]) for part in ("mean", "variance"))
        with np.errstate(over="ignore"):
            low[:, some], high[:, some] = getattr(kind, name)(*known, *asked, support)
    return low, high


def ledger_of(arm: ArmState, support: Ends, binary: bool) -> Array | None:
    """What bets on an arm's rewards have won. Of two values it follows from their mean, so that merged rewards lose
    nothing."""
    if not binary or arm.pulls == 0:
        return arm.ledger
    low, high = support
    return betting.of_two_values(round(arm.pulls * (arm.mean - low) / (high - low)), arm.pulls)


def quantiles(arm: ArmState, levels: Array, gains: ArrayLike, support: Ends) -> Pair:
    """Limits of quantiles from below and from above, arrays (gain, level), by bets on each level alone."""
    (low, high), rewards = support, ordered(arm)
    enough = betting.fewest_below(arm.pulls, levels, gains), betting.fewest_below(arm.pulls, 1.0 - levels, gains)
    return np.append(rewards[::-1], low)[enough[1] - 1], np.append(rewards, high)[enough[0] - 1]


def _rho(evidence: Evidence, what: Quantity) -> float:
    """The ρ of a cost, 0 of a variance."""
    return evidence.risk.rho if what == "cost" and isinstance(evidence.risk, MeanVariance) else 0.0


def _of_two_values(arms: Sequence[ArmState], rho: float, means: Pair, within: Pair, support: Ends) -> Pair:
    """Limits of σ² − ρμ where rewards are one of the two ends of the support: what limits of μ make of the function
    c(μ) = (high − μ)(μ − low) − ρμ, which rises up to its top and falls from there.

    A limit must be wrong only if the bets of *one* gambler have won, who knows the true μ, since the larger of two
    capitals is no capital. Let μ lie below the top (above it the sides change their parts). The lower limit is the
    lesser of c at both limits of μ; it exceeds c(μ) only if the lower limit of μ does. The upper one is c at the top as
    long as that is `within` the interval that has a failure of its own, and after that c at the limit of μ on the side
    of the top; it is below c(μ) only if that limit lies below μ.
    """
    (low, high), seen = support, np.array([arm.pulls > 0 for arm in arms])
    known = np.where(seen, np.array([arm.mean for arm in arms]), low)
    ends = np.clip(np.minimum(within[0], known), low, high), np.clip(np.maximum(within[1], known), low, high)
    left, right = np.clip(np.minimum(means[0], known), *ends), np.clip(np.maximum(means[1], known), *ends)
    top = (low + high - rho) / 2.0

    def cost(mean: Array | float) -> Any:
        return (high - mean) * (mean - low) - rho * mean

    least = np.minimum(cost(left), cost(right))
    most = np.where(ends[1] <= top, cost(right), np.where(ends[0] >= top, cost(left), cost(top)))
    return np.where(seen, least, -math.inf), np.where(seen, most, math.inf)


def _limits_of_measure(evidence: Evidence, gains: Array, times: float) -> Pair:
    """By bets on a CVaR. By a band around the distribution where another cost falls as rewards rise: bets on 128 levels
    share the capital. Otherwise by the measure's own `always_bounds`, which fail with a probability: that of two sides
    at each gain."""
    arms, risk, support = evidence[:3]
    low, high = np.full((len(gains), len(arms)), -math.inf), np.full((len(gains), len(arms)), math.inf)
    steps = np.diff(LEVELS, prepend=0.0, append=1.0)
    tail, some = tail_of(risk), [i for i, arm in enumerate(arms) if arm.tail is not None]
    if tail is not None and some:
        ledgers, counts = np.array([arms[i].tail for i in some]), np.array([arms[i].pulls for i in some], float)
        low[:, some], high[:, some] = tails.limits(times * ledgers, times * counts, *tail, gains, support)
    for i, arm in enumerate(arms):
        if arm.pulls == 0 or arm.tail is not None:
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
