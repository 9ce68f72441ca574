"""What a law knows in closed form, against what follows from its quantiles or its values for every law."""

import math

import numpy as np
import pytest

from prudent import Law, PrudentError
from prudent.arms.base import arms

SPECS = {
    "bernoulli": ["bernoulli(0.3)", "bernoulli(0)", "bernoulli(1)"],
    "beta": ["beta(0.4, 0.7)", "beta(30, 2)"],
    "clipped": ["clipped(log-normal(0, 1), 0, 2)", "clipped(gaussian(0.5, 1), -5, 1.5)", "clipped(poisson(3), 1, 5)"],
    "deterministic": ["deterministic(0.3)", "deterministic(-2)"],
    "empirical": ["empirical([0.2, 0.2, 1.5, -3])"],
    "exponential": ["exponential(0.5)"],
    "from-scipy": ["from-scipy(weibull_min, [2.0], 0, 3)", "from-scipy(binom, [6, 0.3])"],
    "gamma": ["gamma(0.3, 2)", "gamma(9, 0.2)"],
    "gaussian": ["gaussian(-2, 0.3)", "gaussian(0.3, 0)"],
    "laplace": ["laplace(0.5, 0.2)"],
    "log-normal": ["log-normal(0.3, 0.4)"],
    "mixture": ["mixture([gaussian(0, 1), beta(2, 1), poisson(2)], [0.2, 0.5, 0.3])"],
    "pareto": ["pareto(4.5, 0.3)"],
    "poisson": ["poisson(0.2)", "poisson(40)"],
    "student-t": ["student-t(6, 0.3, 0.2)"],
    "truncated-gaussian": ["truncated-gaussian(0.2, 1, 0, 2)"],
    "uniform": ["uniform(-3, 0.5)"],
}
LAWS = [spec for specs in SPECS.values() for spec in specs]
PLACES = [-3.0, -1.0, 0.0, 0.2, 0.3, 1.0, 1.5, 2.5, 37.0]
LEVELS = [0.01, 0.3, 0.5, 0.7, 0.95]


def test_every_law_is_tried():
    ours = {entry.name for entry in arms.entries() if entry.factory.__module__.startswith("prudent.")}
    assert set(SPECS) == ours


def same(found, wanted, law):
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-7 * (1.0 + abs(law.mean)))


@pytest.mark.parametrize("spec", LAWS)
def test_moments_and_parts_of_the_mean_are_integrals(spec):
    law = arms.parse(spec)
    same(law.expectation(lambda x: x), law.mean, law)
    same(law.expectation(lambda x: (x - law.mean) ** 2), law.variance, law)
    if (atoms := law.atoms()) is not None:
        values, weights = atoms
        for x in PLACES:
            same(law.cdf(x), weights[values <= x].sum(), law)
            same(law.partial_mean(x), (weights * values)[values <= x].sum(), law)
    else:
        for x in PLACES:
            below, above = (float(part[0]) for part in law.masses(np.array([x])))
            assert below + above == pytest.approx(1.0)
            same(law.cdf(x), below, law)
            inside = law.tail(np.exp(-np.linspace(0.7, 20.0, 9)))
            same(law.cdf(float(inside[3])), math.exp(-np.linspace(0.7, 20.0, 9)[3]), law)


@pytest.mark.parametrize("spec", [spec for spec in LAWS if not spec.startswith("mixture")])
def test_tails_are_means_of_quantiles(spec):
    """By the middle of many equal slices of the levels; a slice is 1e-5 of them."""
    law = arms.parse(spec)
    levels = (np.arange(100_000) + 0.5) / 100_000
    half = levels[:50_000]
    quantiles = np.concatenate([law.tail(half), law.tail(half[::-1], upper=True)])
    assert (np.diff(quantiles) >= 0.0).all()
    room = 2e-3 * (math.sqrt(law.variance) + 1e-9)
    for level in LEVELS:
        part = round(level * 100_000)
        assert law.lower_tail_mean(level) == pytest.approx(quantiles[:part].mean(), abs=room / level)
        assert law.upper_tail_mean(level) == pytest.approx(quantiles[-part:].mean(), abs=room / level)
    assert (law.lower_tail_mean(1.0), law.upper_tail_mean(1.0)) == pytest.approx((law.mean, law.mean), rel=1e-12)


def test_a_mixture_is_the_weighted_sum_of_its_parts():
    """Its quantiles are searched for, so its tails are compared by what they are made of: E[X; X ≤ x] and P(X ≤ x)."""
    law = arms.parse(SPECS["mixture"][0])
    parts = list(zip(law.parts(), (0.2, 0.5, 0.3), strict=True))
    for x in PLACES:
        assert law.cdf(x) == pytest.approx(sum(share * part.cdf(x) for part, share in parts))
        assert law.partial_mean(x) == pytest.approx(sum(share * part.partial_mean(x) for part, share in parts))
    for level in LEVELS:
        q = law.quantile(level)
        assert law.cdf(math.nextafter(q, -math.inf)) <= level <= law.cdf(q) + 1e-9
        below = law.partial_mean(q) + q * (level - law.cdf(q))
        assert law.lower_tail_mean(level) == pytest.approx(below / level, rel=1e-6)
        assert law.upper_tail_mean(1.0 - level) == pytest.approx((law.mean - below) / (1.0 - level), rel=1e-6)


@pytest.mark.parametrize("lam", [1e-3, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("spec", LAWS)
def test_the_exponential_moment_is_an_integral(spec, lam):
    """log E e^(−λX), counted from the median so that it stays within floats; where one is infinite both are refused."""
    law = arms.parse(spec)
    centre = law.quantile(0.5)
    try:
        wanted = math.log(law.expectation(lambda x: np.exp(-lam * (x - centre)))) - lam * centre
    except PrudentError:
        with pytest.raises(PrudentError, match=r"moment|infinite|rests on"):
            law.log_laplace(lam)
        return
    assert law.log_laplace(lam) == pytest.approx(wanted, rel=1e-7, abs=1e-9)
    assert Law.log_laplace(law, lam) == pytest.approx(wanted, rel=1e-7, abs=1e-9)
