"""Where the mean, a cost, a quantile and the whole law of what a policy receives lie, from samples of it.

Under `weights` the whole log is one sample, with the weights of betting.py. Under `arms` there is a sample for each arm
that the policy may take, all its weights being 1; their limits share the failure and are put together as the policy
mixes the arms.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array, Counts
from prudent.evaluation.bands import Band, Steps, band_of, mixed, quantile_limits
from prudent.evaluation.betting import Sample, cost_limits, mean_limits, tail_limits
from prudent.risk.base import Interval, RiskMeasure
from prudent.risk.entropic import Entropic
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.monotone import is_monotone
from prudent.risk.tails import CVaR, MeanCVaR
from prudent.risk.utility import ExpectedUtility

FOR_MEAN = 0.1
"""The share of the failure that goes to the mean where a cost is wanted. With one sample it moves the limits of the
cost only by the square of its own width."""


class Samples(NamedTuple):
    """Samples, the share of each in what the policy receives, and in which rounds of the log their rewards came."""

    samples: tuple[Sample, ...]
    shares: Array
    rounds: tuple[Counts, ...]

    def reversed(self) -> "Samples":
        """Those of −R."""
        return self._replace(samples=tuple(sample.reversed() for sample in self.samples))

    def of(self, function: Callable[[Array], Array], low: float, high: float) -> "Samples":
        """Those of a function of R, which lies between two ends."""
        each = (one._replace(rewards=function(one.rewards), low=low, high=high) for one in self.samples)
        return self._replace(samples=tuple(each))

    @property
    def bounded(self) -> bool:
        """Whether it is known between which ends rewards lie."""
        return math.isfinite(self.samples[0].low) and math.isfinite(self.samples[0].high)

    def mean(self, failure: float) -> Interval:
        """Where the mean lies."""
        each = np.array([mean_limits(sample, failure / len(self.samples)) for sample in self.samples])
        return Interval(*(self.shares @ each).tolist())

    def cost(self, rho: float, failure: float) -> Interval:
        """Where σ² − ρμ lies. It is the sum of what each sample adds, its share times E[(R − θ)² − ρR], where θ is the
        mean of the whole."""
        low, reach = self.samples[0].low, self.samples[0].high - self.samples[0].low
        units, tolerance, count = [sample.scaled() for sample in self.samples], rho / reach, len(self.samples)
        means = np.array([mean_limits(unit, FOR_MEAN * failure / count) for unit in units])
        whole, part = self.shares @ means, (1.0 - FOR_MEAN) * failure / count
        found = [
            cost_limits(unit, tolerance, centre, shift_of(centre, whole, own if count > 1 else None), part)
            for unit, centre, own in zip(units, self.guesses(units), means, strict=True)
        ]
        least, most = self.shares @ np.array(found)
        # No variance is below 0, nor above μ(1 − μ).
        worst = min(max((1.0 - tolerance) / 2.0, whole[0]), whole[1])
        most = min(most, worst * (1.0 - worst) - tolerance * worst)
        ends = min(max(least, -tolerance * whole[1]), most), most
        return Interval(*(float(reach**2 * end - rho * low) for end in ends))

    def tail(self, alpha: float, weight: float, failure: float) -> Interval:
        """Where weight · CVaR_α − (1 − weight) · μ lies, of one sample."""
        low, reach = self.samples[0].low, self.samples[0].high - self.samples[0].low
        ends = tail_limits(self.samples[0].scaled(), alpha, weight, failure)
        return Interval(*(float(reach * end - low) for end in ends))

    def guesses(self, units: list[Sample]) -> list[Array]:
        """Of the mean of the whole, before each round of each sample."""
        if len(units) == 1:
            return [units[0].running_mean(units[0].rewards, 0.5)]
        means = [np.cumsum(np.append(0.5, unit.rewards)) / np.arange(1, len(unit.rewards) + 2) for unit in units]
        return [
            self.shares
            @ np.array([mean[np.searchsorted(each, own)] for mean, each in zip(means, self.rounds, strict=True)])
            for own in self.rounds
        ]

    def band(self, failure: float) -> Band:
        """The two laws between which that of rewards lies."""
        share = failure / len(self.samples)
        return mixed([band_of(sample, share) for sample in self.samples], self.shares)

    def quantile(self, level: float, band: Band, failure: float) -> Interval:
        """Where a quantile lies; of one sample by bets on this level alone, else by the band."""
        if len(self.samples) > 1:
            return Interval(band.lower.quantile(level), band.upper.quantile(level))
        low, high = quantile_limits(self.samples[0], np.array([level]), failure)
        return Interval(float(low[0]), float(high[0]))


def shift_of(centre: Array, whole: Array, own: Array | None) -> tuple[Array, Array]:
    """Between what E[(R − c)² − (R − θ)²] = (θ − c)(2μ − θ − c) lies, for θ within `whole` and the mean μ of R within
    `own`, or the same as θ. It is straight in μ and bends down in θ, with the top at θ = μ."""
    if own is None:
        return np.zeros(len(centre)), np.maximum((whole[0] - centre) ** 2, (whole[1] - centre) ** 2)

    def shift(theta: float, mean: float) -> Array:
        return (theta - centre) * (2.0 * mean - theta - centre)

    corners = np.array([shift(theta, mean) for theta in whole for mean in own])
    return corners.min(0), np.array([shift(float(np.clip(mean, *whole)), mean) for mean in own]).max(0)


def risk_limits(samples: Samples, risk: RiskMeasure, band: Band, failure: float) -> Interval | None:
    """Where the cost of rewards lies; None if no limits are known for this measure."""
    if isinstance(risk, MeanVariance):
        if not math.isinf(risk.rho):
            return samples.cost(risk.rho, failure)
        low, high = samples.mean(failure)
        return Interval(-high, -low)
    if isinstance(risk, (CVaR, MeanCVaR)) and len(samples.samples) == 1:
        return samples.tail(risk.alpha, risk.weight if isinstance(risk, MeanCVaR) else 1.0, failure)
    if (direct := _of_expectation(samples, risk, failure)) is not None:
        return direct
    if is_monotone(risk):
        return Interval(_cost(risk, band.upper), _cost(risk, band.lower))
    return None


def _of_expectation(samples: Samples, risk: RiskMeasure, failure: float) -> Interval | None:
    """Where a cost lies that is a function of one expectation, by bets on that; None for others."""
    low, high = samples.samples[0].low, samples.samples[0].high
    if isinstance(risk, Entropic):
        lam = risk.lam
        least, most = samples.of(lambda x: np.exp(-lam * (x - low)), math.exp(-lam * (high - low)), 1.0).mean(failure)
        return Interval(math.log(least) / lam - low, math.log(most) / lam - low)
    if isinstance(risk, ExpectedUtility) and np.isfinite(ends := risk.utility(np.array([low, high]))).all():
        worst, best = samples.of(risk.utility, float(ends[0]), float(ends[1])).mean(failure)
        return Interval(-best, -worst)
    return None


def _cost(risk: RiskMeasure, law: Steps) -> float:
    return risk.sample_cost(law.values, law.weights)
