"""Laws by quantile functions against the laws that they are: with the upper tail given and without, at both ends of the
levels, on supports that cut them off; and each thing that they refuse."""

import math

import numpy as np
import pytest
from scipy import stats

from prudent import FromDraw, FromQuantile, FromScipy, PrudentError

SMALL = np.array([1e-300, 1e-17, 1e-6, 0.2, 0.5])
EXPONENTIAL, NORMAL, ARCSINE = stats.expon(), stats.norm(1.0, 2.0), stats.arcsine()
KNOWN = {"exponential": EXPONENTIAL, "normal": NORMAL, "arcsine": ARCSINE}


def made(scipy, upper):
    return FromQuantile(scipy.ppf, scipy.isf if upper else None, support=tuple(map(float, scipy.support())))


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("upper", [True, False], ids=["upper tail given", "not given"])
def test_quantiles_are_those_of_the_law_at_every_level(name, upper):
    """Above ½ a level that is no float away from 1 is told apart only if the upper tail is given."""
    scipy = KNOWN[name]
    law = made(scipy, upper)
    assert law.tail(SMALL) == pytest.approx(scipy.ppf(SMALL), rel=1e-12)
    wanted = scipy.isf(SMALL) if upper else scipy.ppf(1.0 - SMALL)
    assert law.tail(SMALL, upper=True) == pytest.approx(wanted, rel=1e-12)
    for alpha in (1e-300, 1e-9, 0.1, 0.5, math.nextafter(0.5, 1.0), 0.9, 1.0 - 1e-9):
        assert law.quantile(alpha) == pytest.approx(float(scipy.ppf(alpha)), rel=1e-6 if alpha > 0.9 else 1e-12)
    assert law.quantile(1.0) == scipy.support()[1]


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("upper", [True, False], ids=["upper tail given", "not given"])
def test_all_else_follows_from_the_quantiles(name, upper):
    scipy = KNOWN[name]
    law = made(scipy, upper)
    assert (law.mean, law.variance) == pytest.approx((scipy.mean(), scipy.var()), rel=1e-8)
    for x in scipy.ppf([1e-6, 0.01, 0.5, 0.8, 0.999]).tolist():
        assert law.cdf(x) == pytest.approx(scipy.cdf(x), rel=1e-6)
        assert 1.0 - law.cdf(x) == pytest.approx(scipy.sf(x), rel=1e-6, abs=1e-13)
        assert law.partial_mean(x) == pytest.approx(scipy.expect(lambda y: y, ub=x), rel=1e-6, abs=1e-8)
    beyond = [-math.inf, *np.nextafter(scipy.support(), (-math.inf, math.inf)).tolist(), math.inf]
    assert [law.cdf(x) for x in beyond] == [0.0, 0.0, 1.0, 1.0]
    for level in (0.01, 0.5, 0.9):
        below = scipy.expect(lambda y: y, ub=scipy.ppf(level)) / level
        assert law.lower_tail_mean(level) == pytest.approx(below, rel=1e-6)
        above = scipy.expect(lambda y: y, lb=scipy.ppf(1.0 - level)) / level
        assert law.upper_tail_mean(level) == pytest.approx(above, rel=1e-6)


def test_digits_that_1_minus_a_level_has_not_are_kept_by_the_upper_tail_alone():
    far = np.array([1e-40])
    assert made(EXPONENTIAL, True).tail(far, upper=True) == pytest.approx([40.0 * math.log(10.0)])
    assert made(EXPONENTIAL, False).tail(far, upper=True) == [math.inf]
    assert made(EXPONENTIAL, True).tail(far) == pytest.approx([1e-40])


@pytest.mark.parametrize("upper", [True, False], ids=["upper tail given", "not given"])
def test_a_support_cuts_quantiles_off(upper):
    """What function says beyond the ends counts as the ends, of which each then has a probability."""
    law = FromQuantile(EXPONENTIAL.ppf, EXPONENTIAL.isf if upper else None, support=(0.5, 2.0))
    low, high = EXPONENTIAL.cdf(0.5), EXPONENTIAL.sf(2.0)
    assert [law.quantile(alpha) for alpha in (low / 2.0, 0.5, 1.0 - high / 2.0, 1.0)] == pytest.approx(
        [0.5, math.log(2.0), 2.0, 2.0]
    )
    between = EXPONENTIAL.expect(lambda y: y, lb=0.5, ub=2.0)
    assert law.mean == pytest.approx(0.5 * low + between + 2.0 * high, rel=1e-9)
    assert law.cdf(0.5) == pytest.approx(low, rel=1e-9)
    assert 1.0 - law.cdf(math.nextafter(2.0, 0.0)) == pytest.approx(high, rel=1e-9)
    assert (law.cdf(0.4), law.cdf(2.0)) == (0.0, 1.0)


@pytest.mark.parametrize("scipy", KNOWN.values(), ids=KNOWN)
def test_a_distribution_of_scipy_has_both_tails_and_its_own_probabilities(scipy):
    law = FromScipy(scipy)
    assert law.tail(SMALL).tolist() == scipy.ppf(SMALL).tolist()
    assert law.tail(SMALL, upper=True).tolist() == scipy.isf(SMALL).tolist()
    x = scipy.ppf([0.001, 0.6, 0.99])
    below, above = law.masses(x)
    assert (below.tolist(), above.tolist()) == (scipy.cdf(x).tolist(), scipy.sf(x).tolist())
    assert law.support == tuple(scipy.support())
    assert law.atoms() is None
    twice = law.times(2.0)
    assert (twice.mean, twice.variance) == pytest.approx((2.0 * scipy.mean(), 4.0 * scipy.var()), rel=1e-8)


def test_a_distribution_of_scipy_on_whole_numbers_has_values_and_no_other_unit():
    law, scipy = FromScipy(stats.binom(6, 0.3)), stats.binom(6, 0.3)
    values, weights = law.atoms()
    assert values.tolist() == list(range(7))
    assert weights == pytest.approx(scipy.pmf(values))
    assert law.times(2.0) is None
    assert FromScipy("binom", (6, 0.3), 2.0).mean == pytest.approx(law.mean + 2.0)


def plain(u):
    return u


BAD_SUPPORTS = {
    "a number": (3, "must be a pair"),
    "one end": ((0.0,), "must be a pair"),
    "three ends": ((0.0, 1.0, 2.0), "must be a pair"),
    "a set": ({0.0, 1.0}, "must be a pair"),
    "none": (None, "must be a pair"),
    "turned around": ((1.0, 0.0), "low below high"),
    "nothing between": ((1.0, 1.0), "low below high"),
    "no number": ((0.0, math.nan), "low below high"),
    "no number below": ((math.nan, 0.0), "low below high"),
    "a text": (("a", 1.0), "support"),
}


@pytest.mark.parametrize("given", BAD_SUPPORTS)
def test_what_is_no_support_is_refused_by_name(given):
    support, words = BAD_SUPPORTS[given]
    for name, make in (
        ("from-quantile", lambda: FromQuantile(plain, support=support)),
        ("from-draw", lambda: FromDraw(plain, 0.5, 0.1, support=support)),
    ):
        with pytest.raises(PrudentError, match=f"{name}: .*{words}"):
            make()


@pytest.mark.parametrize("support", [(0.0, 1.0), [0, 1], (-math.inf, 1.0), (0.0, math.inf)], ids=str)
def test_what_is_a_support_is_taken_as_floats(support):
    for law in (FromQuantile(plain, support=support), FromDraw(plain, 0.5, 0.1, support=support)):
        assert law.support == (float(support[0]), float(support[1]))


NO_FUNCTIONS = [0.5, "np.sqrt", [0.1, 0.2]]


@pytest.mark.parametrize("bad", NO_FUNCTIONS, ids=repr)
def test_what_is_no_function_is_refused_by_name(bad):
    for what, make in (
        ("from-quantile: function must be a function of arrays of levels", lambda: FromQuantile(bad)),
        ("from-quantile: upper must be a function of arrays of levels", lambda: FromQuantile(plain, bad)),
        ("from-quantile: draw must be a function of rng", lambda: FromQuantile(plain, draw=bad)),
        ("from-draw: draw must be a function of rng", lambda: FromDraw(bad, 0.0, 1.0)),
    ):
        with pytest.raises(PrudentError, match=f"{what}, got "):
            make()


@pytest.mark.parametrize(
    ("function", "upper", "words"),
    [
        (lambda u: 1.0 - u, None, "never fall"),
        (plain, plain, "never fall"),  # the upper tail must fall as its levels rise
        (lambda u: np.where(u < 0.2, math.nan, u), None, "finite numbers"),
        (plain, lambda u: np.where(u < 1e-9, math.nan, 1.0 - u), "finite numbers"),
        (lambda u: 0.5, None, "function must return an array as long as the 6 levels"),
        (plain, lambda u: 1.0, "upper must return an array as long as the 5 levels"),
        (lambda u: u[:-1], None, "function must return an array as long as the 6 levels"),
    ],
)
def test_what_are_no_quantiles_is_refused(function, upper, words):
    with pytest.raises(PrudentError, match=f"from-quantile: .*{words}"):
        FromQuantile(function, upper)
    if upper is None:
        return
    assert FromQuantile(plain, lambda u: 1.0 - u).tail(SMALL, upper=True).tolist() == (1.0 - SMALL).tolist()


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.1, math.nan])
def test_a_level_out_of_range_is_refused(bad):
    for law in (FromQuantile(plain, support=(0.0, 1.0)), FromScipy(ARCSINE)):
        with pytest.raises(PrudentError, match="alpha must lie in"):
            law.quantile(bad)
