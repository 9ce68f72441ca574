"""Exact costs: every measure of random laws against sums over densities, and the places where floats run out."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

from helpers.random_laws import KINDS, DualPower
from helpers.reference_costs import sweep
from helpers.reference_laws import Reference
from prudent import (
    Bernoulli,
    Beta,
    CVaR,
    Deterministic,
    Distortion,
    Empirical,
    Entropic,
    ExpectedUtility,
    Exponential,
    ExponentialSpectrum,
    ExponentialUtility,
    Gaussian,
    Law,
    LossAverse,
    MeanCVaR,
    Mixed,
    Mixture,
    ProportionalHazard,
    PrudentError,
    Semivariance,
    StudentT,
    TruncatedGaussian,
    Uniform,
    VaR,
    Wang,
)
from prudent.arms import quadrature
from prudent.risk.base import risks

INF = math.inf
FEW = {"mixture": 3}
"""Laws of a kind here, 9 unless said otherwise; `benchmarks/costs.py` takes 300 of each."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_measure_of_random_laws_costs_what_its_density_says(kind: str) -> None:
    """No chance here: the laws are drawn from a fixed stream, and the sums they are compared with are deterministic."""
    found = [verdict for verdicts in sweep(kind, FEW.get(kind, 9), seed=1).values() for verdict in verdicts]
    assert [verdict.text for verdict in found if verdict.outcome == "wrong"] == []
    right, beyond = (sum(verdict.outcome == outcome for verdict in found) for outcome in ("right", "beyond"))
    assert beyond <= 0.02 * len(found)
    assert right > (0.5 if kind == "student-t" else 0.85) * len(found)


@dataclass(frozen=True)
class Root(Distortion):
    name = "root"

    def distort(self, p: np.ndarray) -> np.ndarray:
        return p**0.7


@dataclass(frozen=True)
class Logarithm(ExpectedUtility):
    name = "logarithm"

    def utility(self, x: np.ndarray) -> np.ndarray:
        return np.log1p(x)


def test_no_beta_law_is_heavy_tailed() -> None:
    """A quarter of these were refused by all of these measures, and by every one of one's own."""
    rng = np.random.default_rng(0)
    measures = [Wang(), ProportionalHazard(), ExponentialSpectrum(), Entropic(), ExponentialUtility(), LossAverse()]
    for a, b in [(3.0, 3.0), *rng.uniform(1.0, 4.0, (12, 2))]:
        law = Beta(a, b)
        for risk in (*measures, Semivariance(1.0), Root(), Logarithm()):
            assert math.isfinite(risk.cost(law)), (risk, law)


# Quantiles and distribution functions


@pytest.mark.parametrize(
    "law",
    [
        *(
            Beta(a, b)
            for a, b in ((3.0, 3.0), (1.5, 4.0), (0.5, 0.5), (0.01, 0.01), (1e-3, 20.0), (40.0, 0.2), (1e5, 3e5))
        ),
        *(StudentT(degrees) for degrees in (0.5, 1.5, 3.0, 30.0, 1e6)),
        TruncatedGaussian(0.0, 1.0, -1.0, 1.0),
        TruncatedGaussian(0.0, 1.0, 30.0, 31.0),
        TruncatedGaussian(0.0, 1.0, -INF, -20.0),
        TruncatedGaussian(2.0, 0.5, 2.0, 2.0 + 1e-6),
        Gaussian(0.0, 1.0),
        Exponential(2.0),
        Uniform(0.0, 1.0),
        Mixture([Beta(3.0, 3.0), StudentT(3.0)]),
    ],
    ids=str,
)
def test_quantiles_are_the_inverse_of_the_distribution_function_at_every_level(law: Law) -> None:
    levels = np.concatenate([10.0 ** -np.array([300.0, 250.0, 120.0, 50.0, 16.0, 9.0, 3.0]), [0.1, 0.49]])
    for upper in (False, True):
        x = law.tail(levels, upper=upper)
        assert not np.isnan(x).any()
        assert (x[1:] <= x[:-1] if upper else x[1:] >= x[:-1]).all()
        assert ((law.support[0] <= x) & (x <= law.support[1])).all()
        # Next to an end of the support, neighbouring floats have very different levels; far out, there are none.
        seen = (np.abs(x) > 1e-290) & (np.abs(x) < 1e150)
        for end in law.support:
            seen &= (end == 0.0) | (
                np.abs(np.where(seen, x, 0.0) - end) > 1e9 * np.spacing(np.where(seen, np.abs(x), 0.0))
            )
        assert law.masses(x)[upper][seen] == pytest.approx(levels[seen], rel=1e-7, abs=0.0)
    assert law.quantile(1e-300) == pytest.approx(law.tail(levels)[0], rel=1e-9, abs=0.0)
    assert law.quantile(1.0) == law.support[1]


def test_a_truncated_gaussian_has_no_negative_probability() -> None:
    """Φ(x) − Φ(low) was −8.6e-17 here and there, and its root not a number."""
    rng = np.random.default_rng(0)
    for low, width in zip(rng.uniform(-9.0, 9.0, 40), 10.0 ** rng.uniform(-7.0, 1.0, 40), strict=True):
        law = TruncatedGaussian(0.0, 1.0, low, low + width)
        x = np.concatenate([low + width * np.arange(100) / 99, low + np.spacing(low) * np.arange(200), [-99.0, 99.0]])
        below, above = law.masses(x)
        assert below.min() == above.min() == 0.0
        assert (below.max(), above.max()) == pytest.approx((1.0, 1.0), abs=1e-15)
        assert max(below.max(), above.max()) <= 1.0
        assert [law.cdf(v) for v in x] == pytest.approx(below, abs=1e-15)
        assert (np.diff(law.masses(np.sort(x))[0]) >= -1e-15).all()
        assert -law.mean <= ProportionalHazard().cost(law) <= -law.low


def test_beta_laws_lose_no_digits_near_one() -> None:
    """SciPy's distribution function of Beta(½, ½) is off by 3e-9 beside 1."""
    x = 1.0 - np.array([2.0**-53, 1e-12, 1e-6])
    above = 2.0 / math.pi * np.arcsin(np.sqrt(1.0 - x))
    assert Beta(0.5, 0.5).masses(x)[0] == pytest.approx(1.0 - above, abs=1e-15)
    assert Beta(0.5, 0.5).masses(x)[1] == pytest.approx(above, rel=1e-9, abs=0.0)


# Atoms


def test_the_level_of_an_atom_is_reached_although_weights_are_rounded() -> None:
    assert 1.0 - 0.9 < 0.1  # so the level 0.1 seemed not to be reached at 0
    assert [Bernoulli(0.9).quantile(alpha) for alpha in (0.1, 0.1001)] == [0.0, 1.0]
    assert [Bernoulli(1.0).quantile(alpha) for alpha in (1e-300, 1.0)] == [1.0, 1.0]
    assert math.fsum([0.7, 0.1]) < 0.8
    parts = Deterministic(1.0), Deterministic(2.0), Deterministic(3.0)
    assert [Mixture(parts, [0.7, 0.1, 0.2]).quantile(alpha) for alpha in (0.7, 0.8, 0.8001)] == [1.0, 2.0, 3.0]
    gap = Mixture([Uniform(0.0, 1.0), Uniform(5.0, 6.0), Uniform(8.0, 9.0)], [0.7, 0.1, 0.2])
    assert gap.quantile(0.8) == pytest.approx(6.0)
    smooth = Mixture([Deterministic(0.0), Gaussian(0.0, 1.0), Empirical([-0.5, 2.0])], [0.3, 0.3, 0.4])
    assert [VaR(alpha).cost(smooth) for alpha in (0.55, 0.6)] == [0.0, 0.0]
    for risk in (VaR(0.1), CVaR(0.1), VaR(0.9), Mixed(0.0, 0.0, 1.0, 0.1)):
        assert risk.cost(Bernoulli(0.9)) == pytest.approx(risk.sample_cost([0.0] + [1.0] * 9)), risk


def test_the_best_rewards_keep_their_digits_however_few() -> None:
    """As a difference of mean and lower tail, the best 1e-12 of rewards had no digit left."""
    for alpha in (1e-12, 1e-9, 1e-3, 0.4, 1.0):
        tail = math.exp(-0.5 * special.ndtri(alpha) ** 2) / math.sqrt(2.0 * math.pi) / alpha
        best = Mixed(0.0, 0.0, 1.0, alpha)
        assert best.cost(Gaussian(1.0, 4.0)) == pytest.approx(-1.0 - 2.0 * tail, rel=1e-9)
        assert best.cost(Exponential(2.0)) == pytest.approx(-2.0 * (1.0 - math.log(alpha)), rel=1e-9)
        assert best.cost(Uniform(0.0, 1.0)) == pytest.approx(0.5 * alpha - 1.0, rel=1e-12)
        assert best.cost(Beta(1.0, 1.0)) == pytest.approx(0.5 * alpha - 1.0, rel=1e-12)
        twins = Mixture([Gaussian(1.0, 4.0), Gaussian(1.0, 4.0), Exponential(2.0)], [1.0, 1.0, 0.0])
        assert best.cost(twins) == pytest.approx(-1.0 - 2.0 * tail, rel=1e-9)
        assert best.cost(Mixture([Deterministic(7.0), Uniform(0.0, 1.0)], [1e-3, 1.0])) == pytest.approx(
            -7.0 if alpha < 1e-3 else -(7e-3 / 1.001 + _uniform_best(alpha - 1e-3 / 1.001) / 1.001) / alpha, rel=1e-9
        )


def _uniform_best(share: float) -> float:
    """E[U; U among the best], times 1.001, of the part that makes up `share` of the mixture."""
    top = min(share * 1.001, 1.0)
    return top - 0.5 * top * top


@pytest.mark.parametrize("alpha", [1e-140, 1e-50, 1e-9, 0.2, 1.0 - 1e-12])
def test_the_worst_rewards_keep_their_digits_however_few(alpha: float) -> None:
    def ratio(law: Law, closed: float) -> float:
        return CVaR(alpha).cost(law) / closed

    few = alpha * (1.0 + alpha / 3.0)
    closed = few if alpha < 1e-6 else 2.0 * (1.0 + (1.0 - alpha) * math.log1p(-alpha) / alpha)
    assert ratio(Exponential(2.0), -closed) == pytest.approx(1.0, rel=1e-9)
    assert ratio(Uniform(0.0, 1.0), -0.5 * alpha) == pytest.approx(1.0, rel=1e-12)
    # The distribution function of Beta(a, 1) is x^a; its worst rewards are far smaller than the quantile.
    for a in (1e-4, 0.01, 0.5, 40.0):
        if (worst := math.exp(math.log(alpha) / a) * a / (a + 1.0)) > 1e-280:
            assert ratio(Beta(a, 1.0), -worst) == pytest.approx(1.0, rel=1e-15 / a + 1e-12)
    tiny = math.exp(math.log(0.999999) / 1e-5) * 1e-5 / (1.0 + 1e-5)
    assert CVaR(0.999999).cost(Beta(1e-5, 1.0)) / -tiny == pytest.approx(1.0, rel=1e-12, abs=0.0)
    if alpha < 1e-6:
        power = (math.pi * alpha / math.sqrt(12.0)) ** (-1.0 / 3.0)  # the tail of Student's law is a power
        assert ratio(StudentT(3.0), 1.5 * power) == pytest.approx(1.0, rel=1e-5)


def test_narrow_and_far_truncations_keep_their_digits() -> None:
    narrow = TruncatedGaussian(0.0, 1.0, 0.0, 1e-6)  # uniform but for 1e-12
    assert CVaR(0.2).cost(narrow) == pytest.approx(-1e-7, rel=1e-9, abs=0.0)
    assert LossAverse().cost(narrow) == pytest.approx(-5e-7, rel=1e-9, abs=0.0)
    assert narrow.quantile(1e-5) == pytest.approx(1e-11, rel=1e-9, abs=0.0)
    assert MeanCVaR(0.2, 0.5).cost(narrow) == pytest.approx(-3e-7, rel=1e-9, abs=0.0)
    tilted = TruncatedGaussian(-1.0, 1.0, 0.0, 1e-6)  # its density falls by 1e-6 over the interval
    x = tilted.support[1] * np.array([1e-5, 0.3])
    assert tilted.masses(x)[0] / (x / 1e-6 * (1.0 - 0.5 * (x - 1e-6))) == pytest.approx(1.0, rel=1e-11)
    far, grid = TruncatedGaussian(0.0, 1.0, 30.0, INF), Reference(TruncatedGaussian(0.0, 1.0, 30.0, INF))
    mean = grid.expect(lambda x: x - 30.0)
    assert far.mean - 30.0 == pytest.approx(mean, rel=1e-11)
    assert far.variance == pytest.approx(grid.expect(lambda x: (x - 30.0 - mean) ** 2), rel=1e-11)


# Where a cost ceases to exist


@pytest.mark.parametrize("margin", [1e-6, 1e-3, 0.05, 1.0])
def test_heavy_tails_are_priced_up_to_the_last_degree(margin: float) -> None:
    """Most of the cost lies beyond any quantile: it was refused for 2.05 degrees, and off by 1e-5 for 2.07."""
    law = StudentT(2.0 + margin, 1.0, 3.0)
    assert Semivariance(1.0).cost(law) == pytest.approx(0.5 * law.variance, rel=1e-6)
    assert law.expectation(lambda x: (x - 1.0) ** 2) == pytest.approx(law.variance, rel=1e-6)
    light = StudentT(1.0 + margin, 1.0, 3.0)
    assert ProportionalHazard(1.0).cost(light) == pytest.approx(-1.0, abs=1e-7 / margin)
    # g(F) = F/2 + √F/2 would be infinite at 2 degrees; with r = 1/(1 + margin/2) F^r is integrable just so.
    assert math.isfinite(ProportionalHazard(1.0 / (1.0 + 0.5 * margin)).cost(light))
    assert LossAverse(1.0, 1.0).cost(light) == pytest.approx(0.0, abs=1e-6 / margin)
    loss = LossAverse(2.0, 1.0).cost(light)  # E(1 − X)⁺, half of the absolute moment
    assert loss == pytest.approx(-light.partial_mean(1.0) + 1.0 * light.cdf(1.0), rel=1e-6)


def test_where_the_moment_does_not_exist_the_cost_is_refused() -> None:
    with pytest.raises(PrudentError, match=r"student-t\(2.0.*second moment below the target is infinite; take a risk"):
        Semivariance().cost(StudentT(2.0))
    with pytest.raises(PrudentError, match=r"proportional-hazard: student-t\(2.0.*no finite mean.*too heavy"):
        ProportionalHazard(0.5).cost(StudentT(2.0))
    for risk in (Wang(), ExponentialSpectrum(), ProportionalHazard(1.0), DualPower()):
        with pytest.raises(PrudentError, match=rf"{risk.name}: .*(tails are too heavy|too rare)"):
            risk.cost(StudentT(0.9))
    for risk in (Entropic(1e-6), ExponentialUtility(1e-6)):
        with pytest.raises(PrudentError, match=r"exponential moment at −1e-06 is infinite; take"):
            risk.cost(Mixture([Gaussian(0.0, 1.0), StudentT(1e3)]))
    with pytest.raises(PrudentError, match=r"beta\(0.5, 1.0\): its one over X is infinite"):
        Beta(0.5, 1.0).expectation(lambda x: 1.0 / x, "one over X")
    assert Beta(0.5, 1.0).expectation(lambda x: x**-0.45) == pytest.approx(10.0, rel=1e-7)
    with pytest.raises(PrudentError, match=r"gaussian\(0.0, 1.0\): its function at -\S+ is not a number"):
        Logarithm().cost(Gaussian(0.0, 1.0))


def test_what_floats_cannot_hold_is_not_called_infinite() -> None:
    with pytest.raises(PrudentError, match=r"exponential-utility: the cost of .* is e\^5000000, too large for a float"):
        ExponentialUtility(1.0).cost(Gaussian(0.0, 1e7))
    with pytest.raises(PrudentError, match=r"wang: the cost of student-t\(1.01.* rests on rewards too rare for floats"):
        Wang(0.5).cost(StudentT(1.01))
    with pytest.raises(PrudentError, match=r"dual-power: .* too rare .* keep the digits of small weights"):
        DualPower(2.0).cost(StudentT(1.1))


def test_weights_with_all_their_digits_price_heavy_tails() -> None:
    class Careful(DualPower):
        def distort(self, p: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return -np.expm1(self.k * np.log1p(-p))

        def distort_best(self, p: np.ndarray) -> np.ndarray:
            return p**self.k

    careful, grid = Careful(2.0), Reference(StudentT(1.3))
    assert careful.cost(StudentT(1.3)) == pytest.approx(-(2.0 * grid.above * grid.weight * grid.x).sum(), rel=1e-8)
    # An atom far from all other rewards, which is no tail that does not fall.
    places = np.concatenate([np.linspace(30.0, 99.0, 9), -np.linspace(30.0, 99.0, 9)])
    lonely = [Mixture([Empirical([0.0, 6.0, place]), Gaussian(0.0, 0.5)], [0.05, 0.95]) for place in places]
    for law in lonely:
        assert -law.mean < Wang().cost(law) < ProportionalHazard(0.2).cost(law) < 60.0
    for law in (Gaussian(0.0, 1.0), StudentT(4.0), Beta(3.0, 3.0), *lonely):
        for k in (1.05, 2.0):
            assert Careful(k).cost(law) == pytest.approx(DualPower(k).cost(law), rel=1e-7)


# Entropic risk, however large λ is


@pytest.mark.parametrize("lam", [1e-9, 1e-4, 1.0, 30.0, 1e4, 1e7])
def test_entropic_risk_for_every_lambda(lam: float) -> None:
    wide = Uniform(-1e6, 1e6)  # was refused for λ = 1
    closed = 1e6 + math.log(-math.expm1(-2e6 * lam) / (2e6 * lam)) / lam if lam > 1e-6 else lam * 1e12 / 6.0
    assert Entropic(lam).cost(wide) == pytest.approx(closed, rel=1e-9 if lam > 1e-6 else 1e-7)
    assert Entropic(lam).cost(Exponential(2.0)) == pytest.approx(-math.log1p(2.0 * lam) / lam, rel=1e-12)
    # E e^(−λX) = 100 · 101 ∫ x⁹⁹ (1 − x) e^(−λx) dx, by incomplete gamma functions.
    if lam >= 30.0:
        parts = [math.lgamma(k) - k * math.log(lam) + math.log(special.gammainc(k, lam)) for k in (100.0, 101.0)]
        log = math.log(100.0 * 101.0) + parts[0] + math.log1p(-math.exp(parts[1] - parts[0]))
        assert Entropic(lam).cost(Beta(100.0, 2.0)) == pytest.approx(log / lam, rel=1e-9)
    for law in (Beta(2.0, 3.0), Beta(0.01, 0.02), Bernoulli(0.3), TruncatedGaussian(0.0, 2.0, -1.0, 3.0)):
        assert -law.mean - 1e-12 <= Entropic(lam).cost(law) <= -law.support[0]
        if lam <= 1e-4:
            near = 0.5 * lam * law.variance - law.mean
            assert Entropic(lam).cost(law) == pytest.approx(near, rel=1e-7 * (lam / 1e-9) ** 0.5 + 1e-12)


# Laws and measures of one's own


@dataclass(frozen=True)
class Debt(Law):
    """Minus an exponential: e^(−λX) has a mean for λ below 1 only. It knows what a law must know, and no more."""

    name = "debt"
    kind = -1
    start: float = 0.0
    mean, variance, support = -1.0, 1.0, (-INF, 0.0)

    def cdf(self, x: float) -> float:
        return math.exp(min(x - self.start, 0.0))

    def quantile(self, alpha: float) -> float:
        return self.start + math.log(self._level(alpha))

    def partial_mean(self, x: float) -> float:
        return math.exp(x) * (x - 1.0)


@pytest.mark.parametrize("lam", [1e-6, 0.5, 0.9, 0.99, 0.9999])
def test_entropic_risk_at_the_edge_of_its_domain(lam: float) -> None:
    assert Entropic(lam).cost(Debt()) == pytest.approx(-math.log1p(-lam) / lam, rel=1e-7)
    assert Entropic(lam).cost(Debt(-1e6)) == pytest.approx(1e6 - math.log1p(-lam) / lam, rel=1e-12)
    assert ExponentialUtility(lam).cost(Debt()) == pytest.approx(1.0 / (1.0 - lam), rel=1e-6)
    for beyond in (1.0, 1.0 / lam):
        with pytest.raises(PrudentError, match=r"debt\(0.0\): its exponential moment at −.* is infinite"):
            Entropic(beyond).cost(Debt())


def test_a_law_of_ones_own_needs_no_more_than_it_did() -> None:
    law = Debt()
    assert law.expectation(lambda x: x) == pytest.approx(-1.0, rel=1e-9)
    assert ProportionalHazard(0.5).cost(law) == pytest.approx(2.0, rel=1e-9)
    assert Mixed(0.0, 0.0, 1.0, 0.2).cost(law) == pytest.approx(0.2 / 0.2 + 0.8 * math.log(0.8) / 0.2, rel=1e-9)
    for name in risks.names():
        assert name in {"entropic", "exponential-utility"} or math.isfinite(risks.parse(name).cost(law))


def test_a_quantile_that_is_not_a_number_is_named() -> None:
    class Broken(Debt):
        def quantile(self, alpha: float) -> float:
            return math.nan if alpha < 1e-100 else super().quantile(alpha)

    with pytest.raises(PrudentError, match=r"debt\(0.0\): its quantile\(\S+e-1\d\d\) is not a number"):
        LossAverse().cost(Broken())


def test_wangs_transform_goes_down_to_the_smallest_float() -> None:
    p = np.array([5e-324, 1e-320, 1e-310, 1e-300, 1e-30])
    z = special.ndtri_exp(np.log(p))
    assert Wang(2.0).distort(p) == pytest.approx(special.ndtr(z + 2.0), rel=1e-9, abs=0.0)


def test_noise_does_not_keep_quadrature_busy() -> None:
    """Rules that disagree by noise disagree on any panel; halving all of them again and again would take for ever."""
    seen, rng = [], np.random.default_rng(0)

    def noisy(x: np.ndarray) -> np.ndarray:
        seen.append(x.size)
        return np.exp(-x) * (1.0 + 1e-9 * rng.standard_normal(x.size))

    assert quadrature.integrals(noisy, np.linspace(0.0, 40.0, 101)).sum() == pytest.approx(1.0, rel=1e-8)
    assert sum(seen) < 100_000
    jumps = np.array([0.3, 1.7, math.pi])
    steps = quadrature.integrals(lambda x: (x[:, None] > jumps).sum(1).astype(float), np.linspace(0.0, 4.0, 9)).sum()
    assert steps == pytest.approx((4.0 - jumps).sum(), rel=1e-10)
