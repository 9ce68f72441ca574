"""The live agent's books are right though rewards come late, out of order, from elsewhere or never."""

from collections import Counter, deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.agents import ALL, HORIZON, LEARNERS, N_ARMS, VARIANTS, play, rewards, risk_of
from prudent import Agent, PrudentError

# Late rewards, several open asks


@pytest.mark.parametrize("policy", ["mv-lcb", "ucb1", "exp-exp", "round-robin"])
def test_asks_withdrawn_leave_no_trace(policy):
    """An agent whose every other ask is withdrawn asks the same as one that was never asked for them."""
    plain, nervous = (
        Agent(policy, 3, horizon=60, scale=1, risk=risk_of(policy)),
        Agent(policy, 3, horizon=60, scale=1, risk=risk_of(policy)),
    )
    for t in range(60):
        nervous.withdraw(nervous.ask())
        arm = plain.ask()
        assert nervous.ask() == arm
        for agent in (plain, nervous):
            agent.tell(arm, (7 * t % 11) / 11)
    with pytest.raises(PrudentError, match="withdraw: arm 0 has no open ask"):
        nervous.withdraw(0)


@pytest.mark.parametrize("policy", LEARNERS)
def test_open_asks_share_the_arms_without_a_reward(policy):
    agent = Agent(policy, 4, horizon=1000, scale=1, risk=risk_of(policy))
    assert Counter(agent.ask() for _ in range(8)) == dict.fromkeys(range(4), 2)


@given(st.permutations(range(30)), st.sampled_from(ALL))
def test_late_rewards_in_any_order_give_the_same_estimates(order, policy):
    agent = Agent(policy, N_ARMS, HORIZON, scale=1, risk=risk_of(policy))
    told = [(agent.ask(), value) for value in np.linspace(0.0, 1.0, 30)]
    assert sum(e.open_asks for e in agent.estimates()) == 30
    for i in order:
        agent.tell(*told[i])
    for e in agent.estimates():
        values = [value for arm, value in told if arm == e.arm]
        assert (e.pulls, e.open_asks) == (len(values), 0)
        if values:
            assert e.mean == pytest.approx(np.mean(values))
            assert e.variance == pytest.approx(np.var(values))


def test_the_policy_sees_only_what_was_told():
    """With a reward always five asks late the best arm is still found."""
    agent, waiting, reward = Agent("mv-lcb(c=1, rho=0)", 2, horizon=3000, scale=1), deque(), rewards(1)
    for _ in range(3000):
        arm = agent.ask()
        waiting.append((arm, 0.5 if arm else float(reward() < 0.5)))
        if len(waiting) > 5:
            agent.tell(*waiting.popleft())
    wild, steady = agent.estimates()
    assert steady.pulls > 2 * wild.pulls


def test_a_reward_from_elsewhere_counts_as_a_round():
    agent, asked = Agent("ucb1", 2, scale=1), Agent("ucb1", 2, scale=1)
    for arm in play(asked, 20, lambda: 0.5):
        agent.tell(arm, 0.5, asked=False)
    assert agent.estimates() == asked.estimates()
    assert play(agent, 30, rewards(0)) == play(asked, 30, rewards(0))


# Any sequence of operations

operations = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "ask", "among", "tell", "withdraw", "tell", "old", "add", "retire", "reload"]),
        st.integers(0, 2**16),
        st.floats(0, 1),
    ),
    max_size=40,
)


@settings(max_examples=400)
@given(operations, st.sampled_from([*LEARNERS, "random-arm", *VARIANTS[:-1]]), st.integers(1, 4))
def test_whatever_happens_the_books_are_right(steps, policy, n_arms):
    agent = Agent(policy, n_arms, horizon=100, support=(0, 1), risk=risk_of(policy))
    told = {i: [] for i in range(n_arms)}
    waiting, retired = Counter(), set()
    for step, number, value in steps:
        live = [i for i in told if i not in retired]
        pending = [i for i in told if waiting[i]]
        match step:
            case "ask" | "among":
                few = live if step == "ask" else [live[i] for i in range(len(live)) if number >> i & 1] or live[:1]
                arm = agent.ask(None if step == "ask" else few)
                assert arm in few
                waiting[arm] += 1
            case "tell" if pending:
                arm = pending[number % len(pending)]
                agent.tell(arm, value)
                told[arm].append(value)
                waiting[arm] -= 1
            case "withdraw" if pending:
                arm = pending[number % len(pending)]
                agent.withdraw(arm)
                waiting[arm] -= 1
            case "old":
                arm = number % len(told)
                agent.tell(arm, value, asked=False)
                told[arm].append(value)
            case "add":
                told[agent.add_arm()] = []
            case "retire" if len(live) > 1:
                retired.add(live[number % len(live)])
                agent.retire(live[number % len(live)])
            case "reload":
                agent = Agent.from_json(agent.to_json())
        assert [e.pulls for e in agent.estimates()] == [len(values) for values in told.values()]
        assert [e.open_asks for e in agent.estimates()] == [waiting[i] for i in told]
        assert agent.arms == [i for i in told if i not in retired]
    for e in agent.estimates():
        if e.pulls:
            assert e.mean == pytest.approx(np.mean(told[e.arm]), abs=1e-12)
            assert e.variance == pytest.approx(np.var(told[e.arm]), abs=1e-12)
