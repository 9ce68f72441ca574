"""Blocks, over random samples: what a split keeps, and what the bounds on prefixes hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prudent import Bernoulli, Deterministic, Empirical, Gaussian
from prudent.arms.sampling import merge
from prudent.engine.leap.blocks import ATOMS, MEAN, RESIDUAL, SIZE, fresh, prefix_box, sources, split

numbers = st.floats(-3.0, 3.0)
laws = st.one_of(
    st.builds(Gaussian, numbers, st.floats(0.0, 2.0)),
    st.builds(Bernoulli, st.floats(0.0, 1.0)),
    st.builds(Deterministic, numbers),
    st.builds(Empirical, st.lists(numbers, min_size=1, max_size=12)),
)
samples = arrays(float, st.integers(1, 60), elements=st.floats(-1e3, 1e3))


@given(laws, st.integers(2, 10_000), st.floats(0.0, 1.0), st.integers(0, 2**32))
def test_splitting_then_merging_gives_the_block_back(law, size, share, seed):
    src, rng = sources([law]), np.random.default_rng(seed)
    rows = np.zeros((2, ATOMS + src.value.shape[1]))
    fresh(src, 0, size, rows, 0, rng)
    whole = rows[0].copy()
    cut = 1 + int(share * (size - 2))
    split(src, 0, cut, rows, 0, rng)
    second, first = rows
    assert (first[SIZE], second[SIZE]) == (cut, size - cut)
    assert (first[ATOMS:] >= 0.0).all()
    assert (second[ATOMS:] >= 0.0).all()
    assert np.array_equal(first[ATOMS:] + second[ATOMS:], whole[ATOMS:])
    assert src.n_atoms[0] == 0 or first[ATOMS:].sum() == cut
    variances = first[RESIDUAL] / cut, second[RESIDUAL] / (size - cut)
    mean, variance = merge(cut, first[MEAN], variances[0], size - cut, second[MEAN], variances[1])
    assert mean == pytest.approx(whole[MEAN], rel=1e-12, abs=1e-12)
    assert variance * size == pytest.approx(whole[RESIDUAL], rel=1e-9, abs=1e-9)


@given(samples, samples)
def test_no_prefix_leaves_its_box(before, block):
    """Any rewards whatever: the bounds are Cauchy-Schwarz, not probability."""
    mean, variance = before.mean(), before.var()
    residual = block.var() * len(block)
    low_mean, high_mean, low_variance, high_variance = prefix_box(
        len(before), mean, variance, len(block), block.mean(), residual, 0.0
    )
    scale = 1.0 + np.abs(np.concatenate([before, block])).max()
    for k in range(1, len(block) + 1):
        prefix = np.concatenate([before, block[:k]])
        assert low_mean - 1e-12 * scale <= prefix.mean() <= high_mean + 1e-12 * scale
        assert low_variance - 1e-12 * scale**2 <= prefix.var() <= high_variance + 1e-12 * scale**2


@given(st.integers(1, 50), numbers, st.floats(0.01, 2.0))
def test_some_block_swings_the_mean_as_far_as_the_bound_allows(k, mean, variance):
    """The extreme one: k equal rewards, then 3k equal ones, after 2k pulls."""
    pulls, size = 2 * k, 4 * k
    block = mean + np.repeat([np.sqrt(3.0 * variance), -np.sqrt(variance / 3.0)], [k, 3 * k])
    assert (block.mean(), block.var()) == pytest.approx((mean, variance))
    low, high, _, _ = prefix_box(pulls, mean, 0.0, size, mean, variance * size, 0.0)
    assert (pulls * mean + block[:k].sum()) / (pulls + k) == pytest.approx(high)
    assert high - mean == pytest.approx(mean - low)
