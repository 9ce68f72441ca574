"""Learners that forget: the published formulas, what happens if nothing is forgotten, and that they follow a drift."""

import math

import numpy as np
import pytest

from prudent import Discounted, MeanVariance, PrudentError, SlidingWindow, simulate
from prudent.engine.python.policies import Acting
from prudent.policies.contract import policies

ARMS, ROUNDS = 3, 300


def rewards_of(seed=1):
    return np.random.default_rng(seed).random((ROUNDS, ARMS))


def played(learner, rewards):
    """The arms that it pulls, told at once."""
    learner.start(ARMS, ROUNDS)
    rng, arms = np.random.default_rng(0), []
    for row in rewards:
        arms.append(learner.ask(rng))
        learner.tell(arms[-1], row[arms[-1]])
    return arms


def test_sliding_window_ucb():
    """The mean over the last τ rounds plus √(2 log min(t, τ)/N), from the definition."""
    tau, rewards = 40, rewards_of()
    arms = played(SlidingWindow("ucb1(range=1)", window=tau), rewards)
    for t in range(ARMS, ROUNDS):
        first = max(0, t - tau)
        index = []
        for i in range(ARMS):
            seen = [rewards[s, i] for s in range(first, t) if arms[s] == i]
            index.append(np.mean(seen) + math.sqrt(2.0 * math.log(min(t + 1, tau)) / len(seen)) if seen else math.inf)
        assert arms[t] == int(np.argmax(index)), t


def test_discounted_ucb():
    """The discounted mean plus 2√(ξ log n/N) with ξ = ½, from the definition."""
    gamma, rewards = 0.95, rewards_of()
    arms = played(Discounted("ucb1(range=1)", discount=gamma), rewards)
    for t in range(ARMS, ROUNDS):
        weights = gamma ** np.arange(t - 1, -1, -1.0)
        counts = np.array([weights[np.array(arms[:t]) == i].sum() for i in range(ARMS)])
        sums = np.array([(weights * rewards[:t, i])[np.array(arms[:t]) == i].sum() for i in range(ARMS)])
        index = sums / counts + 2.0 * np.sqrt(0.5 * math.log(counts.sum()) / counts)
        assert arms[t] == int(np.argmax(index)), t


@pytest.mark.parametrize("policy", ["mv-imed(rho=1)", "mv-lcb(rho=1, c=1, range=1)"])
def test_without_forgetting_it_is_the_policy(policy):
    plain = Acting(policies.parse(policy), MeanVariance(1.0), None)
    learners = (plain, SlidingWindow(policy, 10**6), Discounted(policy, 1.0))
    arms = [played(learner, rewards_of()) for learner in learners]
    assert arms[0] == arms[1] == arms[2]


def test_the_variance_of_discounted_rewards():
    learner, rng = Discounted("mv-imed(rho=1)", discount=0.9), np.random.default_rng(3)
    learner.start(1, 50)
    rewards = rng.standard_normal(50)
    for reward in rewards:
        learner.tell(0, reward)
    weights = 0.9 ** np.arange(49, -1, -1.0)
    mean = np.average(rewards, weights=weights)
    (arm,), n = learner.known()
    assert (arm.pulls, n) == pytest.approx((weights.sum(),) * 2)
    assert arm.mean == pytest.approx(mean)
    assert arm.variance == pytest.approx(np.average((rewards - mean) ** 2, weights=weights))


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


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SlidingWindow("exp-exp(rho=1)", 10), "must score arms by the mean and the variance"),
        (lambda: Discounted("npts(risk=mean)", 0.9), "must score arms by the mean and the variance"),
        (lambda: SlidingWindow("mv-lcb", 10), r"rho of the policy must be given.*write mv-lcb\(rho=…\)"),
        (lambda: Discounted("srts", 0.9), "risk of the policy must be given"),
        (lambda: SlidingWindow("ucb1", 0), "window"),
        (lambda: Discounted("ucb1", 0.0), "discount"),
        (lambda: Discounted("ucb1", 1.5), "discount"),
    ],
)
def test_what_cannot_forget_is_refused(make, words):
    with pytest.raises(PrudentError, match=words):
        make()
