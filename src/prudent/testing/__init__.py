"""Conformance checks for arms, risk measures, policies and strategies: this package's own, and yours.

    from prudent.testing import check_policy

    def test_my_policy_keeps_the_contract():
        check_policy(MyPolicy(width=2.0))

A check raises `ConformanceError`, an AssertionError that names the broken rule and the likely fix. Streams are fixed,
so a check passes always or never.
"""

from prudent.testing.arms import check_arm
from prudent.testing.policies import check_policy
from prudent.testing.risks import check_risk
from prudent.testing.rules import ConformanceError
from prudent.testing.strategies import check_strategy

__all__ = ["ConformanceError", "check_arm", "check_policy", "check_risk", "check_strategy"]
