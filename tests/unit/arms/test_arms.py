"""Reward laws: known values, other people's formulas, random parameters, and bad ones."""

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prudent import (
    Bernoulli,
    Beta,
    Clipped,
    Deterministic,
    Empirical,
    EVaR,
    Exponential,
    Gaussian,
    Law,
    Mixture,
    PrudentError,
    StudentT,
    TruncatedGaussian,
    Uniform,
)
from prudent.arms import sampling
from prudent.arms.base import arms as registry
from prudent.arms.base import encode
from prudent.risk.base import risks
from prudent.testing import check_arm

INF = math.inf

EXAMPLES = {
    "bernoulli": ["bernoulli(0.3)", "bernoulli(0)", "bernoulli(1)", "bernoulli(0.0001)"],
    "beta": ["beta(1, 3)", "beta(0.5, 0.5)", "beta(0.05, 2)", "beta(300, 200)"],
    "clipped": ["clipped(log-normal(0, 1), 0, 5)", "clipped(gaussian(0.5, 1), 0, 1)", "clipped(poisson(3), 1, 5)"],
    "deterministic": ["deterministic(-2)", "deterministic(0)"],
    "empirical": ["empirical([1, 2, 2, 5])", "empirical([0.1, 0.1, 0.1])"],
    "exponential": ["exponential(2)", "exponential(1e-8)"],
    "from-scipy": [
        "from-scipy(weibull_min, [2.0], 0, 3)",
        "from-scipy(binom, [10, 0.3])",
        "from-scipy('norm', [], 1, 2)",
    ],
    "gamma": ["gamma(2, 1.5)", "gamma(0.1, 10)", "gamma(1e4, 1)"],
    "gaussian": ["gaussian(1, 0.05)", "gaussian(0, 0)", "gaussian(1e6, 1e-6)"],
    "laplace": ["laplace(0, 1)", "laplace(5, 0.1)"],
    "log-normal": ["log-normal(0, 0.5)", "log-normal(1, 1.5)"],
    "mixture": [
        "mixture([deterministic(0), gaussian(1, 0.1)], [0.01, 0.99])",
        "mixture([bernoulli(0.5), mixture([uniform(0, 2), exponential(1)])], [1, 2])",
        "mixture([gaussian(0, 1), exponential(1)], [1, 0])",
        "mixture([truncated-gaussian(0, 1, -1, 1), empirical([-1, 3])], [0.3, 0.7])",
    ],
    "pareto": ["pareto(3, 1)", "pareto(5, 0.1)"],
    "poisson": ["poisson(3)", "poisson(0.01)", "poisson(1000)"],
    "student-t": ["student-t(5, 1, 2)", "student-t(30, -1, 0.1)"],
    "truncated-gaussian": [
        "truncated-gaussian(0, 1, -1, 1)",
        "truncated-gaussian(3, 2, 10, 12)",
        "truncated-gaussian(0, 1, 20, inf)",
        "truncated-gaussian(0, 1, -inf, -5)",
        "truncated-gaussian(0, 1, -inf, 1)",
        "truncated-gaussian(0, 1, 0, 1e-4)",
    ],
    "uniform": ["uniform(-1, 2)"],
}


@pytest.mark.parametrize("name", registry.names())
def test_every_registered_arm_keeps_the_contract(name: str) -> None:
    assert name in EXAMPLES, "give the new arm examples above"
    for spec in EXAMPLES[name]:
        check_arm(registry.parse(spec))


def test_a_long_sample_keeps_the_contract() -> None:
    check_arm(Empirical(np.random.default_rng(0).standard_exponential(3_000)), printable=False)


# Known values


def test_gaussian() -> None:
    law = Gaussian(1.0, 4.0)
    assert (law.mean, law.variance, law.support) == (1.0, 4.0, (-INF, INF))
    assert law.quantile(0.975) == pytest.approx(1.0 + 2.0 * 1.959963984540054)
    assert law.lower_tail_mean(0.05) == pytest.approx(1.0 - 2.0 * stats.norm.pdf(stats.norm.ppf(0.05)) / 0.05)
    assert law.quantile(1.0) == INF
    assert law.partial_mean(INF) == 1.0
    assert law.partial_mean(-INF) == 0.0


def test_a_gaussian_without_variance_is_a_constant() -> None:
    law = Gaussian(0.5, 0.0)
    assert law.support == (0.5, 0.5)
    assert (law.cdf(0.4999), law.cdf(0.5)) == (0.0, 1.0)
    assert law.quantile(0.01) == law.lower_tail_mean(0.3) == law.quantile(1.0) == 0.5
    assert (law.sample(np.random.default_rng(0), 5) == 0.5).all()


def test_bernoulli() -> None:
    law = Bernoulli(0.3)
    assert (law.mean, law.variance, law.support) == (0.3, pytest.approx(0.21), (0.0, 1.0))
    assert [law.cdf(x) for x in (-0.1, 0.0, 0.5, 1.0)] == [0.0, 0.7, 0.7, 1.0]
    assert [law.quantile(alpha) for alpha in (0.1, 0.7, 0.71, 1.0)] == [0.0, 0.0, 1.0, 1.0]
    assert law.lower_tail_mean(0.8) == pytest.approx((0.8 - 0.7) / 0.8)
    assert Bernoulli(1).support == (1.0, 1.0)
    assert Bernoulli(0).support == (0.0, 0.0)


def test_beta() -> None:
    law = Beta(1.0, 3.0)
    assert (law.mean, law.variance) == (0.25, pytest.approx(3.0 / 80.0))
    assert law.cdf(0.2) == pytest.approx(1.0 - 0.8**3)
    assert law.quantile(0.271) == pytest.approx(0.1)
    assert law.partial_mean(2.0) == pytest.approx(0.25)


def test_uniform() -> None:
    law = Uniform(-1.0, 3.0)
    assert (law.mean, law.variance) == (1.0, pytest.approx(16.0 / 12.0))
    assert law.quantile(0.25) == 0.0
    assert law.lower_tail_mean(0.25) == pytest.approx(-0.5)


def test_exponential() -> None:
    law = Exponential(2.0)
    assert (law.mean, law.variance, law.support) == (2.0, 4.0, (0.0, INF))
    assert law.quantile(1.0 - math.exp(-1.0)) == pytest.approx(2.0)
    for alpha in (1e-6, 0.05, 0.5, 0.999):
        closed = 2.0 * (1.0 + (1.0 - alpha) * math.log1p(-alpha) / alpha)
        assert law.lower_tail_mean(alpha) == pytest.approx(closed, rel=1e-6)


@pytest.mark.parametrize("degrees", [0.5, 1.0, 1.5, 2.0, 3.0, 50.0])
def test_student_t_agrees_with_scipy(degrees: float) -> None:
    law, other = StudentT(degrees, -1.0, 2.0), stats.t(degrees, -1.0, 2.0)
    for alpha in (1e-4, 0.05, 0.5, 0.95):
        assert law.quantile(alpha) == pytest.approx(float(other.ppf(alpha)), rel=1e-9)
        assert law.cdf(law.quantile(alpha)) == pytest.approx(alpha, rel=1e-9)
    for moment, least in (("mean", 1.0), ("variance", 2.0)):
        if degrees <= least:
            with pytest.raises(PrudentError, match=rf"student-t\({degrees}, -1.0, 2.0\): it has no {moment}; take"):
                getattr(law, moment)
    if degrees > 1.0:
        part = other.expect(lambda x: x, ub=0.3) if degrees > 2.0 else law.expectation(lambda x: x * (x <= 0.3))
        assert law.partial_mean(0.3) == pytest.approx(part, rel=1e-6)
        assert law.mean == -1.0
    if degrees > 2.0:
        assert law.variance == pytest.approx(float(other.var()))
    assert np.isfinite(law.sample(np.random.default_rng(0), 1_000)).all()


@pytest.mark.parametrize("spec", [spec for specs in EXAMPLES.values() for spec in specs])
def test_expectations_agree_with_the_moments(spec: str) -> None:
    law = registry.parse(spec)
    scale = abs(law.mean) + math.sqrt(law.variance)
    assert law.expectation(np.ones_like) == pytest.approx(1.0, abs=1e-12)
    assert law.expectation(lambda x: x) == pytest.approx(law.mean, abs=1e-9 * scale)
    second = law.expectation(lambda x: (x - law.mean) ** 2)
    assert second == pytest.approx(law.variance, rel=1e-6, abs=1e-20)
    middle = law.quantile(0.37)
    assert law.expectation(lambda x: (x <= middle).astype(float)) == pytest.approx(law.cdf(middle), abs=1e-6)
    assert law.expectation(lambda x: x * (x <= middle)) == pytest.approx(law.partial_mean(middle), abs=1e-6 * scale)


def test_an_infinite_expectation_is_an_error_that_names_the_law_and_the_moment() -> None:
    for law in (StudentT(2.0), Mixture([StudentT(2.5), Gaussian(0.0, 1.0)])):
        with pytest.raises(PrudentError, match=r"student-t\(2.*\): its third moment is infinite"):
            law.expectation(lambda x: np.abs(x) ** 3, "third moment")


@pytest.mark.parametrize("degrees", [0.1, 0.2, 0.5, 0.7])
def test_the_far_tail_of_student_t_is_a_power(degrees: float) -> None:
    """P(X < −x) ~ c x^(−degrees): quantiles go on where SciPy's stop, so no infinite moment passes for a finite one."""
    law = StudentT(degrees)
    for alpha in (1e-20, 1e-26, 1e-30):
        if math.isfinite(law.quantile(alpha / 10)):
            ratio = law.quantile(alpha / 10) / law.quantile(alpha)
            assert math.log10(ratio) == pytest.approx(1.0 / degrees, rel=1e-6)
    with pytest.raises(PrudentError, match="its second moment is infinite"):
        law.expectation(np.square, "second moment")


def test_atoms_are_the_law_of_finite_laws() -> None:
    law = Mixture([Bernoulli(0.5), Deterministic(1.0), Uniform(0.0, 1.0), Empirical([0.0, 4.0])], [1.0, 2.0, 0.0, 1.0])
    values, probabilities = law.atoms()
    assert values.tolist() == [0.0, 1.0, 4.0]
    assert probabilities == pytest.approx([0.25, 0.625, 0.125])
    assert Mixture([law, Uniform(0.0, 1.0)]).atoms() is None


def test_deterministic() -> None:
    law = Deterministic(-2.0)
    assert (law.mean, law.variance, law.support) == (-2.0, 0.0, (-2.0, -2.0))
    assert law.lower_tail_mean(0.01) == pytest.approx(-2.0)


@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (-INF, 0.3), (2, INF), (5, 6), (10, 10.5), (-20, -12), (30, INF), (-31, -30), (0, 3)]
)
def test_truncated_gaussian_agrees_with_scipy(low: float, high: float) -> None:
    law, other = TruncatedGaussian(0.5, 2.0, 0.5 + 2.0 * low, 0.5 + 2.0 * high), stats.truncnorm(low, high, 0.5, 2.0)
    assert law.mean == pytest.approx(float(other.mean()), rel=1e-9)
    assert law.variance == pytest.approx(float(other.var()), rel=1e-5)
    for alpha in (1e-4, 0.05, 0.5, 0.95, 1.0 - 1e-4):
        assert law.quantile(alpha) == pytest.approx(float(other.ppf(alpha)), rel=1e-9)
        assert law.cdf(float(other.ppf(alpha))) == pytest.approx(alpha, rel=1e-6)


def test_the_moments_of_a_nearly_uniform_truncation_are_those_of_the_uniform_law() -> None:
    """The two differ by a share of 1e-15; with e^(−λX) the density is that of a Gaussian a million sd further down."""
    law, flat = TruncatedGaussian(0.3, 1e7, 0.0, 1.0), Uniform(0.0, 1.0)
    for lam in (0.5, 2.0, 50.0, 1e5):
        assert law.log_laplace(lam) == pytest.approx(flat.log_laplace(lam), rel=1e-12)
        assert TruncatedGaussian(0.3, 3.0, 0.0, 1.0).log_laplace(lam) == pytest.approx(
            Law.log_laplace(TruncatedGaussian(0.3, 3.0, 0.0, 1.0), lam), rel=1e-9
        )
    assert EVaR(0.01).cost(law) == pytest.approx(EVaR(0.01).cost(flat), rel=1e-9)


@pytest.mark.parametrize("width", [0.5, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("low", [-3.0, 0.0, 1.0, 20.0])
def test_a_narrow_truncation_is_nearly_uniform(low: float, width: float) -> None:
    # The density exp(−z²/2) tilts by less than (|low| + width)·width over the interval.
    law, tilt = TruncatedGaussian(0.0, 1.0, low, low + width), (abs(low) + width) * width
    assert law.mean == pytest.approx(low + 0.5 * width, abs=tilt * width + 1e-15)
    assert law.variance == pytest.approx(width**2 / 12.0, rel=tilt + 1e-6)


def test_mixture_with_atoms() -> None:
    law = Mixture([Deterministic(0.0), Uniform(0.0, 1.0), Deterministic(1.0)], [1, 2, 1])
    assert law.weights == (0.25, 0.5, 0.25)
    assert (law.mean, law.support) == (0.5, (0.0, 1.0))
    assert law.variance == pytest.approx(0.25 * 0.25 * 2 + 0.5 / 12.0)
    assert [law.cdf(x) for x in (-1e-9, 0.0, 0.5, 1.0 - 1e-12, 1.0)] == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
    assert [law.quantile(alpha) for alpha in (0.01, 0.25, 0.5, 0.76, 1.0)] == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])
    assert law.quantile(0.25) == 0.0
    assert law.lower_tail_mean(0.5) == pytest.approx(0.5 * 0.25)


def test_mixture_weights_are_equal_by_default_and_zero_is_absence() -> None:
    assert Mixture([Deterministic(0), Deterministic(1)]).weights == (0.5, 0.5)
    assert Mixture([Deterministic(0), Gaussian(0, 1)], [1, 0]).support == (0.0, 0.0)


def test_empirical() -> None:
    law = Empirical([3.0, 1.0, 2.0, 2.0])
    assert law.values.tolist() == [1.0, 2.0, 2.0, 3.0]
    assert (law.mean, law.variance, law.support) == (2.0, 0.5, (1.0, 3.0))
    assert [law.cdf(x) for x in (0.9, 1.0, 2.0, 3.0)] == [0.0, 0.25, 0.75, 1.0]
    assert [law.quantile(alpha) for alpha in (0.25, 0.26, 0.75, 0.76, 1.0)] == [1.0, 2.0, 2.0, 3.0, 3.0]
    assert law.lower_tail_mean(0.5) == pytest.approx(1.5)
    assert law.lower_tail_mean(0.3) == pytest.approx((0.25 * 1.0 + 0.05 * 2.0) / 0.3)


@given(st.integers(1, 500), st.integers(1, 500))
def test_the_quantile_at_k_of_n_is_the_kth_value(n: int, k: int) -> None:
    k = min(k, n)
    assert Empirical(np.arange(1, n + 1)).quantile(k / n) == k


def test_empirical_laws_are_values() -> None:
    law = Empirical([1, 2, 3])
    assert law == Empirical([3, 1, 2])
    assert hash(law) == hash(Empirical([3, 2, 1]))
    assert law != Empirical([1, 2])
    assert law != Gaussian(2, 1)
    assert hash(Empirical([0.0])) == hash(Empirical([-0.0]))
    with pytest.raises(ValueError, match="read-only"):
        law.values[0] = 9.0
    given_array = np.array([1.0, 2.0])
    assert Empirical(given_array).mean == 1.5
    given_array[0] = 5.0  # the caller's array stays writable and is not shared


def test_a_long_sample_prints_a_digest() -> None:
    one, other = Empirical(np.arange(30)), Empirical(np.arange(1, 31))
    assert str(one).startswith("empirical(30 values, ")
    assert str(one) != str(other)
    assert str(one) == str(Empirical(np.arange(30)))


# Random parameters

reals = st.floats(-100, 100).filter(lambda x: x == 0.0 or abs(x) > 1e-6)
positive = st.floats(1e-3, 50)
shapes = st.floats(0.1, 50)
levels = st.floats(1e-6, 1.0)


@st.composite
def truncated(draw: st.DrawFn) -> Law:
    scale, low, width = draw(positive), draw(st.floats(-8, 8)), draw(st.floats(0.01, 10))
    center = draw(st.floats(-10, 10))
    return TruncatedGaussian(center, scale, center + scale * low, center + scale * (low + width))


simple = st.one_of(
    st.builds(Gaussian, reals, positive),
    st.builds(Bernoulli, st.floats(0, 1)),
    st.builds(Deterministic, reals),
    st.builds(Beta, shapes, shapes),
    st.builds(lambda low, width: Uniform(low, low + width), reals, positive),
    st.builds(Exponential, positive),
    st.builds(Empirical, st.lists(reals, min_size=1, max_size=15)),
    truncated(),
)
weights = st.floats(0, 10).map(lambda w: round(w, 3))


@st.composite
def mixtures(draw: st.DrawFn) -> Law:
    parts = draw(st.lists(simple, min_size=1, max_size=4))
    return Mixture(parts, [draw(weights) + (i == 0) for i in range(len(parts))])


laws = st.one_of(simple, mixtures())


@pytest.mark.slow
@settings(max_examples=20)
@given(laws)
def test_random_laws_keep_the_contract(law: Law) -> None:
    check_arm(law)


@settings(max_examples=200)
@given(laws, levels, levels)
def test_tail_means_rise_to_the_mean(law: Law, alpha: float, beta: float) -> None:
    low, high = sorted((alpha, beta))
    slack = 1e-7 * (1.0 + abs(law.mean) + math.sqrt(law.variance)) / low * 1e-3
    assert law.quantile(low) <= law.quantile(high)
    assert law.lower_tail_mean(low) <= law.lower_tail_mean(high) + slack
    assert law.lower_tail_mean(high) <= law.mean + slack
    assert law.lower_tail_mean(low) <= law.quantile(low) + slack


@settings(max_examples=200)
@given(laws)
def test_a_spec_builds_the_same_law(law: Law) -> None:
    again = registry.parse(str(law))
    assert again == law
    assert hash(again) == hash(law)
    assert registry.parse(str(again)) == again


@given(st.floats(0.05, 100), st.floats(0.05, 100), st.floats(0, 1))
def test_beta_agrees_with_scipy(a: float, b: float, x: float) -> None:
    law, other = Beta(a, b), stats.beta(a, b)
    assert (law.mean, law.variance) == (pytest.approx(float(other.mean())), pytest.approx(float(other.var())))
    assert law.cdf(x) == pytest.approx(float(other.cdf(x)))


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_beta_from_its_moments(mean: float, share: float) -> None:
    law = Beta.from_moments(mean, share * mean * (1 - mean))
    assert law.mean == pytest.approx(mean)
    assert law.variance == pytest.approx(share * mean * (1 - mean))


# Bad parameters


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (Gaussian, {"mean": 0.0, "variance": 1.0}),
        (Bernoulli, {"success": 0.5}),
        (Deterministic, {"value": 1.0}),
        (Beta, {"a": 1.0, "b": 3.0}),
        (Uniform, {"low": 0.0, "high": 1.0}),
        (Exponential, {"mean": 1.0}),
        (TruncatedGaussian, {"center": 0.0, "scale": 1.0, "low": -1.0, "high": 1.0}),
    ],
)
@pytest.mark.parametrize("bad", [math.nan, "1.0", True, None, 1j, [1.0], 10**400])
def test_a_bad_number_is_named(make: type, parameters: dict[str, float], bad: object) -> None:
    for name in parameters:
        with pytest.raises(PrudentError, match=rf"{make.name}: .*\b{name}\b"):
            make(**{**parameters, name: bad})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0, -1), "gaussian: variance must lie in .*got -1; pass the variance"),
        (lambda: Gaussian(INF, 1), "gaussian: mean must lie in"),
        (lambda: Gaussian(0, INF), "gaussian: variance must lie in"),
        (lambda: Bernoulli(1.1), r"bernoulli: success must lie in \[0, 1\], got 1.1"),
        (lambda: Bernoulli(-0.1), "bernoulli: success"),
        (lambda: Deterministic(-INF), "deterministic: value"),
        (lambda: Beta(0, 1), r"beta: a must lie in \(0, ∞\), got 0"),
        (lambda: Beta(1, INF), "beta: b"),
        (lambda: Beta.from_moments(0.5, 0.25), r"beta: variance must lie in \(0, 0.25\), got 0.25; a law on"),
        (lambda: Beta.from_moments(0.5, 0), "beta: variance must lie in"),
        (lambda: Beta.from_moments(1, 0.1), r"beta: mean must lie in \(0, 1\), got 1"),
        (lambda: Uniform(1, 1), "uniform: low must be below high"),
        (lambda: Uniform(2, 1), "swap them"),
        (lambda: Uniform(0, INF), "uniform: high"),
        (lambda: Exponential(0), "exponential: mean .*not the rate"),
        (lambda: TruncatedGaussian(0, 0, -1, 1), "truncated-gaussian: scale"),
        (lambda: TruncatedGaussian(0, 1, 1, -1), "truncated-gaussian: low must be below high"),
        (lambda: TruncatedGaussian(0, 1, 50, 60), "too far from center"),
        (lambda: Exponential(1e200), "exponential: its mean or variance is too large"),
        (lambda: Uniform(-1e308, 1e308), "uniform: its mean or variance is too large"),
        (lambda: Gaussian(1e200, 1), "gaussian: its mean or variance is too large"),
        (lambda: Deterministic(-1e71), "deterministic: its mean or variance is too large"),
        (lambda: Mixture([Deterministic(1e70), Deterministic(-1e70)], [0, 0]), "mixture: weights"),
        (lambda: Beta(1e-100, 1e-100), r"beta: a \+ b must lie in \[1e-05, 1e\+100\], got 2e-100; .* take bernoulli"),
        (lambda: Beta(4e-6, 5e-6), r"beta: a \+ b must lie in"),
        (lambda: Beta(1e308, 1e308), r"beta: a \+ b must lie in .* got inf"),
        (lambda: StudentT(0.1, 0, 1e3), "student-t: rewards would leave the range of floats; take more degrees"),
        (lambda: StudentT(3, 1e71, 1), "student-t: rewards would leave the range of floats"),
        (lambda: TruncatedGaussian(0, 1e-71, 0, 1), "truncated-gaussian: scale must lie in"),
        (lambda: StudentT(3, 0, 1e-71), "student-t: scale must lie in"),
        (lambda: TruncatedGaussian(0, 1, 0, 5e-324), "too short, or too far from center"),
        (lambda: TruncatedGaussian(0, 1, 1e69, INF), "too short, or too far from center"),
        (lambda: TruncatedGaussian(0, 1, -1, 1e308), "truncated-gaussian: its numbers are too large for floats"),
        (lambda: TruncatedGaussian(1e308, 1, -1, 1), "truncated-gaussian: its numbers are too large for floats"),
        (lambda: Mixture([]), "mixture: components must be a non-empty list"),
        (lambda: Mixture(Gaussian(0, 1)), "mixture: components must be a non-empty list"),
        (lambda: Mixture([1.0]), "mixture: components"),
        (lambda: Mixture(["gausian(0, 1)"]), "unknown arm .gausian.; did you mean gaussian"),
        (lambda: Mixture([Gaussian(0, 1)], [1, 2]), "mixture: weights must be 1 numbers .*one weight per component"),
        (lambda: Mixture([Gaussian(0, 1)], [0]), "mixture: weights"),
        (lambda: Mixture([Gaussian(0, 1)], 0.5), "mixture: weights must be a list"),
        (lambda: Mixture([Gaussian(0, 1)] * 2, [2, -1]), "mixture: weights"),
        (lambda: Mixture([Gaussian(0, 1)], [math.nan]), "mixture: weights"),
        (lambda: Empirical([]), "empirical: values must be one or more finite numbers, got 0"),
        (lambda: Empirical([1.0, math.nan]), "empirical: values"),
        (lambda: Empirical([INF]), "empirical: values"),
        (lambda: Empirical(["one"]), "empirical: values must be numbers"),
        (lambda: Empirical([[1.0, 2.0], [3.0]]), "empirical: values must be numbers"),
        (lambda: Empirical([1 + 2j]), "empirical: values must be numbers"),
        (lambda: Empirical(np.array([1 + 0j])), "empirical: values must be numbers"),
        (lambda: Empirical(["1", "2"]), "empirical: values must be numbers"),
        (lambda: Empirical(np.array(["2020-01-01"], "M8[D]")), "empirical: values must be numbers"),
        (lambda: Empirical([10**400]), "empirical: values must be numbers"),
    ],
)
def test_bad_parameters_are_refused(make: object, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        make()  # type: ignore[operator]


EXTREME = [
    "beta(5e-6, 5e-6)", "beta(1e-5, 1e-300)", "beta(1e-300, 1)", "beta(1, 1e99)", "beta(1e16, 1e16)",
    "beta(1e99, 1e99)", "exponential(1e69)", "exponential(1e-320)", "gaussian(1e70, 1e140)", "gaussian(0, 5e-324)",
    "student-t(0.1)", "student-t(1e308, 1e70, 1e69)", "student-t(0.1, 0, 1e-70)", "uniform(-1e70, 1e70)",
    "uniform(1, 1.0000000000000002)", "truncated-gaussian(0, 1e-70, 0, 1)", "truncated-gaussian(0, 1, 33, inf)",
    "truncated-gaussian(0, 1, -inf, -33)", "truncated-gaussian(1e69, 1, 1e69, inf)",
    "truncated-gaussian(0, 1e-70, 0, 1e-70)", "truncated-gaussian(0, 1e-70, -1e70, 1)", "bernoulli(5e-324)",
    "mixture([gaussian(0, 1), gaussian(1, 1)], [1e308, 1e308])", "mixture([gaussian(0, 1), beta(1, 1)], [5e-324, 0])",
    "mixture([deterministic(1e70), deterministic(-1e70)])", "empirical([1e70, -1e70])", "deterministic(5e-324)",
]  # fmt: skip


@pytest.mark.parametrize("spec", EXTREME)
def test_laws_at_their_limits_draw_rewards_whose_squares_are_numbers(spec: str) -> None:
    law = registry.parse(spec)
    rewards = law.sample(np.random.default_rng(1), 1_000)
    assert ((law.support[0] <= rewards) & (rewards <= law.support[1])).all()
    assert np.isfinite(rewards).all()
    assert math.isfinite(rewards.var())
    for measure in ("mean-variance", "var", "cvar", "mean-cvar", "entropic", "loss-averse"):
        with contextlib.suppress(PrudentError):  # a moment that it lacks
            assert not math.isnan(risks.parse(measure).cost(law))


@pytest.mark.parametrize("alpha", [0.0, -1.0, 1.0001, math.nan, "0.5", True])
def test_levels_outside_0_1_are_refused(alpha: float) -> None:
    for law in (Gaussian(0, 1), Bernoulli(0.5), Mixture([Gaussian(0, 1)]), Empirical([1]), Deterministic(0)):
        for method in (law.quantile, law.lower_tail_mean):
            with pytest.raises(PrudentError, match=f"{law.name}: alpha must"):
                method(alpha)


# Laws as numbers


def test_a_mixture_queues_its_components_behind_the_arms() -> None:
    inner = Mixture([Uniform(0, 1), Deterministic(5)])
    table = encode([Mixture([Gaussian(0, 1), inner], [1, 3]), Bernoulli(0.5)])
    kinds = [sampling.MIXTURE, sampling.BERNOULLI, sampling.GAUSSIAN, sampling.MIXTURE]
    assert table.kind.tolist() == [*kinds, sampling.UNIFORM, sampling.DETERMINISTIC]
    at = table.start.tolist()
    assert table.table[at[0] : at[1]].tolist() == [2.0, 2.0, 0.25, 1.0]
    assert table.table[at[3] : at[4]].tolist() == [2.0, 4.0, 0.5, 1.0]


def test_samples_repeat_with_their_stream() -> None:
    law = Beta(1, 3)
    one, two, other = (law.sample(np.random.default_rng(seed), 100) for seed in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()


def test_statistics_come_together_as_if_never_apart() -> None:
    x = np.random.default_rng(0).normal(3.0, 2.0, 50)
    mean = variance = 0.0
    for count, reward in enumerate(x, start=1):
        mean, variance = sampling.include(count, mean, variance, reward)
    assert (mean, variance) == (pytest.approx(x.mean()), pytest.approx(x.var()))
    left, right = x[:13], x[13:]
    assert sampling.merge(13, left.mean(), left.var(), 37, right.mean(), right.var()) == pytest.approx(
        (x.mean(), x.var())
    )
    assert sampling.merge(0, 0.0, 0.0, 0, 0.0, 0.0) == (0.0, 0.0)
    assert sampling.draw_block(encode([Gaussian(3, 2)]), 0, 0, np.random.default_rng(0)) == (0.0, 0.0)


def test_a_clipped_distribution_has_the_moments_and_tails_of_clipped_rewards():
    """Closed forms: E min(max(Z, a), b) for a standard normal Z, and an exponential cut at b."""
    law = Clipped(Gaussian(0.0, 1.0), -1.0, 0.5)
    inner, below, above = stats.norm.pdf(-1.0) - stats.norm.pdf(0.5), stats.norm.cdf(-1.0), stats.norm.sf(0.5)
    assert law.mean == pytest.approx(inner - below + 0.5 * above, rel=1e-12)
    assert law.cdf([-1.01, -1.0, 0.0, 0.5]) == pytest.approx([0.0, below, 0.5, 1.0], abs=1e-15)
    assert law.partial_mean(-1.0) == pytest.approx(-below, rel=1e-12)
    assert law.lower_tail_mean(0.1) == pytest.approx(-1.0, rel=1e-12)
    assert law.upper_tail_mean(0.3) == pytest.approx(0.5, rel=1e-12)
    cut = Clipped(Exponential(1.0), high=2.0)
    assert cut.mean == pytest.approx(-math.expm1(-2.0), rel=1e-12)
    assert cut.variance == pytest.approx(2.0 * (1.0 - 3.0 * math.exp(-2.0)) - math.expm1(-2.0) ** 2, rel=1e-10)
    assert registry.parse("clipped(poisson(3), 1, 5)").atoms()[1].sum() == pytest.approx(1.0)
    assert str(registry.parse(str(law))) == str(law)


def test_a_clipped_distribution_refuses_what_leaves_nothing():
    with pytest.raises(PrudentError, match="low must be below high"):
        Clipped(Gaussian(0.0, 1.0), 2.0, 1.0)
    with pytest.raises(PrudentError, match=r"all rewards of exponential.* lie in"):
        Clipped(Exponential(1.0), -3.0, -1.0)


def test_quantiles_and_the_like_take_arrays():
    for law in (Gaussian(1.0, 4.0), Bernoulli(0.3), Clipped(Exponential(1.0), high=2.0)):
        for name in ("quantile", "lower_tail_mean", "upper_tail_mean"):
            method = getattr(law, name)
            np.testing.assert_array_equal(method([[0.2, 0.7]]), [[method(0.2), method(0.7)]])
    with pytest.raises(PrudentError, match="alpha must lie in"):
        Gaussian(1.0, 4.0).quantile([0.5, 2.0])
