"""Measures that only fall as rewards rise, so that a band around the distribution of rewards bounds them."""

from prudent.risk.base import RiskMeasure
from prudent.risk.distortion import Distortion
from prudent.risk.entropic import Entropic, EVaR
from prudent.risk.shortfall import Shortfall
from prudent.risk.utility import CPT, ExpectedUtility

MONOTONE = (Distortion, Entropic, EVaR, CPT, Shortfall, ExpectedUtility)


def is_monotone(risk: RiskMeasure) -> bool:
    """Whether larger rewards never cost more, as far as is known."""
    return isinstance(risk, MONOTONE)
