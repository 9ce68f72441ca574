"""MC-ETE: explore a design of mixes, then exploit, with bandit feedback."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.portfolio.laws import Block
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
        seen = Block(0, *np.zeros((2, brief.arms * (brief.arms + 1) // 2)))  # moments of one mix after the other
        t = 0
        while True:
            wanted = max(2, math.ceil(t ** (2.0 / 3.0) / brief.arms))
            if wanted > seen.rounds:
                found = []
                for mix in pair_design(brief.arms):
                    found.append((yield Explore(mix, wanted - seen.rounds)).block)
                t += (wanted - seen.rounds) * len(found)
                seen = _join_each(seen, found)
                covariance = covariance_of_pairs(seen.scatter / seen.rounds, brief.arms)
                best = brief.best(mean_of_pairs(seen.mean, brief.arms), covariance)
            rounds = max(1, int(self.growth * t))
            yield best, rounds
            t += rounds


def _join_each(seen: Block, more: list[Block]) -> Block:
    """Both for each mix of the design; all mixes were played equally often."""
    rounds = seen.rounds + more[0].rounds
    mean, scatter = np.array([(block.mean, block.scatter) for block in more]).T
    step = mean - seen.mean
    between = seen.rounds * (more[0].rounds / rounds) * step**2
    return Block(rounds, seen.mean + step * (more[0].rounds / rounds), seen.scatter + scatter + between)


def pair_design(arms: int) -> Iterator[Array]:
    """Each arm alone, then each pair half and half; one after the other, for of many arms they are very many."""
    for i in range(arms):
        yield np.eye(1, arms, i)[0]
    for i in range(arms):
        for j in range(i + 1, arms):
            yield (np.eye(1, arms, i)[0] + np.eye(1, arms, j)[0]) / 2.0


def mean_of_pairs(means: Array, arms: int) -> Array:
    """The least-squares fit of the arms' means to those of the mixes of `pair_design`.

    With D the design, DᵀD = ((K + 2) I + 11ᵀ)/4, whose inverse is (4/(K + 2)) (I − 11ᵀ/(2K + 2)).
    """
    first, second = np.triu_indices(arms, 1)
    halves = means[arms:] / 2.0
    pulled = means[:arms] + np.bincount(first, halves, arms) + np.bincount(second, halves, arms)
    return np.asarray(4.0 / (arms + 2) * (pulled - pulled.sum() / (2 * arms + 2)))


def covariance_of_pairs(variances: Array, arms: int) -> Array:
    """The covariance that gives the mixes of `pair_design` their variances."""
    single = variances[:arms]
    covariance = np.diag(single)
    first, second = np.triu_indices(arms, 1)
    between = 2.0 * variances[arms:] - (single[first] + single[second]) / 2.0
    covariance[first, second] = covariance[second, first] = between
    return covariance
