"""MC-UCB: optimism in means and covariances, with semi-bandit feedback."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_finite
from prudent.portfolio.policies.base import Brief, Learner, Pairs, Play, portfolio_policies
from prudent.portfolio.program import MANY_ARMS


@portfolio_policies.add("mc-ucb")
@dataclass(frozen=True)
class MCUCB(Learner):
    """Optimism in means and covariances (after MC-UCB of [Du21], semi-bandit feedback).

    Minimises xᵀ(Ĉ − θ w wᵀ)x − ρ xᵀ(μ̂ + b) with b_i = c √(2 V̂_i log t / N_i) and w_i² = 2c V̂_i √(t log t) / N_i', where
    N_i counts the rounds that showed arm i and N_i' those that showed it beside each arm of the mix just played.
    w_i w_j is at least 2c √(V̂_i V̂_j log t / N_ij) for i in that mix, the width of a covariance.

    Differs from the paper: subtracting a width from every covariance leaves no convex problem, so w wᵀ takes their
    place, with θ ≤ 1 the largest share that keeps the matrix positive semi-definite; the widths are √(2 log t) standard
    deviations of Gaussian moments, not the paper's constants, so its proof does not carry over; a mix may hold an arm
    with any weight, where the paper asks for none or a least one. 10 + 2K rounds of the even mix come first, so that no
    width rests on a handful of rewards. Assumes tails not much heavier than Gaussian ones.
    """

    c: float = 1.0
    growth: float = 0.05

    feedback = "semi-bandit"

    def __post_init__(self) -> None:
        check_finite(self.name, "c", self.c, low=0.0, hint="1 is √(2 log t) standard deviations of Gaussian moments")
        super().__post_init__()

    def play(self, brief: Brief) -> Play:
        if brief.short and brief.upper is None:
            raise PrudentError(f"{self.name}: optimism without limits sells without end; give upper limits")
        seen, mix, rounds, t = Pairs(brief.arms), brief.even(), 10 + 2 * brief.arms, 0
        while True:
            seen.add((yield mix, rounds))
            t += rounds
            mix = brief.best(*self._optimistic(seen, mix, t), positive=True)
            rounds = max(1, int(self.growth * t))

    def _optimistic(self, seen: Pairs, mix: Array, t: int) -> tuple[Array, Array]:
        covariance, spread = _clearly_positive(seen.covariance)
        variances = np.diag(covariance)
        beside = np.maximum(seen.rounds[:, mix != 0.0].min(1), 1.0)  # limits may have kept an arm out so far
        width = np.sqrt(2.0 * self.c * variances * math.sqrt(t * math.log(t)) / beside)
        share = 1.0 / max(1.0, spread(width))
        of_mean = self.c * np.sqrt(2.0 * variances * math.log(t) / np.maximum(np.diag(seen.rounds), 1.0))
        return seen.mean + of_mean, covariance - share * np.outer(width, width)


def _clearly_positive(estimate: Array) -> tuple[Array, Callable[[Array], float]]:
    """The estimate with no eigenvalue below 1e-9 of the largest, and the function w ↦ wᵀC⁻¹w.

    Pairs come from different rounds: not quite a covariance. Rewards that never vary leave none at all. Of many arms
    eigenvalues take long, and a factorisation mostly shows that there is nothing to raise.
    """
    if len(estimate) > MANY_ARMS:
        lowered = estimate.copy()
        lowered[np.diag_indices(len(estimate))] -= 1e-9 * np.trace(estimate)
        try:
            factor = cho_factor(lowered, lower=True, overwrite_a=True, check_finite=False)
            return estimate, lambda width: float(width @ cho_solve(factor, width, check_finite=False))
        except LinAlgError:
            pass
    values, vectors = np.linalg.eigh(estimate)
    values = np.maximum(values, max(1e-9 * values[-1], np.finfo(float).tiny))
    return (vectors * values) @ vectors.T, lambda width: float(((vectors.T @ width) ** 2 / values).sum())
