"""The summary of an experiment: whoever looks all the time sees a wrong interval with probability at most 1 − level.

Streams are fixed. More than `binom.isf(1e-9, runs, failure)` runs with a miss would happen with probability below 1e-9
if the intervals hold.
"""

import numpy as np
import pytest
from scipy.stats import binom

from helpers.coins import coin
from prudent import Agent, Beta, MeanVariance, Uniform
from prudent.live.evidence import Evidence
from prudent.live.intervals import bounds
from prudent.live.summary import summary

ARMS, RUNS, FAILURE = 40, 120, 0.1
TIMES = (4, 6, 10, 17, 30, 50, 90, 160, 300)


def coins(ones, pulls):
    """Arms with so many ones among their rewards."""
    return [coin(k, pulls) for k in ones.tolist()]


def regret(arms, level):
    known = summary(Evidence(arms, MeanVariance(np.inf), (0.0, 1.0)), level)
    return known.cost - np.array(known.regret)


def not_shared(arms, level):
    """A mutant: each of the arms' intervals takes the whole failure."""
    return np.min(bounds(Evidence(arms, MeanVariance(np.inf), (0.0, 1.0)), "cost", 1.0 - level), axis=0)[::-1]


def runs_that_miss(limits):
    """All arms are fair coins, so that each of them can be the one whose interval misleads."""
    tosses = np.random.default_rng(2026).integers(0, 2, (RUNS, ARMS, max(TIMES))).cumsum(-1)
    missed = 0
    for run in tosses:
        for pulls in TIMES:
            most, least = limits(coins(run[:, pulls - 1], pulls), 1.0 - FAILURE)
            if not least <= -0.5 <= most:
                missed += 1
                break
    return missed


@pytest.mark.slow
def test_the_regret_interval_seldom_ever_misses():
    assert runs_that_miss(regret) <= binom.isf(1e-9, RUNS, FAILURE)


@pytest.mark.slow
def test_a_level_that_is_not_shared_among_the_arms_would_be_caught():
    assert runs_that_miss(not_shared) > binom.isf(1e-9, RUNS, FAILURE)


@pytest.mark.slow
def test_a_policy_that_chases_rewards_does_not_break_it():
    """Regret and even split of mean-variance, while ε-greedy gives most rounds to what looks best."""
    laws = {"steady": Beta(20.0, 15.0), "wild": Uniform(0.0, 1.0), "poor": Beta(2.0, 6.0)}
    costs = [law.variance - law.mean for law in laws.values()]
    means = np.array([law.mean for law in laws.values()])
    even = np.mean([law.variance for law in laws.values()]) + means.var() - means.mean()
    runs, failure, missed = 60, 0.2, 0
    for run in range(runs):
        agent = Agent("epsilon-greedy(rho=1, epsilon=0.3)", list(laws), seed=run, support=(0, 1))
        rng = np.random.default_rng(run)
        off = False
        for t in range(200):
            arm = agent.ask()
            agent.tell(arm, laws[arm].sample(rng, 1)[0])
            known = agent.summary(1.0 - failure) if t % 20 == 19 else None
            if known is not None and known.regret is not None:
                off |= not known.regret.low <= known.cost - min(costs) <= known.regret.high
                off |= not known.even.low <= even <= known.even.high
        missed += off
    assert missed <= binom.isf(1e-9, runs, failure)
