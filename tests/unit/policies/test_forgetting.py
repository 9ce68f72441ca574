"""Policies that forget: the published formulas against loops that keep every reward, compiled, in an agent and in
JSON, what happens if nothing is forgotten, and that they follow a drift."""

import math
import re

import numpy as np
import pytest

from prudent import UCB1, Agent, Bandit, Discounted, PrudentError, SlidingWindow, simulate
from prudent.engine.python.arm import ArmState
from prudent.engine.python.memory import Memory
from prudent.policies.contract import policies, spec
from prudent.policies.forgetting import Remembering

ARMS = Bandit(["gaussian(0.3, 0.04)", "gaussian(0.5, 0.01)", "gaussian(0.4, 0.09)"])
COINS = Bandit(["bernoulli(0.4)", "bernoulli(0.5)"])


def played(policy, bandit, risk="mean", rounds=400):
    """The arms and the rewards of a compiled run."""
    runs = simulate(bandit, policy, risk=risk, horizon=rounds, runs=2, keep="trajectory")
    assert runs.engine == "stepping"
    assert (runs.pulls == [np.bincount(arms, minlength=len(bandit)) for arms in runs.kept.arms]).all()
    for arm in range(len(bandit)):
        own = runs.kept.rewards[0][runs.kept.arms[0] == arm]
        assert runs.mean[0, arm] == pytest.approx(own.mean())
        assert runs.variance[0, arm] == pytest.approx(own.var())
    return runs.kept.arms[1], runs.kept.rewards[1]


def discounted_ucb(arms, rewards, gamma):
    """The discounted mean plus 2√(ξ log n/N) with ξ = ½, of three arms."""
    weights = gamma ** np.arange(len(arms) - 1, -1, -1.0)
    counts = np.array([weights[arms == i].sum() for i in range(3)])
    sums = np.array([(weights * rewards)[arms == i].sum() for i in range(3)])
    return sums / counts + 2.0 * np.sqrt(0.5 * math.log(counts.sum()) / counts)


def sliding_window_ucb(arms, rewards, tau):
    """The mean over the last τ rounds plus √(2 log min(t, τ)/N), of three arms; ∞ without a pull there."""
    index, t = [], len(arms) + 1
    for i in range(3):
        own = rewards[-tau:][arms[-tau:] == i]
        index.append(own.mean() + math.sqrt(2.0 * math.log(min(t, tau)) / len(own)) if len(own) else math.inf)
    return np.array(index)


@pytest.mark.parametrize(
    ("policy", "index", "parameter"),
    [
        (Discounted(UCB1(range=1), discount=0.95), discounted_ucb, 0.95),
        (Discounted("ucb1(range=1)", half_life=10), discounted_ucb, 2**-0.1),
        (Discounted("ucb1(range=1)"), discounted_ucb, 1 - 0.25 / math.sqrt(400)),
        (SlidingWindow("ucb1(range=1)", window=40), sliding_window_ucb, 40),
        (SlidingWindow("ucb1(range=1)", window=3), sliding_window_ucb, 3),
    ],
)
def test_published_indices_from_their_definitions(policy, index, parameter):
    arms, rewards = played(policy, ARMS)
    for t in range(3, len(arms)):
        assert arms[t] == int(np.argmax(index(arms[:t], rewards[:t], parameter))), t


@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_variances_and_counts_of_discounted_rewards(gamma):
    """They are the weighted ones, for moments and for counts of values alike, one by one and merged."""
    rewards, weights = np.random.default_rng(3).integers(0, 2, 50), gamma ** np.arange(49, -1, -1.0)
    coins = policies.parse("finite-mv-imed(rho=1, values=[0, 1])").tuned(None)
    memory = Memory(Remembering(coins, gamma, 0), 1.0)
    arms = [memory.begin(ArmState()) for _ in range(2)]
    for reward in rewards:
        memory.tell(arms, 0, float(reward))
    mean = np.average(rewards, weights=weights)
    counts = [weights[rewards == value].sum() for value in (0, 1)]
    assert arms[0].recent == pytest.approx([weights.sum(), mean, mean * (1 - mean), *counts])
    memory.fade(arms, 10)
    assert arms[0].recent[0] == pytest.approx(weights.sum() * gamma**10)

    plain = Memory(Remembering(UCB1(range=1), gamma, 0), 1.0)
    arms = [plain.begin(ArmState()) for _ in range(2)]
    plain.merge(arms, 0, 50, 0.4, 0.2)
    plain.merge(arms, 1, 1, 0.5, 0.0)
    assert arms[0].recent == pytest.approx([weights.sum() * gamma, 0.4, 0.2])
    assert arms[1].recent == [1.0, 0.5, 0.0]


FORGETTING = [
    ("discounted(ucb1, half_life=30)", "mean"),
    ("discounted(mv-lcb(c=1), half_life=40)", "mean-variance(rho=1)"),
    ("discounted(mv-imed, discount=0.98)", "mean-variance(rho=1)"),
    ("discounted(finite-mv-imed(values=[0, 1]), half_life=40)", "mean-variance(rho=1)"),
    ("sliding-window(mv-imed, window=30)", "mean-variance(rho=1)"),
    ("sliding-window(finite-mv-imed(values=[0, 1]), window=40)", "mean-variance(rho=1)"),
]


@pytest.mark.parametrize(("policy", "risk"), FORGETTING)
def test_an_agent_chooses_as_the_compiled_rounds_and_goes_on_from_json(policy, risk):
    made = policies.parse(policy)
    assert policies.parse(spec(made)) == made
    arms, rewards = played(policy, COINS, risk)
    agent = Agent(policy, arms=2, horizon=400, risk=risk, support=(0, 1))
    for t, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
        assert agent.ask() == arm, t
        agent.tell(int(arm), float(reward))
        if t in (20, 300):
            assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()
            agent = Agent.from_json(agent.to_json()) if t == 20 else agent.copy()


@pytest.mark.parametrize("policy", ["mv-imed(rho=1)", "mv-lcb(rho=1, c=1, range=1)"])
def test_without_forgetting_it_is_the_policy(policy):
    """With a discount of 1 bit for bit."""
    agents = [
        Agent(each, arms=3, horizon=300, support=(0, 1), risk="mean-variance(rho=1)")
        for each in (policy, Discounted(policy, 1.0), SlidingWindow(policy, 10**6))
    ]
    for row in np.random.default_rng(1).random((300, 3)):
        arms = [agent.ask() for agent in agents]
        assert arms[0] == arms[1] == arms[2]
        for agent in agents:
            agent.tell(arms[0], row[arms[0]])


class Switch:
    """After 1,200 rounds the second arm becomes better than the first one."""

    n_arms = 2

    def reset(self, rng):
        self.rng, self.t = rng, 0

    def pull(self, arm):
        self.t += 1
        return self.rng.normal(0.6 if arm == 0 else 0.2 if self.t <= 1200 else 0.8, 0.1)


def test_they_follow_a_change():
    def afterwards(policy):
        runs = simulate(Switch(), policy, risk="mean", horizon=1500, runs=10, snapshots=[1200])
        return float(((runs.pulls - runs.at(1200).pulls)[:, 1] / 300).mean())

    plain, window, discounted = (
        afterwards(p)
        for p in ("ucb1(range=0.3)", SlidingWindow("ucb1(range=0.3)", 100), Discounted("ucb1(range=0.3)", 0.98))
    )
    assert plain < 0.3
    assert min(window, discounted) > 0.6


def test_arms_come_and_go():
    agent = Agent("discounted(ucb1, half_life=30)", arms=["a", "b"], support=(0, 1), floor=0.1)
    for _ in range(20):
        agent.tell(agent.ask(), 0.5)
    agent.add_arm("c")
    assert agent.ask(among=["c"]) == "c"
    agent.withdraw("c")
    agent.retire("a")
    assert {agent.ask() for _ in range(9)} <= {"b", "c"}
    assert "forecast takes" in agent.no_forecast()
    agent.merge("b", 5, 0.5, 0.1, asked=False)
    window = Agent("sliding-window(ucb1, window=30)", arms=2, support=(0, 1))
    with pytest.raises(PrudentError, match="rewards one by one"):
        window.merge(0, 5, 0.5, 0.1, asked=False)


def altered(text, old, new):
    agent = Agent(text, arms=2, support=(0, 1), horizon=100)
    agent.tell(agent.ask(), 0.5)
    state = agent.to_json()
    assert old in state
    state = re.sub(r', "digest": "\w+"', "", state).replace(old, new)
    from prudent.base.json_text import digest_of

    return f'{state[:-1]}, "digest": "{digest_of(state)}"}}'


@pytest.mark.parametrize(
    ("text", "old", "new", "words"),
    [
        ("discounted(ucb1, half_life=30)", '"recent": [1.0, 0.5, 0.0]', '"recent": [2.0, 0.5, 0.0]', "weight"),
        ("discounted(ucb1, half_life=30)", '"recent": [1.0, 0.5, 0.0]', '"recent": [1.0, 0.5, 0.0, 1.0]', "3 numbers"),
        ("discounted(ucb1, half_life=30)", '"recent": [1.0, 0.5, 0.0]', '"recent": null', "3 numbers"),
        ("ucb1", '"recent": null', '"recent": [0.0, 0.0, 0.0]', "does not forget"),
        ("sliding-window(ucb1, window=5)", '"latest": [[0, 0.5]]', '"latest": [[7, 0.5]]', "arm"),
        ("sliding-window(ucb1, window=5)", '"latest": [[0, 0.5]]', '"latest": []', "must count its rewards"),
    ],
)
def test_a_memory_that_no_agent_can_have_is_refused(text, old, new, words):
    with pytest.raises(PrudentError, match=words):
        Agent.from_json(altered(text, old, new))


def run(policy, **settings):
    return simulate(COINS, policy, risk="mean", horizon=9, runs=2, **settings)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SlidingWindow("exp-exp(rho=1)", 10), "must score arms by the mean and the variance"),
        (lambda: Discounted("npts(risk=mean)", 0.9), "must score arms by the mean and the variance"),
        (lambda: Discounted("sliding-window(ucb1, window=5)", 0.9), "must not forget by itself"),
        (lambda: SlidingWindow("ucb1", 0), "window"),
        (lambda: Discounted("ucb1", 0.0), "discount"),
        (lambda: Discounted("ucb1", 1.5), "discount"),
        (lambda: Discounted("ucb1", half_life=0), "half_life"),
        (lambda: Discounted("ucb1", 0.9, 100), "pass one of discount and half_life"),
        (lambda: Agent("discounted(ucb1)", 2, support=(0, 1)), "half_life must be given without a horizon"),
        (lambda: Agent("sliding-window(ucb1)", 2, support=(0, 1)), "window must be given without a horizon"),
        (
            lambda: simulate(COINS, Discounted("ucb1", 0.9), risk="mean", horizon=9, runs=2, batch=3),
            "engine='interpreted'",
        ),
        (
            lambda: simulate(COINS, Discounted("ucb1", 0.9), risk="mean", horizon=9, runs=2, engine="leaping"),
            "it forgets",
        ),
        (lambda: run(Discounted("ucb1", 0.9), engine="gpu"), "it forgets"),
        (lambda: simulate(COINS, "discounted", risk="mean", horizon=9, engine="exact"), "forgets"),
    ],
)
def test_what_cannot_forget_is_refused(make, words):
    with pytest.raises(PrudentError, match=words):
        make()
