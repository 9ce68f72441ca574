"""What policies compute from an arm's rewards in ascending order."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prudent.compiled import helper
from prudent.errors import PrudentError, as_float, check_finite, check_number
from prudent.policies.base import UNSET


@helper
def lower_tail_mean(rewards: NDArray[np.float64], alpha: float, shift: float, high: float) -> float:
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
def weighted_tail_mean(values: NDArray[np.float64], weights: NDArray[np.float64], alpha: float) -> float:
    """The mean of the worst α-fraction of the law that gives each of the ascending values its weight."""
    left, total = alpha, 0.0
    for i in range(len(values)):
        mass = min(left, weights[i])
        total += mass * values[i]
        left -= mass
    return float((total + left * values[-1]) / alpha)  # what rounding left over belongs to the last


@helper
def multinomial_weights(support: NDArray[np.float64], rewards: NDArray[np.float64], rng: Any) -> NDArray[np.float64]:
    """Dirichlet(1 + counts) weights of the support's values, as normalised gammas.

    A reward between two values counts as the larger, one above all of them as the last. O(values · log pulls).
    """
    weights = np.empty(len(support))
    total, counted = 0.0, 0
    for j in range(len(support)):
        seen = len(rewards) if j == len(support) - 1 else np.searchsorted(rewards, support[j], "right")
        weights[j] = rng.standard_gamma(1.0 + seen - counted)
        total += weights[j]
        counted = seen
    for j in range(len(support)):
        weights[j] /= total
    return weights


def check_alpha(owner: str, alpha: Any) -> None:
    """α is UNSET or a tail's mass in (0, 1]."""
    if alpha is not UNSET:
        hint = "the mass of the lower tail, 0.05 for the worst 5 %; leave it out to take the risk's"
        check_number(owner, "alpha", alpha, low=0.0, high=1.0, open_low=True, hint=hint)


def check_ends(owner: str, low: Any, high: Any) -> None:
    """The least and the largest reward possible."""
    low, high = check_finite(owner, "low", low), check_finite(owner, "high", high)
    if not low < high:
        raise PrudentError(f"{owner}: low must be below high, got {low:g} and {high:g}; pass the ends of the rewards")


def check_values(owner: str, support: Any) -> None:
    """All values rewards can take, ascending."""
    hint = "pass all rewards possible, ascending: support=[0, 0.5, 1]"
    if not isinstance(support, tuple) or not support:
        raise PrudentError(f"{owner}: support must be a list of one or more numbers, got {support!r}; {hint}")
    values = [as_float(owner, "support", value) for value in support]
    if not all(map(math.isfinite, values)) or any(a >= b for a, b in pairwise(values)):
        raise PrudentError(f"{owner}: support must be finite and strictly ascending, got {list(support)}; {hint}")
