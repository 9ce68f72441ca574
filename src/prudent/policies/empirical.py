"""What policies compute from an arm's rewards in ascending order."""

import math

import numpy as np
from numpy.random import Generator

from prudent.base.arrays import Array
from prudent.compile.types import helper


@helper
def lower_tail_mean(rewards: Array, alpha: float, shift: float, high: float) -> float:
    """(1/α)∫ Q(u) du over (shift, shift + α], Q the empirical quantile function and `high` above 1.

    With shift 0 this is the mean of the worst α-fraction. Costs O(α · rewards).
    """
    pulls = len(rewards)
    start, stop = shift * pulls, (shift + alpha) * pulls
    total = high * max(0.0, stop - max(start, float(pulls)))
    for i in range(min(pulls, int(start)), min(pulls, math.ceil(stop))):
        total += rewards[i] * (min(stop, i + 1.0) - max(start, float(i)))
    return float(total / (stop - start))


@helper
def multinomial_weights(counts: Array, rng: Generator) -> Array:
    """Dirichlet(1 + counts) weights, as normalised gammas."""
    weights = np.empty(len(counts))
    total = 0.0
    for j in range(len(counts)):
        weights[j] = rng.standard_gamma(1.0 + counts[j])
        total += weights[j]
    for j in range(len(counts)):
        weights[j] /= total
    return weights
