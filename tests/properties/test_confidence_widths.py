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
from prudent.confidence import anytime, betting, fixed_n
from prudent.policies.identification.fixed_confidence import quantile_ranks as ranks_of_qlucb
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
    assert fixed_n.variance_bounds(1, 0.0, 0.1, LOW, HIGH) == (0.0, 0.25 * REACH**2)
    assert MeanVariance(0.5).bounds(1, 1.0, 0.0, np.ones(1), 0.1, LOW, HIGH) == (-1.5, 4.5)
    width = REACH * math.sqrt(math.log(4.0 / 0.9) / 2.0)
    assert fixed_n.mean_bounds(1, LOW, 0.0, 0.9, LOW, HIGH) == pytest.approx((LOW, LOW + width))


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
        low, high = (float(end) for end in anytime.mean_bounds(*given, failure, LOW, HIGH))
        assert LOW < low < high < HIGH
        assert capital(x, low) == pytest.approx(math.log(2.0 / failure), abs=1e-6)
        assert capital(-x, -high) == pytest.approx(math.log(2.0 / failure), abs=1e-6)
        least = solved(lambda limit: capital(x, limit) - math.log(1.0 / failure), x.mean(), LOW)  # noqa: B023
        assert anytime.mean_above(*given, least - 1e-6, failure, LOW, HIGH)
        assert not anytime.mean_above(*given, least + 1e-6, failure, LOW, HIGH)
        most = solved(lambda limit: capital(-x, -limit) - math.log(1.0 / failure), x.mean(), HIGH)  # noqa: B023
        assert anytime.mean_below(*given, most + 1e-6, failure, LOW, HIGH)
        assert not anytime.mean_below(*given, most - 1e-6, failure, LOW, HIGH)


def kl(x: float, y: float) -> float:
    return sum(p * math.log(p / q) for p, q in ((x, y), (1.0 - x, 1.0 - y)) if p > 0.0)


def squares_at(x: Any, rho: float, mean_failure: float, rate: float) -> tuple[float, float]:
    """Where n kl(Ȳ, p) reaches n·rate for Y = ((X − m)² − ρX − f)/(h − f), with the floor f and the top h of all m in
    the interval of the mean, and its least and largest average in there."""
    known = len(x), x.mean(), x.var()
    left, right = (float(end) for end in anytime.mean_bounds(*known, mean_failure, LOW, HIGH))
    ms, xs = np.linspace(left, right, 801)[:, None], np.linspace(LOW, HIGH, 801)
    heights = (xs - ms) ** 2 - rho * xs
    floor, reach = heights.min(), np.ptp(heights)
    average = (x.var() + np.array([0.0, max(right - x.mean(), x.mean() - left) ** 2]) - rho * x.mean() - floor) / reach
    least = solved(lambda p: kl(average[0], p) - rate, average[0], 1e-12)
    most = solved(lambda p: kl(average[1], p) - rate, average[1], 1.0 - 1e-12)
    inside = ms[:, 0]
    ceiling = ((inside - LOW) * (HIGH - inside) - rho * inside).max()
    return max(floor + reach * least, -rho * right), min(floor + reach * most, ceiling)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_cost_at_all_times_ends_where_the_divergence_is_that_of_its_share(failure: float) -> None:
    """Some of the failure is the mean's. With ρ > 0, either the cost's own squares have half of the rest, or those
    of the variance and those of the mean a quarter each."""
    for x in SAMPLES[1:]:
        n, given = len(x), (len(x), x.mean(), x.var())
        rate = [
            math.log(4.0 * math.sqrt(n) * parts / ((1.0 - anytime.MEAN_SHARE) * failure)) / n
            for parts in (1.0, 2.0, 4.0)
        ]
        variance = anytime.variance_bounds(*given, failure, LOW, HIGH)
        assert variance == pytest.approx(squares_at(x, 0.0, anytime.MEAN_SHARE * failure, rate[0]), abs=1e-4)
        least, most = squares_at(x, 0.7, anytime.MEAN_SHARE * failure, rate[1])
        smallest, largest = squares_at(x, 0.0, anytime.MEAN_SHARE * failure, rate[2])
        left, right = (
            float(end) for end in anytime.mean_bounds(*given, (1.0 - anytime.MEAN_SHARE) * failure / 4.0, LOW, HIGH)
        )
        wanted = max(least, smallest - 0.7 * right), min(most, largest - 0.7 * left)
        assert anytime.mean_variance_bounds(*given, 0.7, failure, LOW, HIGH) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("hits", "pulls"), [(0, 1), (0, 30), (3, 30), (1_500, 2_000)])
def test_a_share_at_all_times_ends_where_the_divergence_says(hits: int, pulls: int, failure: float) -> None:
    share, rate = hits / pulls, math.log(2.0 * math.sqrt(pulls) / failure) / pulls
    low, high = anytime.share_bounds(pulls, share, failure)
    wanted = [solved(lambda p: kl(share, p) - rate, share, end) for end in (1e-15, 1.0 - 1e-15)]
    assert (low, high) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("pulls", "quantile"), [(1, 0.5), (60, 0.1), (60, 0.5), (3_000, 0.9)])
def test_the_ranks_around_a_quantile_are_all_that_the_divergence_allows(pulls, quantile, failure) -> None:
    """At all times, where kl of the count is log(2√n/δ)/n at most; for qlucb where its martingale is below 1/δ."""
    rate = math.log(2.0 * math.sqrt(pulls) / failure) / pulls
    allowed = [count for count in range(pulls + 1) if kl(count / pulls, quantile) < rate]
    assert anytime.quantile_ranks(pulls, quantile, failure) == (allowed[0], allowed[-1] + 1)
    prior = 50.0 * quantile, 50.0 * (1.0 - quantile)

    def log_martingale(count: int) -> float:
        """log of what a Beta prior on the chance gives a sequence with so many hits, over what the chance gives it."""
        steps = [math.log((prior[0] + i) / (50.0 + i)) - math.log(quantile) for i in range(count)]
        rest = [math.log((prior[1] + j) / (50.0 + count + j)) - math.log(1.0 - quantile) for j in range(pulls - count)]
        return sum(steps) + sum(rest)

    tried = range(pulls + 1) if pulls < 100 else range(int(0.8 * pulls), pulls + 1)
    allowed = [count for count in tried if log_martingale(count) < math.log(1.0 / failure)]
    assert ranks_of_qlucb(quantile, pulls, math.log(1.0 / failure)) == (allowed[0], allowed[-1])


def entered(sample: Any, rho: float) -> tuple[Any, int]:
    ledger, mean = betting.no_bets(rho), 0.0
    for n, reward in enumerate(sample.tolist()):
        betting.include(ledger, n, mean, reward, LOW, HIGH, rho)
        mean += (reward - mean) / (n + 1)
    return ledger, len(sample)


def won(outcomes: Any, bets: Any, candidate: float) -> float:
    """log Σ_j w_j Π_t (1 + κ_j Y_t)/(1 + κ_j m), with the weights of the half-Cauchy density on the grid of bets."""
    theta = betting.THETA
    weights = theta / (1.0 + theta**2)
    logs = np.log1p(bets[:, None] * outcomes).sum(1) - outcomes.shape[-1] * np.log1p(bets * candidate)
    return float(np.logaddexp.reduce(np.log(weights / weights.sum()) + logs))


def nearest(grid: Any, centre: float, largest: float, tolerance: float, bet: float) -> float:
    """The centre nearest to one around which the bet that a cost is smaller cannot lose more than all."""
    worst = np.maximum(grid**2, (1.0 - grid) ** 2 - tolerance)  # of (x − c)² − ρx, at an end
    allowed = grid[1.0 + bet * (largest - worst) / (largest + tolerance) >= 0.0]
    return float(allowed[np.abs(allowed - centre).argmin()]) if allowed.size else (1.0 - tolerance) / 2.0


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("rho", [0.0, 0.7, 6.0])
def test_bets_end_an_interval_where_they_have_won_one_over_its_failure(failure: float, rho: float) -> None:
    """Of the mean, and of the cost around the running centres c_t = (½ + X_1 + … + X_{t−1})/t."""
    bets, tolerance = np.expm1(betting.THETA), rho / REACH
    for x in (np.random.default_rng(3).permutation(sample) for sample in SAMPLES[1:]):
        at, scaled, n = entered(x, rho), (x - LOW) / REACH, len(x)
        low, high = ((end - LOW) / REACH for end in betting.mean_bounds(*at, failure, LOW, HIGH))
        assert won(scaled[None], bets, low) == pytest.approx(math.log(2.0 / failure), abs=1e-6)
        assert won(1.0 - scaled[None], bets, 1.0 - high) == pytest.approx(math.log(2.0 / failure), abs=1e-6)
        ends = [(end - LOW) / REACH for end in betting.mean_bounds(*at, anytime.MEAN_SHARE * failure, LOW, HIGH)]
        needed = math.log(2.0 / ((1.0 - anytime.MEAN_SHARE) * failure))
        centres = (0.5 + np.append(0.0, np.cumsum(scaled)[:-1])) / np.arange(1, n + 1)
        heights = (scaled - centres) ** 2 - tolerance * scaled
        grid = np.linspace(0.0, 1.0, 20_001)
        floors = np.array([((grid - c) ** 2 - tolerance * grid).min() for c in centres])
        inside = np.linspace(*ends, 2_001)
        largest = (grid * (1.0 - grid) - tolerance * grid).max()
        moved = np.array([[nearest(grid, c, largest, tolerance, bet) for c in centres] for bet in bets])

        def limit(outcomes: Any) -> float:
            """The largest mean against which the bets have won enough."""
            at_most = [0.0, 1.0]
            for _ in range(60):
                middle = sum(at_most) / 2.0
                at_most[won(outcomes, bets, middle) < needed] = middle  # noqa: B023
            return at_most[0]

        off = max(float(((mu - centres) ** 2).mean()) for mu in ends)
        least = (1.0 + tolerance) * limit((heights - floors)[None] / (1.0 + tolerance)) + floors.mean() - off
        above = (largest - (scaled - moved) ** 2 + tolerance * scaled) / (largest + tolerance)
        most = largest - (largest + tolerance) * limit(above)
        most = min(most, (inside * (1.0 - inside) - tolerance * inside).max())
        wanted = REACH**2 * np.array([max(least, -tolerance * ends[1]), most]) - rho * LOW
        assert betting.mean_variance_bounds(*at, rho, failure, LOW, HIGH) == pytest.approx(wanted, abs=2e-4)
