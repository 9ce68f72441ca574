"""MC-ETE: explore a design of mixes, then exploit, with bandit feedback."""

import math
from dataclasses import dataclass

import numpy as np

from prudent.arrays import Array
from prudent.errors import PrudentError
from prudent.portfolio.laws import NOTHING
from prudent.portfolio.policies.base import Brief, Explore, Learner, Play, portfolio_policies


@portfolio_policies.add("mc-ete")
@dataclass(frozen=True)
class MCETE(Learner):
    """Explore a design of mixes, then exploit (MC-ETE of [Du21], bandit feedback).

    The design holds each arm alone and each pair half and half, K(K + 1)/2 mixes, whose variances give all covariances:
    C_ij = 2 Var((r_i + r_j)/2) − (C_ii + C_jj)/2. It is played through while it was played fewer than t^{2/3}/K times,
    and at least twice; between, the empirical optimum is. Differs from the paper in bundling the passes and solving
    again only as rounds grow, see `base`.
    """

    growth: float = 0.05

    feedback = "bandit"

    def play(self, brief: Brief) -> Play:
        if brief.upper is not None:
            raise PrudentError(f"{self.name}: explores with single arms, which upper limits forbid; leave them out")
        if brief.short:
            raise PrudentError(f"{self.name}: its estimates may be singular, and short selling then has no end")
        design = pair_design(brief.arms)
        inverse = np.linalg.pinv(design)
        blocks = [NOTHING] * len(design)
        passes, t = 0, 0
        while True:
            wanted = max(2, math.ceil(t ** (2.0 / 3.0) / brief.arms))
            if wanted > passes:
                for i, mix in enumerate(design):
                    blocks[i] = blocks[i].join((yield Explore(mix, wanted - passes)).block)
                t += (wanted - passes) * len(design)
                passes = wanted
                mean = inverse @ np.array([block.mean for block in blocks])
                variances = np.array([block.scatter for block in blocks]) / passes
                best = brief.best(mean, covariance_of_pairs(variances, brief.arms))
            rounds = max(1, int(self.growth * t))
            yield best, rounds
            t += rounds


def pair_design(arms: int) -> Array:
    """Each arm alone, then each pair half and half."""
    first, second = np.triu_indices(arms, 1)
    single = np.eye(arms)
    return np.vstack([single, (single[first] + single[second]) / 2.0])


def covariance_of_pairs(variances: Array, arms: int) -> Array:
    """The covariance that gives the mixes of `pair_design` their variances."""
    single = variances[:arms]
    covariance = np.diag(single)
    first, second = np.triu_indices(arms, 1)
    between = 2.0 * variances[arms:] - (single[first] + single[second]) / 2.0
    covariance[first, second] = covariance[second, first] = between
    return covariance
