"""What the rounds seen so far say about means and covariances, where not every round shows every arm."""

import numpy as np

from prudent.arrays import Array
from prudent.portfolio.policies.base import Observation


class Pairs:
    """Moments of the rewards for each pair of arms, over the rounds that showed both; the diagonal is a single arm's.

    `mean[i, j]` is arm i's mean over the rounds shared with j.
    """

    def __init__(self, arms: int) -> None:
        self.rounds = np.zeros((arms, arms))
        self.means = np.zeros((arms, arms))
        self.scatter = np.zeros((arms, arms))

    def add(self, seen: Observation) -> None:
        where = np.ix_(seen.arms, seen.arms)
        block, before = seen.block, self.rounds[where]
        after = before + block.rounds
        step = block.mean[:, None] - self.means[where]
        self.scatter[where] += block.scatter + step * step.T * (before * block.rounds / after)
        self.means[where] += step * (block.rounds / after)
        self.rounds[where] = after

    @property
    def mean(self) -> Array:
        return np.diag(self.means).copy()

    @property
    def covariance(self) -> Array:
        """Divided by the rounds; a pair never seen together counts as uncorrelated."""
        return np.asarray(self.scatter / np.maximum(self.rounds, 1.0))
