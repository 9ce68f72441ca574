"""Risk measures. Every one is a cost: smaller is better."""

from prudent.risk.base import Interval, RiskMeasure, registry
from prudent.risk.distortion import Distortion, ExponentialSpectrum, ProportionalHazard, Spectral, Wang
from prudent.risk.entropic import Entropic
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.mixed import Mixed
from prudent.risk.periods import PeriodCost, period_cost
from prudent.risk.sharpe import Sharpe
from prudent.risk.tails import CVaR, MeanCVaR, VaR
from prudent.risk.utility import ExpectedUtility, ExponentialUtility, LossAverse, Semivariance

__all__ = [
    "CVaR",
    "Distortion",
    "Entropic",
    "ExpectedUtility",
    "ExponentialSpectrum",
    "ExponentialUtility",
    "Interval",
    "LossAverse",
    "MeanCVaR",
    "MeanVariance",
    "Mixed",
    "PeriodCost",
    "ProportionalHazard",
    "RiskMeasure",
    "Semivariance",
    "Sharpe",
    "Spectral",
    "VaR",
    "Wang",
    "period_cost",
    "registry",
]
