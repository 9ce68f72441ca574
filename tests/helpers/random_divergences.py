"""Random problems for the divergences on known values: nearly constant arms, rare values and values never seen too."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from prudent import Empirical, MeanVariance, theory
from prudent.compile.types import kernel
from prudent.confidence.finite_divergence import finite

Problem = tuple[NDArray[np.float64], NDArray[np.float64], float, float]
"""Ascending values, how often each was seen, the cost to be reached, and ρ."""


def random_problems(seed: int, count: int) -> Iterator[Problem]:
    """Arms of 2 to 8 values, whose own cost is above the cost to be reached."""
    rng = np.random.default_rng(seed)
    while count > 0:
        values = np.unique(rng.random(rng.integers(2, 9)) * rng.choice([1.0, 100.0])).round(int(rng.integers(1, 5)))
        if np.unique(values).size < max(values.size, 2):
            continue
        shares = rng.dirichlet(np.full(values.size, rng.choice([0.05, 0.3, 1.0])))
        counts = rng.multinomial(rng.choice([5, 20, 100, 1_000]), shares).astype(float)
        spread = values[-1] - values[0]
        rho = float(rng.choice([0.0, 0.01, 0.1, 1.0, 10.0])) * spread
        weights = counts / counts.sum()
        mean = weights @ values
        own, cheapest = weights @ (values - mean) ** 2 - rho * mean, -rho * values[-1]
        share = rng.choice([rng.random(), rng.random() ** 4, 1.0 - rng.random() ** 4])
        cost = cheapest + (own - cheapest) * share
        if cheapest + 1e-5 * spread**2 < cost < own - 1e-9 * spread**2:
            count -= 1
            yield values, counts, float(cost), rho


@kernel
def _policy_divergence(values: NDArray[np.float64], counts: NDArray[np.float64], cost: float, rho: float) -> float:
    return finite(values, counts, cost, rho)


def divergences_of(problem: Problem) -> tuple[Callable[[], float], Callable[[], float]]:
    """K as `finite-mv-imed` computes it, and as `theory.least_divergence` does."""
    values, counts, cost, rho = problem
    law = Empirical(np.repeat(values, counts.astype(int)))
    return (
        lambda: _policy_divergence(values, counts, cost, rho),
        lambda: theory.least_divergence(law, cost, MeanVariance(rho), values=values),
    )
