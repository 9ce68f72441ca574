"""The live agent keeps single rewards where its policy or its risk needs them."""

import json
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from helpers.agents import Worst, play, resealed, rewards, risk_of
from prudent import Agent, PrudentError, RiskMeasure
from prudent.policies.contract import UNSET
from prudent.policies.contract import policies as registry
from prudent.risk.base import risks as risk_registry


@dataclass(frozen=True)
class Shortfall(RiskMeasure):
    """Minus the mean of the worst rewards, a measure that mean and variance do not determine."""

    share: float = 0.5
    name = "shortfall"

    def cost(self, law):
        return -law.lower_tail_mean(self.share)

    def weigh(self, values, weights):
        used = np.minimum(np.cumsum(weights), self.share)
        return -float(np.sum(np.diff(used, prepend=0.0) * values)) / self.share

    def bounds(self, pulls, mean, variance, rewards, failure, low, high):
        estimate = self.estimate(mean, variance, rewards)
        width = (high - low) * math.sqrt(math.log(2.0 / failure) / (2.0 * pulls)) / self.share
        return estimate - width, estimate + width


@pytest.fixture
def shortfall(register):
    """Known by name for one test only."""
    register(risk_registry, Shortfall.name, Shortfall)
    return Shortfall(0.25)


class Cautious(NamedTuple):
    """A policy with a measure and a list among its parameters, which serves the measure on every reward."""

    risk: RiskMeasure = UNSET
    support: tuple[float, ...] = (0.0, 1.0)

    def score(self, arm, rewards):
        return self.risk.estimate(arm.mean, arm.variance, rewards) - self.support[-1] / arm.pulls


def kept(agent):
    return [arm["rewards"] for arm in json.loads(agent.to_json())["arms"]]


@pytest.mark.parametrize(
    "settings", [{"remember": True}, {"policy": Worst(), "risk": "variance"}, {"risk": Shortfall()}], ids=str
)
def test_rewards_are_kept_in_order_where_needed(settings):
    agent = Agent(**({"policy": "ucb1", "arms": 2, "scale": 1} | settings))
    values = np.random.default_rng(8).random(50).tolist()
    for i, value in enumerate(values):
        agent.tell(i % 2, value, asked=False)
    assert kept(agent) == [sorted(values[::2]), sorted(values[1::2])]
    agent.add_arm()
    agent.tell(2, 0.5, asked=False)
    assert kept(agent)[2] == [0.5]


def test_rewards_nobody_needs_are_not_kept():
    agent = Agent("ucb1", 2, scale=1)
    play(agent, 5, rewards(0))
    assert kept(agent) == [None, None]


def test_any_risk_measure_prices_the_rewards(shortfall):
    agent = Agent("ucb1", 2, risk="shortfall(share=0.25)", scale=1)
    told = np.random.default_rng(9).random(31)
    for value in told:
        agent.tell(1, value, asked=False)
    assert agent.estimates()[1].cost == pytest.approx(shortfall.sample_cost(told), abs=1e-12)
    assert Agent.from_json(agent.to_json()).estimates() == agent.estimates()


@pytest.mark.parametrize("given", [Cautious(support=(0, 0.5, math.inf)), Cautious(Shortfall(0.1), (1.0, 2.0))], ids=str)
def test_a_policys_measure_and_lists_survive_saving(given, shortfall, register):
    register(registry, "cautious", Cautious)
    agent = Agent(given, 3, risk=shortfall, scale=1)
    play(agent, 25, rewards(1))
    loaded = Agent.from_json(agent.to_json())
    assert loaded.policy.risk == given.risk
    assert list(loaded.policy.support) == list(given.support)
    assert loaded.to_json() == agent.to_json()
    assert play(loaded, 25, rewards(2)) == play(agent, 25, rewards(2))
    assert Agent.from_json(agent.to_json(), policy=given).to_json() == agent.to_json()
    with pytest.raises(PrudentError, match="saved with the policy"):
        Agent.from_json(agent.to_json(), policy=given._replace(support=(7.0,)))


def test_the_agent_takes_the_policys_measure():
    assert Agent(Cautious(Shortfall(0.1)), 2, scale=1, risk=risk_of(Cautious(Shortfall(0.1)))).risk == Shortfall(0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arm: arm["rewards"].pop(), "one for each of 5 pulls, got 4"),
        (lambda arm: arm["rewards"].reverse(), "ascending order"),
        (lambda arm: arm["rewards"].__setitem__(4, 2.0), "must have the mean"),
        (lambda arm: arm.update(variance=arm["variance"] + 0.01), "must have the mean .* and the variance"),
        (lambda arm: arm["rewards"].__setitem__(0, "0.0"), "rewards must be a number"),
        (lambda arm: arm["rewards"].__setitem__(0, True), "rewards must be a number"),
        (lambda arm: arm["rewards"].__setitem__(0, [0.0]), "rewards must be a number"),
        (lambda arm: arm.update(rewards={}), "rewards must be"),
        (lambda arm: arm.update(rewards=None), "all hold their rewards, or none"),
    ],
)
def test_altered_rewards_are_refused(change, message):
    agent = Agent("ucb1", 2, remember=True, scale=1)
    for value in (0.1, 0.2, 0.4, 0.7, 0.9):
        agent.tell(0, value, asked=False)
    state = json.loads(agent.to_json())
    change(state["arms"][0])
    with pytest.raises(PrudentError, match=f"agent state: .*{message}"):
        Agent.from_json(resealed(state))


def test_a_policy_that_needs_rewards_does_not_go_on_without():
    agent = Agent(Worst(), 1, scale=1, risk=risk_of(Worst()))
    agent.tell(0, 0.5, asked=False)
    state = json.loads(agent.to_json())
    state["arms"][0]["rewards"] = None
    with pytest.raises(PrudentError, match="agent state: arm 0: rewards must be there"):
        Agent.from_json(resealed(state), policy=Worst())


def test_waiting_times_are_told_and_shown_as_they_are():
    """As rewards they are their negatives, which the agent would choose by."""
    settings = {"arms": 2, "horizon": 50, "seed": 3, "risk": "mean-variance(rho=10)", "remember": True}
    minutes = Agent("mvts", support=(0, 60), larger_is_better=False, **settings)
    gains = Agent("mvts", support=(-60, 0), **settings)
    rng = np.random.default_rng(5)
    for _ in range(50):
        arm, time = minutes.ask(), rng.integers(5, 55)
        assert gains.ask() == arm
        minutes.tell(arm, time)
        gains.tell(arm, -time)
    assert minutes.support == (0.0, 60.0)
    for time, gain in zip(minutes.estimates(), gains.estimates(), strict=True):
        assert time == gain._replace(mean=-gain.mean)
    for time, gain in zip(minutes.intervals(quantile=0.9), gains.intervals(quantile=0.1), strict=True):
        assert time.mean == (-gain.mean.high, -gain.mean.low)
        assert time.quantile == (-gain.quantile.high, -gain.quantile.low)
        assert (time.variance, time.cost) == (gain.variance, gain.cost)
    assert minutes.leader() == gains.leader()
    assert Agent.from_json(minutes.to_json()).estimates() == minutes.estimates()
    with pytest.raises(PrudentError, match=r"reward must lie in \[0, 60\], got -5"):
        minutes.tell(0, -5, asked=False)


@pytest.mark.parametrize(("support", "hinted"), [(None, False), ((0, math.inf), True), ((-math.inf, 0), True)])
def test_only_an_agent_with_a_support_speaks_of_it(support, hinted):
    agent = Agent("ucb1", 2, support=support, scale=1)
    with pytest.raises(PrudentError, match="tell: reward must") as error:
        agent.tell(0, math.nan, asked=False)
    assert ("the agent's support is this interval" in str(error.value)) is hinted
