"""Hypergeometric draws against the exact law.

Streams are fixed; were they not, each test would fail a correct sampler with probability FALSE_ALARM at most: χ² over
cells of at least 20 expected counts, normal limits for means and variances of many draws.
"""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

from prudent.engine.leap.hypergeometric import _log_choose, _log_rise, _stirling, hypergeometric

FALSE_ALARM = 1e-6
DRAWS = 100_000


@njit
def fill(good, bad, draws, counts, rng):
    for i in range(len(counts)):
        counts[i] = hypergeometric(good, bad, draws, rng)


def sample(good, bad, draws, number=DRAWS, seed=1):
    counts = np.empty(number, np.int64)
    fill(good, bad, draws, counts, np.random.default_rng(seed))
    return counts


def moments(total, good, draws):
    mean = draws * (good / total)
    return mean, mean * (1.0 - good / total) * ((total - draws) / (total - 1.0))


@pytest.mark.parametrize(
    ("good", "bad", "draws"),
    [
        (1, 1, 1),
        (3, 5, 4),
        (1, 999, 500),
        (10, 30, 15),
        (400, 600, 300),
        (2, 10**6, 10**5),
        (100, 10**9, 10**8),
        (2_000, 3_000, 1_500),  # from here on the spread is above 12: ratio of uniforms
        (5_000, 5_000, 5_000),
        (700, 10**6, 400_000),
        (10**5, 10**7, 10**5),
        (10**8, 10**9, 10**4),
    ],
)
def test_the_law_in_all_its_symmetries(good, bad, draws):
    total = good + bad
    for each in ((good, draws), (bad, draws), (good, total - draws), (bad, total - draws), (draws, good)):
        wanted, taken = each
        counts = sample(wanted, total - wanted, taken)
        law = stats.hypergeom(total, wanted, taken)
        mean, variance = moments(total, wanted, taken)
        reach = 12.0 * (math.sqrt(variance) + 1.0)
        low = max(0, taken - (total - wanted), math.floor(mean - reach))
        high = min(wanted, taken, math.ceil(mean + reach))
        assert counts.min() >= low
        assert counts.max() <= high
        assert agrees(counts - low, DRAWS * law.pmf(np.arange(low, high + 1)))


def agrees(counts, expected):
    """χ² over cells of at least 20 expected counts."""
    cells = np.minimum(np.cumsum(expected) // 20, expected.sum() // 20 - 1).astype(int)
    seen = np.bincount(cells[counts], minlength=cells[-1] + 1)
    wanted = np.bincount(cells, expected, minlength=cells[-1] + 1)
    full = wanted > 0.0
    assert seen[~full].sum() == 0
    return full.sum() == 1 or stats.chisquare(seen[full], wanted[full] * seen.sum() / wanted.sum()).pvalue > FALSE_ALARM


def test_stirling_s_tail_is_exact_from_20_on():
    """log a! is known to 1e-16 of itself; every term of the series is larger than that at a = 20."""
    for a in range(20, 60):
        rest = math.lgamma(a + 1.0) - (a + 0.5) * math.log(a) + a - 0.5 * math.log(2.0 * math.pi)
        assert _stirling(float(a)) == pytest.approx(rest, abs=4e-16 * math.lgamma(a + 1.0))


@pytest.mark.parametrize("start", [0, 3, 19, 20, 21, 500, 10**6, 10**12, 2**52])
def test_a_quotient_of_factorials_is_the_product_of_what_is_between(start):
    """Below 20 and above, upwards and downwards; the same numbers make n over k."""
    for step in (0, 1, 2, 7, 30):
        product = math.fsum(math.log(start + i) for i in range(1, step + 1))
        assert _log_rise(float(start), float(step)) == pytest.approx(product, rel=1e-13, abs=1e-13)
        assert _log_rise(float(start + step), -float(step)) == pytest.approx(-product, rel=1e-13, abs=1e-13)
        chosen = product - math.lgamma(step + 1.0)
        for k in (step, start):
            assert _log_choose(float(start + step), float(k)) == pytest.approx(chosen, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("total", [1, 2, 7, 1_000, 10**9, 2**52])
def test_where_nothing_is_left_to_chance(total):
    for few in {1, total // 3, total}:
        assert (sample(0, total, few, 50) == 0).all()
        assert (sample(total, 0, few, 50) == few).all()
        assert (sample(few, total - few, 0, 50) == 0).all()
        assert (sample(few, total - few, total, 50) == few).all()


@pytest.mark.parametrize("total", [10**6, 10**7, 10**8, 10**9, 2**52])
@pytest.mark.parametrize(("wanted", "taken"), [(0.5, 0.5), (0.01, 0.5), (0.9, 0.3), (0.3, 1e-3), (1e-5, 0.7)])
def test_mean_and_variance_of_large_populations(total, wanted, taken):
    good, draws = round(wanted * total), round(taken * total)
    mean, variance = moments(total, good, draws)
    z = (sample(good, total - good, draws) - mean) / math.sqrt(variance)
    limit = stats.norm.isf(FALSE_ALARM / 4.0)
    assert abs(z.mean()) * math.sqrt(DRAWS) < limit
    # The square of a nearly normal number has variance 2, a little more where the spread is a few units.
    assert abs((z**2).mean() - 1.0) / (z**2).std() * math.sqrt(DRAWS) < limit
    if variance > 1e5:
        assert stats.kstest(z, "norm").pvalue > FALSE_ALARM
