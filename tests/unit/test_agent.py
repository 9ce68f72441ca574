"""The live agent: what the engine would choose, whatever the order of rewards, and through saving and loading."""

import contextlib
import copy
import json
import math
import re
from collections import Counter, deque
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prudent import MVLCB, UCB1, Agent, FixedArm, MeanVariance, PrudentError, RiskMeasure
from prudent.arms.base import encode
from prudent.arms.continuous import Beta, Gaussian
from prudent.arms.discrete import Bernoulli
from prudent.arms.sampling import draw
from prudent.engine.record import Record, write_down
from prudent.engine.stepping import FINE, step_phases, step_scores
from prudent.policies.base import UNSET, Arms
from prudent.policies.base import policies as registry
from prudent.policies.binding import bind, serves
from prudent.policies.scoring import needs_no_clock
from prudent.risk.base import risks as risk_registry

LAWS = encode([Gaussian(0.6, 0.05), Bernoulli(0.5), Beta(2.0, 3.0)])
N_ARMS, HORIZON = 3, 200
KEEPERS = ["b-cvts", "cvar-ucb", "entropic-lcb", "m-cvts", "marab", "npts", "quantile-ucb", "rho-mts", "u-ucb"]
"""Policies that read every reward, of arms whose rewards lie in [0, 1]."""

COINS = encode([Bernoulli(0.6), Bernoulli(0.5), Bernoulli(0.4)])
# Other tests may register policies of their own.
OURS = [name for name in registry.names() if registry.get(name).factory.__module__.startswith("prudent.")]
NAMES = [name for name in OURS if name not in KEEPERS]
VARIANTS = [
    "mv-lcb(rho=inf)",
    "mv-lcb(c=1, unbiased=True)",
    "exp-exp(explore='successive-rejects')",
    "exp-exp(explore='ucb-e')",
    "fixed-arm(arm=2)",
]
ALL = [*NAMES, *VARIANTS]
LEARNERS = [name for name in NAMES if name not in ("fixed-arm", "random-arm")]


def rewards(seed):
    return np.random.default_rng(seed).random


def play(agent, rounds, reward):
    """Ask and tell in turn; returns the arms."""
    arms = []
    for _ in range(rounds):
        arms.append(agent.ask())
        agent.tell(arms[-1], reward())
    return arms


def stumble(agent, steps, seed):
    """Several open asks, some among few arms, rewards late and out of order; returns the arms."""
    rng = np.random.default_rng(seed)
    must = [agent.policy.arm] if isinstance(agent.policy, FixedArm) else []
    arms = []
    for _ in range(steps):
        few = {*rng.choice(agent.arms, 2).tolist(), *must}
        arms.append(agent.ask(few if rng.random() < 0.3 else None))
        waiting = [e.arm for e in agent.estimates() for _ in range(e.open_asks)]
        for arm in rng.permutation(waiting)[: rng.integers(0, 3)]:
            agent.tell(arm, rng.random())
    return arms


# The agent and the engine


class Median(NamedTuple):
    """Asks for every reward; the clock and chance have a say too."""

    noise: float = 0.3

    def score(self, arm, t, rng, rewards):
        return -rewards[len(rewards) // 2] - self.noise * rng.random() / len(rewards) ** (1.0 / t)


class Worst(NamedTuple):
    """Asks for the rewards alone."""

    def score(self, arm, rewards):
        return -rewards[0] - 1.0 / len(rewards)


@pytest.mark.parametrize("policy", [*ALL, *KEEPERS, Median(), Worst()], ids=str)
def test_driven_with_a_simulations_rewards_it_chooses_the_same_arms(policy):
    """Policy, rewards and twins share one stream; every statistic after every round is the same number."""
    made = registry.parse(policy) if isinstance(policy, str) else policy
    laws = COINS if policy in KEEPERS else LAWS
    risk = risk_registry.parse(serves(made)) if serves(made) in risk_registry else MeanVariance(1.0)
    ready = bind(made, risk, HORIZON, N_ARMS)
    simulated, live = Record.empty(1, HORIZON, N_ARMS), Record.empty(1, HORIZON, N_ARMS)
    rounds = np.arange(1, HORIZON + 1)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(5)))
    if hasattr(ready, "score"):
        assert step_scores(ready, needs_no_clock(type(ready)), HORIZON, laws, 0, rounds, simulated, rng) == FINE
    else:
        assert step_phases(ready, laws, 0, rounds, simulated, rng) == FINE

    agent = Agent(policy, N_ARMS, HORIZON, seed=5, risk=risk)
    for t in range(HORIZON):
        arm = agent.ask()
        agent.tell(arm, draw(laws, arm, agent._rng))
        _, pulls, mean, variance, *_ = zip(*agent.estimates(), strict=True)
        known = Arms(np.array(pulls), *(np.array([x or 0.0 for x in values]) for values in (mean, variance)))
        write_down(live, 0, t, known, laws, 0, agent._rng)
    for name, values in simulated._asdict().items():
        assert np.array_equal(values, getattr(live, name)), name


# Late rewards, several open asks


@pytest.mark.parametrize("policy", ["mv-lcb", "ucb1", "exp-exp", "round-robin"])
def test_asks_withdrawn_leave_no_trace(policy):
    """An agent whose every other ask is withdrawn asks the same as one that was never asked for them."""
    plain, nervous = Agent(policy, 3, horizon=60), Agent(policy, 3, horizon=60)
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
    agent = Agent(policy, 4, horizon=1000)
    assert Counter(agent.ask() for _ in range(8)) == dict.fromkeys(range(4), 2)


@given(st.permutations(range(30)), st.sampled_from(ALL))
def test_late_rewards_in_any_order_give_the_same_estimates(order, policy):
    agent = Agent(policy, N_ARMS, HORIZON)
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
    agent, waiting, reward = Agent("mv-lcb(c=1, rho=0)", 2, horizon=3000), deque(), rewards(1)
    for _ in range(3000):
        arm = agent.ask()
        waiting.append((arm, 0.5 if arm else float(reward() < 0.5)))
        if len(waiting) > 5:
            agent.tell(*waiting.popleft())
    wild, steady = agent.estimates()
    assert steady.pulls > 2 * wild.pulls


def test_a_reward_from_elsewhere_counts_as_a_round():
    agent, asked = Agent("ucb1", 2), Agent("ucb1", 2)
    for arm in play(asked, 20, lambda: 0.5):
        agent.tell(arm, 0.5, asked=False)
    assert agent.estimates() == asked.estimates()
    assert play(agent, 30, rewards(0)) == play(asked, 30, rewards(0))


# Some of the arms


@pytest.mark.parametrize("policy", LEARNERS)
def test_among_is_obeyed_and_leaves_no_arm_unknown(policy):
    agent = Agent(policy, 4, horizon=1000)
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
    agent, pay, arms = Agent("exp-exp", 3, horizon=440), [0.1, 0.9, 0.2], []
    for t in range(60):
        arms.append(agent.ask(among=[0, 1] if t < 40 else None))
        agent.tell(arms[-1], pay[arms[-1]])
    assert arms == [0, 1] * 10 + [1] * 20 + [2] * 10 + [1] * 10  # ⌈(440/14)^(2/3)⌉ = 10


def test_epsilon_greedy_explores_whatever_is_available():
    agent = Agent("epsilon-greedy(epsilon=0.5)", 3)
    play(agent, 3, iter([0.0, 0.5, 1.0]).__next__)
    counts = Counter(agent.ask(among=[0, 1]) for _ in range(400))
    assert 40 < counts[0] < 160  # binomial(400, 1/4): 6.9 standard deviations either way


# Estimates


def test_estimates_price_the_told_rewards_and_draw_nothing():
    agent = Agent("epsilon-greedy", 3, risk="mean-variance(rho=2)")
    before = agent.to_json()
    assert agent.estimates() == [(i, 0, None, None, None, 0, False) for i in range(3)]
    assert agent.to_json() == before
    for value in (0.0, 1.0):
        agent.tell(1, value, asked=False)
    assert agent.estimates()[1] == (1, 2, 0.5, 0.25, 0.25 - 2 * 0.5, 0, False)


def test_the_risk_defaults_to_the_policys_rho():
    assert Agent("mv-lcb(rho=0.5)", 2, 10).risk == MeanVariance(0.5)
    assert Agent("mv-lcb", 2, 10).risk == Agent("ucb1", 2).risk == MeanVariance(1.0)


# Arms that come and go


@pytest.mark.parametrize("policy", LEARNERS)
def test_an_added_arm_is_tried_and_a_retired_one_never_again(policy):
    agent, reward = Agent(policy, 3, horizon=500), rewards(3)
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
    agent, fresh = Agent(policy, 4, 300), Agent(policy, 3, 300)
    agent.retire(1)
    names = [0, 2, 3]
    assert play(agent, 300, rewards(4)) == [names[arm] for arm in play(fresh, 300, rewards(4))]


def test_a_fixed_arm_keeps_its_number():
    agent = Agent("fixed-arm(arm=2)", 4)
    agent.retire(0)
    agent.add_arm()
    assert play(agent, 5, rewards(0)) == [2] * 5
    before = agent.to_json()
    for refused in (lambda: agent.retire(2), lambda: agent.ask(among=[1, 3])):
        with pytest.raises(PrudentError, match="arm 2 must be there"):
            refused()
    assert agent.to_json() == before
    assert Agent.from_json(before).ask() == 2


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
    agent = Agent(policy, n_arms, horizon=100, support=(0, 1))
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


# Remembering rewards


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


@pytest.mark.parametrize("settings", [{"remember": True}, {"policy": Worst()}, {"risk": Shortfall()}], ids=str)
def test_rewards_are_kept_in_order_where_needed(settings):
    agent = Agent(**({"policy": "ucb1", "n_arms": 2} | settings))
    values = np.random.default_rng(8).random(50).tolist()
    for i, value in enumerate(values):
        agent.tell(i % 2, value, asked=False)
    assert kept(agent) == [sorted(values[::2]), sorted(values[1::2])]
    agent.add_arm()
    agent.tell(2, 0.5, asked=False)
    assert kept(agent)[2] == [0.5]


def test_rewards_nobody_needs_are_not_kept():
    agent = Agent("ucb1", 2)
    play(agent, 5, rewards(0))
    assert kept(agent) == [None, None]


def test_any_risk_measure_prices_the_rewards(shortfall):
    agent = Agent("ucb1", 2, risk="shortfall(share=0.25)")
    told = np.random.default_rng(9).random(31)
    for value in told:
        agent.tell(1, value, asked=False)
    assert agent.estimates()[1].cost == pytest.approx(shortfall.sample_cost(told), abs=1e-12)
    assert Agent.from_json(agent.to_json()).estimates() == agent.estimates()


@pytest.mark.parametrize("given", [Cautious(support=[0, 0.5, math.inf]), Cautious(Shortfall(0.1), (1.0, 2.0))], ids=str)
def test_a_policys_measure_and_lists_survive_saving(given, shortfall, register):
    register(registry, "cautious", Cautious)
    agent = Agent(given, 3, risk=shortfall)
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
    assert Agent(Cautious(Shortfall(0.1)), 2).risk == Shortfall(0.1)


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
    agent = Agent("ucb1", 2, remember=True)
    for value in (0.1, 0.2, 0.4, 0.7, 0.9):
        agent.tell(0, value, asked=False)
    state = json.loads(agent.to_json())
    change(state["arms"][0])
    with pytest.raises(PrudentError, match=f"agent state: .*{message}"):
        Agent.from_json(json.dumps(state))


def test_a_policy_that_needs_rewards_does_not_go_on_without():
    agent = Agent(Worst(), 1)
    agent.tell(0, 0.5, asked=False)
    state = json.loads(agent.to_json())
    state["arms"][0]["rewards"] = None
    with pytest.raises(PrudentError, match="agent state: arm 0: rewards must be there"):
        Agent.from_json(json.dumps(state), policy=Worst())


# Saving and loading


@pytest.mark.parametrize("policy", ALL)
def test_a_loaded_agent_goes_on_bit_for_bit(policy, tmp_path):
    for seed in range(3):
        agent = Agent(policy, 4, HORIZON, seed=seed, support=(0, math.inf))
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
    agent = Agent(Own(), 3)
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
        Agent.from_json(Agent(own(), 2).to_json())


def saved():
    agent = Agent("exp-exp(rho=inf)", 3, HORIZON, support=(0, 1))
    stumble(agent, 20, 0)
    agent.retire(2)
    agent.ask()
    return agent.to_json()


def branches(value, path=()):
    """Every path into nested JSON."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from branches(inner, (*path, key))


def changed(state, path, change):
    state = copy.deepcopy(state)
    inner = state
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return json.dumps(state)


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


@pytest.mark.parametrize("value", [None, -1, 0.5, 1e999, math.nan, "x", "inf", True, [], {}, [1], 10**40, "1" * 5000])
def test_a_wrong_value_is_refused_or_harmless(value):
    """No other error than PrudentError, and what loads is an agent that plays."""
    state = json.loads(saved())
    for path in filter(None, branches(state)):
        text = changed(state, path, lambda inner, key: inner.__setitem__(key, value))
        with contextlib.suppress(PrudentError):
            agent = Agent.from_json(text)
            assert agent.ask() in agent.arms
            assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("version",), 2, "version must be 1, got 2"),
        (("format",), "other", "not written by an agent"),
        (("policy", "name"), "exp-expp", "did you mean exp-exp"),
        (("policy", "parameters", "rule"), "guess", "rule must be one of"),
        (("policy", "parameters", "rho"), -1, "rho must lie in"),
        (("risk",), "mean(", "cannot read risk"),
        (("risk",), None, "risk must be str, got None"),
        (("horizon",), 0, "horizon must be a whole number"),
        (("support",), [1, 0], "low < high"),
        (("support",), [1], "not enough values"),
        (("arms",), [], "not retired"),
        (("arms", 0, "pulls"), -1, "arm 0: pulls must be a whole number at least 0, got -1"),
        (("arms", 0, "pulls"), 0, "must be 0 without pulls"),
        (("arms", 0, "open_asks"), True, "open_asks must be"),
        (("arms", 1, "open_asks"), -1, "arm 1: open_asks"),
        (("arms", 1, "mean"), "0.5", "mean must be int | float, got '0.5'"),
        (("arms", 1, "mean"), math.nan, "NaN is no JSON"),
        (("arms", 1, "mean"), 10**400, "mean must be a number"),
        (("arms", 1, "variance"), -0.1, "variance must lie in"),
        (("arms", 2, "due"), 1, "due must be 0"),
        (("generator", "state"), "-1", "state must be a whole number from 0"),
        (("generator", "inc"), "abc", "invalid literal"),
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


# Bad input


class Undefined(NamedTuple):
    def score(self, arm):
        return math.nan


class Idle(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        return 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_arms": 0}, "n_arms must be a whole number at least 1"),
        ({"n_arms": 2.5}, "n_arms must be a whole number"),
        ({"horizon": 0}, "horizon must be"),
        ({"horizon": None}, "needs the horizon"),
        ({"horizon": 1}, "at least the number of arms, 2"),
        ({"seed": -1}, "seed must be"),
        ({"policy": "mvlcb"}, "did you mean mv-lcb"),
        ({"policy": ("not", "a", "policy")}, "NamedTuple"),
        ({"policy": "fixed-arm(arm=2)"}, "arm 2 must be there"),
        ({"risk": "mean-varianse"}, "did you mean mean-variance"),
        ({"support": (1, 0)}, "low < high"),
        ({"support": (0, math.nan)}, "low < high"),
        ({"support": 1}, r"pair \(low, high\)"),
        ({"support": (0, "1")}, "support must be a number"),
    ],
)
def test_bad_settings_stop_at_the_door(change, message):
    with pytest.raises(PrudentError, match=message):
        Agent(**({"policy": MVLCB(), "n_arms": 2, "horizon": 10} | change))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda agent: agent.tell(0, 1.5), r"reward must lie in \[0, 1\], got 1.5; the agent's support"),
        (lambda agent: agent.tell(0, math.nan), "got nan"),
        (lambda agent: agent.tell(0, math.inf), "got inf"),
        (lambda agent: agent.tell(0, "1"), "must be a number"),
        (lambda agent: agent.tell(0, None), "must be a number"),
        (lambda agent: agent.tell(3, 0.5), "arm must be a whole number from 0 to 2, got 3; arms are numbered from 0"),
        (lambda agent: agent.tell(-1, 0.5), "arm must be"),
        (lambda agent: agent.tell("a", 0.5), "arm must be"),
        (lambda agent: agent.tell(1, 0.5), "arm 1 has no open ask; .*asked=False"),
        (lambda agent: agent.ask(among=[]), "at least one arm"),
        (lambda agent: agent.ask(among=[7]), "from 0 to 2"),
        (lambda agent: agent.ask(among=[0, 2]), r"no retired arm, got \[0, 2\]; in play are \[0, 1\]"),
        (lambda agent: agent.ask(among=1), "must be a list"),
        (lambda agent: agent.ask(among="01"), "arm must be"),
        (lambda agent: agent.ask(among=[True, False]), "arm must be"),
        (lambda agent: agent.retire(2), "retired already"),
        (lambda agent: agent.retire(9), "from 0 to 2"),
    ],
)
def test_bad_calls_are_refused_and_change_nothing(call, message):
    agent = Agent("mv-lcb", 3, horizon=3, support=(0, 1))
    agent.retire(2)
    assert agent.ask() == 0
    before = agent.to_json()
    with pytest.raises(PrudentError, match=message):
        call(agent)
    assert agent.to_json() == before
    assert agent.ask() == 1


@pytest.mark.parametrize("policy", [name for name in NAMES if "range" in registry.get(name).factory._fields])
def test_a_range_nobody_gave_must_reach_over_the_support(policy):
    with pytest.raises(PrudentError, match=rf"{policy}.*: range is 1, its default, .*\(-1.0, 2.0\); pass range=3"):
        Agent(policy, 2, horizon=10, support=(-1, 2))
    for spec, support in (("", (3, 3.7)), ("", (0.1, 1.1)), ("", (0, math.inf)), ("(range=3)", (-1, 2))):
        assert Agent(policy + spec, 2, horizon=10, support=support).ask() == 0


def test_more_arms_than_rounds_are_refused():
    agent = Agent("mv-lcb", 3, horizon=3)
    before = agent.to_json()
    with pytest.raises(PrudentError, match="at least the number of arms, 4"):
        agent.add_arm()
    assert agent.to_json() == before


def test_the_last_arm_cannot_be_retired():
    with pytest.raises(PrudentError, match="last one in play"):
        Agent("ucb1", 1).retire(0)


def test_rewards_too_large_to_square_are_refused():
    agent = Agent("ucb1", 1)
    agent.tell(0, 1e200, asked=False)
    with pytest.raises(PrudentError, match="too large"):
        agent.tell(0, -1e200, asked=False)
    assert agent.estimates()[0][:4] == (0, 1, 1e200, 0.0)


@pytest.mark.parametrize(("policy", "message"), [(Undefined(), "not a number"), (Idle(), "fewer than 1 repetition")])
def test_a_broken_policy_is_named(policy, message):
    agent = Agent(policy, 1)
    agent.tell(0, 0.5, asked=False)
    with pytest.raises(PrudentError, match=f"{type(policy).__name__}: .*{message}"):
        agent.ask()


def test_agents_with_one_seed_are_one():
    first, second = (play(Agent("epsilon-greedy(epsilon=1)", 5, seed=1), 50, lambda: 0.0) for _ in range(2))
    assert first == second
    assert first != play(Agent("epsilon-greedy(epsilon=1)", 5, seed=2), 50, lambda: 0.0)
    assert any(a != b for a, b in pairwise(first[5:]))


def test_it_introduces_itself():
    agent = Agent(UCB1(range=2.0), 3)
    play(agent, 5, rewards(0))
    agent.ask()
    assert repr(agent) == "<Agent: ucb1(range=2.0), 3 arms, 5 rewards, 1 open asks>"


def test_the_documentation_runs(tmp_path, monkeypatch):
    page = Path(__file__).parents[2] / "docs" / "live.md"
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, scope)
