"""The paper's definitions of regret, from pulls, means and variances. Vectorised over runs: arrays are (…, arm).

Notation of [Sani12]: T_i pulls, μ̂_i and σ̂_i² an arm's mean and variance (divided by T_i), μ̃_i and σ̃_i² those of
its twins (unobserved samples of the best arm i*, as many as T_i; the observed ones for i* itself), n = Σ T_i.

Examples
--------
>>> import numpy as np
>>> from prudent.results.regret import exploration_risk
>>> float(exploration_risk(np.array([50, 50]), np.array([0.0, 1.0])))
0.25
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.bandit import Bandit, check_bandit
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_integer, shown
from prudent.risk import mixtures
from prudent.risk.base import RiskMeasure, risks
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


def _check_allocation(owner: str, **given: Any) -> None:
    """Refuse what are no arrays of numbers that fit together, the last axis for arms."""
    for name, array in given.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or array.ndim == 0:
            raise PrudentError(f"{owner}: {name} must be an array of numbers, one per arm, got {shown(array)}")
    if len({array.shape[-1] for array in given.values()}) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in given.items())
        raise PrudentError(f"{owner}: arrays must be for the same arms, got the shapes {shapes}")
    if not (given["pulls"].sum(-1) > 0).all():
        raise PrudentError(f"{owner}: pulls must hold at least one, got none")


def sequence_moments(pulls: NDArray[np.int64], mean: Array, variance: Array) -> tuple[Array, Array]:
    """Mean and variance of all rewards as one sequence, μ̂_n(A) and σ̂_n²(A) (eq. hmu.hvar.alg)."""
    _check_allocation("sequence_moments", pulls=pulls, mean=mean, variance=variance)
    total = pulls.sum(-1)
    overall = (pulls * mean).sum(-1) / total
    return overall, (pulls * variance).sum(-1) / total + exploration_risk(pulls, mean)


def exploration_risk(pulls: NDArray[np.int64], means: Array, form: str = "exact") -> Array:
    """(1/n) Σ T_i (μ̂_i − μ̂_n)² = (1/2n²) Σ_i Σ_{j≠i} T_i T_j Γ_ij², or with the paper's looser factors.

    `means` may be the observed or the true ones.
    """
    if not isinstance(form, str) or form not in EXPLORATION_FACTORS:
        known = ", ".join(EXPLORATION_FACTORS)
        raise PrudentError(f"exploration_risk: form must be one of {known}, got {shown(form)}")
    _check_allocation("exploration_risk", pulls=pulls, means=means)
    total = pulls.sum(-1)
    overall = (pulls * means).sum(-1) / total
    spread: Array = (pulls * (means - overall[..., None]) ** 2).sum(-1) / total
    return 2.0 * EXPLORATION_FACTORS[form] * spread


def gap_regret(pulls: NDArray[np.int64], gaps: Array) -> Array:
    """(1/n) Σ T_i Δ_i, from the true gaps."""
    _check_allocation("gap_regret", pulls=pulls, gaps=gaps)
    regret: Array = (pulls * gaps).sum(-1) / pulls.sum(-1)
    return regret


def regret_parts(
    pulls: NDArray[np.int64],
    mean: Array,
    variance: Array,
    twin_mean: Array,
    twin_variance: Array,
    risk: MeanVariance | str,
) -> RegretParts:
    """eq. regret2: gap (1/n) Σ T_i Δ̂_i, exploration risk, and minus the spread of the twins' means."""
    twins = {"twin_mean": twin_mean, "twin_variance": twin_variance}
    _check_allocation("regret_parts", pulls=pulls, mean=mean, variance=variance, **twins)
    risk = _mean_variance("regret_parts", risk)
    share = pulls / pulls.sum(-1, keepdims=True)
    gap = (share * (risk.stats_cost(mean, variance) - risk.stats_cost(twin_mean, twin_variance))).sum(-1)
    exploration = risk.variance_weight * exploration_risk(pulls, mean)
    return RegretParts(gap, exploration, -risk.variance_weight * exploration_risk(pulls, twin_mean))


def pseudo_regret_parts(
    pulls: NDArray[np.int64], means: Array, gaps: Array, risk: MeanVariance | str, form: str = "definition-3"
) -> PseudoRegretParts:
    """Definition 3: (1/n) Σ T_i Δ_i and (2/n²) Σ_i Σ_{j≠i} T_i T_j Γ_ij², from the true means and gaps."""
    risk = _mean_variance("pseudo_regret_parts", risk)
    return PseudoRegretParts(gap_regret(pulls, gaps), risk.variance_weight * exploration_risk(pulls, means, form))


def expected_regret(
    pulls: NDArray[np.int64], means: Array, variances: Array, best: int, risk: MeanVariance | str
) -> float:
    """E[R_n] for a fixed allocation:
    Σ T_i Δ_i/n + Σ_{i<j} T_i T_j Γ_ij²/n² − Σ T_i (σ_i² − σ_*²)/n², the last from dividing by n and not n − 1."""
    _check_allocation("expected_regret", pulls=pulls, means=means, variances=variances)
    best = check_integer("expected_regret", "best", best, low=0, high=len(means) - 1, hint="arms are numbered from 0")
    risk = _mean_variance("expected_regret", risk)
    total = pulls.sum()
    costs = risk.stats_cost(means, variances)
    gap = pulls @ (costs - costs[best]) / total
    bias = pulls @ (variances - variances[best]) / total**2
    return float(gap + risk.variance_weight * (exploration_risk(pulls, means) - bias))


def mixture_regret(pulls: NDArray[np.int64], bandit: Bandit, risk: RiskMeasure | str) -> Array:
    """The cost of the mixture of the arms' true laws with weights T_i/n, minus that of the best mixture [Tatli25].

    This is the regret where the risk is that of all rewards of a run together, for every measure. It is at least 0.
    """
    bandit, risk = check_bandit("mixture_regret", bandit), risks.make("mixture_regret", risk)
    _check_allocation("mixture_regret", pulls=pulls, arms=np.zeros(len(bandit)))
    price, least = mixtures.mixture_cost(bandit.arms, risk), bandit.best_mixture(risk).cost
    kinds, kind = np.unique(pulls.reshape(-1, len(bandit)), axis=0, return_inverse=True)
    costs = np.array([price(row / row.sum()) for row in kinds])
    return np.maximum(costs - least, 0.0)[kind].reshape(pulls.shape[:-1])


def _mean_variance(owner: str, risk: Any) -> MeanVariance:
    made = risks.make(owner, risk)
    if not isinstance(made, MeanVariance):
        raise PrudentError(f"{owner}: defined for the mean-variance only, got {made}")
    return made


def dynamic_regret(runs: Any, environment: Any) -> Array:
    """By how much an arm cost more than the best arm of its round, on average over all rounds of each run.

    The environment must tell its `costs(t, risk)` in round t, an array of all arms, as `Drifting` does; trajectories of
    the runs must be kept. Unlike the paper's regret this is a sum over rounds, so variance between arms is no part of
    it. For one distribution an arm it is the mean gap of the arms pulled.

    Examples
    --------
    >>> from prudent import Bandit, Drifting, simulate
    >>> from prudent.results.regret import dynamic_regret
    >>> world = Drifting([Bandit(["bernoulli(0.5)", "bernoulli(0.25)"])], rounds=1)
    >>> runs = simulate(world, "round-robin", risk="mean", horizon=4, runs=2, keep="trajectory")
    >>> dynamic_regret(runs, world).tolist()
    [0.125, 0.125]
    """
    if not callable(getattr(environment, "costs", None)):
        fix = "give it a method costs(t, risk) that returns an array of the arms' costs in round t"
        raise PrudentError(f"dynamic_regret: environment must know its costs, got {shown(environment)}; {fix}")
    if runs.kept is None:
        raise PrudentError('dynamic_regret: runs must keep what was pulled; pass simulate(…, keep="trajectory")')
    arms = runs.kept.arms
    costs = np.array([environment.costs(t, runs.risk) for t in range(1, arms.shape[1] + 1)])
    gaps = costs - costs.min(1, keepdims=True)
    found: Array = gaps[np.arange(len(gaps)), arms].mean(1)
    return found
