"""Risk measures. Every one is a cost: smaller is better."""

from prudent.risk.base import RiskMeasure, registry
from prudent.risk.mean_variance import MeanVariance

__all__ = ["MeanVariance", "RiskMeasure", "registry"]
