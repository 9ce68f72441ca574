"""Risk measures. Every one is a cost: smaller is better."""

from prudent.risk.base import Interval as Interval
from prudent.risk.base import RiskMeasure as RiskMeasure
from prudent.risk.base import risks as risks
