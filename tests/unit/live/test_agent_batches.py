"""A batch is so many asks in a row, and merged rewards teach what single ones do."""

import json
import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from helpers.agents import ALL, KEEPERS, N_ARMS, NAMES, play, rewards, risk_of
from prudent import Agent, PrudentError
from prudent.confidence import anytime
from prudent.live.batches import PARTS, SECTIONS, in_proportion, turns
from prudent.policies.contract import FOREVER

HORIZON = 10**7


def make(policy, told=60, arms=N_ARMS):
    """An agent that has seen some rewards, with one ask open."""
    agent = Agent(policy, arms, HORIZON, seed=4, risk=risk_of(policy), scale=1)
    play(agent, told, rewards(2))
    agent.ask()
    return agent


# Batches


@pytest.mark.parametrize("policy", [*ALL, *KEEPERS])
@pytest.mark.parametrize("told", [0, 60])
def test_a_small_batch_is_so_many_asks_in_a_row(policy, told):
    batch, single = make(policy, told), make(policy, told)
    for count, among in ((1, None), (7, None), (PARTS, None), (9, [0, 2]), (20, None)):
        asked = Counter(single.ask(among) for _ in range(count))
        assert batch.split(count, among) == asked
        assert batch.to_json() == single.to_json()


LONG = ["mv-lcb", "mv-lcb(c=1, unbiased=True)", "bernstein-mv-lcb", "exp-exp", "round-robin", "random-arm", "fixed-arm"]


@pytest.mark.parametrize("policy", LONG)
@pytest.mark.parametrize("told", [0, 60])
def test_a_large_batch_is_so_many_asks_in_a_row_where_nothing_moves_meanwhile(policy, told):
    """Scores without a clock, arms without rewards, long phases: what is due afterwards is the same too."""
    batch, single = make(policy, told), make(policy, told)
    for count in (PARTS + 1, 3 * PARTS - 1):
        assert batch.split(count) == Counter(single.ask() for _ in range(count))
        assert batch.estimates() == single.estimates()
    assert [batch.ask() for _ in range(7)] == [single.ask() for _ in range(7)]


@pytest.mark.parametrize("policy", [*ALL, *(name for name in KEEPERS if name not in ("npts", "rho-mts"))])
def test_a_large_batch_has_about_the_shares_of_asks_in_a_row(policy):
    """Within 5 standard errors of PARTS draws, for policies that draw and for those whose clock goes on."""
    batch, single, count = make(policy), make(policy), 5_000
    asked, wanted = batch.split(count), Counter(single.ask() for _ in range(count))
    assert sum(asked.values()) == count
    assert 0 not in asked.values()
    for arm in range(N_ARMS):
        share = wanted[arm] / count
        assert abs(asked.get(arm, 0) / count - share) <= 5 * math.sqrt(share * (1 - share) / PARTS) + 2 / PARTS, arm
    assert sum(e.open_asks for e in batch.estimates()) == count + 1


def test_phases_of_different_lengths_have_their_shares():
    """mv-dsee explores in single rounds, between which it exploits for ever longer ones."""
    batch, single, count = make("mv-dsee"), make("mv-dsee"), 40_000
    asked, wanted = batch.split(count), Counter(single.ask() for _ in range(count))
    best = max(wanted, key=wanted.get)
    assert 0.5 < (count - asked[best]) / (count - wanted[best]) < 2.0


def test_a_batch_of_many_new_arms_is_shared_evenly():
    agent = Agent("ucb1", 3 * PARTS, scale=1)
    assert agent.split(9 * PARTS + 1) == {i: 3 + (i == 0) for i in range(3 * PARTS)}


def test_open_asks_of_new_arms_are_evened_out():
    agent = Agent("ucb1", 3, scale=1)
    agent.split(2, among=[1])
    assert agent.split(1_000) == {0: 334, 1: 332, 2: 334}


def test_a_batch_is_as_cheap_as_a_fixed_number_of_asks():
    asked = []

    class Counting(NamedTuple):
        def score(self, arm, t):
            asked.append(t)
            return arm.mean

    agent = Agent(Counting(), 2, risk="mean")
    for arm in (0, 1):
        agent.tell(arm, 0.5, asked=False)
    agent.split(10**9)
    assert len(asked) == 2 * PARTS
    assert asked[0] == 3
    assert asked[-1] == 3 + 10**9 * (PARTS - 1) // PARTS  # the clock goes on in between
    assert [e.open_asks for e in agent.estimates()] == [5 * 10**8] * 2


def test_arms_that_are_not_available_are_made_up_for_after_a_batch():
    batch, single = (Agent("round-robin", 3, HORIZON, risk="mean") for _ in range(2))
    for among in ([0, 1], None, [2], [0]):
        asked = batch.split(1_000, among)
        assert asked == Counter(single.ask(among) for _ in range(1_000))
    assert batch.to_json() == single.to_json()
    agent = Agent("epsilon-greedy(epsilon=0)", 2, risk="mean")
    assert agent.split(6_000, among=[1]) == {1: 6_000}  # the phase waits for the other, which is due once
    assert agent.split(1) == {0: 1}


def test_a_batch_that_fails_changes_nothing():
    class Late(NamedTuple):
        def score(self, arm, t, rng):
            return rng.random() if t < 400 else math.nan

    agent = Agent(Late(), 2, risk="mean")
    for arm in (0, 1):
        agent.tell(arm, 0.5, asked=False)
    before = agent.to_json()
    for count in (PARTS, 1_000):
        agent.split(PARTS // 2)
        before = agent.to_json()
        with pytest.raises(PrudentError, match="not a number"):
            agent.split(count + PARTS)
        assert agent.to_json() == before


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 40))
@example([FOREVER, 3, FOREVER], 5)
@example([2, 3, 3], 1)
def test_turns_are_those_taken_one_by_one(due, count):
    left, taken = list(due), [0] * len(due)
    for _ in range(min(count, sum(due))):
        i = left.index(max(left))
        left[i] -= 1
        taken[i] += 1
    assert turns(due, count) == taken


@given(st.dictionaries(st.integers(0, 9), st.integers(1, 50), min_size=1), st.integers(0, 10**9))
def test_proportions_add_up(counts, total):
    found, whole = in_proportion(Counter(counts), total), sum(counts.values())
    assert sum(found.values()) == total
    for i, count in counts.items():
        assert abs(found[i] - total * count / whole) <= 1 + 1e-9 * total


def test_sections_share_the_parts():
    assert PARTS % SECTIONS == 0


# Merged rewards


def merge(agent, arm, values, **settings):
    agent.merge(arm, len(values), float(np.mean(values)), float(np.var(values)), **settings)


batches = st.lists(st.lists(st.floats(-3.0, 5.0), min_size=1, max_size=20), min_size=1, max_size=5)


@given(batches, st.booleans())
def test_merged_rewards_are_those_told_one_by_one(groups, larger):
    support = {"support": (-3.0, 5.0), "larger_is_better": larger, "risk": "mean-variance(rho=1)"}
    one, other = Agent("ucb1", 2, **support), Agent("ucb1", 2, **support)
    for values in groups:
        one.split(len(values), among=[1])
        other.split(len(values), among=[1])
        merge(one, 1, values)
        for value in values:
            other.tell(1, value)
    known, told = one.estimates()[1], other.estimates()[1]
    assert (known.pulls, known.open_asks) == (told.pulls, told.open_asks) == (sum(map(len, groups)), 0)
    for name in ("mean", "variance", "cost"):
        assert getattr(known, name) == pytest.approx(getattr(told, name), rel=1e-12, abs=1e-12)
    assert Agent.from_json(one.to_json()).estimates() == one.estimates()


ALONE = ("fixed-arm", "sliding-window")
"""One has its arm, and one needs to know in which round each reward came."""

MERGED = [name for name in NAMES if name not in ALONE and risk_of(name).by_moments]


@pytest.mark.parametrize("policy", MERGED)
def test_two_edges_report_as_one_experiment(policy):
    """Whatever two edges pull of their halves of a batch, merged in either order, is what one agent would know."""
    edges, whole, rng = make(policy), make(policy), np.random.default_rng(8)
    for agent in (edges, whole):
        agent.tell(next(e.arm for e in agent.estimates() if e.open_asks), 0.5)
    for count in (100, 300, 5_000):
        first, second = edges.split(count), edges.split(count)
        assert (first, second) == (whole.split(count), whole.split(count))
        reports = [(arm, rng.beta(2, 2, times)) for part in (second, first) for arm, times in part.items()]
        for arm, values in reports:
            merge(edges, arm, values)
            for value in values:
                whole.tell(arm, value)
        for one, other in zip(edges.estimates(), whole.estimates(), strict=True):
            assert (one.arm, one.pulls, one.open_asks) == (other.arm, other.pulls, other.open_asks)
            assert one.pulls == 0 or one[2:5] == pytest.approx(other[2:5], rel=1e-9)


def test_the_same_statistics_are_learnt_whether_the_bets_were_kept_or_not():
    agent = Agent("ucb1", ["a", "b"], support=(0, 1))
    for value in (0.2, 0.9, 0.4):
        agent.tell("a", value, asked=False)
        agent.tell("b", value, asked=False)
    sharp = agent.intervals()[0].mean
    agent.merge("a", 2, 0.5, 0.01, asked=False)
    agent.tell("a", 0.5, asked=False)
    arms = json.loads(agent.to_json())["arms"]
    assert arms[0]["ledger"] is None
    assert len(arms[1]["ledger"]) > 0
    known, other = agent.intervals()
    assert known.pulls == 6
    assert 0.0 <= known.mean.low <= agent.estimates()[0].mean <= known.mean.high <= 1.0
    assert other.mean == sharp
    assert Agent.from_json(agent.to_json()).intervals() == agent.intervals()


def test_intervals_of_merged_rewards_cover_whoever_looks_after_every_batch():
    """Sizes as edges happen to report them. More misses have a probability below 1e-9 if the level of 0.8 holds."""
    runs, rng, seen = 200, np.random.default_rng(12), []
    for _ in range(runs):
        agent = Agent("round-robin", 1, support=(0, 1), risk="mean-variance(rho=0.5)")
        for size in rng.geometric(0.02, 8):
            agent.split(int(size))
            merge(agent, 0, rng.beta(1, 3, size))
            seen.append(agent.estimates()[0][1:4])
    known = np.array(seen).reshape(runs, -1, 3).transpose(2, 0, 1)
    found = anytime.mean_bounds(*known, 0.2, 0, 1), anytime.variance_bounds(*known, 0.2, 0, 1)
    for (low, high), truth in zip(found, (0.25, 0.0375), strict=True):
        missed = ((truth < low) | (truth > high)).any(axis=1)
        assert missed.sum() <= binom.isf(1e-9, runs, 0.2)
    last = agent.intervals(0.8)[0]
    assert (*last.mean, *last.variance) == pytest.approx([float(end[-1, -1]) for pair in found for end in pair])
    assert last.mean.high - last.mean.low < 0.2  # it says something


def test_rounding_of_what_edges_computed_is_forgiven():
    agent = Agent("ucb1", 1, support=(0, 0.3))
    agent.merge(0, 3, 0.30000000000000004, 1e-17, asked=False)
    assert agent.estimates()[0][1:4] == (3, 0.3, 0.0)
    agent.merge(0, 1, 0.0, 0.0, asked=False)
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda agent: agent.split(0), "split: count must be a whole number from 1 to 4503599627370481, got 0"),
        (lambda agent: agent.split(2**52), "split: count must be a whole number from 1 to"),
        (lambda agent: agent.split(1.5), "split: count must be a whole number, got 1.5"),
        (lambda agent: agent.split(5, among=[]), "split: among must hold at least one arm"),
        (lambda agent: agent.merge(0, 0, 0.5, 0.1), "merge: count must be a whole number from 1"),
        (lambda agent: agent.merge(0, 2**52, 0.5, 0.1, asked=False), "merge: count must be a whole number from 1 to"),
        (lambda agent: agent.merge(3, 1, 0.5, 0.0), "merge: arm must be a whole number from 0 to 2, got 3"),
        (lambda agent: agent.merge(0, 2, math.nan, 0.1), "merge: mean must .*got nan"),
        (lambda agent: agent.merge(0, 2, 0.5, math.inf), "merge: variance must .*got inf"),
        (lambda agent: agent.merge(0, 2, 0.5, -0.1), "merge: variance must .*got -0.1"),
        (lambda agent: agent.merge(0, 2, 1.2, 0.0), r"merge: mean must lie in the support \[0, 1\], got 1.2"),
        (lambda agent: agent.merge(0, 2, 0.5, 0.3), "merge: variance must be at most 0.25 with 2 rewards"),
        (lambda agent: agent.merge(0, 1, 0.5, 0.1), "merge: variance must be at most 0 with 1 reward"),
        (lambda agent: agent.merge(0, 6, 0.5, 0.1), "merge: arm 0 has 5 open asks, got count 6; .*asked=False"),
        (lambda agent: agent.merge(0, 2, 0.5, 0.1, asked=1), "merge: asked must be True or False"),
        (
            lambda agent: agent.withdraw(0, 6),
            "withdraw: count must be a whole number from 1 to 5, got 6; arm 0 has no more",
        ),
        (lambda agent: agent.withdraw(0, 0), "withdraw: count must be a whole number from 1 to 5, got 0"),
    ],
)
def test_bad_batches_change_nothing(call, message):
    agent = Agent("ucb1", 3, support=(0, 1))
    agent.split(15)
    before = agent.to_json()
    with pytest.raises(PrudentError, match=message):
        call(agent)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"policy": "ucb1", "remember": True}, "merge: remember=True needs every reward; .*one by one with tell"),
        ({"policy": "ucb1", "risk": "cvar(0.1)"}, r"merge: risk=cvar\(alpha=0.1\) needs every reward"),
        ({"policy": "cvar-ucb(alpha=0.1)"}, r"merge: cvar-ucb\(alpha=0.1.* needs every reward"),
    ],
)
def test_where_every_reward_is_needed_none_are_merged(given, message):
    agent = Agent(arms=2, horizon=100, support=(0, 1), **given)
    agent.split(2)
    with pytest.raises(PrudentError, match=message):
        agent.merge(0, 1, 0.5, 0.0)


def test_rewards_too_large_to_be_merged_are_refused():
    agent = Agent("ucb1", 1, scale=1)
    agent.merge(0, 2, 1e150, 0.0, asked=False)
    with pytest.raises(PrudentError, match=r"merge: a mean of size 1e\+155 is too large for a variance"):
        agent.merge(0, 2, -1e155, 0.0, asked=False)


# Giving back


def test_what_an_edge_did_not_use_is_given_back():
    agent, plain = (Agent("exp-exp", 3, 6_000, risk="mean-variance(rho=1)", scale=1) for _ in range(2))
    asked = agent.split(900)
    agent.withdraw(1, 100)
    agent.withdraw(2)
    assert [e.open_asks for e in agent.estimates()] == [asked[0], asked[1] - 100, asked[2] - 1]
    again = agent.split(101)
    assert again == {1: 100, 2: 1}
    plain.split(900)
    assert agent.to_json() == plain.to_json()


def test_asks_given_back_do_not_exceed_for_ever():
    agent = Agent("exp-exp", 2, 100, risk="mean-variance(rho=1)", scale=1)
    while agent._arms[0].due + agent._arms[1].due < FOREVER // 2:
        asked = agent.split(2)
        for arm, times in asked.items():
            agent.merge(arm, times, float(arm), 0.0, asked=False)
    best = max((0, 1), key=lambda i: agent._arms[i].due)
    agent.withdraw(best, agent.estimates()[best].open_asks)
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 2_000), st.floats(0, 1)), min_size=1, max_size=8), st.sampled_from(MERGED))
def test_every_batch_is_answered_or_given_back(steps, policy):
    agent = Agent(policy, N_ARMS, HORIZON, risk=risk_of(policy), scale=1, seed=1)
    for count, used in steps:
        asked = agent.split(count)
        assert sum(asked.values()) == count
        for arm, times in asked.items():
            if done := round(used * times):
                agent.merge(arm, done, used, 0.0)
            if done < times:
                agent.withdraw(arm, times - done)
        agent = Agent.from_json(agent.to_json())
    assert all(e.open_asks == 0 for e in agent.estimates())
