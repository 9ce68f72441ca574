"""How wide every interval is: the constants of its theorem, written here again from the theorem itself.

A width that is a little too large or too small changes no frequency that a test of statistics could see. So each end is
put back into the inequality that it comes from, which must then give exactly the failure that was asked for.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from prudent import (
    CPT,
    CVaR,
    Distortion,
    EVaR,
    ExpectedUtility,
    MeanCVaR,
    MeanVariance,
    Mixed,
    RiskMeasure,
    Shortfall,
    VaR,
)
from prudent.confidence import always, betting, once
from prudent.identification.quantiles import quantile_ranks as ranks_of_qlucb
from prudent.risk.base import risks

LOW, HIGH = -1.0, 3.0
REACH = HIGH - LOW
Ends = tuple[float, float]

SAMPLES = [
    np.sort(LOW + REACH * np.random.default_rng(seed).beta(*shape, size))
    for seed, (size, shape) in enumerate([(2, (2.0, 3.0)), (40, (2.0, 3.0)), (300, (0.5, 0.5)), (2_000, (40.0, 50.0))])
]
FAILURES = [0.3, 0.01]


def solved(excess: Callable[[float], float], near: float, far: float) -> float:
    """Where an excess that rises from `near` to `far` becomes 0; `far` if it does not."""
    return float(brentq(excess, near, far, xtol=1e-13)) if excess(far) > 0.0 else far


def log_share_beyond(width: float, pulls: int, moves: float) -> float:
    """Minus the log of McDiarmid's probability exp(−2w²/Σc²) that n rewards, each of which moves a statistic by c at
    most, move it by w; the mean, with c = b/n, is Hoeffding's case."""
    return 2.0 * width**2 / (pulls * moves**2)


def mean_by(sample: Any, failure: float, low: float = LOW, high: float = HIGH) -> Ends:
    """Hoeffding, and Theorem 4 of Maurer and Pontil: μ − μ̂ ≤ √(2V log(2/δ)/n) + 7b log(2/δ)/(3(n − 1)). Two
    inequalities with two sides: a quarter of the failure for each."""
    n, mean, b, side = len(sample), float(np.mean(sample)), high - low, failure / 4.0
    width = solved(lambda w: log_share_beyond(w, n, b / n) - math.log(1.0 / side), 0.0, 100.0 * b)
    x = math.log(2.0 / side)
    width = min(width, math.sqrt(2.0 * np.var(sample, ddof=1) * x / n) + 7.0 * b * x / (3.0 * (n - 1)))
    return max(low, mean - width), min(high, mean + width)


def variance_by(sample: Any, failure: float) -> Ends:
    """Bounded differences of b²/n, and Theorem 10 of Maurer and Pontil: |√V − σ| ≤ b√(2 log(1/δ)/(n − 1)); a quarter of
    the failure for each side."""
    n, unbiased, side = len(sample), float(np.var(sample, ddof=1)), failure / 4.0
    width = solved(lambda w: log_share_beyond(w, n, REACH**2 / n) - math.log(1.0 / side), 0.0, 100.0 * REACH**2)
    slack = REACH * math.sqrt(2.0 * math.log(1.0 / side) / (n - 1))
    least = max(unbiased - width, max(0.0, math.sqrt(unbiased) - slack) ** 2)
    most = min(unbiased + width, (math.sqrt(unbiased) + slack) ** 2, 0.25 * REACH**2)
    return min(least, 0.25 * REACH**2), most


def band_by(cost: Callable[[Any, Any], float], sample: Any, failure: float) -> Ends:
    """Massart: F̂ is off by ε somewhere with probability 2 exp(−2nε²). The best law of the band has the mass ε of its
    worst rewards at `high`, the worst law that of its best rewards at `low`."""
    n = len(sample)
    off = solved(lambda e: 2.0 * n * e**2 - math.log(2.0 / failure), 0.0, 10.0)
    levels = np.arange(n + 1) / n
    worst = np.diff(np.minimum(np.concatenate(([-off], levels)) + off, 1.0))
    best = np.diff(np.maximum(np.concatenate((levels, [1.0 + off])) - off, 0.0))
    return cost(np.append(sample, HIGH), best), cost(np.append(LOW, sample), worst)


def mean_variance_by(rho: float) -> Callable[[Any, float], Ends]:
    """Half of the failure for V − ρμ̂, which a reward moves by (b² + ρb)/n at most; a quarter each for the rest."""

    def bounds(sample: Any, failure: float) -> Ends:
        n = len(sample)
        (left, right), (least, most) = mean_by(sample, failure / 4.0), variance_by(sample, failure / 4.0)
        centre, moves = float(np.var(sample, ddof=1) - rho * np.mean(sample)), REACH * (REACH + rho) / n
        width = solved(lambda w: log_share_beyond(w, n, moves) - math.log(4.0 / failure), 0.0, 1e4)
        return max(centre - width, least - rho * right), min(centre + width, most - rho * left)

    return bounds


def sharpe_by(sample: Any, failure: float) -> Ends:
    (left, right), (least, most) = mean_by(sample, failure / 2.0), variance_by(sample, failure / 2.0)
    corners = [-mean / math.sqrt(0.01 + spread) for mean in (left, right) for spread in (least, most)]
    return min(corners), max(corners)


def mixed_by(sample: Any, failure: float) -> Ends:
    """The variance, and the band for what Mixed is without it, each with half of the failure."""
    least, most = variance_by(sample, failure / 2.0)
    rest = band_by(Mixed(0.5, 0.0, 1.0, 0.05).sample_cost, sample, failure / 2.0)
    return rest[0] + least, rest[1] + most


def entropic_by(sample: Any, failure: float) -> Ends:
    """The mean of e^(−X), which lies between e^(−high) and e^(−low)."""
    return tuple(np.log(mean_by(np.exp(-sample), failure, math.exp(-HIGH), math.exp(-LOW))))  # type: ignore[return-value]


def minus(ends: Any) -> Ends:
    return -ends[1], -ends[0]


def theorem_of(measure: RiskMeasure) -> Callable[[Any, float], Ends]:
    """The interval that its docstring promises."""
    if isinstance(measure, ExpectedUtility):
        ends = measure.utility(np.array([LOW, HIGH]))
        return lambda sample, failure: minus(mean_by(measure.utility(sample), failure, *ends))
    if isinstance(measure, (Distortion, Shortfall, CPT, EVaR)):
        return lambda sample, failure: band_by(measure.sample_cost, sample, failure)
    if isinstance(measure, MeanVariance):
        if measure.rho == 0.0:
            return variance_by
        return mean_variance_by(measure.rho) if measure.rho < math.inf else lambda *given: minus(mean_by(*given))
    return {"sharpe": sharpe_by, "mixed": mixed_by, "entropic": entropic_by}[measure.name]


MEASURES = [
    *(risks.parse(name) for name in risks.names()),
    *(VaR(0.4), CVaR(0.5), MeanCVaR(0.3, 0.2), MeanVariance(0.2)),
]


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_the_interval_of_a_measure_is_that_of_its_theorem(measure: Any, failure: float) -> None:
    """Of every measure that is registered; one without a theorem here fails, whatever its interval is."""
    theorem = theorem_of(measure)
    for x in SAMPLES:
        found = measure.bounds(len(x), x.mean(), x.var(), x, failure, LOW, HIGH)
        assert found == pytest.approx(theorem(x, failure), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("failure", FAILURES)
def test_browns_interval_is_that_of_his_theorem(failure: float) -> None:
    """P(Ĉ > C + b√(5 log(3/δ)/(αn))) ≤ δ and P(Ĉ < C − (b/α)√(log(1/δ)/2n)) ≤ δ for losses; half of δ each."""
    x, n = SAMPLES[3], len(SAMPLES[3])
    cost, side = CVaR(0.3).sample_cost(x), failure / 2.0
    found = CVaR(0.3).brown_bounds(n, x.mean(), x.var(), x, failure, LOW, HIGH)
    below = REACH / 0.3 * math.sqrt(math.log(1.0 / side) / (2.0 * n))
    above = REACH * math.sqrt(5.0 * math.log(3.0 / side) / (0.3 * n))
    assert found == pytest.approx((max(cost - below, -HIGH), min(cost + above, -LOW)))


def test_an_interval_before_two_rewards_is_what_the_support_says() -> None:
    assert once.variance_bounds(1, 0.0, 0.1, LOW, HIGH) == (0.0, 0.25 * REACH**2)
    assert MeanVariance(0.5).bounds(1, 1.0, 0.0, np.ones(1), 0.1, LOW, HIGH) == (-1.5, 4.5)
    width = REACH * math.sqrt(math.log(4.0 / 0.9) / 2.0)
    assert once.mean_bounds(1, LOW, 0.0, 0.9, LOW, HIGH) == pytest.approx((LOW, LOW + width))


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("measure", [CVaR(0.3), MeanVariance(math.inf), Mixed()], ids=str)
def test_an_interval_made_valid_at_all_times_shares_its_failure_out(measure: Any, failure: float) -> None:
    """1/(n(n + 1)) of it at time n: these shares sum to 1."""
    for x in SAMPLES[:2]:
        n, given = len(x), (x.mean(), x.var(), x)
        found = RiskMeasure.always_bounds(measure, n, *given, failure, LOW, HIGH)
        assert found == measure.bounds(n, *given, failure / (n * (n + 1.0)), LOW, HIGH)
    share = sum(1.0 / (n * (n + 1.0)) for n in range(1, 100_000))
    assert share == pytest.approx(1.0, abs=2e-5)


def capital(sample: Any, candidate: float) -> float:
    """log ∫₀¹ exp(λs + v(λ + log(1 − λ))) dλ for the bet that the mean is above the candidate, from the rewards."""
    xi = (sample - candidate) / REACH
    s, v = xi.sum(), (xi**2).sum()
    bets = np.linspace(0.0, 1.0, 1001)[1:-1]
    peak = float(np.max(bets * s + v * (bets + np.log1p(-bets))))
    places = [float(bets[np.argmax(bets * s + v * (bets + np.log1p(-bets)))])]
    integral, _ = quad(lambda b: math.exp(b * s + v * (b + math.log1p(-b)) - peak), 0.0, 1.0, points=places, limit=500)
    return peak + math.log(integral)


@pytest.mark.parametrize("failure", FAILURES)
def test_the_mean_at_all_times_ends_where_the_capital_is_one_over_its_failure(failure: float) -> None:
    """Two sides, so 2/failure; a limit that is asked about alone has the whole failure."""
    for x in SAMPLES[1:]:
        given = len(x), x.mean(), x.var()
        low, high = (float(end) for end in always.mean_bounds(*given, failure, LOW, HIGH))
        assert LOW < low < high < HIGH
        assert capital(x, low) == pytest.approx(math.log(2.0 / failure), abs=1e-6)
        assert capital(-x, -high) == pytest.approx(math.log(2.0 / failure), abs=1e-6)
        least = solved(lambda limit: capital(x, limit) - math.log(1.0 / failure), x.mean(), LOW)  # noqa: B023
        assert always.mean_above(*given, least - 1e-6, failure, LOW, HIGH)
        assert not always.mean_above(*given, least + 1e-6, failure, LOW, HIGH)
        most = solved(lambda limit: capital(-x, -limit) - math.log(1.0 / failure), x.mean(), HIGH)  # noqa: B023
        assert always.mean_below(*given, most + 1e-6, failure, LOW, HIGH)
        assert not always.mean_below(*given, most - 1e-6, failure, LOW, HIGH)


def kl(x: float, y: float) -> float:
    return sum(p * math.log(p / q) for p, q in ((x, y), (1.0 - x, 1.0 - y)) if p > 0.0)


@pytest.mark.parametrize("failure", FAILURES)
def test_the_variance_at_all_times_ends_where_the_divergence_is_that_of_half_the_failure(failure: float) -> None:
    """n kl(Ȳ, p) = log(2√n/δ) for Y = (X − μ)²/c², μ anywhere in its own interval of the other half."""
    for x in SAMPLES[1:]:
        n, given = len(x), (len(x), x.mean(), x.var(), failure)
        rate = math.log(2.0 * math.sqrt(n) / (failure / 2.0)) / n
        (left, right), (least, most) = np.array(always.joint_bounds(*given, LOW, HIGH)).tolist()
        wanted = [float(end) for end in always.mean_bounds(n, x.mean(), x.var(), failure / 2.0, LOW, HIGH)]
        assert [left, right] == pytest.approx(wanted)
        square = max(right - LOW, HIGH - left) ** 2
        share = x.var() / square
        assert least == pytest.approx(square * solved(lambda p: kl(share, p) - rate, share, 1e-12), abs=1e-8)  # noqa: B023
        share = (x.var() + max(right - x.mean(), x.mean() - left) ** 2) / square
        ceiling = max((mu - LOW) * (HIGH - mu) for mu in (left, right, float(np.clip(1.0, left, right))))
        found = square * solved(lambda p: kl(share, p) - rate, share, 1.0 - 1e-12)  # noqa: B023
        assert most == pytest.approx(min(found, ceiling), abs=1e-8)
        assert always.variance_bounds(*given, LOW, HIGH) == (least, most)
        cost = always.mean_variance_bounds(n, x.mean(), x.var(), 0.7, failure, LOW, HIGH)
        assert cost == pytest.approx((least - 0.7 * right, most - 0.7 * left))


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("hits", "pulls"), [(0, 1), (0, 30), (3, 30), (1_500, 2_000)])
def test_a_share_at_all_times_ends_where_the_divergence_says(hits: int, pulls: int, failure: float) -> None:
    share, rate = hits / pulls, math.log(2.0 * math.sqrt(pulls) / failure) / pulls
    low, high = always.share_bounds(pulls, share, failure)
    wanted = [solved(lambda p: kl(share, p) - rate, share, end) for end in (1e-15, 1.0 - 1e-15)]
    assert (low, high) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("pulls", "quantile"), [(1, 0.5), (60, 0.1), (60, 0.5), (3_000, 0.9)])
def test_the_ranks_around_a_quantile_are_all_that_the_divergence_allows(pulls, quantile, failure) -> None:
    """At all times, where kl of the count is log(2√n/δ)/n at most; for qlucb where its martingale is below 1/δ."""
    rate = math.log(2.0 * math.sqrt(pulls) / failure) / pulls
    allowed = [count for count in range(pulls + 1) if kl(count / pulls, quantile) < rate]
    assert always.quantile_ranks(pulls, quantile, failure) == (allowed[0], allowed[-1] + 1)
    prior = 50.0 * quantile, 50.0 * (1.0 - quantile)

    def log_martingale(count: int) -> float:
        """log of what a Beta prior on the chance gives a sequence with so many hits, over what the chance gives it."""
        steps = [math.log((prior[0] + i) / (50.0 + i)) - math.log(quantile) for i in range(count)]
        rest = [math.log((prior[1] + j) / (50.0 + count + j)) - math.log(1.0 - quantile) for j in range(pulls - count)]
        return sum(steps) + sum(rest)

    tried = range(pulls + 1) if pulls < 100 else range(int(0.8 * pulls), pulls + 1)
    allowed = [count for count in tried if log_martingale(count) < math.log(1.0 / failure)]
    assert ranks_of_qlucb(quantile, pulls, math.log(1.0 / failure)) == (allowed[0], allowed[-1])


def entered(sample: Any) -> tuple[Any, int, float]:
    ledger, mean = betting.no_bets(), 0.0
    for n, reward in enumerate(sample.tolist()):
        betting.include(ledger, n, mean, reward, LOW, HIGH)
        mean += (reward - mean) / (n + 1)
    return ledger, len(sample), mean


def won(outcomes: Any, bets: Any, candidate: float) -> float:
    """log Σ_j w_j Π_t (1 + κ_j Y_t)/(1 + κ_j m), with the weights of the half-Cauchy density on the grid of bets."""
    theta = betting.THETA
    weights = theta / (1.0 + theta**2)
    logs = np.log1p(bets[:, None] * outcomes).sum(1) - outcomes.shape[-1] * np.log1p(bets * candidate)
    return float(np.logaddexp.reduce(np.log(weights / weights.sum()) + logs))


@pytest.mark.parametrize("failure", FAILURES)
def test_bets_end_an_interval_where_they_have_won_one_over_its_failure(failure: float) -> None:
    """Of the mean, and of the variance around the running centres c_t = (½ + X_1 + … + X_{t−1})/t."""
    up, down = np.expm1(betting.THETA), np.expm1(-betting.THETA)
    for x in (np.random.default_rng(3).permutation(sample) for sample in SAMPLES[1:]):
        at, scaled, n = entered(x), (x - LOW) / REACH, len(x)
        low, high = ((end - LOW) / REACH for end in betting.mean_bounds(*at, failure, LOW, HIGH))
        assert won(scaled[None], up, low) == pytest.approx(math.log(2.0 / failure), abs=1e-6)
        assert won(scaled[None], down, high) == pytest.approx(math.log(2.0 / failure), abs=1e-6)
        centres = (0.5 + np.append(0.0, np.cumsum(scaled)[:-1])) / np.arange(1, n + 1)
        (left, right), (least, most) = betting.joint_bounds(*at, failure, LOW, HIGH)
        assert (left, right) == pytest.approx(betting.mean_bounds(*at, failure / 2.0, LOW, HIGH), abs=1e-9)
        half, squares = math.log(4.0 / failure), (scaled - centres)[None] ** 2
        around = solved(lambda m: won(squares, up, m) - half, 1.0, 1e-12) if won(squares, up, 1.0) < half else 1.0  # noqa: B023
        off = max(float(((mu - centres) ** 2).mean()) for mu in ((left - LOW) / REACH, (right - LOW) / REACH))
        assert least / REACH**2 == pytest.approx(max(0.0, around - off), abs=1e-7)
        moved = np.clip(centres, 1.0 - betting.REACH[:, None], betting.REACH[:, None])
        losing, squares = 4.0 * down, (scaled - moved) ** 2
        ceiling = max(m * (1.0 - m) for m in np.clip([0.0, 0.5, 1.0], (left - LOW) / REACH, (right - LOW) / REACH))
        found = solved(lambda m: won(squares, losing, m) - half, 0.0, 0.25)  # noqa: B023
        assert most / REACH**2 == pytest.approx(min(found, ceiling), abs=1e-7)
