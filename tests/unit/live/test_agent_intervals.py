"""An agent's intervals: confidence sequences of what it was told, for whoever looks whenever."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

from helpers.agents import resealed
from prudent import Agent, MeanVariance, PrudentError, RiskMeasure
from prudent.confidence import anytime, betting


def told(agent, arm, rewards):
    for reward in rewards:
        agent.tell(arm, reward, asked=False)
    return agent


def quantile_by_bets(rewards, level, failure, low, high):
    """The nearest rewards beyond which bets on the share of rewards below have won 2/failure."""

    def won(share, target):
        gains = share * len(rewards) * betting.THETA - len(rewards) * np.log1p(betting.KAPPA * target)
        return np.logaddexp.reduce(betting.LOG_WEIGHTS + gains) >= np.log(2.0 / failure)

    above = [x for x in rewards if won(np.mean(rewards <= x), level)]
    below = [x for x in rewards if won(np.mean(rewards >= x), 1.0 - level)]
    return max(below, default=low), min(above, default=high)


def ledger_of(rewards, low, high, rho):
    ledger = betting.no_bets(rho)
    for n, reward in enumerate(rewards):
        betting.include(ledger, n, np.mean(rewards[:n]) if n else 0.0, reward, low, high, rho)
    return ledger


def test_they_are_the_sequences_of_the_estimates():
    agent = Agent("ucb1(range=3)", 3, risk=MeanVariance(0.5), support=(-1, 2), remember=True)
    rewards = np.random.default_rng(1).uniform(-1.0, 2.0, 40)
    told(agent, 1, rewards)
    before = agent.to_json()
    for level in (0.5, 0.95):
        none, some, _ = agent.intervals(level, quantile=0.3)
        assert none == (0, 0, None, None, None, None)
        _, pulls, mean, *_ = agent.estimates()[1]
        known, within = (ledger_of(rewards, -1.0, 2.0, 0.5), pulls), (1.0 - level, -1.0, 2.0)
        assert some[:2] == (1, 40)
        assert some.mean == pytest.approx(betting.mean_bounds(*known, *within))
        assert some.variance == pytest.approx(betting.variance_bounds(*known, *within))
        assert some.cost == pytest.approx(betting.mean_variance_bounds(*known, 0.5, *within))
        assert some.quantile == quantile_by_bets(np.sort(rewards), 0.3, *within)
        assert some.mean.low <= mean <= some.mean.high
    assert agent.to_json() == before


def test_they_need_no_memory_and_that_of_the_mean_not_the_order_told():
    rewards = np.random.default_rng(2).random(30)
    first, second = (told(Agent("ucb1", 1, support=(0, 1)), 0, order) for order in (rewards, np.sort(rewards)))
    assert first.intervals()[0].mean == pytest.approx(second.intervals()[0].mean, abs=1e-9)
    assert first.intervals()[0].quantile is None


def test_a_state_without_a_ledger_has_the_wider_intervals_of_its_moments():
    """After `merge` there is none, and it cannot be made up for later."""
    agent = told(Agent("ucb1", 1, support=(0, 1), risk=MeanVariance(0.5)), 0, np.random.default_rng(3).random(60))
    state = json.loads(agent.to_json())
    state["arms"][0]["ledger"] = None
    old = Agent.from_json(resealed(state))
    for arm in (agent, old):
        arm.tell(0, 0.5, asked=False)
    (known,), (sharper,) = old.intervals(), agent.intervals()
    moments, within = old.estimates()[0][1:4], (1.0 - 0.95, 0.0, 1.0)
    assert known.mean == anytime.mean_bounds(*moments, *within)
    assert known.variance == anytime.variance_bounds(*moments, *within)
    assert known.cost == anytime.mean_variance_bounds(*moments, 0.5, *within)
    for name in ("mean", "variance", "cost"):
        wide, narrow = getattr(known, name), getattr(sharper, name)
        assert narrow.high - narrow.low < 0.9 * (wide.high - wide.low)
    assert Agent.from_json(old.to_json()).to_json() == old.to_json()


@pytest.mark.parametrize("risk", ["mean-variance(rho=0.5)", "mean", "entropic"])
def test_all_arms_at_once_have_the_intervals_of_each(risk):
    """Arms with a ledger, without one and without rewards are searched in groups; each must get its own numbers."""
    rng = np.random.default_rng(4)
    agent = Agent("round-robin", 6, risk=risk, support=(-1, 2), remember=True)
    for arm in (0, 1, 2, 4, 5):
        told(agent, arm, rng.uniform(-1.0, arm / 3.0, 3 + 40 * arm))
    state = json.loads(agent.to_json())
    for arm in (1, 4):
        state["arms"][arm]["ledger"] = None
    agent = Agent.from_json(resealed(state))
    together = agent.intervals(0.9, quantile=0.3)
    assert together[3] == (3, 0, None, None, None, None)
    for arm in (0, 1, 2, 4, 5):
        alone = Agent.from_json(resealed({**state, "arms": [state["arms"][arm]]})).intervals(0.9, quantile=0.3)[0]
        assert together[arm].pulls == alone.pulls
        for known, wanted in zip(together[arm][2:], alone[2:], strict=True):
            assert known == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize("rho", [0.0, 1.0, 4.0])
def test_the_cost_of_coins_is_what_the_interval_of_the_mean_makes_of_it(rho):
    """If the policy is one for two values, and until a reward lies between them."""
    agent = Agent(f"bernoulli-mvts(rho={rho})", 1, support=(-1, 2))
    told(agent, 0, 3.0 * (np.random.default_rng(8).random(200) < 0.4) - 1.0)
    (known,) = agent.intervals()
    means = np.linspace(*known.mean, 10_001)
    for found, tolerance in ((known.variance, 0.0), (known.cost, rho)):
        costs = (2.0 - means) * (means + 1.0) - tolerance * means
        assert found == pytest.approx((costs.min(), costs.max()), abs=1e-6)
    assert Agent.from_json(agent.to_json()).intervals() == agent.intervals()
    told(agent, 0, [0.5])
    assert agent.intervals()[0].variance.low < known.variance.low - 0.05


def test_a_long_look_settles_which_arm_is_better():
    agent = Agent("round-robin", 2, support=(0, 1), risk="mean-variance(rho=1)")
    rng = np.random.default_rng(3)
    for _ in range(4_000):
        arm = agent.ask()
        agent.tell(arm, rng.beta(8.0, 2.0) if arm else rng.random())
    even, good = agent.intervals(0.99)
    assert good.mean.low > even.mean.high
    assert good.variance.high < even.variance.low
    assert good.cost.high < even.cost.low


@pytest.mark.slow
def test_a_policy_that_chases_rewards_does_not_break_them():
    """ε-greedy leaves an arm after bad luck, so sample means are biased; over whole paths the intervals still hold."""
    runs, failure, missed = 60, 0.2, 0
    for run in range(runs):
        agent, rng = Agent("epsilon-greedy(rho=inf)", 2, seed=run, support=(0, 1)), np.random.default_rng(run)
        off = False
        for t in range(120):
            arm = agent.ask()
            agent.tell(arm, rng.random())
            if t % 10 == 0:
                known = agent.intervals(1.0 - failure)[0]
                off |= known.pulls > 0 and not known.mean.low <= 0.5 <= known.mean.high
        missed += off
    assert missed <= binom.isf(1e-9, runs, failure)


@dataclass(frozen=True)
class Median(RiskMeasure):
    """Minus the median."""

    name = "median"

    def cost(self, law):
        return -law.quantile(0.5)

    def weigh(self, values, weights):
        return -float(values[np.searchsorted(np.cumsum(weights), 0.5)])


class Bounded(Median):
    """Its bounds tell what they were asked with: the failure and the number of rewards."""

    def bounds(self, pulls, mean, variance, rewards, failure, low, high):
        return failure, float(len(rewards))


def test_bounds_for_a_fixed_time_share_the_failure():
    """Σ 1/n(n + 1) = 1: the failures of all times sum to the one asked for."""
    agent = Agent("ucb1", 1, risk=Bounded(), support=(0, 1))
    spent = [told(agent, 0, [0.5]).intervals(0.9)[0].cost.low for _ in range(200)]
    assert math.fsum(spent) == pytest.approx(0.1 * (1.0 - 1.0 / 201.0))
    assert agent.intervals()[0].cost.high == 200.0
    assert told(Agent("ucb1", 1, risk=Median(), support=(0, 1)), 0, [0.5]).intervals()[0].cost is None


class Sequential(Bounded):
    """It knows better bounds for all times than shares of the failure."""

    def always_bounds(self, pulls, mean, variance, rewards, failure, low, high):
        return low - failure, high + failure


def test_a_measure_may_bring_its_own_bounds_for_all_times():
    agent = told(Agent("ucb1", 1, risk=Sequential(), support=(0, 1)), 0, [0.5])
    assert agent.intervals(0.75)[0].cost == pytest.approx((-0.25, 1.25))


@pytest.mark.parametrize(
    ("settings", "asked", "message"),
    [
        ({}, {}, r"support must be bounded, got \(-inf, inf\); pass Agent\(…, support="),
        ({"support": (0, math.inf)}, {}, "support must be bounded"),
        ({"support": (0, 1)}, {"quantile": 0.5}, "pass Agent\\(…, remember=True\\)"),
        ({"support": (0, 1)}, {"level": 95}, r"level must lie in \(0, 1\), got 95; for 95 % confidence pass 0.95"),
        ({"support": (0, 1), "remember": True}, {"quantile": 50}, r"quantile must lie in \(0, 1\)"),
    ],
)
def test_what_cannot_be_answered_is_refused(settings, asked, message):
    with pytest.raises(PrudentError, match=message):
        told(Agent("ucb1", 1, **settings, scale=1), 0, [0.5]).intervals(**asked)
    with pytest.raises(PrudentError, match=message):
        Agent("ucb1", 1, **settings, scale=1).intervals(**asked)


@pytest.mark.parametrize("offset", [1e6, 1e9, -1e9, 1e12])
def test_rewards_far_from_zero_have_intervals_too(offset):
    """The recursion's last digits may say a variance that is a little larger than the support allows."""
    agent, rng = (
        Agent("round-robin", 1, support=(offset, offset + 1), risk="mean-variance(rho=1)"),
        np.random.default_rng(0),
    )
    for reward in offset + rng.integers(0, 2, 1_000):
        agent.tell(0, reward, asked=False)
    (known,) = agent.intervals()
    assert offset <= known.mean.low <= known.mean.high <= offset + 1


@pytest.mark.parametrize("larger", [True, False])
def test_two_values_that_were_declared_serve_every_policy_and_merged_rewards(larger):
    """Whatever the policy, and however rewards come, they are those that a policy for two values would give."""
    one, merged, other, wide = (
        Agent(policy, 2, 100, risk="mean-variance(rho=0.5)", **ends, larger_is_better=larger)
        for policy, ends in (
            ("prudent", {"values": (3, -1)}),
            ("round-robin", {"values": (-1, 3)}),
            ("bernoulli-mvts", {"support": (-1, 3)}),
            ("prudent", {"support": (-1, 3)}),
        )
    )
    for arm, ones in enumerate((30, 45)):
        rewards = np.append(np.full(ones, 3.0), np.full(80 - ones, -1.0))
        for agent in (one, other, wide):
            told(agent, arm, np.random.default_rng(ones).permutation(rewards))
        merged.merge(arm, 80, rewards.mean(), rewards.var(), asked=False)
    assert (one.values, one.support, wide.values) == ((-1.0, 3.0), (-1.0, 3.0), None)
    for agent in (one, merged):
        assert agent.binary
        for known, wanted in zip(agent.intervals(), other.intervals(), strict=True):
            assert known.cost == pytest.approx(wanted.cost, rel=1e-9)
            assert known.variance == pytest.approx(wanted.variance, rel=1e-9)
        assert agent.differences(0)[1].cost == pytest.approx(other.differences(0)[1].cost, rel=1e-9)
        assert agent.leader().excluded == other.leader().excluded
    assert one.posterior() == wide.posterior()  # a model may go by what was seen, for its assumption is said
    assert not wide.binary
    assert wide.intervals()[1].variance.low < one.intervals()[1].variance.low - 0.1
    assert Agent.from_json(one.to_json()).values == (-1.0, 3.0)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: Agent("ucb1", 2, values=(0, 1)).tell(0, 0.5, asked=False), "tell: reward must be 0 or 1, as declared"),
        (lambda: Agent("ucb1", 2, values=(0, 1)).merge(0, 9, 0.5, 0.1, asked=False), "merge: variance must be that of"),
        (lambda: Agent("ucb1", 2, values=(0, 0)), r"Agent: values must differ, got \(0, 0\)"),
        (lambda: Agent("ucb1", 2, values=(0, 1, 2)), r"Agent: values must be two numbers, such as \(0, 1\)"),
        (lambda: Agent("ucb1", 2, values=(0, 1), support=(0, 2)), "Agent: support must go from one of the values"),
    ],
)
def test_what_is_not_one_of_the_two_values_is_refused(attempt, message):
    with pytest.raises(PrudentError, match=message):
        attempt()
