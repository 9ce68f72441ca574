"""The paper's definitions of regret, from pulls, means and variances. Vectorised over runs: arrays are (…, arm).

Notation of [Sani12]: T_i pulls, μ̂_i and σ̂_i² an arm's mean and variance (divided by T_i), μ̃_i and σ̃_i² those of
its twins (unobserved samples of the best arm i*, as many as T_i; the observed ones for i* itself), n = Σ T_i.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.arrays import Array
from prudent.errors import PrudentError
from prudent.risk.mean_variance import MeanVariance

EXPLORATION_FACTORS = {"exact": 0.5, "eq-regret3": 1.0, "definition-3": 2.0}
"""The factor before (1/n²) Σ_i Σ_{j≠i} T_i T_j Γ_ij². Only the exact one makes the parts add up to the regret: the
paper's eq. regret3 loses a factor 2 to Jensen's inequality, its Definition 3 another 2 to a rough bound."""


class RegretParts(NamedTuple):
    """The three terms of eq. regret2; they add up to the true regret."""

    gap: Array
    exploration: Array
    twins: Array


class PseudoRegretParts(NamedTuple):
    """The two terms of Definition 3."""

    gap: Array
    exploration: Array


def sequence_moments(pulls: NDArray[np.int64], mean: Array, variance: Array) -> tuple[Array, Array]:
    """Mean and variance of all rewards as one sequence, μ̂_n(A) and σ̂_n²(A) (eq. hmu.hvar.alg)."""
    total = pulls.sum(-1)
    overall = (pulls * mean).sum(-1) / total
    return overall, (pulls * variance).sum(-1) / total + exploration_risk(pulls, mean)


def exploration_risk(pulls: NDArray[np.int64], means: Array, form: str = "exact") -> Array:
    """(1/n) Σ T_i (μ̂_i − μ̂_n)² = (1/2n²) Σ_i Σ_{j≠i} T_i T_j Γ_ij², or with the paper's looser factors.

    `means` may be the observed or the true ones.
    """
    if form not in EXPLORATION_FACTORS:
        raise PrudentError(f"exploration_risk: form must be one of {', '.join(EXPLORATION_FACTORS)}, got {form!r}")
    total = pulls.sum(-1)
    overall = (pulls * means).sum(-1) / total
    spread: Array = (pulls * (means - overall[..., None]) ** 2).sum(-1) / total
    return 2.0 * EXPLORATION_FACTORS[form] * spread


def gap_regret(pulls: NDArray[np.int64], gaps: Array) -> Array:
    """(1/n) Σ T_i Δ_i, from the true gaps."""
    regret: Array = (pulls * gaps).sum(-1) / pulls.sum(-1)
    return regret


def regret_parts(
    pulls: NDArray[np.int64], mean: Array, variance: Array, twin_mean: Array, twin_variance: Array, risk: MeanVariance
) -> RegretParts:
    """eq. regret2: gap (1/n) Σ T_i Δ̂_i, exploration risk, and minus the spread of the twins' means."""
    share = pulls / pulls.sum(-1, keepdims=True)
    gap = (share * (risk.stats_cost(mean, variance) - risk.stats_cost(twin_mean, twin_variance))).sum(-1)
    exploration = risk.variance_weight * exploration_risk(pulls, mean)
    return RegretParts(gap, exploration, -risk.variance_weight * exploration_risk(pulls, twin_mean))


def pseudo_regret_parts(
    pulls: NDArray[np.int64], means: Array, gaps: Array, risk: MeanVariance, form: str = "definition-3"
) -> PseudoRegretParts:
    """Definition 3: (1/n) Σ T_i Δ_i and (2/n²) Σ_i Σ_{j≠i} T_i T_j Γ_ij², from the true means and gaps."""
    return PseudoRegretParts(gap_regret(pulls, gaps), risk.variance_weight * exploration_risk(pulls, means, form))


def expected_regret(pulls: NDArray[np.int64], means: Array, variances: Array, best: int, risk: MeanVariance) -> float:
    """E[R_n] for a fixed allocation:
    Σ T_i Δ_i/n + Σ_{i<j} T_i T_j Γ_ij²/n² − Σ T_i (σ_i² − σ_*²)/n², the last from dividing by n and not n − 1."""
    total = pulls.sum()
    costs = risk.stats_cost(means, variances)
    gap = pulls @ (costs - costs[best]) / total
    bias = pulls @ (variances - variances[best]) / total**2
    return float(gap + risk.variance_weight * (exploration_risk(pulls, means) - bias))
