"""The paper's definitions, on allocations where the answer is known."""

import itertools

import numpy as np
import pytest

from prudent import Bandit, Deterministic, FixedArm, MeanVariance, PrudentError, RandomArm, RoundRobin, simulate
from prudent.results.regret import expected_regret, exploration_risk, sequence_moments


def test_moments_of_the_sequence_are_those_of_its_rewards():
    rewards = [np.array([1.0, 2.0, 4.0]), np.array([0.5]), np.array([3.0, 3.5])]
    pulls = np.array([len(x) for x in rewards])
    mean, variance = np.array([x.mean() for x in rewards]), np.array([x.var() for x in rewards])
    everything = np.concatenate(rewards)
    assert sequence_moments(pulls, mean, variance) == pytest.approx((everything.mean(), everything.var()), rel=1e-14)


def test_the_three_factors_of_the_exploration_risk():
    pulls, means = np.array([30, 70]), np.array([0.2, 1.0])
    exact = exploration_risk(pulls, means)
    assert exact == pytest.approx(0.3 * 0.7 * 0.8**2)
    assert exploration_risk(pulls, means, "eq-regret3") == pytest.approx(2 * exact)
    assert exploration_risk(pulls, means, "definition-3") == pytest.approx(4 * exact)
    with pytest.raises(PrudentError, match="definition-3"):
        exploration_risk(pulls, means, "definition-4")


def test_an_arm_never_pulled_counts_for_nothing():
    assert exploration_risk(np.array([5, 0]), np.array([1.0, 0.0])) == 0.0


def test_expected_regret_of_the_best_arm_alone_is_zero():
    pulls, means, variances = np.array([100, 0]), np.array([1.0, 0.5]), np.array([0.05, 0.25])
    assert expected_regret(pulls, means, variances, 0, MeanVariance(0.3)) == pytest.approx(0.0, abs=1e-16)


@pytest.mark.parametrize("rho", [0.0, 0.7, np.inf])
def test_expected_regret_is_that_of_every_sequence_of_coins(rho):
    """Two coins, five rewards: all 32 sequences by their chances, less all those of the best coin."""
    pulls, means, risk = np.array([2, 3]), np.array([0.3, 0.9]), MeanVariance(rho)

    def expected_cost(chances):
        sequences = np.array(list(itertools.product([0.0, 1.0], repeat=5)))
        weights = np.where(sequences == 1.0, chances, 1.0 - chances).prod(1)
        return weights @ risk.stats_cost(sequences.mean(1), sequences.var(1))

    best = int(np.argmin(risk.stats_cost(means, means * (1.0 - means))))
    wanted = expected_cost(np.repeat(means, pulls)) - expected_cost(np.full(5, means[best]))
    assert expected_regret(pulls, means, means * (1.0 - means), best, risk) == pytest.approx(wanted)


ZERO_ONE = Bandit([Deterministic(0.0), Deterministic(1.0)])


def test_discussion_round_robin_is_risky_within_a_run_and_steady_across_runs():
    runs = simulate(ZERO_ONE, RoundRobin(), risk=MeanVariance(0.0), horizon=1000, runs=50)
    assert (runs.reward_variance() == 0.25).all()
    assert (runs.regret() == 0.25).all()
    assert runs.across_variance() == 0.0


def test_discussion_one_random_arm_is_steady_within_a_run_and_risky_across_runs():
    runs = simulate(ZERO_ONE, RandomArm(), risk=MeanVariance(0.0), horizon=1000, runs=200)
    assert (runs.reward_variance() == 0.0).all()
    assert (runs.regret() == 0.0).all()
    share = runs.reward_mean().mean()
    assert runs.across_variance() == pytest.approx(share * (1.0 - share))
    assert 0.2 < share < 0.8


def test_mean_only_regret_has_no_exploration_part():
    runs = simulate(ZERO_ONE, FixedArm(0), risk=MeanVariance(np.inf), horizon=100, runs=3)
    assert runs.regret() == pytest.approx(1.0)
    assert runs.regret_parts().gap == pytest.approx(1.0)
    assert (runs.regret_parts().exploration == 0.0).all()
    assert runs.pseudo_regret() == pytest.approx(1.0)
