"""Blocks of samples: which arms have them, what a split does to their law, and how often the tight bounds fail.

Streams are fixed; were they not, each comparison would fail correct code with probability FALSE_ALARM at most.
"""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

from prudent import Bernoulli, Beta, Deterministic, Empirical, Gaussian, Uniform
from prudent.engine.leap.blocks import ATOMS, MAX_ATOMS, MEAN, RESIDUAL, SIZE, fresh, prefix_box, sources, split

FALSE_ALARM = 1e-9
BLOCKS = 20_000


def test_only_arms_with_blocks_are_sources():
    for law in (Beta(1.0, 2.0), Uniform(0.0, 1.0), Empirical(np.arange(MAX_ATOMS + 1.0))):
        assert sources([Gaussian(0.0, 1.0), law]) is None
    assert sources([Empirical(np.arange(float(MAX_ATOMS)))]) is not None


def test_atoms_are_the_different_values_with_their_shares():
    src = sources([Gaussian(1.0, 2.0), Bernoulli(0.3), Empirical([5.0, 1.0, 5.0, 5.0]), Deterministic(7.0)])
    assert src.n_atoms.tolist() == [0, 2, 2, 1]
    assert src.value[1:].tolist() == [[0.0, 1.0], [1.0, 5.0], [7.0, 0.0]]
    assert src.probability[1:].tolist() == [[0.7, 0.3], [0.25, 0.75], [1.0, 0.0]]
    assert src.mean.tolist() == [1.0, 0.3, 4.0, 7.0]


@pytest.mark.parametrize(
    "law", [Deterministic(0.1), Empirical([0.1]), Gaussian(0.1, 0.0), Bernoulli(1.0), Bernoulli(0.0)]
)
def test_a_constant_arms_blocks_are_constant_without_rounding(law):
    src, rng = sources([law]), np.random.default_rng(0)
    rows = np.zeros((2, ATOMS + src.value.shape[1]))
    for size in (2, 3, 7, 10**9 + 1):
        fresh(src, 0, size, rows, 0, rng)
        assert rows[0, MEAN : RESIDUAL + 1].tolist() == [law.mean, 0.0]
        split(src, 0, size // 2, rows, 0, rng)
        assert rows[:, SIZE].tolist() == [size - size // 2, size // 2]
        assert rows[:, MEAN : RESIDUAL + 1].tolist() == [[law.mean, 0.0]] * 2


@njit
def draw_blocks(src, size, cut, rows, number, rng):
    """Mean and residual of the first and of the second part of blocks; the second is the whole if there is no cut."""
    found = np.empty((4, number))
    for i in range(number):
        fresh(src, 0, size, rows, 0, rng)
        if cut > 0:
            split(src, 0, cut, rows, 0, rng)
        for j in range(2):
            found[j, i], found[2 + j, i] = rows[1, MEAN + j], rows[0, MEAN + j]
    return found


def blocks(law, size, cut, seed):
    src = sources([law])
    rows = np.zeros((2, ATOMS + src.value.shape[1]))
    return draw_blocks(src, size, cut, rows, BLOCKS, np.random.default_rng(seed))


LAWS = [Gaussian(1.0, 4.0), Bernoulli(0.3), Empirical([-1.0, 0.5, 0.5, 2.0, 7.0])]
CUTS = [(2, 1), (3, 1), (10, 1), (10, 9), (10, 5), (1_000, 1), (1_000, 300), (1_000, 999), (10**6, 4_321)]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(("size", "cut"), CUTS)
def test_the_parts_of_a_block_have_the_law_of_fresh_blocks(law, size, cut):
    parts = blocks(law, size, cut, seed=1)
    wholes = (*blocks(law, cut, 0, seed=2)[2:], *blocks(law, size - cut, 0, seed=3)[2:])
    for part, whole in zip(parts, wholes, strict=True):
        # P(D ≥ d) ≤ 2 exp(−n d²) for two samples of n ≥ 458, ties or not [WeiDudley12]; rounding keeps ties tied.
        a, b = (np.rint(values * (1e9 / math.pi)) for values in (part, whole))
        distance = stats.ks_2samp(a, b, method="asymp").statistic
        assert 2.0 * math.exp(-BLOCKS * distance**2) > FALSE_ALARM


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(("size", "cut"), CUTS)
def test_the_parts_of_a_block_are_independent(law, size, cut):
    first, second = np.split(blocks(law, size, cut, seed=4), 2)
    for a in first:
        for b in second:
            if a.std() > 0.0 and b.std() > 0.0:
                # Ranks of independent numbers are uncorrelated: √n times the correlation is nearly normal.
                correlation = stats.spearmanr(a, b).statistic
                assert abs(correlation) * math.sqrt(BLOCKS) < stats.norm.isf(FALSE_ALARM / 2.0)


@njit
def splinter(src, rows, singles, rng):
    """Split rows[0] into single rewards, in their order."""
    top, k = 1, 0
    while top > 0:
        size = int(rows[top - 1, SIZE])
        if size > 1:
            split(src, 0, size // 2, rows, top - 1, rng)
            top += 1
        else:
            top -= 1
            singles[k] = rows[top, MEAN]
            k += 1


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_block_split_down_to_single_rewards_is_a_sample(law):
    """Each reward has the arm's law, neighbours are independent, and their moments are the block's."""
    src, rng = sources([law]), np.random.default_rng(5)
    rows, singles = np.zeros((64, ATOMS + src.value.shape[1])), np.empty(50_000)
    fresh(src, 0, len(singles), rows, 0, rng)
    whole = rows[0].copy()
    splinter(src, rows, singles, rng)
    assert singles.mean() == pytest.approx(whole[MEAN])
    assert singles.var() * len(singles) == pytest.approx(whole[RESIDUAL])
    fresh_singles = law.sample(np.random.default_rng(6), len(singles))
    distance = stats.ks_2samp(singles, fresh_singles, method="asymp").statistic
    assert 2.0 * math.exp(-len(singles) * distance**2) > FALSE_ALARM
    neighbours = np.corrcoef(singles[:-1], singles[1:])[0, 1]
    assert abs(neighbours) * math.sqrt(len(singles)) < stats.norm.isf(FALSE_ALARM / 2.0)


PULLS, START = 50, (0.3, 1.5)


@pytest.mark.parametrize(("size", "failure"), [(20, 0.01), (100, 0.01), (100, 0.2), (1_000, 0.01), (1_000, 0.5)])
def test_tight_bounds_fail_at_most_as_often_as_stated(size, failure):
    """On Gaussian blocks; P(fail) ≤ η, so more than binom.isf(1e-9, blocks, η) failures are as good as impossible."""
    rng, number = np.random.default_rng(7), 4_000
    mean, variance = START
    failed = 0
    for block in rng.normal(0.5, 1.0, (number, size)):
        residual = block.var() * size
        box = prefix_box(PULLS, mean, variance, size, block.mean(), residual, math.log(1.0 / failure))
        k = np.arange(1, size + 1)
        prefix_mean = (PULLS * mean + block.cumsum()) / (PULLS + k)
        squares = PULLS * (variance + mean**2) + (block**2).cumsum()
        prefix_variance = squares / (PULLS + k) - prefix_mean**2
        inside = (box[0] <= prefix_mean + 1e-12) & (prefix_mean - 1e-12 <= box[1])
        inside &= (box[2] <= prefix_variance + 1e-12) & (prefix_variance - 1e-12 <= box[3])
        failed += not inside.all()
    assert failed <= stats.binom.isf(FALSE_ALARM, number, failure)


def test_tight_bounds_are_tight_for_large_blocks():
    """Between the block's mean and the arm's, and for the variance: a tenth of what the sure bounds leave open."""
    mean, variance = START
    for size in (10**5, 10**7):
        ordinary = (size, size, mean, variance * size)  # as many pulls as rewards, and nothing unusual
        sure = prefix_box(ordinary[0], mean, variance, *ordinary[1:], 0.0)
        tight = prefix_box(ordinary[0], mean, variance, *ordinary[1:], math.log(1e21))
        assert tight[1] - mean < 0.1 * (sure[1] - mean)
        assert tight[3] - variance < 0.1 * (sure[3] - variance)
        assert tight[0] > sure[0]
        assert tight[2] == sure[2]


def test_tight_bounds_never_exceed_the_sure_ones():
    for size in (1, 2, 10, 100, 1_000, 10**6):
        for block_mean in (-1.0, 0.3, 4.0):
            for residual in (0.0, 0.1 * size, 10.0 * size):
                given = PULLS, *START, size, block_mean, residual
                sure, tight = prefix_box(*given, 0.0), prefix_box(*given, math.log(100.0))
                assert tight[0] >= sure[0]
                assert tight[1] <= sure[1]
                assert tight[3] <= sure[3]
