"""Risk measures: known values, identities, and bad samples."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from helpers.random_laws import DualPower, Satisficing
from prudent import (
    CPT,
    Bandit,
    Bernoulli,
    Beta,
    CVaR,
    Deterministic,
    Distortion,
    Empirical,
    Entropic,
    EpsilonGreedy,
    EVaR,
    Expectile,
    Exponential,
    ExponentialSpectrum,
    ExponentialUtility,
    Gaussian,
    Law,
    LossAverse,
    MeanCVaR,
    MeanVariance,
    Mixed,
    Mixture,
    PowerShortfall,
    ProportionalHazard,
    PrudentError,
    RiskMeasure,
    Semivariance,
    Sharpe,
    Shortfall,
    Spectral,
    StudentT,
    TruncatedGaussian,
    Uniform,
    VaR,
    Wang,
    simulate,
)
from prudent.risk.base import risks as registry
from prudent.testing import check_risk

SPECS = {
    "mean-variance": [f"mean-variance({rho})" for rho in ("", "0", "0.5", "10", "rho=inf")],
    "var": ["var", "var(0.5)"],
    "cvar": ["cvar", "cvar(0.3)", "cvar(1)"],
    "mean-cvar": ["mean-cvar", "mean-cvar(0.1, 0)", "mean-cvar(0.2, 1)"],
    "semivariance": ["semivariance(1)", "semivariance(target=0.4)"],
    "entropic": ["entropic", "entropic(0.001)", "entropic(3)"],
    "mixed": ["mixed", "mixed(1, 0, 0)", "mixed(0, 1, 2, 1)"],
    "loss-averse": ["loss-averse", "loss-averse(1.5, 0.3)"],
    "wang": ["wang", "wang(0)", "wang(2)"],
    "evar": ["evar", "evar(0.4)", "evar(1)"],
    "expectile": ["expectile", "expectile(0.3)", "expectile(0.5)"],
    "shortfall": ["shortfall", "shortfall(1, 0.2)", "shortfall(power=3.5)"],
    "cpt": ["cpt", "cpt(1, 1, 1, 1)", "cpt(reference=0.4)"],
}

rewards = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30)
tolerances = st.one_of(st.floats(0, 1e3), st.just(math.inf))


@pytest.mark.parametrize("name", registry.names())
def test_every_registered_risk_keeps_the_contract(name: str) -> None:
    for spec in SPECS.get(name, [name]):
        check_risk(registry.parse(spec))


@pytest.mark.parametrize(("rho", "cost"), [(0.0, 0.05), (1.0, -0.95), (2.0, -1.95), (math.inf, -1.0)])
def test_mean_variance(rho: float, cost: float) -> None:
    assert MeanVariance(rho).cost(Gaussian(1.0, 0.05)) == pytest.approx(cost)
    assert MeanVariance(rho).stats_cost([1.0, 1.0], [0.05, 0.05]) == pytest.approx([cost, cost])


def test_variances_are_divided_by_the_number_of_samples() -> None:
    assert MeanVariance(0.0).sample_cost([0.0, 1.0]) == 0.25
    assert MeanVariance(0.0).sample_cost([0.0, 1.0], [1.0, 3.0]) == pytest.approx(3.0 / 16.0)


def test_mean_only_is_the_limit_of_a_large_tolerance() -> None:
    large, law = 1e9, Bernoulli(0.3)
    assert MeanVariance(math.inf).cost(law) == pytest.approx(MeanVariance(large).cost(law) / large)


@given(rewards, tolerances)
def test_a_sample_is_priced_as_its_empirical_law(x: list[float], rho: float) -> None:
    risk = MeanVariance(rho)
    scale = 1e-12 * (1.0 + max(map(abs, x))) ** 2 * (1.0 if math.isinf(rho) else 1.0 + rho)
    assert risk.sample_cost(x) == pytest.approx(risk.cost(Empirical(x)), abs=scale)
    assert risk.sample_cost(x) == pytest.approx(risk.sample_cost(x[::-1]), abs=scale)
    assert risk.sample_cost(x) == pytest.approx(risk.sample_cost(x + x), abs=scale)


@given(rewards, st.floats(-10, 10), st.floats(0, 10))
def test_a_sure_gain_lowers_the_cost_by_rho_times_it(x: list[float], gain: float, rho: float) -> None:
    risk, scale = MeanVariance(rho), 1e-10 * (11.0 + max(map(abs, x))) ** 2
    assert risk.sample_cost(np.add(x, gain)) == pytest.approx(risk.sample_cost(x) - rho * gain, abs=scale)


@given(tolerances)
def test_a_spec_builds_the_same_risk(rho: float) -> None:
    risk = MeanVariance(rho)
    assert registry.parse(str(risk)) == risk
    assert hash(registry.parse(str(risk))) == hash(risk)


@pytest.mark.parametrize("rho", [-1.0, -math.inf, math.nan, "1", None, True])
def test_bad_tolerances_are_refused(rho: float) -> None:
    with pytest.raises(PrudentError, match="mean-variance: rho must"):
        MeanVariance(rho)


def test_the_hint_explains_rho() -> None:
    with pytest.raises(PrudentError, match=r"rho must lie in \[0, ∞\], got -1; ρ is the tolerance for risk"):
        MeanVariance(-1)


@pytest.mark.parametrize(
    ("x", "weights", "message"),
    [
        ([], None, "rewards must be one or more finite numbers, got 0 values"),
        ([1.0, math.nan], None, "rewards must be one or more finite"),
        ([math.inf], None, "rewards"),
        (["a"], None, "rewards must be numbers, got"),
        ([[1.0, 2.0], [3.0]], None, "rewards must be numbers"),
        ([1.0, 2.0], [1.0], "weights must be 2 finite numbers"),
        ([1.0, 2.0], [1.0, -1.0], "weights"),
        ([1.0, 2.0], [0.0, 0.0], "weights"),
        ([1.0, 2.0], [1.0, math.nan], "weights"),
        ([1.0, 2.0], ["a", "b"], "weights must be numbers"),
    ],
)
def test_bad_samples_are_refused(x: list[float], weights: list[float] | None, message: str) -> None:
    with pytest.raises(PrudentError, match=f"mean-variance: {message}"):
        MeanVariance().sample_cost(x, weights)


def test_a_risk_that_needs_more_than_two_moments_says_so() -> None:
    class Median(RiskMeasure):
        name = "median"
        cost = weigh = None  # type: ignore[assignment]

    with pytest.raises(PrudentError, match=r"median: mean and variance do not determine .* use sample_cost"):
        Median().stats_cost(0.0, 1.0)


# Known values

SKEWED = Mixture([Gaussian(0.0, 1.0), Deterministic(0.5), Uniform(0.0, 3.0)], [0.5, 0.2, 0.3])


@pytest.mark.parametrize("mean", [-1.0, 0.7])
@pytest.mark.parametrize("deviation", [0.1, 2.0])
def test_gaussian_costs(mean: float, deviation: float) -> None:
    law, z = Gaussian(mean, deviation**2), float(stats.norm.ppf(0.05))
    below = float(stats.norm.cdf(-mean / deviation))
    loss = mean * below - deviation * float(stats.norm.pdf(mean / deviation))
    tail = deviation * float(stats.norm.pdf(z)) / 0.05
    for risk, cost in (
        (VaR(0.05), -mean - deviation * z),
        (CVaR(0.05), -mean + tail),
        (MeanCVaR(0.05, 0.3), -mean + 0.3 * tail),
        (Mixed(2.0, 3.0, 0.5, 0.05), 3.0 * deviation**2 - 2.0 * mean - 0.5 * (mean + tail)),
        (Entropic(1.7), -mean + 0.85 * deviation**2),
        (ExponentialUtility(1.7), math.expm1(1.7 * (-mean + 0.85 * deviation**2)) / 1.7),
        (LossAverse(3.0), -mean - 2.0 * loss),
        (Semivariance(mean), 0.5 * deviation**2),
        (Sharpe(0.5), -mean / math.sqrt(0.5 + deviation**2)),
        (Wang(0.8), -mean + 0.8 * deviation),
        (EVaR(0.05), -mean + deviation * math.sqrt(-2.0 * math.log(0.05))),
    ):
        assert risk.cost(law) == pytest.approx(cost, rel=1e-10, abs=1e-12), risk


@pytest.mark.parametrize("k", [0.01, 1.0, 30.0])
def test_uniform_costs(k: float) -> None:
    law = Uniform(0.0, 1.0)
    assert ExponentialSpectrum(k).cost(law) == pytest.approx(1.0 / math.expm1(k) - 1.0 / k, rel=1e-9)
    assert ProportionalHazard(1.0 / (1.0 + k)).cost(law) == pytest.approx(-1.0 / (2.0 + k), rel=1e-9)
    assert CVaR(0.2).cost(law) == pytest.approx(-0.1)
    assert Entropic(k).cost(law) == pytest.approx(math.log(-math.expm1(-k) / k) / k, rel=1e-7)
    assert Semivariance(0.5).cost(law) == pytest.approx(0.5**3 / 3.0)


def test_an_atom_at_the_edge_of_the_tail_is_split() -> None:
    law = Bernoulli(0.3)
    assert CVaR(0.8).cost(law) == pytest.approx(-0.1 / 0.8)
    assert CVaR(0.8).sample_cost([0.0, 1.0], [0.7, 0.3]) == pytest.approx(-0.1 / 0.8)
    assert Mixed(0.0, 0.0, 1.0, 0.4).cost(law) == pytest.approx(-0.3 / 0.4)
    assert [VaR(alpha).cost(law) for alpha in (0.7, 0.71)] == [0.0, -1.0]


@pytest.mark.parametrize("n", [10, 100, 1_000])
def test_value_at_risk_of_a_sample_is_its_order_statistic(n: int) -> None:
    x = np.arange(1.0, n + 1.0)
    assert [VaR(k / n).sample_cost(x) for k in range(1, n + 1)] == [-k for k in range(1, n + 1)]


@pytest.mark.parametrize(
    "law", [SKEWED, Beta(2.0, 3.0), Exponential(2.0), StudentT(3.0, 1.0), Gaussian(0.0, 4.0)], ids=str
)
@pytest.mark.parametrize("risk", [CVaR(0.05), CVaR(0.6), CVaR(1.0), MeanCVaR(0.1, 0.3)], ids=str)
def test_closed_forms_agree_with_the_integral_of_the_distorted_distribution(law: Law, risk: Spectral) -> None:
    assert Distortion.cost(risk, law) == pytest.approx(risk.cost(law), rel=1e-8)


def test_all_families_meet_in_the_mean() -> None:
    for law in (SKEWED, Beta(2.0, 3.0), Bernoulli(0.2)):
        for risk in (
            CVaR(1.0),
            MeanCVaR(0.1, 0.0),
            Wang(0.0),
            ProportionalHazard(1.0),
            LossAverse(1.0),
            Mixed(1, 0, 0),
            CPT(1, 1, 1, 1),
            EVaR(1.0),
            Expectile(0.5),
        ):
            assert risk.cost(law) == pytest.approx(-law.mean, rel=1e-9), risk
        for risk in (ExponentialSpectrum(1e-8), Entropic(1e-6), ExponentialUtility(1e-6)):
            assert risk.cost(law) == pytest.approx(-law.mean, rel=1e-5), risk
    assert registry.parse("mean") == MeanVariance(math.inf)
    assert registry.parse("variance") == MeanVariance(0.0)


def test_a_large_aversion_to_risk_minds_the_worst_reward_only() -> None:
    x = [0.3, 2.0, -1.0, 5.0]
    for risk in (
        CVaR(1e-9),
        VaR(1e-9),
        EVaR(1e-9),
        Expectile(1e-9),
        Entropic(1e6),
        ExponentialSpectrum(1e6),
        Wang(60.0),
    ):
        assert risk.sample_cost(x) == pytest.approx(1.0, abs=1e-5), risk


def test_entropic_risk_stays_within_floats() -> None:
    x = np.array([-1e6, 0.0, 1e6])
    assert Entropic(1.0).sample_cost(x) == pytest.approx(1e6 - math.log(3.0))
    assert Entropic(1e3).sample_cost(x, [0.0, 1.0, 1.0]) == pytest.approx(math.log(0.5) / 1e3, abs=1e-9)
    assert Entropic(50.0).cost(Gaussian(0.0, 1e4)) == 25e4
    twins = Mixture([Gaussian(0.0, 1e4), Gaussian(0.0, 1e4)])
    assert Entropic(50.0).cost(twins) == pytest.approx(25e4, rel=1e-12)
    narrow = TruncatedGaussian(0.0, 1.0, -1.0, 1.0)
    assert Entropic(500.0).cost(narrow) == pytest.approx(1.0, abs=0.02)


def test_the_expectile_by_its_definition() -> None:
    x, tau = np.array([-2.0, 0.0, 0.5, 0.5, 3.0, 7.0]), 0.2
    e = -Expectile(tau).sample_cost(x)
    assert tau * np.maximum(x - e, 0.0).sum() == pytest.approx((1.0 - tau) * np.maximum(e - x, 0.0).sum())
    assert Expectile(tau).cost(Bernoulli(0.3)) == pytest.approx(-0.3 * tau / (0.3 * tau + 0.7 * (1.0 - tau)))


def test_value_at_risk_cvar_and_evar_are_ordered() -> None:
    for law in (SKEWED, Beta(2.0, 3.0), Exponential(2.0), Bernoulli(0.7), Empirical([0.0, 1.0, 5.0])):
        for alpha in (0.05, 0.4, 0.9):
            costs = [risk(alpha).cost(law) for risk in (VaR, CVaR, EVaR)]
            assert costs[0] - 1e-12 <= costs[1] <= costs[2] + 1e-12


def test_evar_has_its_dual_form() -> None:
    """It is the worst mean of laws within divergence −log α [AhmadiJavid12], here of all coins."""
    success = np.linspace(1e-9, 1.0 - 1e-9, 200_001)
    divergence = success * np.log(success / 0.7) + (1.0 - success) * np.log((1.0 - success) / 0.3)
    assert EVaR(0.6).cost(Bernoulli(0.7)) == pytest.approx(-success[divergence <= -math.log(0.6)].min(), abs=1e-5)
    assert EVaR(0.3).cost(Bernoulli(0.7)) == 0.0


def test_shortfall_of_power_one_and_of_sure_rewards() -> None:
    """E(c − X)⁺ = threshold for rewards between 0 and 1: c²/2 = 0.08."""
    assert PowerShortfall(1.0, 0.08).cost(Uniform(0.0, 1.0)) == pytest.approx(-0.4)
    assert PowerShortfall(2.0, 0.08).cost(Deterministic(3.0)) == pytest.approx(-3.4)


@dataclass(frozen=True)
class Expected(Shortfall):
    """The exponential loss, by the family's own search."""

    threshold: float = 1.0
    name = "expected"

    def loss(self, y: np.ndarray) -> np.ndarray:
        return np.exp(y)


def test_the_exponential_loss_makes_shortfall_entropic() -> None:
    check_risk(Expected())
    for law in (Uniform(0.0, 1.0), Gaussian(2.0, 0.5), Bernoulli(0.3)):
        assert Expected().cost(law) == pytest.approx(Entropic(1.0).cost(law), rel=1e-9)


def test_prospect_theory_by_hand() -> None:
    """Gains of 1 with 0.3 and 4 with 0.1, a loss of 2 with 0.2; 100 with nothing."""
    risk = CPT()

    def w(p: float, eta: float) -> float:
        return p**eta / (p**eta + (1.0 - p) ** eta) ** (1.0 / eta)

    gain = w(0.4, 0.61) + w(0.1, 0.61) * (4.0**0.88 - 1.0)
    loss = 2.25 * w(0.2, 0.69) * 2.0**0.88
    assert risk.sample_cost([-2.0, 0.0, 1.0, 4.0, 100.0], [2, 4, 3, 1, 0]) == pytest.approx(loss - gain)
    shifted = CPT(reference=7.0).sample_cost([5.0, 7.0, 8.0, 11.0], [2, 4, 3, 1])
    assert shifted == pytest.approx(loss - gain)


def test_prospect_theory_weighs_what_is_nearly_certain_by_what_is_not() -> None:
    """A share of 1e-17 that is missing from 1 costs 6e-5 of the weight at η = 0.28."""
    risk, rest = CPT(1.0, 2.25, 0.28, 0.28), 1e-17
    nearly = (1.0 + rest**0.28) ** (-1.0 / 0.28)
    rare = rest**0.28 * nearly
    assert nearly < 1.0 - 5e-5
    assert risk.sample_cost([1.0, 2.0], [rest, 1.0]) == pytest.approx(-(1.0 + nearly), rel=1e-14)
    assert risk.sample_cost([-2.0, -1.0], [1.0, rest]) == pytest.approx(2.25 * (1.0 + nearly), rel=1e-14)
    assert risk.sample_cost([-1.0, 1.0], [rest, 1.0]) == pytest.approx(2.25 * rare - nearly, rel=1e-14)


# A measure of one's own


def test_a_few_lines_make_a_measure() -> None:
    for risk in (DualPower(), DualPower(3.5), Satisficing(), Satisficing(0.9)):
        check_risk(risk)
    assert DualPower(3).cost(Uniform(0.0, 1.0)) == pytest.approx(-0.25)  # E min of three
    assert Satisficing().cost(Uniform(0.0, 1.0)) == pytest.approx(-0.375)


# What is refused


@pytest.mark.parametrize("alpha", [0.0, -0.1, 1.1, math.nan, "5%"])
@pytest.mark.parametrize("name", ["var", "cvar", "mean-cvar", "mixed"])
def test_levels_outside_the_unit_interval_are_refused(name: str, alpha: float) -> None:
    with pytest.raises(PrudentError, match=f"{name}: alpha must"):
        registry.get(name).factory(alpha=alpha)


@pytest.mark.parametrize(
    "spec",
    [
        *("entropic(0)", "entropic(inf)", "semivariance(nan)", "sharpe(0)", "mean-cvar(0.1, 2)", "mixed(-1)"),
        *("proportional-hazard(0)", "proportional-hazard(1.5)", "exponential-spectrum(0)", "exponential-utility(-1)"),
        *("loss-averse(0.5)", "loss-averse(reference=inf)", "wang(-1)", "evar(0)", "expectile(0.6)", "shortfall(0.5)"),
        *("shortfall(2, 0)", "cpt(2)", "cpt(gains=0.1)", "cpt(aversion=0)"),
    ],
)
def test_bad_parameters_are_refused(spec: str) -> None:
    with pytest.raises(PrudentError, match=rf"{spec.split('(', maxsplit=1)[0]}: \w+ must lie in"):
        registry.parse(spec)


def test_an_infinite_quantile_is_refused() -> None:
    with pytest.raises(PrudentError, match=r"var: gaussian\(0.0, 1.0\) has no largest reward; take alpha below 1"):
        VaR(1.0).cost(Gaussian(0.0, 1.0))
    assert VaR(1.0).cost(Uniform(0.0, 2.0)) == -2.0


@pytest.mark.parametrize(
    ("degrees", "missing"),
    [
        (1.0, set(registry.names()) - {"var"}),
        (1.5, {"variance", "mean-variance", "mixed", "sharpe", "semivariance", "proportional-hazard", "shortfall"}),
        (2.5, set()),
    ],
)
def test_a_law_without_the_moment_a_measure_needs_stops_it(degrees: float, missing: set[str]) -> None:
    law = StudentT(degrees)
    missing |= {"entropic", "exponential-utility", "evar"}  # of no Student law is e^(−λX) integrable
    for name in registry.names():
        if name in missing:
            with pytest.raises(PrudentError, match=rf"student-t\({degrees}.*(mean|variance|moment|utility)"):
                registry.parse(name).cost(law)
        else:
            assert math.isfinite(registry.parse(name).cost(law))


def test_heavy_tails_can_be_played_by_value_at_risk() -> None:
    bandit, risk = Bandit([StudentT(1.0, 0.0), StudentT(1.0, 2.0)]), VaR(0.1)
    assert bandit.best(risk) == 1
    assert bandit.gaps(risk) == pytest.approx([2.0, 0.0])
    assert simulate(bandit, EpsilonGreedy(0.1), risk=risk, horizon=50, runs=3).pulls.sum() == 150


# Intervals


def test_the_band_gives_the_intervals_of_thomas_and_learned_miller() -> None:
    """Theorems 3 and 4 of the paper as printed, for the losses −X with support [−high, −low]."""
    rng, n, failure, low, high = np.random.default_rng(0), 80, 0.1, -0.2, 1.5
    for alpha in (0.05, 0.3, 1.0):
        x = rng.beta(2.0, 3.0, n)
        width = math.sqrt(math.log(2.0 / failure) / (2 * n))
        z = np.concatenate([[-high], np.sort(-x), [-low]])
        i = np.arange(n + 1) / n
        most = z[-1] - (np.diff(z)[1:] * np.maximum(i[1:] - width - (1 - alpha), 0.0)).sum() / alpha
        least = z[n] - (np.diff(z)[:n] * np.maximum(np.minimum(i[:n] + width, 1.0) - (1 - alpha), 0.0)).sum() / alpha
        assert CVaR(alpha).interval(x, 1.0 - failure, (low, high)) == pytest.approx((least, most))


def test_value_at_risk_needs_a_support_only_where_the_band_leaves_the_sample() -> None:
    x = np.arange(1_000) / 1_000.0
    width = math.sqrt(math.log(40.0) / 2_000.0)
    low, high = VaR(0.5).interval(x)
    assert (low, high) == (-x[math.ceil((0.5 + width) * 1_000) - 1], -x[math.ceil((0.5 - width) * 1_000) - 1])
    assert VaR(0.01).interval(x).high == math.inf
    assert VaR(0.01).interval(x, support=(-1.0, 1.0)).high == 1.0
    assert CVaR(0.5).interval(x, support=(-1.0, math.inf)).high < math.inf


def test_small_variances_have_small_intervals() -> None:
    """Bounded differences alone would give ±0.035 at any variance."""
    x = 0.5 + 0.01 * np.sin(np.arange(2_000.0))
    low, high = MeanVariance(0.0).interval(x, support=(0.0, 1.0))
    assert high - low < 0.01
    low, high = MeanVariance(1.0).interval(x, support=(0.0, 1.0))
    assert high - low < 0.03
