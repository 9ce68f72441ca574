"""One step of LUCB, VA-LUCB and UCB-E from any state, against the papers' words written out."""

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prudent import LUCB, UCBE, VALUCB, MeanVariance
from prudent.policies.binding import bind
from prudent.policies.contract import Arms, Setting

MEAN = MeanVariance(math.inf)


@st.composite
def states(draw: Any) -> tuple[Arms, int]:
    """Arms with rewards in [0, b], pulled up to a million times so that some steps are the last; and the time."""
    rng, n_arms = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.integers(2, 5))
    pulls = rng.integers(2, 10 ** draw(st.integers(1, 6)) + 2, n_arms)
    mean = rng.uniform(0.1, 0.9, n_arms)
    variance = rng.uniform(0.0, mean * (1.0 - mean))
    alive = rng.random(n_arms) < 0.8
    return Arms(pulls, mean, variance, -mean, alive, np.empty((n_arms, 0))), draw(st.integers(3, 2_000))


def step(strategy: Any, arms: Arms, t: int) -> tuple[set[int], int]:
    """The arms that are chosen, and how often they are to be pulled; the strategy clears what was chosen before."""
    chosen = np.ones(len(arms.pulls), np.bool_)
    repeats = strategy.phase(arms, t, chosen, None)
    return set(np.flatnonzero(chosen).tolist()), repeats


@given(states(), st.floats(0.01, 0.5), st.sampled_from([0.05, 0.15, 0.25]), st.sampled_from([1.0, 2.0]))
@settings(max_examples=300)
def test_a_step_of_va_lucb_is_that_of_algorithm_1(state, delta, limit, b):
    arms, t = state
    arms = arms._replace(mean=b * arms.mean, variance=b**2 * arms.variance)
    k, s, mean, alive = len(arms.pulls), arms.pulls, arms.mean, arms.alive.copy()
    time = k + (t - 3)  # it is K at t = 3, when every arm has 2 pulls
    radius = b * np.sqrt(np.log(2.0 * k * float(time) ** 4 / delta) / (2.0 * s))
    unbiased = arms.variance * s / (s - 1.0)
    alive &= unbiased - b * radius <= limit
    ready = bind(VALUCB(limit=limit, range=b, delta=delta), Setting(k, MEAN, support=(0.0, b)))
    chosen, repeats = step(ready, arms, t)
    assert arms.alive.tolist() == alive.tolist()
    left = set(np.flatnonzero(alive).tolist())
    safe = max(left & set(np.flatnonzero(unbiased + b * radius <= limit)), key=lambda i: mean[i], default=None)
    beaten = safe is not None and all(mean[i] + radius[i] < mean[safe] - radius[safe] for i in left - {safe})
    assert repeats == int(bool(left) and not beaten)
    if repeats:
        leader = max(left, key=lambda i: mean[i])
        rival = max(left - {leader}, key=lambda i: mean[i] + radius[i], default=leader)
        open_ = mean[rival] + radius[rival] >= mean[leader] - radius[leader]
        assert chosen == ({leader, rival} if open_ else {leader})


@given(states(), st.floats(0.01, 0.5), st.sampled_from([0.0, 1.0, math.inf]))
@settings(max_examples=200)
def test_a_step_of_lucb_pulls_the_cheapest_and_its_strongest_rival(state, delta, rho):
    risk, (arms, t) = MeanVariance(rho), state
    arms = arms._replace(cost=risk.stats_cost(arms.mean, arms.variance), alive=np.ones(len(arms.pulls), np.bool_))
    k = len(arms.pulls)
    failure = 4.0 * delta / (5.0 * k * float(t - 1) ** 4)
    ends = [risk.bounds(*each, arms.rewards[0], failure, 0.0, 1.0) for each in zip(*arms[:3], strict=True)]
    leader = int(arms.cost.argmin())
    rival = min(set(range(k)) - {leader}, key=lambda i: ends[i][0])
    chosen, repeats = step(bind(LUCB(delta=delta), Setting(k, risk, support=(0.0, 1.0))), arms, t)
    assert chosen == {leader, rival}
    assert repeats == int(ends[leader][1] >= ends[rival][0])


@given(states(), st.floats(0.0, 100.0), st.integers(0, 3))
@settings(max_examples=100)
def test_a_step_of_ucb_e_pulls_the_least_cost_less_its_width_until_the_budget_is_spent(state, a, left):
    arms, t = state
    budget = int(arms.pulls.sum()) + left
    chosen, repeats = step(bind(UCBE(a=a, budget=budget), Setting(len(arms.pulls), MEAN)), arms, t)
    assert chosen == {int((arms.cost - np.sqrt(a / arms.pulls)).argmin())}
    assert repeats == int(left > 0)


def test_the_first_steps_pull_every_arm():
    arms = Arms(*np.zeros((4, 3)), np.ones(3, np.bool_), np.empty((3, 0)))._replace(pulls=np.zeros(3, int))
    setting = Setting(3, MEAN, support=(0.0, 1.0))
    for strategy, each in ((LUCB(delta=0.1), 1), (VALUCB(delta=0.1, range=1.0), 2), (UCBE(a=1.0, budget=9), 1)):
        assert step(bind(strategy, setting), arms, 1) == ({0, 1, 2}, each)
    some = arms._replace(pulls=np.array([1, 0, 1]))
    assert step(bind(UCBE(a=1.0, budget=9), setting), some, 2) == ({1}, 1)
