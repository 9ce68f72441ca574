"""The best mixture of laws: arms drawn at random with fixed weights, so that the law of a reward costs least.

For a measure that is quasi-concave in the law it is a single law (proofs in docs: risks). For others, such as
`cpt`, `mixed` and `sharpe`, a mixture may cost less than every law in it [Tatli25].
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

import numpy as np

from prudent.arms.base import Law
from prudent.arms.mixture import Mixture
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.risk.base import RiskMeasure

_FINEST_GRID = 20
"""Parts into which weights are cut on the grid, at most."""

MOST_POINTS, _MAX_INTEGRALS = 2_000, 60
"""Points of the grid, at most: where a cost is a sum, and where it takes integrals."""

MIN_STEP = 1e-6
"""The smallest weight that is moved."""


class BestMixture(NamedTuple):
    """The weights of the arms, what the mixture costs, and what the best single arm costs."""

    weights: tuple[float, ...]
    cost: float
    single_arm: int
    single_cost: float


def mixture_cost(laws: Sequence[Law], risk: RiskMeasure) -> Callable[[Array], float]:
    """The exact cost of the mixture of the laws, as a function of weights that sum to 1."""
    if risk.by_moments and not risk.quasiconcave:
        means, variances = np.array([law.mean for law in laws]), np.array([law.variance for law in laws])
        return lambda w: float(risk.stats_cost(w @ means, w @ (variances + (means - w @ means) ** 2)))
    atoms = [found for law in laws if (found := law.atoms()) is not None]
    if len(atoms) < len(laws):
        return lambda w: risk.cost(Mixture(laws, w.tolist()))
    values = np.unique(np.concatenate([x for x, _ in atoms]))
    shares = np.zeros((len(laws), len(values)))
    for row, (x, p) in zip(shares, atoms, strict=True):
        row[np.searchsorted(values, x)] = p
    return lambda w: float(risk.weigh(values, w @ shares))


def best_mixture(laws: Sequence[Law], risk: RiskMeasure, single: int) -> BestMixture:
    """The best mixture of laws of which `single` is the best alone; it is preferred where no mixture costs less."""
    alone, only = np.eye(len(laws))[single], risk.cost(laws[single])
    if risk.quasiconcave or len(laws) == 1:
        return BestMixture(tuple(alone.tolist()), only, single, only)
    price = mixture_cost(laws, risk)
    exact = risk.by_moments or all(law.atoms() is not None for law in laws)
    grid = simplex(len(laws), parts_of(len(laws), MOST_POINTS if exact else _MAX_INTEGRALS))
    costs = np.array([price(w) for w in grid])
    if not np.isfinite(costs).all():
        raise PrudentError(f"best_mixture: the cost of a mixture under {risk} is not finite; take other arms")
    weights, cost = _improved(price, grid[np.argmin(costs)], float(costs.min()))
    if cost >= only - 1e-9 * (abs(only) + float(np.ptp(costs))):
        return BestMixture(tuple(alone.tolist()), only, single, only)
    return BestMixture(tuple(weights.tolist()), cost, single, only)


def parts_of(arms: int, most: int = MOST_POINTS) -> int:
    """Into how many parts weights are cut so that the grid has few enough points."""
    return max([m for m in range(2, _FINEST_GRID + 1) if math.comb(m + arms - 1, m) <= most], default=1)


def simplex(arms: int, parts: int) -> Array:
    """All weights of so many arms that are whole multiples of 1/parts; single arms come first."""
    bars = combinations(range(parts + arms - 1), arms - 1)
    edges = ((-1, *between, parts + arms - 1) for between in bars)
    counts = np.array([[high - low - 1 for low, high in pairwise(each)] for each in edges], float)
    # So that of equal costs that of a single arm is met first, and of these the arm of the lowest number.
    order = np.lexsort((*-counts.T[::-1], (counts > 0.0).sum(1)))
    return counts[order] / parts


def _improved(price: Callable[[Array], float], weights: Array, cost: float) -> tuple[Array, float]:
    """Weight is moved between pairs of arms while that helps, and then less of it."""
    step = 1.0 / _FINEST_GRID
    while step > MIN_STEP:
        helped = False
        for i, j in permutations(range(len(weights)), 2):
            move = min(step, float(weights[i]))
            tried = weights.copy()
            tried[i], tried[j] = weights[i] - move, weights[j] + move
            if move > 0.0 and (less := price(tried)) < cost:
                weights, cost, helped = tried, less, True
        step = step if helped else 0.5 * step
    return weights, cost
