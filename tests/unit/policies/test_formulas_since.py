"""Policies of the rest of the literature: each one's score against the formula of its paper, written again."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, pareto

from prudent import (
    CPT,
    NPTSSG,
    RUCB,
    SRTS,
    WUCB,
    CVaR,
    CVaRTS,
    CVaRUCB,
    Law,
    MeanVariance,
    NormalUCB,
    ProportionalHazard,
    PrudentError,
    RiskMeasure,
    RobustUCB,
    Sharpe,
    UCBTuned,
)
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting
from prudent.policies.units import NOTHING

INF = math.inf
MEAN = MeanVariance(INF)


@dataclass(frozen=True)
class Median(RiskMeasure):
    """A measure without an interval."""

    name = "median"

    def cost(self, law: Law) -> float:
        return -law.quantile(0.5)

    def weigh(self, values: Any, weights: Any) -> float:
        return -float(values[np.searchsorted(np.cumsum(weights), 0.5)])


def bound(policy: Any, risk: RiskMeasure = MEAN, **facts: Any) -> Any:
    return bind(policy, Setting(2, risk, 100, **facts))


def seen(rewards: Any) -> Arm:
    return Arm(len(rewards), float(np.mean(rewards)), float(np.var(rewards)))


def stream() -> np.random.Generator:
    return np.random.default_rng(2012)


samples = st.lists(st.floats(-1, 3), min_size=1, max_size=40).map(lambda x: np.sort(np.array(x)))
arms = st.builds(Arm, st.integers(1, 10_000), st.floats(-5, 5), st.floats(0, 5))
clocks = st.integers(2, 10**6)
sizes = st.floats(0.1, 10)

# The mean


@given(arms, clocks, sizes)
def test_ucb_tuned(arm: Arm, t: int, b: float) -> None:
    """As the paper has it, for rewards divided by their range."""
    mean, variance = arm.mean / b, arm.variance / b**2
    largest = min(0.25, variance + math.sqrt(2 * math.log(t) / arm.pulls))
    index = mean + math.sqrt(math.log(t) / arm.pulls * largest)
    assert bound(UCBTuned(b)).score(arm, t) == pytest.approx(-b * index)


@given(arms, clocks)
def test_normal_ucb(arm: Arm, t: int) -> None:
    score = bound(NormalUCB()).score(arm, t)
    if arm.pulls < 3:
        assert score == -INF
    else:
        index = arm.mean + math.sqrt(arm.variance) * math.sqrt(float(t) ** (2 / (arm.pulls - 2)) - 1)
        assert score == pytest.approx(-index, rel=1e-6, abs=1e-6)


def test_normal_ucb_is_where_the_divergence_from_the_arm_is_log_t() -> None:
    """(s − 2)/2 · log(1 + (x − μ̂)²/V̂) = log t: K_inf for the mean, with s − 2 in place of s."""
    arm = Arm(12, 0.3, 0.7)
    above = -bound(NormalUCB()).score(arm, 50) - arm.mean
    assert 5.0 * math.log(1.0 + above**2 / arm.variance) == pytest.approx(math.log(50))


@given(arms, clocks, st.floats(0, 3), sizes)
def test_r_ucb(arm: Arm, t: int, power: float, sd: float) -> None:
    f = math.log(t) ** power
    index = arm.mean + sd * math.sqrt(f * math.log(t) / arm.pulls)
    assert bound(RUCB(power, sd)).score(arm, t) == pytest.approx(-index)


@given(samples, clocks, st.floats(1.05, 2), sizes)
def test_robust_ucb(rewards: Any, t: int, order: float, size: float) -> None:
    s, u, log = len(rewards), size**order, math.log(float(t) ** 2)
    threshold = (u * s / log) ** (1 / order)
    if np.isclose(np.abs(rewards), threshold, rtol=1e-9).any():
        return
    mean = np.where(np.abs(rewards) <= threshold, rewards, 0.0).sum() / s
    index = mean + 4 * u ** (1 / order) * (log / s) ** ((order - 1) / order)
    score = bound(RobustUCB(order, size)).score(seen(rewards), t, rewards)
    assert score == pytest.approx(-index, abs=1e-9)


def test_robust_ucb_with_one_pull_and_no_time_counts_every_reward() -> None:
    assert bound(RobustUCB(2.0, 0.1)).score(seen([5.0]), 1, np.array([5.0])) == -5.0


def test_the_size_of_rewards_is_known_from_their_ends_or_asked_for() -> None:
    assert bound(RobustUCB()).size == 1.0
    with pytest.raises(PrudentError, match=r"robust-ucb: size is not known here; give the p-th root .* size=…"):
        bound(RobustUCB(), units=NOTHING)
    assert bound(RobustUCB(), units=NOTHING._replace(low=-3.0, high=2.0)).size == 3.0


@pytest.mark.parametrize("pulls", [20, 200])
def test_the_truncated_mean_errs_within_its_width(pulls: int) -> None:
    """Infinite variance: Pareto tails x^(−1.8), of order 1.5. At t = 10 the bound may fail once in a hundred times, and
    does not in 2,000; the plain mean is outside this width more often."""
    law, order = pareto(1.8), 1.5
    size, rng = float(law.expect(lambda x: x**order)) ** (1 / order), np.random.default_rng(1)
    ready = bound(RobustUCB(order, size))
    plain = width = 0.0
    for _ in range(2_000):
        rewards = np.sort(law.rvs(pulls, random_state=rng))
        index = -ready.score(seen(rewards), 10, rewards)
        width = 4 * size * (2 * math.log(10) / pulls) ** (1 / 3)
        assert index > law.mean() > index - 2 * width
        plain = max(plain, abs(rewards.mean() - law.mean()))
    assert plain > 0.5 * width


# Gaussian posteriors


@given(arms, st.floats(0.01, 1), sizes)
def test_cvar_ts(arm: Arm, alpha: float, sd: float) -> None:
    rng = stream()
    variance = (sd**2 + arm.pulls * arm.variance) / 2 / rng.standard_gamma((1 + arm.pulls) / 2)
    theta = arm.mean + sd * rng.standard_normal() / math.sqrt(arm.pulls)
    tail = norm.expect(lambda x: x, ub=norm.ppf(alpha)) / alpha if alpha < 1 else 0.0
    score = bound(CVaRTS(alpha, sd)).score(arm, stream())
    assert score == pytest.approx(-theta - math.sqrt(variance) * tail, rel=1e-6, abs=1e-6)


@given(arms, sizes, sizes)
def test_srts(arm: Arm, sd: float, epsilon: float) -> None:
    rng = stream()
    precision = rng.standard_gamma((1 + arm.pulls) / 2) / ((sd**2 + arm.pulls * arm.variance) / 2)
    theta = arm.mean + rng.standard_normal() / math.sqrt(arm.pulls * precision)
    score = bound(SRTS(sd=sd), Sharpe(epsilon)).score(arm, stream())
    assert score == pytest.approx(-theta / math.sqrt(epsilon + 1 / precision))
    score = bound(SRTS(MeanVariance(2.0), sd), MEAN).score(arm, stream())
    assert score == pytest.approx(1 / precision - 2.0 * theta)


# Any risk


@given(samples, st.floats(0, 20))
def test_npts_sg_weighs_the_rewards_alone(rewards: Any, rho: float) -> None:
    weights = stream().standard_exponential(len(rewards))
    weights /= weights.sum()
    for risk in (MeanVariance(rho), CVaR(0.3)):
        score = bound(NPTSSG(first=1), risk).score(seen(rewards), stream(), rewards)
        assert score == pytest.approx(risk.weigh(rewards, weights), abs=1e-9)
    assert bound(NPTSSG(first=len(rewards) + 1)).score(seen(rewards), stream(), rewards) == -INF


def test_npts_sg_never_returns_to_an_arm_whose_rewards_are_all_worse() -> None:
    """Why it needs first pulls: no weighted mean of rewards is above the largest."""
    ready, rng = bound(NPTSSG(first=2)), stream()
    unlucky, other = np.array([-0.4, -0.1]), np.array([0.0, 0.1])
    for _ in range(1_000):
        assert ready.score(seen(unlucky), rng, unlucky) > ready.score(seen(other), rng, other)


@given(samples, clocks, st.floats(0.2, 1))
def test_w_ucb_is_the_distorted_mean_at_the_edge_of_the_band(rewards: Any, t: int, r: float) -> None:
    s, low, high = len(rewards), -1.0, 3.0
    width = math.sqrt(3 * math.log(t) / (2 * s))
    edge = np.maximum(np.arange(s + 1) / s - width, 0.0)  # of the band, just below each reward and `high`
    mass = np.diff(np.append(edge**r, 1.0))
    score = bound(WUCB(low=low, high=high), ProportionalHazard(r)).score(seen(rewards), t, rewards)
    assert score == pytest.approx(-(mass * np.append(rewards, high)).sum(), abs=1e-9)
    # The paper's index, with |p^r − q^r| ≤ |p − q|^r.
    published = ProportionalHazard(r).sample_cost(rewards) - (high - low) * width**r
    assert score >= published - 1e-9


@given(samples, clocks)
def test_w_ucb_takes_the_best_law_of_the_band_for_prospect_theory(rewards: Any, t: int) -> None:
    """The worst rewards lose the band's width of probability, and the largest possible reward gets it."""
    s, low, high, risk = len(rewards), -1.0, 3.0, CPT(reference=0.5)
    edge = np.maximum(np.arange(s + 1) / s - math.sqrt(3 * math.log(t) / (2 * s)), 0.0)
    cost = risk.sample_cost(np.append(rewards, high), np.diff(np.append(edge, 1.0)))
    assert bound(WUCB(low=low, high=high), risk).score(seen(rewards), t, rewards) == pytest.approx(cost, abs=1e-9)


def test_w_ucb_of_the_cvar_is_cvar_ucb_with_its_own_failure() -> None:
    rewards = np.sort(stream().random(30))
    other = bound(CVaRUCB(0.3, 1.0, delta=2.0 / 7**3)).score(seen(rewards), rewards)
    assert bound(WUCB(low=0.0, high=1.0), CVaR(0.3)).score(seen(rewards), 7, rewards) == pytest.approx(other)


# Errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UCBTuned(0.0), "ucb-tuned: range"),
        (lambda: RobustUCB(1.0), r"robust-ucb: order must lie in \(1, 2\], got 1.0; 2 if the variance is finite"),
        (lambda: RobustUCB(2.5), "robust-ucb: order"),
        (lambda: RobustUCB(size=0.0), "robust-ucb: size"),
        (lambda: RUCB(-1.0), "r-ucb: power .* 2 as published"),
        (lambda: RUCB(sd=0.0), "r-ucb: sd"),
        (lambda: CVaRTS(0.0), "cvar-ts: alpha"),
        (lambda: bound(SRTS(), CVaR(0.1)), "srts: risk must be one that mean and variance determine, as sharpe"),
        (lambda: NPTSSG(first=0), "npts-sg: first must be .* fewer may leave the best arm for good"),
        (lambda: bound(WUCB(), Median()), "w-ucb: no confidence interval is known for this risk; take npts"),
        (lambda: WUCB(low=1.0, high=0.0), "w-ucb: low must be below high"),
    ],
)
def test_errors_say_what_is_wrong(make: Any, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        make()
