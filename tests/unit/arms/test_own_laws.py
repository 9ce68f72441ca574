"""Laws that people bring: by quantiles, by a draw, from SciPy, or as a class; and the table they are drawn from."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

from prudent import Bandit, FromDraw, FromQuantile, FromScipy, Law, LogNormal, Mixture, PrudentError, simulate
from prudent.arms import quantile_tables, sampling
from prudent.arms.base import arms, encode
from prudent.testing import ConformanceError, check_arm

DRAWS = 1_000_000


def larger_of_two(rng):
    return max(rng.random(), rng.random())


LARGER = FromQuantile(np.sqrt, support=(0.0, 1.0), draw=larger_of_two)


class Triangle(Law):
    """A law of one's own that tells its quantiles and nothing it need not."""

    name, mean, variance, support = "triangle", 2 / 3, 1 / 18, (0.0, 1.0)

    def quantile(self, alpha):
        return math.sqrt(self._level(alpha))

    def __str__(self):
        return "triangle()"


@pytest.mark.parametrize(
    ("spec", "scipy"),
    [
        ("log-normal(0.1, 0.5)", stats.lognorm(0.5, scale=math.exp(0.1))),
        ("gamma(2, 1.5)", stats.gamma(2.0, scale=1.5)),
        ("gamma(0.1, 1.5)", stats.gamma(0.1, scale=1.5)),
        ("laplace(1, 2)", stats.laplace(1.0, 2.0)),
        ("pareto(3, 2)", stats.pareto(3.0, scale=2.0)),
        ("poisson(3)", stats.poisson(3.0)),
        ("from-scipy(skewnorm, [4.0])", stats.skewnorm(4.0)),
        ("from-scipy(nbinom, [5, 0.3])", stats.nbinom(5, 0.3)),
    ],
)
def test_moments_and_draws_are_those_of_scipy(spec, scipy):
    law = arms.parse(spec)
    assert law.mean == pytest.approx(scipy.mean(), rel=1e-9, abs=1e-12)
    assert law.variance == pytest.approx(scipy.var(), rel=1e-9)
    assert law.expectation(lambda x: x) == pytest.approx(law.mean, rel=1e-9)
    assert law.expectation(lambda x: (x - law.mean) ** 2) == pytest.approx(law.variance, rel=1e-9)
    for x in scipy.ppf([0.01, 0.3, 0.9]):
        assert law.cdf(x) == pytest.approx(scipy.cdf(x), rel=1e-9)
        below = (
            scipy.expect(lambda y: y, ub=x) if law.atoms() is None else sum(k * scipy.pmf(k) for k in range(int(x) + 1))
        )
        assert law.partial_mean(x) == pytest.approx(below, rel=1e-7, abs=1e-9)
    rewards = law.sample(np.random.default_rng(5), DRAWS)
    if law.atoms() is None:
        p = stats.kstest(rewards, scipy.cdf).pvalue
    else:
        values, counts = np.unique(rewards, return_counts=True)
        wanted = scipy.pmf(values) * DRAWS
        common = wanted > 10
        p = stats.chi2.sf(((counts - wanted) ** 2 / wanted)[common].sum(), common.sum() - 1)
    assert p > 1e-6


@pytest.mark.parametrize(
    "law", [arms.parse(s) for s in ("log-normal(0, 1)", "gamma(0.3, 1)", "pareto(2.5, 1)", "laplace(0, 1)")]
)
def test_the_table_is_within_its_error(law):
    """Every reward against the quantile at the uniform number that it was made from."""
    size = 20_000
    u = np.concatenate(
        [np.random.default_rng(3).random(size), 2.0 ** -np.arange(1.0, 53.0), 1.0 - 2.0 ** -np.arange(1.0, 53.0)]
    )

    class Given:
        """Gives these numbers one after the other."""

        def __init__(self):
            self.numbers = iter(u)

        def random(self):
            return next(self.numbers)

    given, laws = Given(), encode([law])
    drawn = np.array([sampling.tabled.py_func(laws.table, 0, given) for _ in u])
    level, upper = np.minimum(u, 1.0 - u), u > 0.5
    exact = np.where(upper, law.tail(level, upper=True), law.tail(level))
    size = law.quantile(0.75) - law.quantile(0.25)
    room = np.minimum(np.abs(exact - law.quantile(0.5)) + size, exact - law.support[0])
    off = np.abs(drawn - exact) / (
        room * (1.0 + quantile_tables.RARE / level) + 64.0 * np.spacing(np.abs(exact)) / quantile_tables.ERROR
    )
    assert off.max() <= 1.5 * quantile_tables.ERROR


def test_a_jump_in_the_quantiles_is_a_value_or_a_gap():
    law = FromQuantile(lambda u: np.where(u <= 0.3, u, np.where(u <= 0.6, 2.0, 1.0 + 3.0 * u)), support=(0.0, 4.0))
    check_arm(law, printable=False)
    rewards = law.sample(np.random.default_rng(1), 100_000)
    assert not ((rewards > 0.31) & (rewards < 1.999)).any()
    assert (rewards == 2.0).mean() == pytest.approx(0.3, abs=0.01)
    assert law.mean == pytest.approx(0.045 + 0.6 + 0.4 + 1.5 * (1.0 - 0.36), rel=1e-9)
    twice = encode([law, law])
    assert sampling.may_tie(twice, 2)
    assert not sampling.may_tie(encode([LogNormal(0.0, 1.0)] * 2), 2)


@pytest.mark.parametrize(
    "law", [FromQuantile(np.sqrt, support=(0.0, 1.0)), LARGER, FromDraw(larger_of_two, 2 / 3, 1 / 18), Triangle()]
)
def test_four_ways_to_one_law(law):
    check_arm(law, printable=False)
    assert law.mean == pytest.approx(2 / 3, rel=1e-9)
    assert law.variance == pytest.approx(1 / 18, rel=1e-9)
    rewards = law.sample(np.random.default_rng(2), DRAWS // 10)
    assert stats.kstest(rewards, lambda x: x**2).pvalue > 1e-6
    if law.has_quantiles:
        assert law.cdf(0.5) == pytest.approx(0.25, abs=1e-12)
        assert law.lower_tail_mean(0.25) == pytest.approx(1 / 3, rel=1e-9)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (FromDraw(larger_of_two, 0.7, 1 / 18), "draws must have mean 0.7"),
        (FromDraw(larger_of_two, 2 / 3, 0.1), "draws must have variance 0.1"),
        (FromDraw(larger_of_two, 2 / 3, 1 / 18, support=(0.0, 0.9)), "support"),
        (FromQuantile(np.sqrt, support=(0.0, 1.0), draw=lambda rng: rng.random()), "draws must have mean"),
    ],
)
def test_the_contract_catches_a_wrong_draw(law, words):
    with pytest.raises(ConformanceError, match=words):
        check_arm(law, printable=False)


def test_laws_of_ones_own_play_beside_others_and_in_mixtures():
    mixed = Mixture([FromDraw(larger_of_two, 2 / 3, 1 / 18), LogNormal(0.0, 0.1)], [0.5, 0.5])
    bandit = Bandit([LARGER, mixed, FromDraw(larger_of_two, 2 / 3, 1 / 18), "gaussian(0.5, 0.01)"])
    runs = simulate(bandit, "random-arm", risk="mean-variance(rho=1)", horizon=2_000, runs=100, engine="stepping")
    means = (runs.mean * runs.pulls).sum(0) / runs.pulls.sum(0)
    assert means == pytest.approx(bandit.means, abs=0.01)
    again = simulate(bandit, "random-arm", risk="mean-variance(rho=1)", horizon=2_000, runs=100, engine="stepping")
    assert np.array_equal(runs.mean, again.mean)


def test_the_name_of_a_law_tells_its_code():
    def quantiles(power):
        return lambda u: u**power

    same, other = (str(FromQuantile(quantiles(power), support=(0.0, 1.0))) for power in (2.0, 3.0))
    assert same == str(FromQuantile(quantiles(2.0), support=(0.0, 1.0)))
    assert same != other
    assert str(FromQuantile(stats.norm(0, 1).ppf)) != str(FromQuantile(stats.norm(0, 2).ppf))


def test_laws_are_kept_as_they_are():
    for law in (LogNormal(0.0, 0.5), FromScipy(stats.gamma(2.0)), LARGER):
        law.parameters()
        assert pickle.loads(pickle.dumps(law)) == law
    assert arms.parse(str(FromScipy(stats.gamma(2.0)))) == FromScipy(stats.gamma(2.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FromQuantile(0.5), "function must be a function of arrays of levels, got 0.5"),
        (lambda: FromQuantile(lambda u: -u), "never fall"),
        (lambda: FromQuantile(lambda u: 1.0), "write it for arrays"),
        (lambda: FromQuantile(np.sqrt, support=(1.0, 0.0)), "low below high"),
        (lambda: FromQuantile(np.sqrt, support=3), "a pair"),
        (lambda: FromDraw(3.0, 0.0, 1.0), "draw must be a function of rng"),
        (lambda: FromDraw(larger_of_two, 0.0, -1.0), "variance"),
        (lambda: FromScipy("no_such"), "the name of one"),
        (lambda: FromScipy(stats.norm), "a frozen distribution"),
        (lambda: FromScipy("gamma"), "does not take these parameters"),
        (lambda: FromScipy("gamma", [-1.0]), "has no law with shapes"),
        (lambda: FromScipy(stats.zipf(1.5)).atoms(), "more than 100,000 values"),
        (lambda: FromQuantile(lambda u: np.floor(u * 1e6) / 1e6).parameters(), "jumps or bends too often"),
        (lambda: FromQuantile(lambda u: np.tan(3.0 * u)).mean, "never fall"),
        (lambda: FromQuantile(stats.cauchy.ppf, stats.cauchy.isf).mean, "infinite|rests on"),
        (lambda: FromDraw(larger_of_two, 0.0, 1.0).lower_tail_mean(0.5), "only mean and variance are known"),
        (lambda: arms.parse("pareto(0.5, 1)").mean, "no mean"),
        (lambda: arms.parse("laplace(0, 1)").log_laplace(2.0), "infinite"),
    ],
)
def test_what_is_no_law_is_refused(make, words):
    with pytest.raises(PrudentError, match=words):
        make()
