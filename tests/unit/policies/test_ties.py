"""Equal scores are equal whatever the order of the rewards and the unit; different ones stay different."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from prudent import MVLCB, Agent, Bandit, Deterministic, Gaussian, simulate
from prudent.arms.base import arms as registry
from prudent.arms.base import encode
from prudent.arms.sampling import include, may_tie
from prudent.policies.contract import Arm
from prudent.policies.ties import arm_of, below, lowest, rounding
from prudent.risk.mean_variance import mean_variance

UNITS = [1e-9, 1e-3, 1.0, 1e3, 1e9]


def seen(rewards):
    """What the recursion makes of rewards in their order."""
    mean = variance = 0.0
    for count, reward in enumerate(rewards, 1):
        mean, variance = include(count, mean, variance, float(reward))
    return Arm(len(rewards), mean, variance)


VALUES = [(0.0, 1.0), (0.1, 0.2, 0.7), (-50.0, 0.0, 400.0)]
FAR = (1e4, 1e4 + 0.25)
"""Far from 0 a tie may be missed if the unit is large, because the allowance is never too large."""


@pytest.mark.parametrize(
    ("values", "unit"), [*product(VALUES, UNITS), *product([FAR], [unit for unit in UNITS if unit <= 1e3])], ids=str
)
@pytest.mark.parametrize("rho", [0.0, 1.0, math.inf])
def test_the_same_rewards_in_another_order_tie(values, unit, rho):
    rng = np.random.default_rng(0)
    differed = 0
    for size in (3, 30, 300, 3_000):
        rewards = unit * rng.choice(values, size)
        arms = [seen(rng.permutation(rewards)) for _ in range(8)]
        costs = [mean_variance(arm.mean, arm.variance, rho * unit) for arm in arms]
        differed += len(set(costs)) - 1
        for cost, arm in zip(costs, arms, strict=True):
            assert not below(cost, arm, costs[0], arms[0])
            assert not below(costs[0], arms[0], cost, arm)
    assert differed > 0  # else this would test nothing


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 0.3, 1.0), (-50.0, 0.0, 400.0)], ids=str)
@pytest.mark.parametrize("size", [100, 1_000, 30_000])
def test_the_recursion_errs_by_no_more_than_the_allowance_assumes(values, size):
    rng = np.random.default_rng(size)
    for _ in range(10):
        rewards = rng.choice(values, size)
        counts = [int((rewards == value).sum()) for value in values]
        first, second = (sum(c * Fraction(v) ** k for c, v in zip(counts, values, strict=True)) / size for k in (1, 2))
        arm = seen(rewards)
        share = 2.0 * 2.0**-53 * math.sqrt(size)
        assert abs(float(Fraction(arm.mean) - first)) < share * abs(first)
        assert abs(float(Fraction(arm.variance) - (second - first**2))) < share * (second - first**2)


@pytest.mark.parametrize("unit", UNITS)
def test_a_mirrored_arm_ties_and_so_do_doubled_rewards(unit):
    """p and 1 − p have one variance, and so have some rewards and the same rewards twice."""
    ones = np.random.default_rng(1).random(57) < 0.3
    arms = [seen(unit * each) for each in (ones, ~ones, np.append(ones, ones))]
    for one in arms:
        for other in arms:
            assert not below(one.variance, one, other.variance, other)


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit <= 1.0])
def test_costs_that_cancel_to_nothing_tie(unit):
    """With ρ = 1 − p of the empirical p the cost p(1 − p) − ρ p is 0, and all that is left of it is rounding."""
    ones = np.repeat([0.0, 1.0], [37, 63])
    arms = [seen(unit * np.random.default_rng(seed).permutation(ones)) for seed in range(20)]
    costs = [mean_variance(arm.mean, arm.variance, 0.37 * unit) for arm in arms]
    assert len(set(costs)) > 1
    assert not any(below(cost, arm, costs[0], arms[0]) for cost, arm in zip(costs, arms, strict=True))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("size", [10, 1_000, 100_000])
def test_one_reward_more_or_less_is_no_tie(size, unit):
    for count in (0, 1, size // 3):
        mean, more = count / size, (count + 1) / size
        one, other = (
            Arm(size, mean * unit, mean * (1 - mean) * unit**2),
            Arm(size, more * unit, more * (1 - more) * unit**2),
        )
        assert below(-other.mean, other, -one.mean, one)
        assert below(one.variance, one, other.variance, other)


def test_rounding_does_not_eat_what_an_offset_leaves():
    """Rewards far from 0 keep what floats keep of their differences."""
    one, other = Arm(1_000, 1e9, 0.05), Arm(1_000, 1e9 + 1e-3, 0.05)
    assert below(-other.mean, other, -one.mean, one)


def test_infinite_scores_and_none():
    arm = Arm(3, 0.5, 0.25)
    assert below(-math.inf, arm, 0.0, arm)
    assert below(0.0, arm, math.inf, arm)
    assert not below(-math.inf, arm, -math.inf, arm)
    assert not below(math.inf, arm, math.inf, arm)
    assert not below(math.nan, arm, 0.0, arm)


def test_equal_rewards_leave_no_rounding_but_the_scores():
    """So that arms that never vary still differ after a billion rounds."""
    assert rounding(2.0, Arm(10**9, 5.0, 0.0)) == rounding(2.0, Arm(1, 5.0, 0.0)) == 16 * 2.0**-53
    assert rounding(2.0, Arm(4, 5.0, 9.0)) == pytest.approx(8 * 2.0**-53 * 2 * (2.0 + (3.0 + 5.0) * 1.0))
    assert rounding(2.0, Arm(4, 5.0, 0.25)) == pytest.approx(8 * 2.0**-53 * 2 * (2.0 + (0.5 + 5.0) * 0.5))


def test_the_lowest_number_wins_only_among_equals():
    class Known:
        pulls, mean, variance = np.array([9, 9, 9, 9]), np.full(4, 0.3), np.full(4, 0.21)

    assert arm_of(Known, 2) == Arm(9, 0.3, 0.21)
    assert lowest(np.array([0.3, 0.2 + 1e-16, 0.2, 0.2 - 1e-16]), Known) == 1
    assert lowest(np.array([0.3, 0.2, 0.2 - 1e-9, 0.2]), Known) == 2


@pytest.mark.parametrize("policy", ["exp-exp(rho=0, tau=60)", "mv-lcb(rho=0)"])
def test_an_agent_takes_the_first_of_equal_arms(policy):
    """Both arms paid the same, in another order: sums of rounding differ, the rule does not."""
    rng = np.random.default_rng(3)
    rewards = rng.permutation(np.repeat([0.0, 1.0], [7, 23]))
    for _ in range(40):
        agent = Agent(policy, 2, horizon=1_000, support=(0, 1))
        for arm in range(2):
            for reward in rng.permutation(rewards):
                agent.tell(arm, reward, asked=False)
        assert agent.ask() == 0


@pytest.mark.parametrize(
    ("arms", "can"),
    [
        ("bernoulli(0.5) bernoulli(0.5)", True),
        ("bernoulli(0.5) gaussian(0,1)", False),
        ("gaussian(0,1) gaussian(0,1)", False),
        ("gaussian(0,0) gaussian(1,0)", True),
        ("gaussian(0,1) gaussian(1,0) deterministic(1)", True),
        ("empirical([0,1]) mixture([bernoulli(0.5),bernoulli(0.1)],[0.5,0.5])", True),
        ("beta(1,2) uniform(0,1) exponential(1) student-t(3) truncated-gaussian(0,1,0,1) bernoulli(0.1)", False),
    ],
)
def test_arms_tie_if_two_of_them_have_values_of_positive_probability(arms, can):
    laws = encode([registry.parse(each) for each in arms.split()])
    assert bool(may_tie(laws, len(arms.split()))) is can


def test_continuous_rewards_never_tie():
    """Two equal Gaussian arms: each is pulled half of the time, by either engine."""
    bandit = Bandit([Gaussian(1e3, 0.01)] * 2)
    for engine in ("stepping", "leaping"):
        runs = simulate(bandit, "exp-exp", risk="mean-variance(rho=0)", horizon=1_000, runs=4_000, engine=engine)
        assert abs((runs.pulls[:, 0] > 500).mean() - 0.5) < 5 * 0.5 / math.sqrt(4_000)


def test_leaping_and_stepping_agree_on_equal_sure_arms():
    for arms in ([Deterministic(0.1)] * 3, [Deterministic(0.0)] * 2, [Gaussian(0.3, 0.0), Deterministic(0.3)]):
        made = {"risk": "mean-variance(rho=1)", "horizon": 1_001, "runs": 1}
        one, two = (simulate(Bandit(arms), MVLCB(), engine=engine, **made).pulls for engine in ("stepping", "leaping"))
        assert one.tolist() == two.tolist()
