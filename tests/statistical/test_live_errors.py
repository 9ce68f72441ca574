"""Guardrails: with laws exactly at their limits all of them together fire, ever, in at most the stated error.

For coins the probability is computed exactly; elsewhere streams are fixed, and more than `binom.isf(1e-9, runs, error)`
experiments that fire would happen with probability below 1e-9.
"""

import numpy as np
import pytest
from scipy.stats import binom

from helpers.coins import coin
from helpers.crossing_probability import crossing_probability
from prudent import MeanVariance
from prudent.engine.python.arm import ArmState, include_reward
from prudent.live.guardrails import Rail, fires, shares

ERROR, LENGTH, ARMS = 0.01, 80, ("A", "B")
RISK, UNIT = MeanVariance(1.0), (0.0, 1.0)


def chance_to_fire(part):
    """That of two rails on two fair coins, exactly; the two sides of a coin exclude each other, coins do not."""
    rails = [Rail("mean", above=0.5), Rail("mean", below=0.5)]
    stays = 1.0
    for number, label in enumerate(ARMS):
        failures = [ERROR * own for own in part(rails, number, label)]
        passed = np.zeros((LENGTH + 1, LENGTH + 1), np.bool_)
        for n, k in zip(*np.tril_indices(LENGTH + 1), strict=True):
            state = coin(k, n) if n > 0 else ArmState()
            passed[n, k] = any(fires(rail, state, RISK, own, UNIT) for rail, own in zip(rails, failures, strict=True))
        stays *= 1.0 - crossing_probability(0.5, passed)
    return 1.0 - stays


def test_coins_at_their_limits_fire_exactly_as_seldom_as_stated():
    """And not absurdly more seldom: a third of the error is for arms that may still come."""
    assert ERROR / 4.0 < chance_to_fire(lambda rails, *arm: shares(rails, len(ARMS), *arm)) <= ERROR


def test_an_error_that_is_not_shared_would_be_caught():
    assert chance_to_fire(lambda rails, *arm: [1.0 for _ in rails]) > ERROR


def first_fired(law, rails, error, length, seed, every=50):
    """After how many rewards of each of two arms some rail fires; none if it does not. Means are looked at always."""
    rng, states = np.random.default_rng(seed), [ArmState() for _ in ARMS]
    failures = [[error * part for part in shares(rails, len(ARMS), i, label)] for i, label in enumerate(ARMS)]
    for n in range(1, length + 1):
        for state, own in zip(states, failures, strict=True):
            include_reward(state, float(law(rng)), *UNIT)
            for rail, failure in zip(rails, own, strict=True):
                if (rail.watch == "mean" or n % every == 0) and fires(rail, state, RISK, failure, UNIT):
                    return n
    return None


@pytest.mark.slow
def test_mean_and_variance_at_their_limits_seldom_fire():
    rails = [Rail("mean", above=0.5), Rail("variance", above=1.0 / 12.0)]
    fired = [first_fired(np.random.Generator.random, rails, 0.1, 300, seed) for seed in range(60)]
    assert sum(n is not None for n in fired) <= binom.isf(1e-9, 60, 0.1)


def test_twice_beyond_the_limit_they_fire_soon():
    """A failure rate of 20 % where 10 % are allowed: half of the experiments act within 130 rewards of each arm."""
    rails = [Rail("mean", above=0.1), Rail("variance", above=0.2)]
    fired = [first_fired(lambda rng: rng.random() < 0.2, rails, ERROR, 600, seed) for seed in range(40)]
    assert None not in fired
    assert np.median(fired) < 130
