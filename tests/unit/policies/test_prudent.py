"""The policy to try first: MV-IMED's index while an arm has pulls left, and the most pulled arm otherwise."""

import math
import warnings

import numpy as np
import pytest

from prudent import Agent, Bandit, Bernoulli, BestOfBoth, Deterministic, Gaussian, MeanVariance, simulate
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Arms, Setting, policies
from prudent.policies.mv_imed import gaussian_index

RISK = MeanVariance(0.5)
TIED = Bandit([Gaussian(1.0, 0.1), Gaussian(0.0, 0.1)])


def bound(horizon=10_000, n_arms=2, risk=RISK, policy="prudent"):
    return bind(policies.parse(policy), Setting(n_arms, risk, horizon))


def phase(ready, pulls, mean, variance):
    """The arms pulled, and how many times."""
    rho = ready.rho
    costs = np.array([-m if math.isinf(rho) else v - rho * m for m, v in zip(mean, variance, strict=True)])
    empty = np.ones(len(pulls), bool), np.empty((len(pulls), 0))
    arms = Arms(np.array(pulls), np.array(mean), np.array(variance), costs, *empty)
    chosen = np.ones(len(pulls), bool)
    repeats = ready.phase(arms, sum(pulls) + 1, chosen, np.random.default_rng(0))
    return np.flatnonzero(chosen).tolist(), repeats


def test_every_arm_is_pulled_three_times_first():
    assert phase(bound(n_arms=3), [3, 2, 2], [0.0] * 3, [1.0] * 3) == ([1, 2], 1)


def test_the_smallest_index_is_pulled_while_there_is_a_budget():
    """With nearly equal means the budgets are large."""
    rng, ready = np.random.default_rng(5), bound(10**9, 3)
    for _ in range(100):
        pulls, mean = rng.integers(3, 60, 3).tolist(), (0.01 * rng.random(3)).tolist()
        variance = (0.5 + rng.random(3)).tolist()
        best = min(v - 0.5 * m for m, v in zip(mean, variance, strict=True))
        scores = [gaussian_index(Arm(*each), best, 0.5, 2.0) for each in zip(pulls, mean, variance, strict=True)]
        assert phase(ready, pulls, mean, variance)[0] == [int(np.argmin(scores))]


def test_the_budget_is_where_the_risk_of_exploring_meets_that_of_a_wrong_choice():
    """(nτ/14Γ²)^{2/3} pulls with τ² the sum of 2V² + ρ²V: here n/14 = 1000, ρ = ½, V = 0.5 and 1.49, Γ = 2."""
    ready, horizon = bound(14_000), 14_000
    error = math.sqrt(2 * 0.5**2 + 0.25 * 0.5 + 2 * 1.49**2 + 0.25 * 1.49)
    budget = (horizon / 14 * error / 4.0) ** (2 / 3)
    for pulls, others in ((math.floor(budget), [1]), (math.ceil(budget), [0])):
        # The arm of fewer pulls has the smaller cost, and so the smaller index.
        assert phase(ready, [5_000, pulls], [0.0, 2.0], [0.5, 1.49])[0] == others
    clearly = 1.5 - 2 * error / math.sqrt(1_000)  # variances below it make the cost of the other arm clearly smaller
    assert phase(ready, [5_000, 1_000], [0.0, 2.0], [0.5, clearly + 0.03])[0] == [0]
    assert phase(ready, [5_000, 1_000], [0.0, 2.0], [0.5, clearly - 0.03])[0] == [1]
    assert phase(bound(None), [5_000, 10**6 // 300], [0.0, 2.0], [0.5, 1.49])[0] == [1], "no horizon, no budget"
    mean_only = bound(14_000, risk=MeanVariance(math.inf))
    assert phase(mean_only, [5_000, 4_000], [0.0, 2.0], [0.5, 0.5])[0] == [1], "no exploration risk, no budget"


def test_best_of_both_with_this_search_scales_the_budget():
    assert bound(14_000, policy="best-of-both(search=mv-imed, budget=3)").scale == 3_000.0
    assert bound(14_000, policy="best-of-both(search=mv-imed)") == bound(14_000)
    assert Agent("best-of-both(search=mv-imed)", 2, 100, risk="mean-variance(rho=1)").ask() == 0, "no range is needed"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor is one assumed
        simulate(TIED, "best-of-both(search=mv-imed)", risk=RISK, horizon=50, runs=2, scale=None)
    assert BestOfBoth().search == "mv-lcb"


def test_the_leader_is_pulled_an_eighth_of_its_lead_at_a_time():
    assert phase(bound(), [1_000, 200], [1.0, 0.0], [0.1, 0.9]) == ([0], 100)
    assert phase(bound(), [1_000, 100], [1.0, 0.0], [0.1, 0.9]) == ([0], 112)


def test_equal_rewards_are_not_taken_for_a_constant_at_once():
    """The better coin starts with three failures in one run of eight; MV-IMED never returns to it."""
    coins = Bandit([Bernoulli(0.5), Deterministic(0.05)])
    ready = bound(2_000, risk=MeanVariance(1.0))
    assert phase(ready, [3, 12], [0.0, 0.05], [0.0, 0.0]) == ([0], 1)
    assert gaussian_index(Arm(3, 0.0, 0.0), -0.05, 1.0, 2.0) == math.inf
    runs = simulate(coins, "prudent", risk=MeanVariance(1.0), horizon=2_000, runs=200)
    assert (runs.pulls[:, 0] > runs.pulls[:, 1]).mean() > 0.95


@pytest.mark.slow
def test_arms_of_equal_cost_and_different_means_do_not_alternate():
    """As MV-IMED without budgets does, whose regret is then constant."""
    settings = {"risk": MeanVariance(0.0), "horizon": 20_000, "runs": 40}
    assert (
        simulate(TIED, "prudent", **settings).regret().mean()
        < 0.3 * simulate(TIED, "mv-imed", **settings).regret().mean()
    )
    sure = Bandit([Deterministic(0.0), Deterministic(1.0)])
    runs = simulate(sure, "prudent", risk=MeanVariance(0.0), horizon=1_000, runs=1)
    assert runs.pulls.min() == 4


@pytest.mark.parametrize("engine", ["stepping", "leaping"])
def test_it_leaps(engine):
    runs = simulate(TIED, "prudent", risk=MeanVariance(1.0), horizon=3_000, runs=10, engine=engine)
    assert (runs.pulls[:, 0] > 2_500).all()
