"""What kernels draw, against each law's exact distribution.

Streams are fixed, so a test passes always or never; were they not, each would fail a correct sampler with probability
FALSE_ALARM at most.
"""

import math

import numpy as np
import pytest
from scipy import stats

from prudent import (
    Bernoulli,
    Beta,
    Deterministic,
    Empirical,
    Exponential,
    Gaussian,
    Law,
    Mixture,
    StudentT,
    TruncatedGaussian,
    Uniform,
)
from prudent.arms import sampling
from prudent.arms.base import encode

FALSE_ALARM = 1e-6
DRAWS = 100_000
INF = math.inf


def draws(law: Law, seed: int = 1) -> np.ndarray:
    return law.sample(np.random.default_rng(seed), DRAWS)


def p_value(law: Law, x: np.ndarray, every: int = 10) -> float:
    """Kolmogorov and Smirnov's, with the distance taken at every tenth of the sorted draws.

    It is understated by 1e-4 at most, which is about 1 % of the distance 0.0085 that FALSE_ALARM stands for.
    """
    places = np.arange(0, len(x), every)
    below = np.array([law.cdf(float(value)) for value in np.sort(x)[places]])
    distance = max((below - places / len(x)).max(), ((places + 1) / len(x) - below).max())
    return float(stats.kstwo(len(x)).sf(distance))


def test_the_distance_is_hardly_understated() -> None:
    """And a standard deviation larger by 3 % is seen."""
    law = Gaussian(0.0, 1.0)
    assert p_value(law, draws(law), 1) == pytest.approx(stats.kstest(draws(law), "norm").pvalue, rel=1e-6)
    assert p_value(law, draws(law)) == pytest.approx(p_value(law, draws(law), 1), rel=0.05)
    assert p_value(law, 1.03 * draws(law)) < FALSE_ALARM


@pytest.mark.parametrize(
    "law",
    [
        Gaussian(1.0, 0.05),
        Uniform(-1.0, 2.0),
        Exponential(2.0),
        Beta(1.0, 3.0),
        Beta(0.3, 0.2),  # Jöhnk's branch
        Beta(20.0, 5.0),
        StudentT(1.0, 0.5, 2.0),
        StudentT(0.3),
        StudentT(7.0, -1.0, 0.1),
        TruncatedGaussian(0.0, 1.0, -INF, INF),
        TruncatedGaussian(0.5, 2.0, -1.0, 7.0),  # normal proposals
        TruncatedGaussian(0.0, 1.0, -INF, 0.0),
        TruncatedGaussian(0.0, 1.0, -0.5, 1.0),  # uniform proposals around the mode
        TruncatedGaussian(0.0, 1.0, 1.0, 1.5),  # uniform proposals beside the mode
        TruncatedGaussian(0.0, 1.0, 2.0, 4.0),  # exponential proposals
        TruncatedGaussian(0.0, 1.0, 25.0, INF),
        TruncatedGaussian(3.0, 0.5, -INF, 1.0),  # mirrored
        TruncatedGaussian(0.0, 1.0, -12.0, -11.99),
        Mixture([Gaussian(0.0, 1.0), Uniform(2.0, 3.0), Exponential(1.0)], [0.2, 0.5, 0.3]),
        Mixture([Beta(2.0, 2.0), Mixture([Gaussian(0.0, 0.1), Exponential(3.0)])], [1.0, 4.0]),
    ],
    ids=str,
)
def test_continuous_laws(law: Law) -> None:
    assert p_value(law, draws(law)) > FALSE_ALARM


@pytest.mark.parametrize(
    "law",
    [
        Bernoulli(0.3),
        Bernoulli(0.999),
        Empirical([-1.0, 0.5, 0.5, 2.0, 7.0]),
        Empirical(np.arange(97)),
        Mixture([Deterministic(0.0), Bernoulli(0.25), Empirical([0.0, 1.0, 2.0])], [1.0, 2.0, 3.0]),
    ],
    ids=str,
)
def test_discrete_laws(law: Law) -> None:
    values, counts = np.unique(draws(law), return_counts=True)
    shares = np.diff([0.0, *map(law.cdf, values)])
    assert shares.sum() == pytest.approx(1.0)  # no value is missing
    assert (shares > 0.0).all()  # and none is foreign
    assert stats.chisquare(counts, DRAWS * shares / shares.sum()).pvalue > FALSE_ALARM


def test_a_mixture_with_an_atom() -> None:
    law = Mixture([Deterministic(0.5), Uniform(0.0, 1.0)], [0.3, 0.7])
    x = draws(law)
    atom = x == 0.5
    assert stats.binomtest(int(atom.sum()), DRAWS, 0.3).pvalue > FALSE_ALARM
    assert stats.kstest(x[~atom], "uniform").pvalue > FALSE_ALARM


@pytest.mark.parametrize("law", [Deterministic(2.5), Gaussian(2.5, 0.0), Empirical([2.5]), Bernoulli(1.0)], ids=str)
def test_constants(law: Law) -> None:
    assert (draws(law) == law.mean).all()


def test_draws_are_independent() -> None:
    # Neighbours' correlation times √n is standard normal; so it is for their squares.
    for law in (Gaussian(0.0, 1.0), TruncatedGaussian(0.0, 1.0, 2.0, 4.0), Beta(1.0, 3.0)):
        for x in (draws(law), (draws(law) - law.mean) ** 2):
            correlation = np.corrcoef(x[:-1], x[1:])[0, 1]
            assert abs(correlation) * math.sqrt(DRAWS) < stats.norm.isf(FALSE_ALARM / 2.0)


# Blocks


def blocks(law: Law, size: int, number: int, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances as `draw_block` gives them."""
    laws, rng = encode([law]), np.random.default_rng(seed)
    means, variances = np.array([sampling.draw_block(laws, 0, size, rng) for _ in range(number)]).T
    return means, variances


def loops(law: Law, size: int, number: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """The same, one reward at a time."""
    x = law.sample(np.random.default_rng(seed), size * number).reshape(number, size)
    return x.mean(1), x.var(1)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 1_000])
def test_gaussian_blocks(size: int) -> None:
    law, number = Gaussian(1.0, 4.0), 10_000
    for means, variances in (blocks(law, size, number), loops(law, size, 2_000)):
        z = (means - law.mean) * math.sqrt(size / law.variance)
        assert stats.kstest(z, "norm").pvalue > FALSE_ALARM
        if size == 1:
            assert (variances == 0.0).all()
        else:
            q = variances * size / law.variance
            assert stats.kstest(q, stats.chi2(size - 1).cdf).pvalue > FALSE_ALARM
            assert stats.spearmanr(np.abs(z), q).pvalue > FALSE_ALARM  # mean and variance are independent


@pytest.mark.parametrize(("success", "size"), [(0.3, 1), (0.3, 7), (0.5, 40), (0.02, 300), (0.9, 1_000)])
def test_bernoulli_blocks(success: float, size: int) -> None:
    law, number = Bernoulli(success), 10_000
    for means, variances in (blocks(law, size, number), loops(law, size, 2_000)):
        counts = np.rint(means * size).astype(int)
        assert means == pytest.approx(counts / size)
        assert variances == pytest.approx(means * (1.0 - means), abs=1e-12)
        assert agrees(counts, stats.binom(size, success), size)


def agrees(counts: np.ndarray, law: stats.rv_discrete, size: int) -> bool:
    """χ² over cells of at least 20 expected counts."""
    expected = len(counts) * law.pmf(np.arange(size + 1))
    cells = np.minimum(np.cumsum(expected) // 20, expected.sum() // 20 - 1).astype(int)
    seen = np.bincount(cells[counts], minlength=cells[-1] + 1)
    wanted = np.bincount(cells, expected, minlength=cells[-1] + 1)
    full = wanted > 0.0
    return bool(stats.chisquare(seen[full], wanted[full] * seen.sum() / wanted.sum()).pvalue > FALSE_ALARM)


@pytest.mark.parametrize(
    "law",
    [
        Gaussian(1.0, 4.0),
        Bernoulli(0.3),
        Beta(1.0, 3.0),
        Exponential(1.0),
        Empirical([-1.0, 0.5, 0.5, 2.0, 7.0]),  # fewer values than draws: multinomial
        Empirical(np.arange(40.0)),
    ],
    ids=str,
)
def test_blocks_and_loops_have_one_law(law: Law) -> None:
    one, other = blocks(law, 12, 4_000), loops(law, 12, 4_000)
    for block, loop in zip(one, other, strict=True):
        # Rounding keeps equal fractions of a Bernoulli block equal; ties only make the test more cautious.
        assert stats.ks_2samp(np.round(block, 12), np.round(loop, 12)).pvalue > FALSE_ALARM


def test_constant_blocks() -> None:
    rng = np.random.default_rng(0)
    assert sampling.draw_block(encode([Deterministic(2.5)]), 0, 7, rng) == (2.5, 0.0)
    assert sampling.draw_block(encode([Gaussian(2.5, 0.0)]), 0, 7, rng) == (2.5, 0.0)
