"""Conformance checks for arms, risk measures, policies and strategies: this package's own, and yours.

    from prudent.testing import check_policy

    def test_my_policy_keeps_the_contract():
        check_policy(MyPolicy(width=2.0))

A check raises `ConformanceError`, an AssertionError that names the broken rule and the likely fix. Streams are fixed,
so a check passes always or never.

Examples
--------
>>> from prudent.testing import check_arm
>>> check_arm("bernoulli(0.3)")

arms.py       the contract of a reward law
learners.py   the contract of a learner
policies.py   the contracts of a policy, and of a strategy for finding the best arm
risks.py      the contract of a risk measure
rules.py      how a broken rule is told, and the rules that laws, risk measures, policies and strategies share
"""

from prudent.testing.arms import check_arm as check_arm
from prudent.testing.policies import check_policy as check_policy
from prudent.testing.policies import check_strategy as check_strategy
from prudent.testing.risks import check_risk as check_risk
from prudent.testing.rules import ConformanceError as ConformanceError
