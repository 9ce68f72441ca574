"""Simulated batches: the policy sees rewards late, as an agent does that is asked for a batch at a time."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.agents import COINS, HORIZON, KEEPERS, LAWS, N_ARMS, Worst, risk_of
from helpers.careless_policies import IdlePolicy
from prudent import Agent, Bandit, Bernoulli, CVaR, Gaussian, PrudentError, simulate
from prudent.arms.sampling import draw
from prudent.engine.compiled import stepper
from prudent.engine.record import FINE, HALTED, Record, Statistics, write_down
from prudent.policies.binding import bind
from prudent.policies.contract import Setting, policies
from prudent.policies.helpers import cheapest, choose_only

BANDIT = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
ROUNDS = np.array([1, 7, 50, 51, HORIZON])


class LeastTail(NamedTuple):
    """A policy of phases whose costs take every reward."""

    risk: Any = CVaR(0.3)

    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        if arms.pulls.min() > 0 and t % 5 > 0:
            choose_only(chosen, cheapest(arms))
        return 2


COMPILED = ["mv-lcb(c=1, unbiased=True)", "mvts", "cvar-ucb", "exp-exp"]
INTERPRETED = [
    "ucb1",
    "exp-exp(explore='successive-rejects')",
    "epsilon-greedy",
    "best-of-both",
    "mv-dsee",
    "mv-imed",
    "finite-mv-imed",
    "rho-mts",
    Worst(),
    LeastTail(),
]


class Undefined(NamedTuple):
    def score(self, arm):
        return math.nan


def kernel_of(policy, batch):
    """The loop of a policy, waiting for its laws; compiled only for some, since that takes its time."""
    made = policies.make("test", policy)
    ready = bind(made, Setting(N_ARMS, risk_of(made), HORIZON))
    return stepper(ready, HORIZON, batch=batch, interpreted=policy not in COMPILED)


@pytest.mark.parametrize("policy", [*COMPILED, *INTERPRETED], ids=str)
def test_its_arms_are_those_of_an_agent_asked_for_batches(policy):
    """Policy, rewards and twins share one stream; 7 does not divide the 200 rounds, 1,000 is never over."""
    laws = COINS if policy in KEEPERS else LAWS
    for batch in (7, 20, 1_000):
        simulated, live = (Record.empty(1, len(ROUNDS), N_ARMS) for _ in range(2))
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(5)))
        assert kernel_of(policy, batch)(laws, 0, ROUNDS, simulated, np.zeros(1, bool), rng) == FINE

        agent = Agent(policy, N_ARMS, HORIZON, seed=5, risk=risk_of(policies.make("test", policy)), scale=1)
        whole = Agent("round-robin", N_ARMS, scale=1, risk="mean")  # to which all is told at once
        waiting = []
        for t in range(1, HORIZON + 1):
            arm = agent.ask()
            waiting.append((arm, draw(laws, arm, agent._rng)))
            whole.tell(*waiting[-1], asked=False)
            if t % batch == 0:
                while waiting:
                    agent.tell(*waiting.pop(0))
            if t in ROUNDS:
                _, pulls, mean, variance, *_ = zip(*whole.estimates(), strict=True)
                known = Statistics(np.array(pulls), *(np.array([x or 0.0 for x in row]) for row in (mean, variance)))
                write_down(live, 0, ROUNDS.tolist().index(t), known, laws, 0, agent._rng)
        for name, values in simulated._asdict().items():
            assert np.array_equal(values, getattr(live, name)), (batch, name)


@pytest.mark.parametrize("policy", ["mvts", "exp-exp", LeastTail()], ids=str)
def test_a_batch_of_one_round_is_what_stepping_does(policy):
    found = [Record.empty(3, len(ROUNDS), N_ARMS) for _ in range(2)]
    made = policies.make("test", policy)
    ready = bind(made, Setting(N_ARMS, risk_of(made), HORIZON))
    rest = (LAWS, 0, ROUNDS)
    streams = [np.random.default_rng(3) for _ in found]
    for record, rng, batch in zip(found, streams, (1, None), strict=True):
        loop = stepper(ready, HORIZON, batch=batch, interpreted=policy not in COMPILED)
        assert loop(*rest, record, np.zeros(1, bool), rng) == FINE
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("policy", ["ucb1", "exp-exp"])
def test_it_can_be_halted(policy):
    record = Record.empty(1, len(ROUNDS), N_ARMS)
    assert kernel_of(policy, 7)(LAWS, 0, ROUNDS, record, np.ones(1, bool), np.random.default_rng(0)) == HALTED


def play(policy="mv-lcb", **settings):
    given = {"risk": "mean-variance(rho=0)", "horizon": 100, "runs": 20, "seed": 1} | settings
    return simulate(BANDIT, policy, **given)


def test_batches_have_streams_of_their_own_and_one_round_the_usual():
    assert np.array_equal(play(batch=1).mean, play().mean)
    assert np.array_equal(play(batch=1e1).mean, play(batch=10).mean)
    assert not np.array_equal(play(batch=10).mean, play(batch=11).mean)


def test_nothing_is_learnt_before_the_first_batch_ends():
    runs = play(batch=30, horizon=40)
    assert (runs.pulls.max(axis=1) == 25).all()  # 15 each, and then all of a batch to one arm


def test_late_rewards_cost_regret():
    """The best arm is soon found; of 400 rounds a batch of 100 wastes about 50 on the other arm at once."""
    soon, late = (play("mvts", horizon=400, runs=200, batch=batch) for batch in (1, 100))
    assert (soon.engine, late.engine) == ("stepping", "stepping")
    assert late.pseudo_regret().mean() > 2 * soon.pseudo_regret().mean()


def test_batches_do_not_leap():
    assert play(batch=1).engine == "leaping"
    assert play(batch=2).engine == "stepping"
    with pytest.raises(PrudentError, match="mv-lcb cannot leap here: rewards are seen a batch at a time"):
        play(batch=2, engine="leaping")
    with pytest.raises(PrudentError, match="its score is not a number"):
        simulate(BANDIT, Undefined(), risk="mean", horizon=10, runs=1, batch=2)
    with pytest.raises(PrudentError, match="phase chose no arm"):
        simulate(BANDIT, IdlePolicy(), risk="mean", horizon=10, runs=1, batch=2)


@pytest.mark.parametrize("batch", [0, -1, 1.5, "2", None, True, 2**60])
def test_a_bad_batch_is_refused(batch):
    with pytest.raises(PrudentError, match="simulate: batch must be a whole number"):
        play(batch=batch)


def test_arms_of_equal_scores_share_a_batch():
    coins = Bandit([Bernoulli(0.5)] * 4)
    runs = simulate(coins, "ucb1", risk="mean", horizon=20, runs=3, batch=20)
    assert (runs.pulls == 5).all()
