"""Arms may have names. Then every method takes and gives names, and nothing else changes."""

import json

import numpy as np
import pytest

from helpers.agents import ALL, HORIZON, play, resealed, rewards, risk_of, stumble
from prudent import Agent, Bandit, PrudentError

NAMES = ["old", "new", "Ärger 3"]


@pytest.mark.parametrize("policy", ALL)
def test_named_arms_are_chosen_as_numbered_ones_are(policy):
    named, numbered = (
        Agent(policy, NAMES, HORIZON, scale=1, risk=risk_of(policy)),
        Agent(policy, len(NAMES), HORIZON, scale=1, risk=risk_of(policy)),
    )
    assert play(named, 60, rewards(1)) == [NAMES[arm] for arm in play(numbered, 60, rewards(1))]
    assert [e._replace(arm=NAMES.index(e.arm)) for e in named.estimates()] == numbered.estimates()


def test_every_method_takes_and_gives_names():
    agent = Agent("ucb1", ("a", "b", "c"), support=(0, 1), remember=True)
    assert agent.arms == ["a", "b", "c"]
    assert agent.ask(among=["c", "b"]) == "b"
    agent.tell("b", 0.5)
    assert agent.ask() == "a"
    agent.withdraw("a")
    agent.tell("c", 0.25, asked=False)
    assert [e[:2] for e in agent.estimates()] == [("a", 0), ("b", 1), ("c", 1)]
    assert [known[:2] for known in agent.intervals(quantile=0.5)] == [("a", 0), ("b", 1), ("c", 1)]
    assert agent.add_arm("d") == "d"
    agent.retire("a")
    assert agent.arms == ["b", "c", "d"]
    assert agent.ask() == "d"
    agent.tell("d", 0.5)


def test_names_are_saved(tmp_path):
    agent = Agent("epsilon-greedy", NAMES, seed=2, risk="mean-variance(rho=1)")
    stumble(agent, 20, 1)
    agent.retire("new")
    agent.add_arm("newest")
    agent.save(tmp_path / "agent.json")
    loaded = Agent.load(tmp_path / "agent.json")
    assert loaded.arms == ["old", "Ärger 3", "newest"]
    assert loaded.to_json() == agent.to_json()
    assert stumble(loaded, 30, 2) == stumble(agent, 30, 2)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", None], r"name must be text that is not empty, got None"),
        (["a", ""], r"name must be text that is not empty, got ''"),
        (["a", "a"], r"name must be all different, got \['a', 'a'\]"),
        (["a", 5], r"name must be str \| None, got 5"),
    ],
)
def test_states_with_names_that_cannot_be_are_refused(names, message):
    state = json.loads(Agent("ucb1", ["a", "b"], scale=1).to_json())
    for arm, name in zip(state["arms"], names, strict=True):
        arm["name"] = name
    with pytest.raises(PrudentError, match=f"agent state: .*{message}"):
        Agent.from_json(resealed(state))


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ("ab", "arms must be a list of names, or how many there are, got 'ab'"),
        ([], "arms must be from 1 to 1,000,000 names, got"),
        (["a", "a"], r"arms must be all different, got \['a', 'a'\]"),
        (["a", 1], "arms must be text that is not empty, got 1"),
        (["a", " "], "arms must be text that is not empty, got ' '"),
        (np.ones(2), "arms must be text"),
        (None, "arms must be a whole number, got None; or give a list of names"),
    ],
)
def test_what_cannot_be_arms_is_refused(arms, message):
    with pytest.raises(PrudentError, match=f"Agent: {message}"):
        Agent("ucb1", arms, scale=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda agent: agent.tell("stedy", 0.5), "tell: unknown arm 'stedy'; did you mean steady"),
        (lambda agent: agent.tell(0, 0.5), "tell: arm must be a name, since these arms have names, got 0"),
        (lambda agent: agent.tell(["wild"], 0.5), "tell: arm must be a name"),
        (lambda agent: agent.tell("wild", 0.5), "tell: arm 'wild' has no open ask"),
        (lambda agent: agent.withdraw("wild"), "withdraw: arm 'wild' has no open ask"),
        (lambda agent: agent.ask(among=[0]), "ask: arm must be a name"),
        (lambda agent: agent.ask(among="wild"), "ask: among must be a list"),
        (lambda agent: agent.ask(among=["gone", "wild"]), r"no retired arm, got \['wild', 'gone'\]; in play are"),
        (lambda agent: agent.retire("gone"), r"arm 'gone' is retired already; in play are \['steady', 'wild'\]"),
        (lambda agent: agent.add_arm(), "add_arm: name must fit the other arms, got None; these arms have names"),
        (lambda agent: agent.add_arm("gone"), "add_arm: name must be all different"),
        (lambda agent: agent.add_arm(7), "add_arm: name must be text"),
    ],
)
def test_wrong_names_are_refused_and_change_nothing(call, message):
    agent = Agent("ucb1", ["steady", "wild", "gone"], support=(0, 1))
    agent.retire("gone")
    agent.ask()
    before = agent.to_json()
    with pytest.raises(PrudentError, match=message):
        call(agent)
    assert agent.to_json() == before


def test_an_error_of_a_policy_calls_the_arm_by_its_name():
    agent = Agent("entropic-lcb(lam=1)", ["steady"], 10, scale=1)
    agent.tell("steady", -1e100, asked=False)
    with pytest.raises(PrudentError, match=r"entropic-lcb.*: its score of arm 'steady', .* is not a number"):
        agent.ask()


def test_numbered_arms_get_no_name():
    with pytest.raises(PrudentError, match="name must fit the other arms, got 'c'; these arms have numbers"):
        Agent("ucb1", 2, scale=1).add_arm("c")


def test_the_names_of_a_bandit_name_the_arms():
    bandit = Bandit(["bernoulli(0.5)", "bernoulli(0.4)"], names=["old", "new"])
    assert Agent("ucb1", bandit.names, scale=1).ask() == "old"
