"""What intervals, differences, exclusions and rails spend on their parts is what they were given, and no more."""

import math

import numpy as np
import pytest

from helpers.coins import coin
from prudent import MeanVariance
from prudent.engine.python.arm import ArmState, include_reward
from prudent.live import differences, guardrails, intervals, stopping
from prudent.live.evidence import Evidence

FAILURE = 0.1


@pytest.fixture
def asked(monkeypatch):
    """The failures with which limits are asked for: that of the mean's interval, and that of one side at a gain."""
    found = []

    def recorded(evidence, what, gains, failure, times=1.0):
        gains = np.asarray(gains, float)
        found.append((what, len(evidence.arms), gains, failure))
        return original(evidence, what, gains, failure, times)

    original = intervals.limits
    for room in (intervals, differences, guardrails, stopping):
        monkeypatch.setattr(room, "limits", recorded)
    return found


def evidence_of(kind, rho=0.5):
    if kind == "coins":
        return Evidence([coin(30, 100), coin(60, 110), coin(5, 90)], MeanVariance(rho), (0.0, 1.0), binary=True)
    rng, arms = np.random.default_rng(1), [ArmState() for _ in range(3)]
    for arm in arms:
        for reward in rng.random(60).tolist():
            include_reward(arm, reward, 0.0, 1.0, rho)
    merged = [ArmState(None, arm.pulls, arm.mean, arm.variance) for arm in arms]
    return Evidence(merged if kind == "merged" else arms, MeanVariance(rho), (0.0, 1.0))


def together(gains):
    """The failure of a difference at these gains: the least that two capitals, a part kept aside, have won when each
    lies within its cell. A limit from below in the order of the gains meets one from above in the reverse order."""
    kept = np.log(differences.KEPT + (1.0 - differences.KEPT) * np.exp(gains))
    before = np.append(math.log(differences.KEPT), kept[:-1])  # where the cell of the one begins
    return float(np.exp(-(before + kept[::-1]).min()))


@pytest.mark.parametrize("kind", ["rewards", "merged", "coins"])
@pytest.mark.parametrize("what", ["mean", "variance", "cost"])
def test_an_interval_of_one_arm_spends_its_failure(asked, kind, what):
    intervals.bounds(evidence_of(kind), what, FAILURE)
    ((_, _, gains, spent),) = asked
    assert spent + 2.0 * math.exp(-gains[0]) == pytest.approx(FAILURE)


@pytest.mark.parametrize("kind", ["rewards", "merged", "coins"])
def test_a_difference_spends_its_failure_on_two_means_and_two_sides(asked, kind):
    differences.differences(evidence_of(kind), 0, FAILURE)
    assert [what for what, *_ in asked] == ["mean", "variance", "cost"]
    for _, _, gains, spent in asked:
        assert 2.0 * spent + 2.0 * together(gains) == pytest.approx(FAILURE)


@pytest.mark.parametrize("kind", ["rewards", "coins"])
def test_excluding_spends_its_failure_on_the_means_of_all_arms_and_all_rivals(asked, kind):
    stopping.excluded(evidence_of(kind), 3, FAILURE)
    ((_, _, gains, spent),) = asked
    assert 3.0 * spent + 2.0 * together(gains) == pytest.approx(FAILURE)


@pytest.mark.parametrize(("kind", "rho"), [("rewards", 0.5), ("coins", 0.5), ("coins", 2.0)])
def test_a_rail_spends_its_failure_on_one_side(asked, kind, rho):
    evidence = evidence_of(kind, rho)
    rail = guardrails.Rail("cost", above=-0.3)
    guardrails.fires(rail, evidence.arms[0], evidence.risk, FAILURE, (0.0, 1.0), binary=evidence.binary)
    ((_, _, gains, spent),) = asked
    assert (spent > 0.0) is (rho < 1.0)
    assert spent + math.exp(-gains[0]) == pytest.approx(FAILURE)
