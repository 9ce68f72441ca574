"""Where the mean, a cost, a quantile and the whole law of what a policy receives lie, from samples of it.

Under `weights` the whole log is one sample, with the weights of betting.py. Under `arms` there is a sample for each arm
that the policy may take, all its weights being 1; their limits share the failure and are put together as the policy
mixes the arms.
"""

import math
from typing import NamedTuple

import numpy as np

from prudent.arrays import Array
from prudent.evaluation.bands import Band, Steps, band_of, mixed, quantile_limits
from prudent.evaluation.betting import Sample, cost_limits, mean_limits
from prudent.live.summary import split_cost
from prudent.risk.base import Interval, RiskMeasure
from prudent.risk.distortion import Distortion
from prudent.risk.entropic import Entropic
from prudent.risk.evar import EVaR
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.prospect import CPT
from prudent.risk.shortfall import Shortfall
from prudent.risk.utility import ExpectedUtility

MONOTONE = (Distortion, Entropic, EVaR, CPT, Shortfall, ExpectedUtility)
"""Measures that fall as rewards rise, so that a band bounds them."""

FOR_MEAN = 0.1
"""The share of the failure that goes to the mean where a cost is wanted. It moves the limits of the cost only by the
square of its own width."""


class Samples(NamedTuple):
    """Samples, and the share of each in what the policy receives."""

    samples: tuple[Sample, ...]
    shares: Array

    def reversed(self) -> "Samples":
        """Those of −R."""
        return Samples(tuple(sample.reversed() for sample in self.samples), self.shares)

    @property
    def bounded(self) -> bool:
        """Whether it is known between which ends rewards lie."""
        return math.isfinite(self.samples[0].low) and math.isfinite(self.samples[0].high)

    def mean(self, failure: float) -> Interval:
        """Where the mean lies."""
        each = np.array([mean_limits(sample, failure / len(self.samples)) for sample in self.samples])
        return Interval(*(self.shares @ each).tolist())

    def cost(self, rho: float, failure: float) -> Interval:
        """Where σ² − ρμ lies."""
        if len(self.samples) == 1:
            (only,) = self.samples
            return Interval(*cost_limits(only, rho, mean_limits(only, FOR_MEAN * failure), (1.0 - FOR_MEAN) * failure))
        half = failure / (2.0 * len(self.samples))
        means = [mean_limits(sample, half) for sample in self.samples]
        spreads = [cost_limits(sample, 0.0, ends, half) for sample, ends in zip(self.samples, means, strict=True)]
        (low, high), (calm, wild) = np.transpose(means), np.transpose(spreads)
        return split_cost((low, high), (calm, wild), rho, self.shares)

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


def risk_limits(samples: Samples, risk: RiskMeasure, band: Band, failure: float) -> Interval | None:
    """Where the cost of rewards lies; None if no limits are known for this measure."""
    if isinstance(risk, MeanVariance):
        if not math.isinf(risk.rho):
            return samples.cost(risk.rho, failure)
        low, high = samples.mean(failure)
        return Interval(-high, -low)
    if isinstance(risk, MONOTONE):
        return Interval(_cost(risk, band.upper), _cost(risk, band.lower))
    return None


def _cost(risk: RiskMeasure, law: Steps) -> float:
    return risk.sample_cost(law.values, law.weights)
