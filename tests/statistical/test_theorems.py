"""Theorems tested as theorems: the frequency of an event against the probability a theorem allows it.

Streams are fixed. Where the theorem says P ≤ p, more than `binom.isf(1e-9, runs, p)` events are counted with
probability below 1e-9 if it is true; where it bounds a mean of values in [0, b], Hoeffding's margin b√(log(1e9)/2
runs) is allowed, with the same false-alarm rate. Where something is shown false, the count exceeds what the refuted
claim allows by the same rule. For Bernoulli arms the probability of the event is computed exactly, with no false
alarms at all.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

from helpers.crossing_probability import crossing_probability
from prudent import (
    MVLCB,
    Bandit,
    Bernoulli,
    BernsteinMVLCB,
    Beta,
    Deterministic,
    ExpExp,
    FixedArm,
    MeanVariance,
    RoundRobin,
    Uniform,
    simulate,
)
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting
from prudent.theory import (
    corollary,
    largest_pseudo_regret,
    largest_regret,
    lemma1,
    lemma2,
    pulls_bound,
    theorem1_expectation,
    theorem1_high_probability,
    theorem1_sharp,
    theorem2,
)

FALSE_ALARM = 1e-9
RUNS = 20_000
HORIZON = 60
ARMS = Bandit([Bernoulli(0.5), Beta(0.3, 0.2), Uniform(0.0, 1.0)])
RHOS = [0.0, 1.0, 100.0]
LEVEL = 0.3 / (6 * HORIZON * len(ARMS))
"""δ with 6nKδ = 0.3: small enough to say something, large enough to be tested."""


def most_events(probability: float, runs: int = RUNS) -> float:
    return binom.isf(FALSE_ALARM, runs, probability)


def margin(largest: float, runs: int) -> float:
    return largest * math.sqrt(math.log(1.0 / FALSE_ALARM) / (2.0 * runs))


@pytest.fixture(scope="module")
def paths():
    """Per arm the mean and the variance (divided by s) after each of s = 1 … n samples; arrays (run, s)."""
    rng = np.random.default_rng(2012)
    count = np.arange(1, HORIZON + 1)
    found = []
    for law in ARMS.arms:
        rewards = law.sample(rng, RUNS * HORIZON).reshape(RUNS, HORIZON)
        mean = rewards.cumsum(1) / count
        found.append((mean, np.maximum((rewards**2).cumsum(1) / count - mean**2, 0.0)))
    return found


def widths(policy: MVLCB) -> np.ndarray:
    """The policy's own confidence width after s samples: minus the score of an arm whose mean-variance is 0."""
    index = bind(policy, Setting(1, MeanVariance(policy.rho), HORIZON))
    return np.array([-index.score(Arm(s, 0.0, 0.0)) for s in range(1, HORIZON + 1)])


def strayed(paths, rho: float, width: np.ndarray, unbiased: bool) -> int:
    """In how many runs some arm's mean-variance is off by the width after some number of samples."""
    count = np.arange(1, HORIZON + 1)
    bessel = np.where(count > 1, count / np.maximum(count - 1, 1), 1.0) if unbiased else 1.0
    off = np.zeros(RUNS, dtype=bool)
    for (mean, variance), cost in zip(paths, ARMS.costs(MeanVariance(rho)), strict=True):
        off |= (np.abs(variance * bessel - rho * mean - cost) >= width).any(1)
    return int(off.sum())


@pytest.mark.parametrize("rho", RHOS)
def test_lemma_2_event_is_as_rare_as_it_says(paths, rho):
    bound = lemma2(ARMS, MeanVariance(rho), HORIZON, LEVEL)
    assert bound.applies
    assert bound.printed == pytest.approx(0.3)
    count = strayed(paths, rho, widths(MVLCB(rho=rho, delta=LEVEL)), unbiased=False)
    assert count <= most_events(bound.corrected) <= most_events(bound.printed)


@pytest.mark.parametrize("rho", RHOS)
def test_the_sharp_width_fails_at_most_as_often_as_proved(paths, rho):
    policy = MVLCB.sharp(rho)._replace(delta=LEVEL)
    events = HORIZON * len(ARMS) * LEVEL
    assert strayed(paths, rho, widths(policy), unbiased=True) <= most_events(2.0 * events) <= most_events(4.0 * events)


def test_a_width_less_than_half_the_sharp_one_is_caught(paths):
    narrow = 0.4 * widths(MVLCB.sharp(100.0)._replace(delta=LEVEL))
    assert strayed(paths, 100.0, narrow, unbiased=True) > most_events(6 * HORIZON * len(ARMS) * LEVEL)


def index_table(policy, horizon: int) -> np.ndarray:
    """The policy's score after s Bernoulli samples of which k are ones, as table[s, k]."""
    index = bind(policy, Setting(1, MeanVariance(policy.rho), horizon))
    table = np.full((horizon + 1, horizon + 1), -np.inf)
    for s in range(1, horizon + 1):
        for k in range(s + 1):
            table[s, k] = index.score(Arm(s, k / s, k / s * (1.0 - k / s)))
    return table


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("policy", [MVLCB(), MVLCB.sharp(), BernsteinMVLCB()], ids=["seed", "sharp", "bernstein"])
def test_indices_are_lower_bounds_exactly_for_bernoulli_arms(policy, rho):
    """One-sided, one arm: bounded differences fail with nδ in all, Bernstein's two inequalities with 2nδ."""
    horizon, delta = 100, 0.3 / 200
    table = index_table(policy._replace(rho=rho, delta=delta), horizon)
    allowed = (2 if isinstance(policy, BernsteinMVLCB) else 1) * horizon * delta
    for p in np.linspace(0.01, 0.99, 25):
        assert crossing_probability(p, table > p * (1.0 - p) - rho * p) <= allowed


def commented_index(mean, variance, s: int, rho: float, delta: float):
    """The index in the comment after Remark 1 of sec. 3.1, with its variance divided by s − 1."""
    log_term = math.log(1.0 / delta)
    deviation = np.sqrt(variance * s / (s - 1.0))
    optimistic = mean + deviation * math.sqrt(log_term / s) + log_term / s
    return (deviation + math.sqrt(log_term / (2.0 * s))) ** 2 - rho * optimistic


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_the_commented_bernstein_index_is_no_lower_bound_and_the_corrected_one_is(paths, rho):
    """As an index it should exceed the cost with probability about δ; it does with more than 0.9."""
    s, delta = HORIZON, 0.01
    costs = ARMS.costs(MeanVariance(rho))
    corrected = BernsteinMVLCB(rho=rho, delta=delta, range=1.0)
    for (mean, variance), cost in zip(paths, costs, strict=True):
        seed = commented_index(mean[:, -1], variance[:, -1], s, rho, delta)
        assert (seed > cost).sum() > most_events(0.9)
        ours = [corrected.score(Arm(s, m, v)) for m, v in zip(mean[:, -1], variance[:, -1], strict=True)]
        assert (np.array(ours) > cost).sum() <= most_events(2.0 * delta)


BANDITS = [
    (Bandit([Deterministic(0.4), Bernoulli(0.5)]), 0.0, 20_000),
    (Bandit([Beta(8.0, 1.0), Bernoulli(0.3), Beta(1.0, 4.0)]), 10.0, 3_000),
    (Bandit([Deterministic(1.0), Bernoulli(0.02)]), 100.0, 500),
]


@pytest.mark.parametrize(("bandit", "rho", "horizon"), BANDITS)
def test_theorem_1_pulls_and_pseudo_regret(bandit, rho, horizon):
    risk, runs = MeanVariance(rho), 2_000
    delta = 0.1 / (6 * horizon * len(bandit))
    played = simulate(bandit, MVLCB(delta=delta), risk=risk, horizon=horizon, runs=runs, seed=7)
    theorem = theorem1_high_probability(bandit, risk, horizon, delta)
    assert theorem.applies
    assert (played.pseudo_regret() > theorem.corrected).sum() <= most_events(0.1, runs)
    for arm in set(range(len(bandit))) - {bandit.best(risk)}:
        pulls = pulls_bound(bandit, risk, horizon, delta, arm)
        assert pulls.applies
        assert not pulls.vacuous
        assert (played.pulls[:, arm] > pulls.corrected).sum() <= most_events(0.1, runs)
        # On this stream every run passes a twelfth of the bound, so an order of magnitude lost somewhere would show.
        assert (played.pulls[:, arm] > pulls.corrected / 12).all()


@pytest.mark.parametrize(("bandit", "rho", "horizon"), BANDITS)
def test_theorem_1_and_the_corollary_in_expectation(bandit, rho, horizon):
    risk, runs = MeanVariance(rho), 2_000
    most = largest_pseudo_regret(bandit, risk)
    seed = simulate(bandit, MVLCB(), risk=risk, horizon=horizon, runs=runs, seed=8)
    sharp = simulate(bandit, MVLCB.sharp(), risk=risk, horizon=horizon, runs=runs, seed=9)
    assert seed.pseudo_regret().mean() <= theorem1_expectation(bandit, risk, horizon).corrected + margin(most, runs)
    assert sharp.pseudo_regret().mean() <= theorem1_sharp(bandit, risk, horizon).corrected + margin(most, runs)
    spread = 2.0 * largest_regret(rho)
    assert seed.regret().mean() <= corollary(bandit, risk, horizon).corrected + margin(spread, runs)


@pytest.mark.parametrize("policy", [FixedArm(1), RoundRobin(), MVLCB(), ExpExp()])
@pytest.mark.parametrize("rho", [0.0, 20.0])
def test_lemma_1_holds_for_any_policy(policy, rho):
    bandit, risk, horizon, delta = Bandit([Bernoulli(0.5), Bernoulli(0.5), Beta(0.5, 0.5)]), MeanVariance(rho), 100, 0.1
    bound = lemma1(bandit, risk, horizon, delta)
    played = simulate(bandit, policy, risk=risk, horizon=horizon, runs=RUNS, seed=3)
    assert (played.regret() - played.pseudo_regret() > bound.corrected).sum() <= most_events(delta)


def test_lemma_1_needs_its_root():
    """Two arms alike, only the second pulled: no pseudo-regret, but 1/√n of noise between the arm and its twins."""
    bandit, risk, horizon, delta = Bandit([Bernoulli(0.5)] * 2), MeanVariance(100.0), 100, 0.1
    played = simulate(bandit, FixedArm(1), risk=risk, horizon=horizon, runs=RUNS, seed=4)
    assert (played.pseudo_regret() == 0.0).all()
    without_root = 4.0 * math.log((4 * horizon * 2 + 2) / delta) / horizon
    assert (played.regret() > without_root).sum() > most_events(delta)
    assert (played.regret() > lemma1(bandit, risk, horizon, delta).corrected / 4).sum() > 0


@pytest.mark.parametrize("rule", ["theorem", "appendix"])
@pytest.mark.parametrize("rho", [0.0, 1.0, 20.0])
@pytest.mark.parametrize("success", [0.45, 0.3, 0.1])
def test_theorem_2_in_expectation(rule, rho, success):
    bandit, risk, horizon, runs = Bandit([Bernoulli(0.5), Bernoulli(success)]), MeanVariance(rho), 1_000, 5_000
    played = simulate(bandit, ExpExp(rule=rule), risk=risk, horizon=horizon, runs=runs, seed=6)
    bound = theorem2(bandit, risk, horizon, rule)
    margin_allowed = margin(largest_pseudo_regret(bandit, risk), runs)
    assert played.pseudo_regret().mean() <= bound.corrected + margin_allowed
    if rho == 0.0:
        assert played.pseudo_regret().mean() <= bound.printed + margin_allowed
