"""How much a policy may explore is a whole number of pulls that the horizon has room for, and the refusal names it."""

import pytest

from prudent import RSETCM, ExpExp, MeanVariance, PrudentError
from prudent.policies.binding import bind
from prudent.policies.contract import Setting

RISK = MeanVariance(1.0)


@pytest.mark.parametrize("horizon", [9, 10, 11])
def test_rs_etc_m_pulls_each_arm_as_often_as_there_are_rounds(horizon):
    bind(RSETCM(explore=3, parts=2), Setting(3, RISK, horizon))
    with pytest.raises(PrudentError, match=r"^rs-etc-m: explore must be a whole number from 1 to 3, got 4"):
        bind(RSETCM(explore=4, parts=2), Setting(3, RISK, horizon))
    with pytest.raises(PrudentError, match=r"rs-etc-m: explore must be .*, got 0"):
        bind(RSETCM(explore=0, parts=2), Setting(3, RISK, horizon))


@pytest.mark.parametrize("horizon", [9, 10, 11])
def test_exp_exp_explores_for_at_most_all_rounds(horizon):
    for tau in (3, horizon):
        bind(ExpExp(tau=tau), Setting(3, RISK, horizon))
    for tau in (2, horizon + 1):
        with pytest.raises(PrudentError, match=f"^exp-exp: tau must be a whole number from 3 to {horizon}, got {tau}"):
            bind(ExpExp(tau=tau), Setting(3, RISK, horizon))
