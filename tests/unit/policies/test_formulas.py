"""Policies since 2012: each one's score against the formula of its paper, written again with NumPy."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binom, entropy

from prudent import (
    BCVTS,
    KLUCB,
    MCVTS,
    MTS,
    MVDSEE,
    MVIMED,
    MVLCB,
    MVTS,
    MVUCB,
    NPTS,
    UUCB,
    VTS,
    AnytimeMVLCB,
    BernoulliMVIMED,
    BernoulliMVTS,
    BernoulliThompson,
    CVaRUCB,
    EntropicLCB,
    FiniteMVIMED,
    Law,
    MaRaB,
    MeanCVaR,
    MeanCVaRLCB,
    MeanVariance,
    PrudentError,
    QuantileUCB,
    RhoMTS,
    RiskMeasure,
    Thompson,
)
from prudent.policies.binding import bind, serves
from prudent.policies.contract import FOREVER, UNSET, Arm, Arms, Setting, spec
from prudent.policies.contract import policies as registry
from prudent.policies.kl_ucb import kl_upper
from prudent.policies.scoring import counted, score_of
from prudent.risk.base import risks as risk_registry
from prudent.testing import check_policy

INF = math.inf
RISK = MeanVariance(0.7)
SUPPORT = (0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class WorstHalf(RiskMeasure):
    """Minus the mean of the worst half: a measure of the whole law, to be asked for by `npts`."""

    half: float = 0.5

    name = "worst-half"

    def cost(self, law: Law) -> float:
        return -law.lower_tail_mean(self.half)

    def weigh(self, values: Any, weights: Any) -> float:
        left, total = self.half, 0.0
        for i in range(len(values)):
            total += min(left, weights[i]) * values[i]
            left -= min(left, weights[i])
        return -total / self.half


def bound(policy: Any, risk: RiskMeasure = RISK, horizon: int | None = 100, n_arms: int = 2) -> Any:
    return bind(policy, Setting(n_arms, risk, horizon))


def seen(rewards: Any) -> Arm:
    return Arm(len(rewards), float(np.mean(rewards)), float(np.var(rewards)))


def stream() -> np.random.Generator:
    return np.random.default_rng(2012)


def drawn_score(policy: Any, arm: Arm) -> float:
    """The score with one number from each of the policy's laws."""
    return score_of(bound(policy), arm, 0.0, 0, stream(), None)


def worst_fraction(values: Any, weights: Any, alpha: float) -> float:
    """max_q q − (1/α) Σ w (q − x)⁺, reached at one of the values."""
    x, w = np.asarray(values), np.asarray(weights)
    return float(max(q - (w * np.maximum(q - x, 0.0)).sum() / alpha for q in x))


samples = st.lists(st.floats(0, 1), min_size=1, max_size=40).map(lambda x: np.sort(np.array(x)))
arms = st.builds(Arm, st.integers(1, 10_000), st.floats(-5, 5), st.floats(0, 5))
clocks = st.integers(2, 10**6)
levels = st.floats(0.01, 1)
tolerances = st.floats(0, 20)

# Mean-variance


@given(arms, clocks, tolerances, st.floats(0.1, 10))
def test_mv_ucb(arm: Arm, t: int, rho: float, b: float) -> None:
    score = arm.variance - rho * arm.mean - b * math.sqrt(math.log(t) / arm.pulls)
    assert bound(MVUCB(rho, b)).score(arm, t) == pytest.approx(score)
    usual = bound(MVUCB(rho))
    assert usual.b == pytest.approx(math.sqrt(1.5) * (2.0 + rho))
    assert usual.score(arm, t) == pytest.approx(bound(AnytimeMVLCB(rho, a=3.0, c=2.0)).score(arm, t))
    limit = bound(MVUCB(1e12)).score(arm, t) / 1e12
    assert bound(MVUCB(INF)).score(arm, t) == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("rule", ["two-thirds", "log"])
@pytest.mark.parametrize("a", [0.3, 1.0, 2.8, 7.5])
@pytest.mark.parametrize("n_arms", [1, 2, 5])
def test_mv_dsee_explores_when_fewer_than_f_rounds_did(rule: str, a: float, n_arms: int) -> None:
    horizon, costs = 3_000, np.arange(n_arms)[::-1]
    wanted: list[int] = []
    explored = 0
    for t in range(1, horizon + 1):
        f = a * (math.log(t) if rule == "log" else t ** (2 / 3))
        if explored < max(n_arms, f):
            wanted.append(explored % n_arms)
            explored += 1
        else:
            wanted.append(n_arms - 1)
    ready = bound(MVDSEE(0.0, a, rule), n_arms=n_arms)
    pulls, chosen, played, phases = np.zeros(n_arms, int), np.ones(n_arms, bool), [], 0
    while len(played) < horizon:
        variances, alive = costs.astype(float), np.ones(n_arms, bool)  # with ρ = 0 the costs
        arms = Arms(pulls, np.zeros(n_arms), variances, variances, alive, np.empty((n_arms, 0)))
        repeats = min(ready.phase(arms, len(played) + 1, chosen, None), horizon)
        pulls[chosen] += repeats
        played += np.flatnonzero(chosen).tolist() * repeats
        phases += 1
    assert played[:horizon] == wanted
    assert phases <= 2 * explored + 1


def test_mv_dsee_exploits_for_good_when_no_horizon_is_long_enough() -> None:
    for rule in ("log", "two-thirds"):
        chosen, one = np.ones(2, bool), np.ones(2)
        arms = Arms(np.ones(2, int), one, one, 0.0 * one, np.ones(2, bool), np.empty((2, 0)))
        assert bound(MVDSEE(1.0, 1e-12, rule)).phase(arms, 3, chosen, None) == FOREVER


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=30))
def test_the_papers_recursion_of_alpha_and_beta_needs_only_pulls_and_variance(rewards: list[float]) -> None:
    alpha, beta, mean = 0.5, 0.5, 0.0
    for pulls, x in enumerate(rewards):
        beta += pulls / (pulls + 1) * (x - mean) ** 2 / 2
        alpha += 0.5
        mean += (x - mean) / (pulls + 1)
    arm = seen(rewards)
    assert alpha == 0.5 + arm.pulls / 2
    assert beta == pytest.approx(0.5 + arm.pulls * arm.variance / 2)
    assert drawn_score(VTS(0.0), arm) == pytest.approx(beta / stream().standard_gamma(alpha))


@given(arms, tolerances)
def test_mts_vts_and_mvts(arm: Arm, rho: float) -> None:
    rng = stream()
    theta = arm.mean + rng.standard_normal() / math.sqrt(arm.pulls)
    assert drawn_score(MTS(rho), arm) == pytest.approx(arm.variance - rho * theta)
    assert drawn_score(MTS(INF), arm) == pytest.approx(-theta)
    rng = stream()
    variance = (1 + arm.pulls * arm.variance) / 2 / rng.standard_gamma((1 + arm.pulls) / 2)
    theta = arm.mean + rng.standard_normal() / math.sqrt(arm.pulls)
    assert drawn_score(VTS(rho), arm) == pytest.approx(variance - rho * arm.mean)
    assert drawn_score(VTS(INF), arm) == -arm.mean
    assert drawn_score(MVTS(rho), arm) == pytest.approx(variance - rho * theta)
    assert drawn_score(MVTS(INF), arm) == pytest.approx(-theta)


@given(st.integers(0, 50), st.integers(0, 50), tolerances)
def test_bernoulli_policies(ones: int, zeros: int, rho: float) -> None:
    arm = seen([1.0] * ones + [0.0] * (zeros + 1))
    rng = stream()
    one, zero = rng.standard_gamma(ones + 1), rng.standard_gamma(zeros + 2)
    theta = one / (one + zero)
    assert drawn_score(BernoulliThompson(), arm) == pytest.approx(-theta)
    assert drawn_score(BernoulliMVTS(rho), arm) == pytest.approx(theta * (1 - theta) - rho * theta)
    assert drawn_score(BernoulliMVTS(INF), arm) == pytest.approx(-theta)


def price(mean: float, variance: float, cost: float, rho: float) -> float:
    """K of a Gaussian law as the derivation has it, with the nearest variance and mean of cost c."""
    if rho == INF:
        return 0.5 * math.log(1 + (-cost - mean) ** 2 / variance)
    if rho == 0.0:
        return 0.5 * (math.log(cost / variance) + variance / cost - 1) if cost > 0 else INF
    a = cost + rho * mean
    q = variance + a * a / rho**2
    nearest = 2 * q / (1 + math.sqrt(1 + 4 * q / rho**2))
    shift = mean - (nearest - cost) / rho
    return 0.5 * (math.log(nearest / variance) + (variance + shift**2) / nearest - 1)


@given(st.integers(3, 10_000), st.floats(-3, 3), st.floats(0.1, 3), st.floats(0.1, 3), st.floats(0.2, 5))
def test_mv_imed(pulls: int, mean: float, variance: float, gap: float, rho: float) -> None:
    arm = Arm(pulls, mean, variance)
    for tolerance, own in ((rho, variance - rho * mean), (0.0, variance), (INF, -mean)):
        score = bound(MVIMED(tolerance)).score(arm, own - gap)
        counted = pulls if tolerance == 0.0 else pulls - 2
        wanted = counted * price(mean, variance, own - gap, tolerance) + math.log(pulls)
        assert score == pytest.approx(wanted, rel=1e-6)
        assert bound(MVIMED(tolerance)).score(arm, own) == math.log(pulls)
        assert bound(MVIMED(tolerance)).score(Arm(2, mean, variance), own - gap) == -INF


@given(st.integers(0, 20), st.integers(0, 20), st.floats(0, 3), st.floats(0.01, 0.2))
def test_bernoulli_and_finite_mv_imed(ones: int, zeros: int, rho: float, gap: float) -> None:
    """Against all probabilities whose cost is small enough, on a grid; in euros it is the same."""
    arm = seen([1.0] * ones + [0.0] * (zeros + 1))
    cost = arm.variance - rho * arm.mean - gap
    q = np.linspace(0, 1, 100_001)[1:-1]
    around = np.flatnonzero(np.diff(q * (1 - q) - rho * q <= cost))
    ends = [x for i in around for x in q[[i, i + 1]]]
    least = min([entropy([1 - arm.mean, arm.mean], [1 - x, x]) for x in ends], default=INF)
    score = bound(BernoulliMVIMED(rho)).score(arm, cost)
    if least < 3.0:
        assert score == pytest.approx(arm.pulls * least + math.log(arm.pulls), rel=1e-3, abs=1e-2)
    euros = bound(BernoulliMVIMED(50 * rho, 10.0, 60.0))
    moved = Arm(arm.pulls, 10 + 50 * arm.mean, 2500 * arm.variance)
    assert euros.score(moved, 2500 * cost - 50 * rho * 10) == pytest.approx(score, rel=1e-6, abs=1e-9)
    counts = np.array([float(zeros + 1), float(ones)])
    assert bound(FiniteMVIMED(rho, (0.0, 1.0))).score(arm, cost, counts) == pytest.approx(score, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0, 5.0])
def test_finite_mv_imed_finds_the_nearest_law(rho: float) -> None:
    rng, x = stream(), np.array(SUPPORT)
    for _ in range(3):
        counts = rng.integers(1, 9, len(x)).astype(float)
        p = counts / counts.sum()
        own, lowest = weighed(p, x, rho), -rho
        cost = own - 0.3 * (own - lowest)
        found = [
            minimize(
                lambda g, p=p: (p * np.log(p / np.maximum(g, 1e-12))).sum(),
                rng.dirichlet(np.ones(len(x))),
                bounds=[(1e-9, 1)] * len(x),
                constraints=[
                    {"type": "eq", "fun": lambda g: g.sum() - 1},
                    {"type": "ineq", "fun": lambda g, cost=cost: cost - weighed(g, x, rho)},
                ],
            )
            for _ in range(6)
        ]
        least = min(each.fun for each in found if each.success)
        score = bound(FiniteMVIMED(rho, SUPPORT)).score(Arm(int(counts.sum()), 0.0, 0.0), cost, counts)
        assert score == pytest.approx(counts.sum() * least + math.log(counts.sum()), rel=1e-4)


def weighed(p: Any, x: Any, rho: float) -> float:
    return float(p @ x**2 - (p @ x) ** 2 - rho * (p @ x))


# The mean


@given(arms, st.floats(0.1, 10))
def test_thompson(arm: Arm, sd: float) -> None:
    theta = stream().normal(arm.mean, sd / math.sqrt(arm.pulls))
    assert score_of(Thompson(sd), arm, 0.0, 1, stream(), None) == pytest.approx(-theta)


@given(st.floats(0, 0.999), st.floats(1e-6, 20))
def test_kl_upper_solves_its_equation(p: float, level: float) -> None:
    q = kl_upper(p, level)
    assert p <= q <= 1
    if q < 1 - 1e-9:
        assert entropy([p, 1 - p], [q, 1 - q]) == pytest.approx(level, rel=1e-6, abs=1e-12)
    assert kl_upper(p, 0.0) == p
    assert kl_upper(0.0, level) == pytest.approx(1 - math.exp(-level))
    assert kl_upper(1.0, level) == 1


@given(st.floats(0, 1), st.integers(1, 1_000), clocks, st.floats(0, 3))
def test_kl_ucb(mean: float, pulls: int, t: int, c: float) -> None:
    level = max(0.0, math.log(t) + c * math.log(math.log(t)))
    assert bound(KLUCB(c)).score(Arm(pulls, mean, 0.0), t) == pytest.approx(-kl_upper(mean, level / pulls))


# CVaR


@given(samples, levels, st.floats(1e-9, 0.9), st.floats(1, 3))
def test_cvar_ucb(rewards: Any, alpha: float, delta: float, high: float) -> None:
    s = len(rewards)
    width = math.sqrt(math.log(2 / delta) / (2 * s))
    steps = np.diff(np.append(rewards, high)) * np.clip(np.arange(1, s + 1) / s - width, 0, alpha)
    score = bound(CVaRUCB(alpha, high, delta)).score(seen(rewards), rewards)
    assert score == pytest.approx(-(high - steps.sum() / alpha), abs=1e-9)
    assert bound(CVaRUCB(alpha), horizon=100).delta == 1e-4


@given(samples, levels, clocks, st.floats(0.1, 10))
def test_u_ucb(rewards: Any, alpha: float, t: int, b: float) -> None:
    s = len(rewards)
    tail_mean = worst_fraction(rewards, np.full(s, 1 / s), alpha)
    score = UUCB(alpha, b).score(seen(rewards), t, rewards)
    assert score == pytest.approx(-tail_mean - b / alpha * math.sqrt(math.log(t) / s), abs=1e-9)


@given(samples, levels, st.floats(0, 1), st.floats(1e-9, 0.9), st.floats(0.1, 10))
def test_mean_cvar_lcb(rewards: Any, alpha: float, weight: float, delta: float, b: float) -> None:
    s = len(rewards)
    tail_mean = worst_fraction(rewards, np.full(s, 1 / s), alpha)
    width = (weight / alpha + 1 - weight) * b * math.sqrt(math.log(1 / delta) / (2 * s))
    score = bound(MeanCVaRLCB(alpha, weight, delta, b)).score(seen(rewards), rewards)
    assert score == pytest.approx(-weight * tail_mean - (1 - weight) * rewards.mean() - width, abs=1e-9)


def test_mean_cvar_lcb_by_hand() -> None:
    """ρ = 3 is the weight ¼; of 0, 0.2, 0.4, 1 the worst half has the mean 0.1; δ = 1/n² = 1e-4."""
    rewards = np.array([0.0, 0.2, 0.4, 1.0])
    ready = bound(MeanCVaRLCB(), MeanCVaR(alpha=0.5, weight=0.25), horizon=100)
    composition = -0.1 - 3.0 * 0.4 - (1 / 0.5 + 3.0) * math.sqrt(math.log(1e4) / 8.0)
    assert 4.0 * ready.score(seen(rewards), rewards) == pytest.approx(composition)
    # The CVaR alone is U-UCB with log n in place of log t, the mean alone is MV-LCB's.
    tail = bound(MeanCVaRLCB(0.5, 1.0, range=2.0))
    assert tail.score(seen(rewards), rewards) == pytest.approx(UUCB(0.5, 2.0).score(seen(rewards), 100, rewards))
    mean = bound(MeanCVaRLCB(0.5, 0.0, range=2.0))
    assert mean.score(seen(rewards), rewards) == pytest.approx(bound(MVLCB(INF, range=2.0)).score(seen(rewards)))


@given(samples, levels, clocks, st.floats(0, 10))
def test_marab_subtracts_its_bonus(rewards: Any, alpha: float, t: int, c: float) -> None:
    worst = math.ceil(alpha * len(rewards))
    index = rewards[:worst].mean() - c * math.sqrt(math.log(math.ceil(t * alpha)) / worst)
    assert bound(MaRaB(alpha, c)).score(seen(rewards), t, rewards) == pytest.approx(-index)


@given(samples, levels, st.floats(1, 2))
def test_b_cvts_is_the_cvar_of_randomly_weighted_rewards(rewards: Any, alpha: float, high: float) -> None:
    s, rng = len(rewards), stream()
    beyond = np.exp(-np.cumsum([rng.standard_exponential() / (s - k) for k in range(s)]))
    weights = -np.diff(np.concatenate([[1.0], beyond, [0.0]]))
    index = worst_fraction(np.append(rewards, high), weights, alpha)
    assert BCVTS(alpha, high).score(seen(rewards), stream(), rewards) == pytest.approx(-index, abs=1e-9)


@given(st.lists(st.sampled_from(SUPPORT), min_size=1).map(sorted).map(np.array), levels, tolerances)
def test_m_cvts_and_rho_mts_draw_from_the_posterior(rewards: Any, alpha: float, rho: float) -> None:
    counts = np.array([float((rewards == x).sum()) for x in SUPPORT])
    weights = stream().standard_gamma(1 + counts)
    weights /= weights.sum()
    arm = seen(rewards)
    index = worst_fraction(SUPPORT, weights, alpha)
    assert bound(MCVTS(alpha, SUPPORT)).score(arm, stream(), counts) == pytest.approx(-index)
    mean = (weights * SUPPORT).sum()
    cost = (weights * (np.array(SUPPORT) - mean) ** 2).sum() - rho * mean
    assert bound(RhoMTS(SUPPORT), MeanVariance(rho)).score(arm, stream(), counts) == pytest.approx(cost)


def test_rewards_off_the_values_count_as_the_next_value() -> None:
    near, exact = counted(SUPPORT, [0.1, 0.3, 0.8, 2.0, -1.0]), counted(SUPPORT, [0.25, 0.5, 1.0, 1.0, 0.0])
    assert near.tolist() == exact.tolist() == [1.0, 1.0, 1.0, 2.0]
    assert counted(SUPPORT, []).tolist() == [0.0, 0.0, 0.0, 0.0]


# Any risk


@given(samples, tolerances, st.floats(-1, 2))
def test_npts_weighs_the_rewards_and_the_best_value(rewards: Any, rho: float, best: float) -> None:
    values = np.sort(np.append(rewards, best))
    weights = stream().standard_exponential(len(values))
    weights /= weights.sum()
    arm = seen(rewards)
    for risk in (MeanVariance(rho), WorstHalf()):
        ready = bound(NPTS(best=best), risk)
        assert ready.score(arm, stream(), rewards) == pytest.approx(risk.weigh(values, weights), abs=1e-9)
    given_before = bound(NPTS(WorstHalf(0.3), best), RISK).score(arm, stream(), rewards)
    assert given_before == pytest.approx(WorstHalf(0.3).weigh(values, weights), abs=1e-9)


@pytest.mark.slow
def test_any_risk_measure_runs_compiled_inside_npts_and_rho_mts() -> None:
    for policy in (NPTS(), RhoMTS((0.0, 0.5, 1.0))):
        check_policy(policy, risk=WorstHalf(), arms=(2,), rewards=(0.0, 1.0))


# Entropic risk and quantiles


@given(samples, st.floats(0.1, 10), st.floats(1e-9, 0.9))
def test_entropic_lcb(rewards: Any, lam: float, delta: float) -> None:
    low, high = -0.5, 1.5
    score = bound(EntropicLCB(lam, low, high, delta)).score(seen(rewards), rewards)
    floor = math.exp(-lam * (high - low))
    y = (np.exp(-lam * (rewards - low)).mean() - floor) / (1 - floor)
    q = (math.exp(lam * (score + low)) - floor) / (1 - floor)
    assert q <= y + 1e-12
    assert bound(EntropicLCB(1e4, low, high, delta)).score(seen(rewards), rewards) >= -high
    if q > 1e-6:
        level = math.log(1 / delta) / len(rewards)
        assert entropy([y, 1 - y], [q, 1 - q]) == pytest.approx(level, rel=1e-4, abs=1e-9)


@given(samples, levels, st.floats(1e-9, 0.9))
def test_quantile_ucb(rewards: Any, alpha: float, delta: float) -> None:
    s = len(rewards)
    level = alpha + math.sqrt(math.log(2 / delta) / (2 * s))
    quantile = np.quantile(rewards, level, method="inverted_cdf") if level <= 1 else 3.0
    score = bound(QuantileUCB(alpha, 3.0, delta)).score(seen(rewards), rewards)
    if not math.isclose(level * s, round(level * s), abs_tol=1e-9):
        assert score == -quantile


@pytest.mark.parametrize("p", [0.05, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("pulls", [1, 5, 40])
def test_the_bounds_hold_with_their_probability(p: float, pulls: int) -> None:
    """On Bernoulli arms the probability that a bound fails is a sum of binomial terms: no false alarms."""
    delta, lam, alpha = 0.2, 1.5, 0.4
    truths = {
        EntropicLCB(lam, delta=delta): math.log(1 - p + p * math.exp(-lam)) / lam,
        CVaRUCB(alpha, delta=delta): -max(0.0, 1 - (1 - p) / alpha),
        QuantileUCB(alpha, delta=delta): -float(1 - p < alpha),
    }
    for policy, truth in truths.items():
        failure = 0.0
        for ones in range(pulls + 1):
            rewards = np.repeat([0.0, 1.0], [pulls - ones, ones])
            if bound(policy).score(seen(rewards), rewards) > truth + 1e-12:
                failure += binom.pmf(ones, pulls, p)
        assert failure <= delta


# Text and errors


def test_a_risk_inside_a_policy_survives_its_text() -> None:
    policy = NPTS(MeanVariance(2.0))
    assert spec(policy) == "npts(risk=mean-variance(rho=2.0))"
    assert registry.parse(spec(policy)) == policy
    assert bound(registry.parse("npts(risk=mean-variance)")) == bound(NPTS(), MeanVariance())
    with pytest.raises(PrudentError, match="unknown risk 'mean-varianc'; did you mean mean-variance"):
        registry.parse("npts(risk=mean-varianc(2))")


def test_a_risk_inside_a_policy_must_be_one() -> None:
    with pytest.raises(PrudentError, match=r"npts: risk must be a risk measure such as .*, got 3"):
        NPTS(risk=3)  # type: ignore[arg-type]
    with pytest.raises(PrudentError, match=r"npts: risk must be a risk measure such as .*, got 3"):
        bound(NPTS()._replace(risk=3))  # type: ignore[arg-type]


def test_values_survive_their_text() -> None:
    policy = RhoMTS([0, 0.5, 1])  # type: ignore[arg-type]
    assert policy == RhoMTS((0, 0.5, 1))
    assert spec(policy) == "rho-mts(values=(0, 0.5, 1))"
    assert registry.parse(spec(policy)) == policy
    assert registry.parse("m-cvts(0.1, [0, 1, 2])") == MCVTS(0.1, (0, 1, 2))
    assert hash(policy) == hash(registry.parse("rho-mts(values=[0, 0.5, 1])"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MVUCB(b=0), r"mv-ucb: b must lie in .* leave it out for √\(3/2\) \(2 \+ ρ\)"),
        (lambda: MVUCB(rho=-1), "mv-ucb: rho"),
        (lambda: MVDSEE(a=0), "mv-dsee: a"),
        (lambda: MVDSEE(rho=-1), "mv-dsee: rho"),
        (lambda: MVDSEE(rule="sqrt"), "mv-dsee: rule must be one of two-thirds, log, got 'sqrt'"),
        (lambda: MTS(-1), "mts: rho .* tolerance for risk"),
        (lambda: VTS(-1), "vts: rho"),
        (lambda: MVTS(math.nan), "mvts: rho"),
        (lambda: BernoulliMVTS(-1), "bernoulli-mvts: rho"),
        (lambda: Thompson(0), "thompson: sd"),
        (lambda: KLUCB(-1), "kl-ucb: c .* 3 in the proof"),
        (lambda: NPTS(best=INF), "npts: best"),
        (lambda: RhoMTS(()), "rho-mts: values must be a list of one or more numbers"),
        (lambda: RhoMTS(2), "rho-mts: values must be a list"),  # type: ignore[arg-type]
        (lambda: RhoMTS((0.0, "x")), "rho-mts: values must be a number"),  # type: ignore[arg-type]
        (lambda: RhoMTS((1.0, 0.0)), r"rho-mts: values must be finite and strictly ascending, got \[1.0, 0.0\]"),
        (lambda: MCVTS(0.1, (0.0, INF)), "m-cvts: values must be finite"),
        (lambda: MCVTS(0.0), r"m-cvts: alpha must lie in \(0, 1\], got 0.0"),
        (lambda: BCVTS(-0.5), "b-cvts: alpha .* 0.05 for the worst 5 %"),
        (lambda: BCVTS(0.1, INF), "b-cvts: high .* largest reward possible"),
        (lambda: CVaRUCB(5), "cvar-ucb: alpha"),
        (lambda: CVaRUCB(0.1, math.nan), "cvar-ucb: high"),
        (lambda: CVaRUCB(0.1, delta=5), "cvar-ucb: delta .* pass 0.05"),
        (lambda: UUCB(0.1, 0.0), "u-ucb: range"),
        (lambda: UUCB(-0.1), "u-ucb: alpha"),
        (lambda: MaRaB(0.1, -1.0), "marab: c"),
        (lambda: MaRaB(2.0), "marab: alpha"),
        (lambda: MeanCVaRLCB(0.1, 2.0), r"mean-cvar-lcb: weight must lie in \[0, 1\], got 2.0; .* pass 1/\(1 \+ ρ\)"),
        (lambda: MeanCVaRLCB(0.0, 0.5), "mean-cvar-lcb: alpha"),
        (lambda: MeanCVaRLCB(0.1, 0.5, range=0.0), "mean-cvar-lcb: range"),
        (lambda: EntropicLCB(0.0), "entropic-lcb: lam .* aversion to risk"),
        (lambda: EntropicLCB(1.0, 1.0, 1.0), "entropic-lcb: low must be below high, got 1 and 1"),
        (lambda: EntropicLCB(1.0, delta=1.0), "entropic-lcb: delta"),
        (lambda: QuantileUCB(0.0), "quantile-ucb: alpha"),
        (lambda: QuantileUCB(0.1, INF), "quantile-ucb: high"),
        (lambda: QuantileUCB(0.1, delta=0.0), "quantile-ucb: delta"),
    ],
)
def test_bad_parameters_are_refused(make: Any, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        make()


@pytest.mark.parametrize("name", ["mv-ucb", "mv-dsee", "mts", "vts", "mvts", "bernoulli-mvts"])
def test_a_policy_names_the_risk_it_cannot_serve(name: str) -> None:
    message = f"{name}: serves mean-variance, and rho cannot be taken from worst-half"
    with pytest.raises(PrudentError, match=message):
        bound(registry.parse(name), WorstHalf())


@pytest.mark.parametrize(
    "policy", [BCVTS(), MCVTS(), CVaRUCB(), UUCB(), MaRaB(), MeanCVaRLCB(), EntropicLCB(), QuantileUCB()]
)
def test_a_policy_of_another_risk_asks_for_its_level(policy: Any) -> None:
    field = policy._fields[0]
    assert getattr(policy, field) is UNSET
    with pytest.raises(PrudentError, match=f"serves {serves(policy)}, and {field} cannot be taken from mean-variance"):
        bound(policy, RISK)


@pytest.mark.slow
@pytest.mark.parametrize("risk", ["entropic", "mixed"])
def test_npts_keeps_the_contract_for_other_risks(risk: str) -> None:
    check_policy(NPTS(), risk=risk_registry.parse(risk), rewards=(0.0, 1.0))


@pytest.mark.parametrize("policy", [CVaRUCB(0.1), MeanCVaRLCB(0.1, 0.5), EntropicLCB(1.0), QuantileUCB(0.1)])
def test_a_failure_rate_or_a_horizon_is_needed(policy: Any) -> None:
    with pytest.raises(PrudentError, match="needs the horizon"):
        bound(policy, horizon=None)
    assert bound(policy, horizon=1, n_arms=1).delta == 0.5
