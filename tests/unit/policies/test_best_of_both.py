"""Best of both: sharp MV-LCB up to the budget, one arm after it."""

import math

import numpy as np
import pytest
from scipy import stats

from prudent import MVLCB, Bandit, Bernoulli, BestOfBoth, Deterministic, Gaussian, MeanVariance, PrudentError, simulate
from prudent.policies.binding import bind
from prudent.policies.contract import FOREVER, Arm, Arms, Setting, spec
from prudent.policies.contract import policies as registry
from prudent.testing import check_policy

RISK = MeanVariance(0.0)
EASY = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
TIED = Bandit([Gaussian(1.0, 0.1), Gaussian(0.5, 0.1), Gaussian(0.0, 0.1)])
FALSE_ALARM = 1e-9


def bound(policy=None, horizon=1_000, n_arms=2, risk=RISK):
    return bind(BestOfBoth() if policy is None else policy, Setting(n_arms, risk, horizon))


def phase(ready, pulls, variance, mean=None):
    """The arm pulled, and how many times."""
    costs, alive, rewards = np.full(len(pulls), math.inf), np.ones(len(pulls), bool), np.empty((len(pulls), 0))
    arms = Arms(np.array(pulls), np.array(mean or [0.0] * len(pulls)), np.array(variance), costs, alive, rewards)
    chosen = np.ones(len(pulls), bool)
    repeats = ready.phase(arms, sum(pulls) + 1, chosen, np.random.default_rng(0))
    assert chosen.sum() == 1
    return int(chosen.argmax()), repeats


@pytest.mark.parametrize(
    "text",
    ["best-of-both", "best-of-both(rho=inf, budget=0.01)", "best-of-both(rho=0, budget=30, delta=0.1, range=3)"],
)
def test_the_contract_is_kept_compiled_and_interpreted(text):
    policy = registry.parse(text)
    check_policy(policy, arms=(1, 2, 3, 5))
    check_policy(policy, arms=(2, 5), horizon=400)  # long enough to commit


@pytest.mark.parametrize(
    ("policy", "horizon", "n_arms", "budget"),
    [
        (BestOfBoth(), 14_000, 2, 100),
        (BestOfBoth(), 14_001, 15, 14 * 101),
        (BestOfBoth(budget=0.5), 14_000, 3, 100),
        (BestOfBoth(), 100, 40, 39 * 2),  # at most ⌊n/K⌋ each
        (BestOfBoth(budget=1e300), 100, 2, 100),
        (BestOfBoth(), 10, 1, 0),
    ],
)
def test_the_budget_is_what_exp_exp_spends_off_its_last_arm(policy, horizon, n_arms, budget):
    assert bound(policy, horizon, n_arms).budget == budget


def test_before_the_budget_ends_the_smallest_sharp_index_is_pulled():
    risk = MeanVariance(0.7)
    ready, sharp = bound(BestOfBoth(), 10**6, 3, risk), bound(MVLCB.sharp(), 10**6, 3, risk)
    rng = np.random.default_rng(5)
    for _ in range(200):
        pulls, mean, variance = rng.integers(0, 60, 3).tolist(), rng.random(3).tolist(), rng.random(3).tolist()
        scores = [
            sharp.score(Arm(*each)) if each[0] > 1 else -math.inf for each in zip(pulls, mean, variance, strict=True)
        ]
        assert phase(ready, pulls, variance, mean)[0] == int(np.argmin(scores))


def test_only_the_leader_is_pulled_more_than_once_in_a_row():
    ready = bound(horizon=10**6)
    assert phase(ready, [1_000, 100], [0.0, 0.9]) == (0, 900 // 8)
    assert phase(ready, [1_000, 100], [0.9, 0.0]) == (1, 1)
    assert phase(ready, [105, 100], [0.0, 0.9]) == (0, 1)
    assert phase(bound(horizon=10**6, n_arms=3), [100, 1_000, 200], [0.9, 0.0, 0.9]) == (1, 800 // 8)
    assert phase(bound(horizon=10**6, n_arms=3), [200, 100, 1_000], [0.9, 0.9, 0.0]) == (2, 800 // 8)


def test_it_commits_exactly_when_the_budget_is_spent():
    ready = bound(horizon=14_000)
    assert phase(ready, [300, 99], [0.1, 0.1]) != (0, FOREVER)
    assert phase(ready, [300, 100], [0.9, 0.1]) == (0, FOREVER)  # the most pulled, be it not the empirical best
    assert phase(ready, [100, 100], [0.9, 0.1]) == (1, FOREVER)  # of equals the better
    assert phase(ready, [100, 100], [0.1, 0.1]) == (0, FOREVER)
    assert phase(ready, [10_000, 100], [9.0, 0.0]) == (0, FOREVER)  # asked again, the same
    assert phase(bound(horizon=14), [5, 1], [0.1, 0.0]) == (1, 1)  # every arm is pulled twice first


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["stepping", "leaping"])
def test_other_arms_have_the_budget_and_no_more(engine):
    horizon = 4_000
    budget = bound(horizon=horizon, n_arms=3).budget
    runs = simulate(TIED, BestOfBoth(), risk=RISK, horizon=horizon, runs=50, engine=engine)
    assert (horizon - runs.pulls.max(1) == budget).all()


def test_it_never_abandons_the_arm_it_commits_to():
    horizon, early = 4_000, list(range(100, 4_000, 100))
    runs = simulate(TIED, BestOfBoth(), risk=RISK, horizon=horizon, runs=50, snapshots=early)
    budget = bound(horizon=horizon, n_arms=3).budget
    pulls = np.stack([earlier.pulls for earlier in runs.history])
    spent = pulls.sum(2) - pulls.max(2)
    assert (np.diff(spent, axis=0) >= 0).all()
    assert spent.max() == budget
    for run in range(50):
        after = pulls[spent[:, run] == budget, run]
        assert len(after) > 1
        assert (np.ptp(np.delete(after, after[-1].argmax(), 1), axis=0) == 0).all()


def test_deterministic_arms_of_one_variance_no_longer_alternate():
    bandit = Bandit([Deterministic(0.0), Deterministic(1.0)])
    runs = simulate(bandit, BestOfBoth(), risk=RISK, horizon=14_000, runs=2)
    assert np.sort(runs.pulls).tolist() == [[100, 13_900]] * 2


@pytest.mark.parametrize(
    ("bandit", "rho"),
    [(EASY, 0.0), (TIED, 0.0), (Bandit([Bernoulli(0.6), Bernoulli(0.5), Bernoulli(0.2)]), 1.0)],
    ids=["easy", "tied", "bernoulli"],
)
def test_both_engines_have_one_law(bandit, rho):
    # P(D ≥ d) ≤ 2 exp(−n d²) for two samples of n ≥ 458 each, ties or not [WeiDudley12].
    count = 1_000
    one, other = (
        simulate(bandit, BestOfBoth(), risk=MeanVariance(rho), horizon=2_000, runs=count, engine=engine, seed=7)
        for engine in ("stepping", "leaping")
    )
    for a, b in ((one.regret(), other.regret()), *zip(one.pulls.T, other.pulls.T, strict=True)):
        distance = stats.ks_2samp(np.round(a, 9), np.round(b, 9), method="asymp").statistic
        assert 2.0 * math.exp(-count * distance**2) > FALSE_ALARM


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BestOfBoth(rho=-1), "best-of-both: rho"),
        (lambda: BestOfBoth(budget=0), "best-of-both: budget must lie in .* 1 explores as long as ExpExp"),
        (lambda: BestOfBoth(budget=math.inf), "best-of-both: budget"),
        (lambda: BestOfBoth(delta=5), "best-of-both: delta .* pass 0.05"),
        (lambda: BestOfBoth(range=0), "best-of-both: range"),
        (lambda: BestOfBoth(search="ucb1"), "best-of-both: search must be one of mv-lcb, mv-imed, got 'ucb1'"),
        (lambda: bound(horizon=2, n_arms=3), "best-of-both: horizon must be at least the number of arms, 3, got 2"),
        (lambda: bound(horizon=None), "best-of-both: needs the horizon"),
    ],
)
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(PrudentError, match=message):
        make()


def test_the_text_of_it():
    assert spec(BestOfBoth()) == "best-of-both"
    assert registry.parse("best-of-both(budget=0.5)") == BestOfBoth(budget=0.5)
