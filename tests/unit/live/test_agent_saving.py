"""A live agent goes on after saving and loading as if nothing had happened; a corrupt state is refused."""

import copy
import json
import math
import re
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.agents import ALL, HORIZON, play, resealed, rewards, risk_of, stumble
from prudent import Agent, PrudentError


@pytest.mark.parametrize("policy", ALL)
def test_a_loaded_agent_goes_on_bit_for_bit(policy, tmp_path):
    for seed in range(3):
        agent = Agent(policy, 4, HORIZON, seed=seed, support=(0, math.inf), scale=1, risk=risk_of(policy))
        stumble(agent, 17 + 31 * seed, seed)
        agent.retire(3)
        agent.add_arm()
        stumble(agent, 5 + 7 * seed, seed)
        assert any(e.open_asks for e in agent.estimates())
        agent.save(tmp_path / "agent.json")
        loaded = Agent.load(tmp_path / "agent.json")
        assert loaded.to_json() == agent.to_json()
        assert stumble(loaded, 60, seed + 1) == stumble(agent, 60, seed + 1)
        assert loaded.estimates() == agent.estimates()
        assert loaded.to_json() == agent.to_json()
    assert [path.name for path in tmp_path.iterdir()] == ["agent.json"]


class Own(NamedTuple):
    weights: tuple[float, ...] = (1.0, math.inf)
    scale: float = np.float64(2.0)

    def score(self, arm):
        return -arm.mean - self.scale / arm.pulls


def test_a_users_own_policy_is_passed_again():
    agent = Agent(Own(), 3, scale=1, risk=risk_of(Own()))
    play(agent, 10, rewards(5))
    text = agent.to_json()
    assert play(Agent.from_json(text, policy=Own()), 20, rewards(6)) == play(agent, 20, rewards(6))
    with pytest.raises(PrudentError, match=r"(?i)unknown policy 'Own'.* passed again: policy=Own"):
        Agent.from_json(text)
    with pytest.raises(PrudentError, match="saved with the policy Own"):
        Agent.from_json(text, policy=Own(scale=3.0))


def test_a_users_own_policy_with_a_known_name_is_not_mistaken():
    own = type("UCB1", (Own,), {"score": lambda self, arm: arm.mean})
    with pytest.raises(PrudentError, match="agent state"):
        Agent.from_json(Agent(own(), 2, scale=1, risk=risk_of(own())).to_json())


def saved():
    agent = Agent("exp-exp(rho=inf)", 3, HORIZON, support=(0, 1))
    stumble(agent, 20, 0)
    agent.retire(2)
    agent.ask()
    return agent.to_json()


def branches(value, path=()):
    """Every path into nested JSON, but not to each of the many numbers of a ledger."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if path[-1:] != ("ledger",) or key % 17 == 0:
                yield from branches(inner, (*path, key))


def changed(state, path, change):
    state = copy.deepcopy(state)
    inner = state
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return json.dumps(state) if path == ("digest",) else resealed(state)


def test_a_state_cut_short_is_refused():
    text = saved()
    for end in range(len(text)):
        with pytest.raises(PrudentError, match=r"agent state: cannot be read as JSON.*cut short"):
            Agent.from_json(text[:end])


def test_a_state_with_a_part_missing_is_refused():
    state = json.loads(saved())
    for path in branches(state):
        if path and isinstance(path[-1], str):
            with pytest.raises(PrudentError, match="agent state: "):
                Agent.from_json(changed(state, path, lambda inner, key: inner.pop(key)))


def numbers(value, path=()):
    """Every path to a number, or to one that is written as text."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*path, key))
    elif not isinstance(value, bool) and (isinstance(value, int | float) or str(value).isdigit()):
        yield path


def other(value):
    """A number as near as can be."""
    if isinstance(value, str):
        return str(int(value) ^ 1)
    return value + 1 if isinstance(value, int) else math.nextafter(value, math.inf)


def test_one_changed_number_anywhere_is_refused():
    agent = Agent("b-cvts(alpha=0.5)", ["a", "b"], support=(0, 1), seed=3, horizon=100, risk="entropic(lam=1)")
    for arm, reward in (("a", 0.25), ("a", 0.75), ("b", 0.5)):
        agent.tell(arm, reward, asked=False)
    for state in map(json.loads, (agent.to_json(), saved())):
        paths = list(numbers(state))
        assert len(paths) > 100
        for path in paths:
            altered = copy.deepcopy(state)
            inner = altered
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = other(inner[path[-1]])
            with pytest.raises(PrudentError, match=r"agent state: (digest|version) must be"):
                Agent.from_json(json.dumps(altered))


def test_what_is_written_in_another_way_is_the_same_state():
    text = saved()
    state = json.loads(text)
    backwards = dict(reversed([(name, part) for name, part in state.items()]))
    whole = json.loads(text, parse_float=lambda digits: int(float(digits)) if float(digits) % 1 == 0 else float(digits))
    assert isinstance(whole["support"][0], int)
    for same in (json.dumps(state, indent=4), json.dumps(state, separators=(",", ":")), json.dumps(backwards)):
        assert Agent.from_json(same).to_json() == text
    assert Agent.from_json(json.dumps(whole)).to_json() == text  # as JavaScript and databases write numbers
    assert Agent.from_json(text.encode("utf-16")).to_json() == text


def remembered():
    """Every leaf that a state can have: rewards, a risk that needs them, flags, and a policy that draws."""
    agent = Agent("b-cvts(alpha=0.5)", 2, support=(0, 1), seed=3, risk="entropic(lam=1)")
    for arm, reward in ((0, 0.25), (0, 0.75), (1, 0.5)):
        agent.tell(arm, reward, asked=False)
    agent.ask()
    return agent.to_json()


def flagged():
    agent = Agent("mv-lcb(unbiased=True)", 2, 100, support=(0, 1), risk="mean-variance(rho=1)")
    agent.tell(agent.ask(), 0.5)
    return agent.to_json()


WRONG = [
    None, -1, 0, 1, 5, 0.5, -0.5, 1e308, 5e-324, 1e999, math.nan, "x", "", "inf", "false", True, False, [], {}, [1],
    2**53, 2**63, 10**40, 10**400, "1" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("state", [saved, remembered, flagged])
@pytest.mark.parametrize("value", WRONG)
def test_a_wrong_value_is_refused_or_harmless(state, value):
    """No other error than PrudentError, and what loads is an agent that asks, is told, estimates and is saved again."""
    state = json.loads(state())
    for path in filter(None, branches(state)):
        text = changed(state, path, lambda inner, key: inner.__setitem__(key, value))
        try:
            agent = Agent.from_json(text)
        except PrudentError:
            continue
        arm = agent.ask()
        assert arm in agent.arms
        low, high = agent.support
        agent.tell(arm, min(max(0.5, low), high))
        assert all(each.pulls == 0 or math.isfinite(each.cost) for each in agent.estimates())
        assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mean": 5.0}, "arm 0: mean must lie in the support [0, 1], got 5.0"),
        ({"mean": -0.1}, "arm 0: mean must lie in the support"),
        ({"variance": 100.0}, "arm 0: variance must be at most 0.25"),
        ({"variance": 0.26}, "arm 0: variance must be at most 0.25"),
        ({"pulls": 1}, "arm 0: variance must be at most 0 with 1 rewards"),
        ({"pulls": 2**52 + 1}, "arm 0: pulls must be a whole number from 0"),
        ({"open_asks": 10**400}, "arm 0: open_asks must be a whole number from 0"),
        ({"pulls": 2**52 - 1, "ledger": None}, "all pulls and open asks together must be a whole number from 0"),
        ({"retired": 1}, "arm 0: retired must be bool, got 1"),
        ({"ledger": [0.0] * 70}, "arm 0: ledger must be that of 2 rewards of mean 0.5"),
        ({"ledger": [0.0] * 69}, "arm 0: ledger must be 70 numbers"),
        ({"rewards": [-0.5, 1.5]}, "arm 0: rewards must lie in [0, 1], got -0.5"),
    ],
)
def test_statistics_that_no_rewards_have_are_refused(change, message):
    agent = Agent("ucb1", 2, support=(0, 1), remember="rewards" in change)
    for reward in (0.25, 0.75):
        agent.tell(0, reward, asked=False)
        agent.tell(1, reward, asked=False)
    state = json.loads(agent.to_json())
    state["arms"][0].update(change)
    with pytest.raises(PrudentError, match=f"agent state: .*{re.escape(message)}"):
        Agent.from_json(resealed(state))


@pytest.mark.parametrize("rewards", [(0.0, 5e-324, 5e-324), (5e-324,) * 3, (-2e-308, 1e-310), (1e-200, 3e-200)])
def test_an_agent_loads_its_own_file_whatever_small_rewards_it_was_told(rewards):
    agent = Agent("ucb1", 1, remember=True, scale=1)
    for reward in rewards:
        agent.tell(0, reward, asked=False)
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@given(
    st.lists(st.floats(-1e150, 1e150) | st.floats(1e9, 1e9 + 1e-3), min_size=1, max_size=20),
    st.booleans(),
    st.booleans(),
)
def test_an_agent_loads_its_own_file_whatever_it_was_told(rewards, remember, supported):
    support = (min(rewards), max(rewards)) if supported and min(rewards) < max(rewards) else None
    agent = Agent("round-robin", 1, support=support, remember=remember, risk="mean-variance(rho=1)")
    for reward in rewards:
        agent.tell(0, reward, asked=False)
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.parametrize("support", [(-1e308, 1e308), (-math.inf, 0.5), (0.5, math.inf), (0, 1e300), None])
def test_an_agent_loads_its_own_file_whatever_its_support(support):
    agent = Agent("round-robin", 2, support=support, risk="mean-variance(rho=1)")
    for reward in (0.5, 0.5, 0.5):
        agent.tell(0, reward, asked=False)
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.parametrize("offset", [1e9, -1e12, 1e15])
def test_an_agent_far_from_zero_loads_its_own_file_and_no_other(offset):
    agent, rng = (
        Agent("round-robin", 1, support=(offset, offset + 1), remember=True, risk="mean-variance(rho=1)"),
        np.random.default_rng(1),
    )
    for reward in offset + rng.integers(0, 9, 2_000) / 8:
        agent.tell(0, reward, asked=False)
    state = json.loads(agent.to_json())
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()
    for change in ({"mean": offset + 2_000.0}, {"mean": -offset}, {"variance": 3e6}):
        altered = {**state, "arms": [{**state["arms"][0], **change}]}
        with pytest.raises(PrudentError, match="agent state: arm 0"):
            Agent.from_json(resealed(altered))


@pytest.mark.parametrize("path", [None, 5, "", b"", object(), "a\0b", 1.5, ["a"]])
def test_what_is_no_path_is_refused(path):
    for call in (Agent("ucb1", 1, scale=1).save, Agent.load):
        with pytest.raises(PrudentError, match="path must name a file"):
            call(path)


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(PrudentError, match=r"load: cannot read .*none.json: No such file or directory"):
        Agent.load(tmp_path / "none.json")
    with pytest.raises(PrudentError, match=r"load: cannot read .*: Is a directory"):
        Agent.load(tmp_path)
    with pytest.raises(PrudentError, match="cannot write"):
        Agent("ucb1", 1, scale=1).save(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("version",), 1, "version must be 8, got 1; read it with the prudent that wrote it"),
        (("version",), 3, "version must be 8, got 3"),
        (("version",), "x" * 10_000, "… (10,002 characters)"),
        (("format",), "other", "not a prudent agent; pass what to_json or save gave"),
        (("digest",), None, "digest must be that of all the rest, got None"),
        (("digest",), "x" * 10_000, "… (10,002 characters); something was altered or lost since"),
        (("policy", "name"), "exp-expp", "did you mean exp-exp"),
        (("policy", "parameters", "rule"), "guess", "rule must be one of"),
        (("policy", "parameters", "rho"), -1, "rho must lie in"),
        (("risk",), "mean(", "cannot read risk"),
        (("risk",), None, "risk must be str, got None"),
        (("horizon",), 0, "horizon must be a whole number"),
        (("support",), [1, 0], "low < high"),
        (("support",), [1], "support must be a pair (low, high), got (1,)"),
        (("arms",), [], "not retired"),
        (("arms", 0, "pulls"), -1, f"arm 0: pulls must be a whole number from 0 to {2**52}, got -1"),
        (("arms", 0, "pulls"), 0, "must be 0 without pulls"),
        (("arms", 0, "open_asks"), True, "open_asks must be"),
        (("arms", 1, "open_asks"), -1, "arm 1: open_asks"),
        (("arms", 1, "mean"), "0.5", "mean must be int | float, got '0.5'"),
        (("arms", 1, "mean"), math.nan, "NaN is no JSON"),
        (("arms", 1, "mean"), 10**400, "mean must be a number"),
        (("arms", 1, "variance"), -0.1, "variance must lie in"),
        (("arms", 2, "due"), 1, "due must be 0"),
        (("generator", "state"), "-1", "state must be a whole number as text, got '-1'"),
        (("generator", "inc"), "abc", "inc must be a whole number as text, got 'abc'"),
        (("generator", "inc"), "0", "inc must be odd, got 0"),
        (("generator", "state"), str(2**128), "state must be a whole number from 0"),
        (("generator", "has_uint32"), 7, "has_uint32"),
    ],
)
def test_a_corrupt_state_is_refused_by_name(path, value, message):
    with pytest.raises(PrudentError, match=f"agent state: .*{re.escape(message)}"):
        Agent.from_json(changed(json.loads(saved()), path, lambda inner, key: inner.__setitem__(key, value)))


FOREIGN = ["", "[]", "3", "null", "{}", '"agent"', '{"arms": 3}', b"\xff\x00\x89PNG", "[" * 10**5]


@pytest.mark.parametrize("text", FOREIGN)
def test_a_foreign_state_is_refused(text, tmp_path):
    with pytest.raises(PrudentError, match="agent state: "):
        Agent.from_json(text)
    path = tmp_path / "foreign"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(PrudentError, match="agent state: "):
        Agent.load(path)


def test_the_state_is_strict_json_of_everyday_numbers():
    def refuse(constant):
        raise AssertionError(constant)

    state = json.loads(saved(), parse_constant=refuse)
    assert state["policy"]["parameters"]["rho"] == "inf"
    assert all(len(str(arm["due"])) < 20 for arm in state["arms"])
