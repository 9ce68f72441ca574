"""Beliefs: distributions of an arm's rewards that are probable given those seen.

If all rewards are one of two values, the rate of the larger one was equally likely to be anything at first. Otherwise
an arm's rewards are Gaussian: σ² is what n s² + ν v over χ² with n − 1 + ν degrees of freedom gives, and
μ ~ N(x̄, σ²/n) given σ². That is the prior 1/σ² and, as much as ν rewards tell, that arms vary as the others do (v is
the variance within arms). Draws respect a bounded support, whose means and variances have limits.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.engine.python.arm import ArmState
from prudent.live.evidence import Evidence, are_two_values, statistics_of

MODELS = (
    "the rewards of an arm are Gaussian and nothing was known of mean and variance at first",
    "rewards are one of two values and every rate was equally likely at first",
)


class Drawn(NamedTuple):
    """Distributions, as arrays over draws and arms; `values` if there are only two of them."""

    mean: Array
    variance: Array
    values: tuple[float, float] | None

    @property
    def model(self) -> str:
        """What is assumed, in words."""
        return MODELS[self.values is not None]


def draw_beliefs(evidence: Evidence, draws: int, rng: np.random.Generator, weight: float = 0.0) -> Drawn:
    """Distributions of the arms in play that the rewards allow; `weight` is ν (module docstring)."""
    pulls, mean, variance = statistics_of(evidence.some(evidence.playing).arms)
    values, shape = two_values(evidence), (draws, len(pulls))
    if values is not None:
        low, high = values
        ones = pulls * np.where(pulls > 0, (mean - low) / (high - low), 0.0)
        rate = rng.beta(1.0 + ones, 1.0 + pulls - ones, shape)
        return Drawn(low + (high - low) * rate, (high - low) ** 2 * rate * (1.0 - rate), values)
    squares, freedom = pulls * variance, pulls - 1.0
    if weight > 0.0:
        squares, freedom = squares + weight * spread_of(evidence.arms), freedom + weight
    variances = squares / rng.chisquare(freedom, shape)
    means = (mean + np.sqrt(variances / pulls) * rng.standard_normal(shape)).clip(*evidence.support)
    low, high = evidence.support
    with np.errstate(invalid="ignore", over="ignore"):
        most = (high - means) * (means - low)
    return Drawn(means, np.minimum(variances, np.where(np.isnan(most), np.inf, most)), None)


def two_values(evidence: Evidence) -> tuple[float, float] | None:
    """The two values that rewards have: those declared; otherwise the ends of the support, or 0 and 1 up to the sign,
    if all rewards are one of the two and both have been seen. That is part of the model, whose assumption is said, and
    would be too little for an interval. An arm's variance is then (high − mean)(mean − low)."""
    if evidence.binary:
        return evidence.support
    pulls, means, _ = statistics_of([arm for arm in evidence.arms if arm.pulls])
    for low, high in [*([evidence.support] if np.isfinite(evidence.support).all() else []), (0.0, 1.0), (-1.0, 0.0)]:
        if len(pulls) and are_two_values(evidence.arms, (low, high)):
            both = low < pulls @ means / pulls.sum() < high
            return (low, high) if both else None
    return None


def spread_of(arms: Sequence[ArmState]) -> float:
    """The variance within arms, of all rewards."""
    pulls, _, variances = statistics_of(arms)
    return float((pulls * variances).sum() / pulls.sum())
