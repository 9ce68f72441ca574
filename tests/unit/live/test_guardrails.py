"""Guardrails: which have a meaning, when they fire, and how the error is shared."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from prudent import MeanVariance, PrudentError, RiskMeasure
from prudent.confidence import anytime, betting
from prudent.engine.python.arm import ArmState, include_reward
from prudent.live.evidence import Evidence
from prudent.live.guardrails import Rail, check_fits, fires, shares
from prudent.live.intervals import intervals, limits

RISK = MeanVariance(1.0)


def arm_of(values, low=0.0, high=1.0, remember=True, rho=RISK.rho):
    arm = ArmState(rewards=[] if remember else None)
    for value in values:
        include_reward(arm, float(value), low, high, rho)
    return arm


@dataclass(frozen=True)
class Median(RiskMeasure):
    """Minus the median, of which no interval is known."""

    name = "median"

    def cost(self, law):
        return -law.quantile(0.5)

    def weigh(self, values, weights):
        return -float(values[np.searchsorted(np.cumsum(weights), 0.5)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"watch": "men", "above": 1},
            "watch must be one of mean, variance, cost, quantile, got 'men'; did you mean mean",
        ),
        ({"watch": 3, "above": 1}, "watch must be one of mean, variance, cost, quantile, got 3; pass its name"),
        ({"watch": "mean"}, "exactly one of above and below must be given, got neither"),
        ({"watch": "mean", "above": 1, "below": 0}, "exactly one of above and below must be given, got both"),
        ({"watch": "mean", "above": math.inf}, "above must lie in"),
        ({"watch": "mean", "below": "low"}, "below must be a number, got 'low'"),
        ({"watch": "variance", "above": -1}, r"above must lie in \[0, ∞\), got -1"),
        ({"watch": "quantile", "below": 1}, "q must be given for a quantile .* got None; pass q=0.5 for the median"),
        (
            {"watch": "mean", "below": 1, "q": 0.5},
            "q must be given for a quantile and for nothing else, got 0.5; leave",
        ),
        ({"watch": "quantile", "below": 1, "q": 50}, r"q must lie in \(0, 1\), got 50"),
        ({"watch": "cost", "above": 1, "metric": "latency"}, "metric must be left out for a cost"),
        ({"watch": "mean", "above": 1, "then": "halt"}, "then must be one of retire, freeze, pause, stop, got 'halt'"),
        ({"watch": "mean", "above": 1, "then": "freeze"}, "to must be given with then='freeze' .* name the arm"),
        ({"watch": "mean", "above": 1, "to": "A"}, "to must be given with then='freeze' .* got 'A'; leave it out"),
    ],
)
def test_a_rail_without_a_meaning_is_refused(given, message):
    with pytest.raises(PrudentError, match=message):
        Rail(**given)


SUPPORTS = {None: (0.0, 1.0), "latency": (0.0, 5_000.0), "free": (-math.inf, math.inf)}


@pytest.mark.parametrize(
    ("rail", "risk", "message"),
    [
        (Rail("mean", arm="Z", above=0.5), RISK, "arm must be one of the arms A, B, got 'Z'"),
        (Rail("mean", above=0.5, then="freeze", to="Z"), RISK, "to must be one of the arms A, B, got 'Z'"),
        (Rail("mean", metric="speed", above=1), RISK, "metric must be declared, got 'speed'; known: latency, free"),
        (Rail("mean", above=1), RISK, r"above must lie in \(0, 1\), where the mean can lie by the support, got 1"),
        (Rail("mean", metric="latency", below=-3), RISK, r"below must lie in \(0, 5000\)"),
        (Rail("variance", above=0.25), RISK, r"above must lie in \(0, 0.25\), where the variance can lie"),
        (Rail("quantile", q=0.9, above=2), RISK, "above must lie in"),
        (
            Rail("mean", metric="free", above=1),
            RISK,
            r"a mean can be watched on a bounded support only, got \(-inf, inf\)",
        ),
        (Rail("quantile", metric="latency", q=0.9, above=300), RISK, "a quantile needs every value"),
        (Rail("cost", above=1), Median(), r"no confidence interval is known for the cost median\(\)"),
    ],
)
def test_a_rail_that_could_never_fire_is_refused(rail, risk, message):
    with pytest.raises(PrudentError, match=message):
        check_fits(rail, ["A", "B"], SUPPORTS, risk, {None, "free"})


def test_others_fit():
    for rail in (
        Rail("mean", metric="latency", arm="A", above=300, then="freeze", to="B"),
        Rail("cost", above=3),
        Rail("quantile", metric="free", q=0.01, below=-1e9, then="stop"),
        Rail("quantile", q=0.5, below=0.2, then="pause"),
        Rail("variance", below=0.01),
    ):
        check_fits(rail, ["A", "B"], SUPPORTS, RISK, {None, "free"})
    check_fits(Rail("cost", above=3), ["A"], SUPPORTS, MeanVariance(1.0))


@pytest.mark.parametrize("first", [1, 2, 7])
def test_all_parts_of_the_error_sum_to_one_at_most(first):
    """However many arms are added."""
    rails = [Rail("mean", above=0.5), Rail("variance", above=0.1), Rail("mean", arm="A0", below=0.2)]
    parts = np.array([shares(rails, first, number, f"A{number}") for number in range(first + 50)])
    assert parts[:first, 0] == pytest.approx(1.0 / (3 * (first + 1)))
    assert parts[first, 0] == pytest.approx(1.0 / (3 * (first + 1) * 2))
    assert parts[first + 1, 1] == pytest.approx(1.0 / (3 * (first + 1) * 4))
    assert parts[:, 2].tolist() == [1.0 / 3.0, *[0.0] * (first + 49)]
    assert 1.0 - 1e-9 < parts.sum() <= 1.0 + 1e-12
    assert shares([], 2, 0, "A0") == []


@pytest.mark.parametrize("remember", [True, False])
def test_a_rail_fires_if_its_interval_lies_on_the_bad_side(remember):
    """All of the failure is for one side, but for the share of the mean's interval. Without a ledger, as after merged
    values, the wider intervals count."""
    arm = arm_of(np.random.default_rng(1).beta(8.0, 4.0, 300), remember=remember)
    for state in (arm, ArmState(None, arm.pulls, arm.mean, arm.variance, rewards=arm.rewards)):
        evidence, share = Evidence([state], RISK, (0.0, 1.0)), anytime.MEAN_SHARE * 0.02
        (known,) = intervals(evidence, 0.04, 0.2 if remember else None)
        one_side = [-math.log(0.02 - share)]
        ends = {what: limits(evidence, what, one_side, share) for what in ("variance", "cost")}
        watched = {"mean": known.mean, **{what: (low[0, 0], high[0, 0]) for what, (low, high) in ends.items()}}
        watched |= {"quantile": known.quantile} if remember else {}
        for watch, (low, high) in watched.items():
            q = 0.2 if watch == "quantile" else None
            for limit in (low - 1e-6, low + 1e-6, high - 1e-6, high + 1e-6):
                for rail, passed in (
                    (Rail(watch, above=limit, q=q), low > limit),
                    (Rail(watch, below=limit, q=q), high < limit),
                ):
                    assert fires(rail, state, RISK, 0.02, (0.0, 1.0)) is bool(passed)


def test_a_rail_on_two_values_knows_the_cost_by_the_mean():
    arm = arm_of(np.random.default_rng(1).permutation(np.repeat([0.0, 1.0], 200)))
    rail = Rail("variance", above=0.235)
    assert fires(rail, arm, RISK, 0.05, (0.0, 1.0), binary=True)
    assert not fires(rail, arm, RISK, 0.05, (0.0, 1.0))


def test_rails_of_losses_speak_of_losses():
    """An agent keeps waiting times as negative rewards."""
    times = np.random.default_rng(2).uniform(2.0, 6.0, 400)
    told, kept = arm_of(times, 0.0, 10.0), arm_of(-times, -10.0, 0.0)
    for watch, q, tried in (
        ("mean", None, (3.5, 3.9, 4.1, 4.5)),
        ("variance", None, (0.5, 1.3, 2.5)),
        ("quantile", 0.9, (4.0, 5.6, 5.9)),
    ):
        for limit in tried:
            for side in ("above", "below"):
                rail = Rail(watch, q=q, **{side: limit})
                straight = fires(rail, told, RISK, 0.01, (0.0, 10.0))
                assert fires(rail, kept, RISK, 0.01, (-10.0, 0.0), larger_is_better=False) is straight
    assert fires(Rail("mean", above=3.5), kept, RISK, 0.01, (-10.0, 0.0), larger_is_better=False)
    assert fires(Rail("cost", above=3.5), kept, RISK, 0.01, (-10.0, 0.0), larger_is_better=False)


def test_nothing_fires_without_rewards_or_without_a_part_of_the_error():
    for watch in ("mean", "variance", "cost"):
        assert not fires(Rail(watch, above=0.0001), ArmState(), RISK, 0.1, (0.0, 1.0))
    assert fires(Rail("mean", above=0.1), arm_of([1.0] * 50), RISK, 0.1, (0.0, 1.0))
    assert not fires(Rail("mean", above=0.1), arm_of([1.0] * 50), RISK, 0.0, (0.0, 1.0))
    assert not fires(Rail("cost", above=-9.0), arm_of([1.0] * 50), Median(), 0.1, (0.0, 1.0))
    with pytest.raises(PrudentError, match="a quantile needs every value"):
        fires(Rail("quantile", q=0.5, above=0.1), arm_of([1.0], remember=False), RISK, 0.1, (0.0, 1.0))


def test_a_value_enters_every_statistic_at_once():
    values = np.random.default_rng(3).uniform(-1.0, 2.0, 50)
    arm = arm_of(values, -1.0, 2.0)
    assert (arm.pulls, arm.rewards) == (50, sorted(values))
    assert (arm.mean, arm.variance) == (pytest.approx(values.mean()), pytest.approx(values.var()))
    ledger, mean = betting.no_bets(RISK.rho), 0.0
    for n, value in enumerate(values):
        betting.include(ledger, n, mean, value, -1.0, 2.0, RISK.rho)
        mean += (value - mean) / (n + 1)
    assert arm.ledger == pytest.approx(ledger)
    assert arm_of([1e10], -math.inf, math.inf, remember=False).ledger is None
    assert anytime.LARGEST < 1e150
    with pytest.raises(PrudentError, match="too large for a variance"):
        arm_of([-1e200, 1e200], -math.inf, math.inf)
