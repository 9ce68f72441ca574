"""The live agent's arms may be away for a while, come and go; phases wait for them."""

from collections import Counter

import numpy as np
import pytest

from helpers.agents import LEARNERS, play, rewards, risk_of
from prudent import Agent, PrudentError

# Some of the arms


@pytest.mark.parametrize("policy", LEARNERS)
def test_among_is_obeyed_and_leaves_no_arm_unknown(policy):
    agent = Agent(policy, 4, horizon=1000, scale=1, risk=risk_of(policy))
    reward = rewards(2)
    for few in ([1, 2], [2], [3, 1], np.array([1, 3]), {2}, (3, 3)) * 20:
        arm = agent.ask(among=few)
        assert arm in few
        agent.tell(arm, reward())
    zero, *others = agent.estimates()
    assert zero.pulls == 0
    assert all(e.pulls > 0 for e in others)
    assert agent.ask() == 0  # every learner tries an arm it knows nothing of


def test_a_phase_waits_for_the_arm_that_is_away():
    """ExpExp explores the others, goes on with the best of them, and makes up for the arm when it is back."""
    agent, pay, arms = Agent("exp-exp", 3, horizon=440, risk="mean-variance(rho=1)"), [0.1, 0.9, 0.2], []
    for t in range(60):
        arms.append(agent.ask(among=[0, 1] if t < 40 else None))
        agent.tell(arms[-1], pay[arms[-1]])
    assert arms == [0, 1] * 10 + [1] * 20 + [2] * 10 + [1] * 10  # ⌈(440/14)^(2/3)⌉ = 10


def test_epsilon_greedy_explores_whatever_is_available():
    agent = Agent("epsilon-greedy(epsilon=0.5)", 3, risk="mean-variance(rho=1)")
    play(agent, 3, iter([0.0, 0.5, 1.0]).__next__)
    counts = Counter(agent.ask(among=[0, 1]) for _ in range(400))
    assert 40 < counts[0] < 160  # binomial(400, 1/4): 6.9 standard deviations either way


# Arms that come and go


@pytest.mark.parametrize("policy", LEARNERS)
def test_an_added_arm_is_tried_and_a_retired_one_never_again(policy):
    agent, reward = Agent(policy, 3, horizon=500, scale=1, risk=risk_of(policy)), rewards(3)
    play(agent, 100, reward)
    open_ask = agent.ask(among=[1])
    agent.retire(1)
    assert agent.add_arm() == 3
    assert agent.arms == [0, 2, 3]
    pulls = agent.estimates()[1].pulls
    assert set(play(agent, 300, reward)) <= {0, 2, 3}
    assert agent.estimates()[3].pulls > 0
    agent.tell(open_ask, 0.5)
    late = agent.estimates()[1]
    assert (late.pulls, late.open_asks, late.retired) == (pulls + 1, 0, True)


def test_a_policy_sees_the_arms_in_play_as_if_there_were_no_others():
    policy = "exp-exp(explore='successive-rejects')"
    agent, fresh = (
        Agent(policy, 4, 300, scale=1, risk=risk_of(policy)),
        Agent(policy, 3, 300, scale=1, risk=risk_of(policy)),
    )
    agent.retire(1)
    names = [0, 2, 3]
    assert play(agent, 300, rewards(4)) == [names[arm] for arm in play(fresh, 300, rewards(4))]


def test_a_fixed_arm_keeps_its_number():
    agent = Agent("fixed-arm(arm=2)", 4, risk="mean-variance(rho=1)")
    agent.retire(0)
    agent.add_arm()
    assert play(agent, 5, rewards(0)) == [2] * 5
    before = agent.to_json()
    for refused in (lambda: agent.retire(2), lambda: agent.ask(among=[1, 3])):
        with pytest.raises(PrudentError, match="arm 2 must be there"):
            refused()
    assert agent.to_json() == before
    assert Agent.from_json(before).ask() == 2
