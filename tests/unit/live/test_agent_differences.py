"""By how much an arm differs from a control: intervals that hold at all times, from the bets on both arms together."""

import itertools
import math

import numpy as np
import pytest

from helpers.coins import coin
from prudent import Agent, MeanVariance, PrudentError
from prudent.confidence import betting
from prudent.live.differences import KEPT, differences
from prudent.live.evidence import Evidence
from prudent.live.intervals import limits, needs_mean


def told(agent, rewards):
    for arm, several in rewards.items():
        for reward in several:
            agent.tell(arm, reward, asked=False)
    return agent


def trial(risk="mean-variance(rho=0.5)", **settings):
    rng = np.random.default_rng(5)
    agent = Agent("round-robin", ["old", "new", "none"], **{"support": (0, 1), "risk": risk, **settings})
    return told(agent, {"old": rng.beta(2, 5, 300), "new": rng.beta(4, 4, 200)})


def capital(bets, pulls, candidates):
    """log of what bets on an outcome have won against each candidate for its mean, a part of the stake kept aside."""
    wealth = bets + betting.LOG_WEIGHTS - pulls * np.log1p(betting.KAPPA * candidates[:, None])
    return np.log(KEPT + (1.0 - KEPT) * np.exp(np.minimum(wealth, 600.0)).sum(1))


def test_the_control_of_the_agent_counts_unless_another_is_named():
    agent = trial(control="old")
    assert agent.differences() == agent.differences("old") != agent.differences("new")
    assert Agent.from_json(agent.to_json()).differences() == agent.copy().differences() == agent.differences("old")
    with pytest.raises(PrudentError, match="control must name an arm, got None"):
        trial().differences()
    with pytest.raises(PrudentError, match="older"):
        trial(control="older")


@pytest.mark.parametrize("heads", [((60, 200), (90, 150)), ((3, 40), (0, 25)), ((1, 10), (500, 900))])
def test_it_is_the_largest_difference_against_which_both_arms_together_have_not_won_enough(heads):
    """By trying all pairs of means; cells of the search make it a little larger, and never smaller."""
    arms = [coin(*each) for each in heads]
    found = differences(Evidence(arms, MeanVariance(math.inf), (0.0, 1.0)), 1, 0.05)[0].mean
    means, rows = np.linspace(0.0, 1.0, 1_001), [arm.ledger.reshape(-1)[: 2 * betting.BETS] for arm in arms]
    below, above = (
        [capital(row[place : place + betting.BETS], arm.pulls, at) for row, arm in zip(rows, arms, strict=True)]
        for place, at in ((0, means), (betting.BETS, 1.0 - means))
    )
    apart = means[:, None] - means[None, :]
    for end, won in (
        (found.high, above[0][:, None] + below[1][None, :]),  # the one arm is smaller, the other larger
        (-found.low, (below[0][:, None] + above[1][None, :])),
    ):
        sign = 1.0 if end == found.high else -1.0
        largest = (sign * apart)[won < math.log(2.0 / 0.05)].max()
        assert largest - 2e-3 <= end <= largest + 0.02 * (found.high - found.low) + 2e-3


@pytest.mark.parametrize("risk", ["mean-variance(rho=0.5)", "mean", "cvar(0.5)", "entropic"])
def test_they_contain_the_estimates_and_are_narrower_than_two_intervals_say(risk):
    agent = trial(risk)
    old, new, none = agent.differences("old", 0.9)
    assert old == ("old", None, None, None)
    assert none == ("none", None, None, None)
    first, second = agent.estimates()[:2]
    separate = agent.intervals(0.95)[:2]
    for name in ("mean", "cost"):
        ends, apart = getattr(new, name), getattr(second, name) - getattr(first, name)
        before, after = (getattr(each, name) for each in separate)
        assert after.low - before.high < ends.low < apart < ends.high < after.high - before.low
        assert ends.high - ends.low < 0.95 * ((after.high - after.low) + (before.high - before.low))
    assert new.deviation.low < math.sqrt(second.variance) - math.sqrt(first.variance) < new.deviation.high


def test_the_other_way_round_they_have_the_other_sign():
    agent = trial()
    there, back = agent.differences("old")[1], agent.differences("new")[0]
    for name in ("mean", "deviation", "cost"):
        one, other = getattr(there, name), getattr(back, name)
        assert one == pytest.approx((-other.high, -other.low), abs=1e-12)


def test_differences_of_losses_are_those_of_losses():
    rng = np.random.default_rng(6)
    rewards = {"old": rng.beta(2, 5, 200), "new": rng.beta(4, 4, 200)}
    gains, losses = (
        Agent("round-robin", list(rewards), risk="mean-variance(rho=0.5)", support=support, larger_is_better=larger)
        for support, larger in (((0, 1), True), ((-1, 0), False))
    )
    one = told(gains, rewards).differences("old")[1]
    other = told(losses, {arm: -several for arm, several in rewards.items()}).differences("old")[1]
    assert one.cost == pytest.approx(other.cost)
    assert one.deviation == pytest.approx(other.deviation)
    assert one.mean == pytest.approx((-other.mean.high, -other.mean.low))
    assert one.mean.low > 0.0


def test_merged_rewards_have_differences_too():
    agent = Agent("round-robin", ["old", "new"], risk="mean-variance(rho=1)", support=(0, 1))
    for arm, rate in (("old", 0.2), ("new", 0.6)):
        agent.merge(arm, 500, rate, rate * (1.0 - rate), asked=False)
    new = agent.differences("old")[1]
    assert 0.25 < new.mean.low < 0.4 < new.mean.high < 0.55
    assert new.cost.low < -0.32 < new.cost.high < 0.0
    assert agent.leader().decided


@pytest.mark.parametrize(
    ("settings", "asked", "message"),
    [
        ({"support": None}, ("old",), r"differences: the agent's support must be bounded, got \(-inf, inf\)"),
        ({}, ("odl",), "differences: unknown arm 'odl'; did you mean old"),
        ({}, ("old", 95), r"differences: level must lie in \(0, 1\), got 95"),
    ],
)
def test_what_cannot_be_answered_is_refused(settings, asked, message):
    with pytest.raises(PrudentError, match=message):
        trial(**settings).differences(*asked)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9, 1.0, 2.0])
def test_a_limit_of_a_coin_fails_only_with_the_capital_of_one_gambler_who_knows_its_rate(rho):
    """Else the capital of two arms could not be multiplied. With the image of the mean's interval, which fails with
    either side, a coin seen far beyond the top would deny a rate on this side of it."""
    spent, gains, top = 0.04, np.array([0.5, 2.0]), (1.0 - rho) / 2.0
    rates = np.linspace(0.01, 0.99, 41)
    costs, failures = rates * (1.0 - rates) - rho * rates, 0
    for share, pulls in itertools.product((0, 3, 10, 25, 40, 47, 50), (50, 400)):
        evidence = Evidence([coin(share * pulls // 50, pulls)], MeanVariance(rho), (0.0, 1.0), binary=True)
        assert needs_mean(evidence, "cost") is (rho < 1.0)
        low, high = limits(evidence, "cost", gains, spent if rho < 1.0 else 0.0)
        ledger, n = evidence.arms[0].ledger, np.array(pulls)
        below, above = betting.mean_limits(ledger, n, gains, (0.0, 1.0))
        start, end = betting.mean_bounds(ledger, n, spent, 0.0, 1.0)
        inside = (start <= rates) & (rates <= end) if rho < 1.0 else rates > 0.0
        for i in range(len(gains)):
            from_below, from_above = rates < below[i] - 1e-9, rates > above[i] + 1e-9
            own_low, own_high = (
                np.where(rates < top, *sides) for sides in ((from_below, from_above), (from_above, from_below))
            )
            assert not (inside & (costs < low[i, 0] - 1e-9) & ~own_low).any()
            assert not (inside & (costs > high[i, 0] + 1e-9) & ~own_high).any()
            failures += (inside & ((costs < low[i, 0]) | (costs > high[i, 0]))).sum()
    assert failures > 20
