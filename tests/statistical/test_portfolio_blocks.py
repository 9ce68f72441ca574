"""Blocks drawn at once have the law of rounds drawn one by one. Each test's false-alarm rate is at most 1e-6."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from prudent import EmpiricalJoint, MultivariateGaussian
from prudent.portfolio import JointLaw

SPREAD = [[1.0, 0.4, 0.1], [0.4, 2.0, -0.3], [0.1, -0.3, 0.5]]
LAWS = [
    MultivariateGaussian([0.1, 0.2, 0.3], SPREAD),
    MultivariateGaussian([0.1, 0.2, 0.3], np.ones((3, 3))),
    EmpiricalJoint(np.random.default_rng(7).gamma(2.0, size=(9, 3))),
]


@pytest.mark.parametrize("law", LAWS, ids=["gaussian", "singular", "empirical"])
@pytest.mark.parametrize("rounds", [8, 50])
def test_blocks_and_single_rounds_agree(law, rounds):
    """Kolmogorov–Smirnov on the mean and variance of a mix and a covariance: 3 tests at 3e-7."""
    rng, weights = np.random.default_rng(11), np.array([0.2, 0.5, 0.3])
    whole = [law.block(rng, rounds) for _ in range(4000)]
    single = [JointLaw.block(law, rng, rounds) for _ in range(4000)]
    for what in (lambda b: b.along(weights).mean, lambda b: b.along(weights).scatter, lambda b: b.scatter[0, 1]):
        # Rounding keeps apart what a discrete law makes equal.
        first, second = (np.round([what(block) for block in blocks], 9) for blocks in (whole, single))
        assert ks_2samp(first, second).pvalue > 3e-7
