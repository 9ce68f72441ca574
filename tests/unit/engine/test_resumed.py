"""A run that is resumed is the run that was never interrupted, for every kind of policy.

The agent is the reference: it plays on, and its rewards come from the very stream from which the engine takes its
draws, one after each choice. So pulls are equal to the last one, whether a policy scores, draws, reads the clock or has
phases.
"""

import copy
import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from helpers.agents import ALL, HORIZON, N_ARMS, risk_of
from prudent import Agent
from prudent.engine.leap.blocks import Sources
from prudent.engine.record import FINE, RecordOfArms, Statistics
from prudent.engine.resumed import can_leap, laws_of_runs, resume, resumed_kernel
from prudent.live.forecast import past_of

MEANS, VARIANCES = [0.6, 0.5, 0.4], [0.05, 0.25, 0.04]
MORE = np.array([1, 20, 100])


def laws(coins, unit):
    """One run of three Gaussian laws or three coins, in the unit in which a policy sees rewards."""
    mean, variance = np.array([MEANS]) / unit, np.array([VARIANCES]) / unit**2
    if not coins:
        none = np.empty((1, N_ARMS, 0))
        return Sources(mean, variance, np.zeros(N_ARMS, np.int64), none, none)
    value, rate = np.tile([0.0, 1.0 / unit], (1, N_ARMS, 1)), np.array([MEANS])
    return Sources(mean, variance, np.full(N_ARMS, 2), value, np.stack([1.0 - rate, rate], 2))


def reward_of(arm, coins, rng):
    """As the engine draws it."""
    if coins:
        return float(rng.random() >= 1.0 - MEANS[arm])
    return MEANS[arm] + math.sqrt(VARIANCES[arm]) * rng.standard_normal()


def resumed(agent, rounds, more, coins):
    """The engine, interpreted, from the agent's state with a copy of its stream."""
    ready, unit, known = agent._ready.policy, agent._ready.unit, agent._arms
    start = Statistics(
        np.array([[arm.pulls for arm in known]]),
        np.array([[arm.mean for arm in known]]) / unit,
        np.array([[arm.variance for arm in known]]) / unit**2,
    )
    record, blocks = RecordOfArms.empty(1, len(more), N_ARMS), laws(coins, unit)
    loop = resumed_kernel(ready, blocks, past_of(known, start, rounds), leaping=False, interpreted=True)
    halt, rng = np.zeros(1, bool), copy.deepcopy(agent._rng)
    assert loop(laws_of_runs(blocks), 0, more, record, halt, rng) == FINE
    return Statistics(record.pulls[0], record.mean[0] * unit, record.variance[0] * unit**2)


@pytest.mark.parametrize("coins", [False, True], ids=["Gaussian", "coins"])
@pytest.mark.parametrize("rounds", [2, 41])
@pytest.mark.parametrize("policy", [name for name in ALL if name not in ("discounted", "sliding-window")])
def test_a_resumed_run_is_the_uninterrupted_one(policy, rounds, coins):
    agent = Agent(policy, N_ARMS, HORIZON, seed=3, risk=risk_of(policy), scale=3.0)
    if agent._ready.needs_rewards:
        pytest.skip("reads every reward, of which the state holds mean and variance only")
    for _ in range(rounds):
        arm = agent.ask()
        agent.tell(arm, reward_of(arm, coins, agent._rng))
    found = resumed(agent, rounds, MORE, coins)
    for t in range(1, MORE[-1] + 1):
        arm = agent.ask()
        agent.tell(arm, reward_of(arm, coins, agent._rng))
        for place in np.flatnonzero(t == MORE):
            known = agent._arms
            assert found.pulls[place].tolist() == [each.pulls for each in known]
            assert found.mean[place] == pytest.approx([each.mean for each in known], rel=1e-9)
            assert found.variance[place] == pytest.approx([e.variance for e in known], rel=1e-9)


def leapers():
    """One policy of each class that can leap from a state."""
    found = {}
    for name in ALL:
        ready = Agent(name, N_ARMS, HORIZON, risk=risk_of(name), scale=1.0)._ready
        if not ready.learns and can_leap(ready.policy):
            found.setdefault(type(ready.policy), name)
    return sorted(found.values())


def both_ways(agent, one, more, runs):
    """Several runs from the agent's state after 60 rounds, in steps and in leaps."""
    known = agent._arms
    start = Statistics._make(np.array([[getattr(arm, name) for arm in known]] * runs) for name in Statistics._fields)
    alike = Sources(*(np.repeat(part, runs, 0) if part.ndim > 1 else part for part in one))
    given = agent._ready.policy, "resumed", alike, past_of(known, start, 60), more
    return [resume(*given, leaping=leaping, seed=5) for leaping in (False, True)]


@pytest.mark.parametrize("coins", [False, True], ids=["Gaussian", "coins"])
@pytest.mark.parametrize("policy", leapers())
def test_a_run_resumed_in_leaps_has_the_law_of_one_resumed_in_steps(policy, coins):
    """Were the stream not fixed, a correct engine would fail with probability 1e-6 for each of the numbers compared."""
    agent, runs = Agent(policy, N_ARMS, 4_000, seed=3, risk=risk_of(policy), scale=1.0), 500
    for _ in range(60):
        arm = agent.ask()
        agent.tell(arm, reward_of(arm, coins, agent._rng))
    ready, known, more = agent._ready.policy, agent._arms, np.array([30, 3_000])
    start = Statistics._make(np.array([[getattr(arm, name) for arm in known]] * runs) for name in Statistics._fields)
    one = laws(coins, 1.0)
    alike = Sources(*(np.repeat(part, runs, 0) if part.ndim > 1 else part for part in one))
    past = past_of(known, start, 60)
    stepped, leapt = (resume(ready, policy, alike, past, more, leaping=leaping, seed=5) for leaping in (False, True))
    for place, rounds in enumerate(more):
        assert (leapt.pulls[:, place].sum(1) == 60 + rounds).all()
        for ours, theirs in zip(stepped, leapt, strict=True):
            for arm in range(N_ARMS):
                assert ks_2samp(ours[:, place, arm], theirs[:, place, arm]).pvalue > 1e-6


@pytest.mark.parametrize("policy", leapers())
def test_a_run_resumed_in_leaps_is_that_in_steps_where_chance_plays_no_part(policy):
    agent = Agent(policy, N_ARMS, 4_000, seed=3, risk=risk_of(policy), scale=1.0)
    for _ in range(60):
        arm = agent.ask()
        agent.tell(arm, reward_of(arm, False, agent._rng))
    sure = laws(False, 1.0)
    sure.variance[:] = 0.0
    stepped, leapt = both_ways(agent, sure, np.array([1, 50, 3_000]), 1)
    assert leapt.pulls.tolist() == stepped.pulls.tolist()
    assert leapt.mean == pytest.approx(stepped.mean, rel=1e-9)
    assert leapt.variance == pytest.approx(stepped.variance, rel=1e-9)
