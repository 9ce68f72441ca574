"""Probabilities of decisions: exact, with floors and caps, replayed and saved; and an agent that threads share."""

import json
import math
import pickle
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from prudent import Agent, Bandit, PrudentError, simulate
from prudent.engine.python.propensities import DRAWS, ONE_BY_ONE, Limits, least_chances, mixed
from prudent.live.batches import rounded

FALSE_ALARM = 1e-9
COINS = ["bernoulli(0.5)", "bernoulli(0.5)", "bernoulli(0.2)"]


def played(policy, rounds, seed=0, arms=("a", "b", "c"), **settings):
    """An agent after some rounds of coins, and its choices."""
    agent = Agent(policy, list(arms), 10_000, seed, support=(0, 1), **settings)
    rng, chosen = np.random.default_rng(seed), []
    for _ in range(rounds):
        chosen.append(agent.decide())
        agent.tell(chosen[-1].arm, float(rng.random() < 0.5))
    return agent, chosen


@pytest.mark.parametrize("policy", ["ucb1", "mv-lcb(rho=1)", "prudent(rho=1)"])
def test_a_floor_of_0_changes_nothing_of_a_deterministic_policy(policy):
    plain, chosen = played(policy, 60)
    other, same = played(policy, 60, floor=0.0)
    assert [each.arm for each in chosen] == [each.arm for each in same]
    assert {each.propensity for each in chosen} == {None}
    assert {each.propensity for each in same} == {1.0}
    parts, others = json.loads(plain.to_json()), json.loads(other.to_json())
    assert others["floor"] == 0.0
    assert {name for name in parts if parts[name] != others[name]} <= {"floor", "cap", "digest"}


@pytest.mark.parametrize("policy", ["ucb1", "thompson", "prudent(rho=1)", "epsilon-greedy(rho=1)"])
@pytest.mark.parametrize("limits", [{"floor": 0.1}, {"floor": {"c": 0.2}, "cap": 0.6}])
def test_inverse_probabilities_average_1(policy, limits):
    # Given the past, 1{A = c}/p_c − 1 has the mean 0, since c has a floor; so the sum is a martingale (Azuma).
    _, chosen = played(policy, 1500, seed=5, **limits)
    floor = 0.1 if limits["floor"] == 0.1 else 0.2
    total = sum((each.arm == "c") / each.propensity for each in chosen) - len(chosen)
    assert abs(total) < math.sqrt(len(chosen) * math.log(2.0 / FALSE_ALARM) / 2.0) / floor
    least, most = min(each.propensity for each in chosen), max(each.propensity for each in chosen)
    assert least >= (0.1 if limits["floor"] == 0.1 else 0.0)
    assert most <= limits.get("cap", 0.8) + 1e-12
    assert sum(each.propensity < 0.5 for each in chosen) > 100  # floors take effect


@pytest.mark.parametrize("seed", range(100))
def test_no_probability_is_below_the_least_chance(seed):
    rng, arms = np.random.default_rng(seed), 1 + seed % 5
    floors = (rng.dirichlet(np.ones(arms)) * rng.random() * rng.integers(0, 2, arms)).tolist()
    caps = [max(floor, float(rng.choice([1.0, rng.random()]))) for floor in floors]
    limits, names = Limits(dict(enumerate(floors)), dict(enumerate(caps))), list(range(arms))
    least = np.min([mixed(own, floors, caps) for own in np.eye(arms).tolist()], 0)
    assert least_chances(limits, names, certain=True) == pytest.approx(least.tolist(), abs=1e-9)
    own = [*np.eye(arms).tolist(), *rng.dirichlet(np.full(arms, 0.3), 200).tolist()]
    lowest = np.min([mixed(each, floors, caps) for each in own], 0)
    assert (lowest >= np.array(least_chances(limits, names, certain=False)) - 1e-9).all()


@pytest.mark.parametrize("policy", ["npts", "epsilon-greedy(rho=1, epsilon=0.5)", "random-arm"])
def test_other_policies_that_use_chance_have_shares_of_draws_too(policy):
    arms, chosen = "ab", []
    for seed in range(60):
        agent = Agent(policy, list(arms), 100, seed, support=(0, 1), risk="mean", floor=0.0)
        for arm in arms if policy != "random-arm" else "":
            agent.tell(arm, 0.5, asked=False)
        for _ in range(1 if policy == "random-arm" else 6):
            chosen.append(agent.decide())
            agent.tell(chosen[-1].arm, 0.5)
    found = np.array([each.propensity for each in chosen])
    assert set(found * ONE_BY_ONE) <= set(range(1, ONE_BY_ONE + 1))
    assert len(set(found)) > 3
    # Σ(1{A = b} − p_b) is a martingale with steps of at most 1 (Azuma), and the policy itself takes b as often.
    taken = np.array([each.arm == "b" for each in chosen])
    chances = np.where(taken, found, 1.0 - found)
    assert abs((taken - chances).sum()) < math.sqrt(2.0 * len(found) * math.log(2.0 / FALSE_ALARM))
    if policy != "npts":  # takes b half the time, or a quarter of it, as ties go to a
        share = 0.5 if policy == "random-arm" else 0.25
        assert binom.ppf(FALSE_ALARM, 60, share) / 60 <= taken.mean() <= binom.isf(FALSE_ALARM, 60, share) / 60


def test_draws_of_many_numbers_have_the_distribution_of_single_ones():
    for policy in ("thompson", "bernoulli-thompson", "vts(rho=1)", "mvts(rho=1)"):
        start = Agent(policy, ["a", "b"], support=(0, 1))
        start.merge("a", 8, 0.5, 0.25, asked=False)
        start.merge("b", 8, 0.25, 0.1875, asked=False)
        runs, single, several = 300, 0, 0.0
        for seed in range(runs):
            parts = json.loads(start.to_json())
            plain = Agent(policy, ["a", "b"], support=(0, 1), seed=seed)
            floored = Agent(policy, ["a", "b"], support=(0, 1), seed=runs + seed, floor=0.0)
            for agent in (plain, floored):
                for arm in parts["arms"]:
                    agent.merge(arm["name"], arm["pulls"], arm["mean"], arm["variance"], asked=False)
            single += plain.ask() == "a"
            choice = floored.decide()
            several += choice.propensity if choice.arm == "a" else 1.0 - choice.propensity
            assert choice.propensity * DRAWS == round(choice.propensity * DRAWS)
        share = several / runs  # of 64 times as many draws, so that its own error is an eighth of the other's
        spread = 3.0 / math.sqrt(runs * DRAWS)
        assert binom.sf(single - 1, runs, min(share + spread, 1.0)) > FALSE_ALARM, policy
        assert binom.cdf(single, runs, max(share - spread, 0.0)) > FALSE_ALARM, policy
        assert 0.05 < share < 0.95


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6),
    st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6),
    st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6),
)
def test_mixed_probabilities_keep_floors_and_caps(own, floors, caps):
    own = [share / sum(own) for share in own] if sum(own) > 0.01 else [1.0 / len(own)] * len(own)
    floors = [floor / 6.0 for floor in floors[: len(own)]]
    caps = [max(cap, floor) for cap, floor in zip(caps, floors, strict=False)]
    found = mixed(own, floors, caps)
    assert sum(found) == pytest.approx(1.0)
    assert all(share >= floor - 1e-12 for share, floor in zip(found, floors, strict=True))
    if sum(caps) >= 1.0:
        assert all(share <= cap + 1e-9 for share, cap in zip(found, caps, strict=True))
    assert mixed(own, [0.0] * len(own), [1.0] * len(own)) == own


def test_large_batches_keep_floors_and_caps():
    agent, _ = played("ucb1", 300, floor={"a": 0.2, "c": 0.3})
    batch = agent.split(1000)
    assert sum(batch.values()) == 1000
    assert batch["a"] >= 200
    assert batch["c"] >= 300
    assert {each.arm: each.open_asks for each in agent.estimates() if each.open_asks} == batch
    agent, _ = played("fixed-arm(arm=1)", 3, risk="mean", cap=0.5)
    assert agent.split(1000) == {"a": 250, "b": 500, "c": 250}
    assert rounded([0.5, 0.25, 0.25], 3) == [1, 1, 1]
    assert sum(agent.split(10).values()) == 10


def test_few_arms_stretch_their_caps():
    agent, _ = played("ucb1", 30, cap=0.4)
    assert agent.decide(["a"]).propensity == 1.0
    assert agent.decide(["a", "b"]).propensity == pytest.approx(0.5)
    agent.retire("c")
    assert agent.decide().propensity == pytest.approx(0.5)


@pytest.mark.parametrize("limits", [{"floor": 0.05, "cap": 0.9}, {"floor": {"a": 0.25}}, {"cap": {"c": 0.1}}])
def test_an_agent_with_floors_comes_back_as_it_was(limits):
    agent, _ = played("thompson", 40, **limits)
    for other in (Agent.from_json(agent.to_json()), pickle.loads(pickle.dumps(agent)), agent.copy()):
        mine = agent.copy()
        assert [other.decide() for _ in range(20)] == [mine.decide() for _ in range(20)]
    numbered = Agent("ucb1", 3, floor={1: 0.2}, support=(0, 1))
    again = Agent.from_json(numbered.to_json())
    assert [again.decide() for _ in range(9)] == [numbered.decide() for _ in range(9)]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"floor": 0.4}, "floors of all arms must sum to 1 at most, got 1.2 for 3 arms"),
        ({"cap": 0.3}, "caps of all arms must sum to 1 at least, got 0.9 for 3 arms"),
        ({"floor": {"d": 0.1}}, "floor must name arms, got 'd'"),
        ({"floor": {"a": 1.5}}, "floor of 'a' must lie in"),
        ({"floor": -0.1}, "floor must lie in"),
        ({"floor": 0.3, "cap": {"a": 0.2}}, "floor must be at most cap, got 0.3 and 0.2 for arm 'a'"),
        ({"cap": "much"}, "cap must be a number"),
    ],
)
def test_floors_that_cannot_be_kept_are_refused(limits, words):
    with pytest.raises(PrudentError, match=f"Agent: {words}"):
        Agent("ucb1", ["a", "b", "c"], **limits)


def test_an_arm_for_whose_floor_there_is_no_room_is_not_added():
    agent = Agent("ucb1", ["a", "b"], floor=0.4, support=(0, 1))
    with pytest.raises(PrudentError, match="add_arm: floors of all arms must sum to 1 at most"):
        agent.add_arm("c")
    assert agent.arms == ["a", "b"]


def test_simulated_trajectories_have_probabilities():
    bandit = Bandit(COINS, names=["a", "b", "c"])
    settings = {"risk": "mean", "horizon": 300, "runs": 2, "keep": "trajectory"}
    runs = simulate(bandit, "ucb1", **settings, floor={"c": 0.2})
    path = runs.trajectory()
    assert path.propensities.shape == path.arms.shape
    assert set(np.unique(path.propensities.round(12))) == {0.2, 0.8, 1.0}
    assert (path.arms == 2).mean() > 0.15
    assert runs.engine == "interpreted"
    assert simulate(bandit, "ucb1", **settings).trajectory().propensities is None
    same = simulate(bandit, "ucb1", **settings, floor=0.0).trajectory()
    plain = simulate(bandit, "ucb1", **settings, engine="interpreted").trajectory()
    assert (same.propensities == 1.0).all()
    assert same.arms.shape == plain.arms.shape
    with pytest.raises(PrudentError, match="floor and cap must be left out for a learner"):
        simulate(bandit, Alone(), **settings, floor=0.1)


class Alone:
    """A learner, which notices if two threads are in it at once."""

    def __init__(self):
        self.inside = self.most = 0

    def ask(self, rng):
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.0005)
        self.inside -= 1
        return 0

    def tell(self, arm, reward):
        self.ask(None)

    def __deepcopy__(self, memo):
        return self


class Slow(NamedTuple):
    """A policy that gives way to other threads."""

    def score(self, arm, t):
        time.sleep(0.0)
        return -arm.mean


def test_threads_share_an_agent():
    learner = Alone()
    agent = Agent(learner, ["a"], risk="mean")
    counted = Agent(Slow(), ["a", "b"], risk="mean", support=(0, 1), floor=0.3)

    def work():
        for _ in range(20):
            agent.ask()
            agent.tell("a", 1.0)
            counted.tell(counted.ask(), 1.0)
            counted.estimates()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner.most == 1
    assert sum(each.pulls for each in agent.estimates()) == 80
    assert [sum(getattr(each, name) for each in counted.estimates()) for name in ("pulls", "open_asks")] == [80, 0]
