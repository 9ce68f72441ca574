"""By how much two arms differ: limits of a difference that hold at all times, sharper than those of two intervals.

Let E(x) be the capital that an arm has won against "its mean (variance, cost) is x or more", and F(y) that of another
arm against "mine is y or less". Arms are sampled one after the other by whatever rule, so E F is the capital of one
gambler, and with probability 1 − δ it never reaches 1/δ at the true x and y. So x − y is at most the largest
difference with log E(x) + log F(y) < L = log(1/δ): with a(s) the upper limit of the one at the gain s, and b(s) the
lower limit of the other, max over s of a(s) − b(L − s). Two intervals would need L for each arm, and so about twice as
many rewards. The limit at s must therefore fail only if a single capital has reached e^s: not one of two, which of them
the rewards decide (`intervals` says for each quantity why).

A capital below 1 must not be set off against a larger one of the other arm, or s would have no end. So each gambler
keeps `KEPT` of the stake aside, and log(KEPT + (1 − KEPT) E) ≥ log KEPT. The range of s is cut into `CELLS` parts (or
`FEW_CELLS`, where limits take long), in each of which a is taken at its end and b at its beginning, so that nothing is
lost between.
"""

import math
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.confidence.anytime import MEAN_SHARE, Pair
from prudent.live.evidence import Evidence
from prudent.live.intervals import Quantity, limits, needs_mean
from prudent.live.labels import Label
from prudent.risk.base import Interval
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.monotone import is_monotone

KEPT = 0.1
CELLS, FEW_CELLS = 40, 10


class Difference(NamedTuple):
    """An arm minus another one, see `Agent.differences`: of the means, of the standard deviations, and of the costs.

    None where nothing is known, and for the control itself.
    """

    arm: Label
    mean: Interval | None
    deviation: Interval | None
    cost: Interval | None


def adds_up(evidence: Evidence, what: Quantity) -> bool:
    """Whether the gains of two arms add up; if not, their limits fail with a probability each, and nothing more."""
    return what != "cost" or isinstance(evidence.risk, MeanVariance) or is_monotone(evidence.risk)


def gains_of(evidence: Evidence, what: Quantity, needed: float) -> Array:
    """The gains at which `between` wants both arms' limits, if they need so much together."""
    if not adds_up(evidence, what):
        return np.array([needed + math.log(2.0)])  # half of the failure each
    cells = CELLS if what != "cost" or evidence.risk.by_moments else FEW_CELLS
    parts = np.linspace(math.log(KEPT), needed - math.log(KEPT), cells + 1)[1:]
    return np.log((np.exp(parts) - KEPT) / (1.0 - KEPT))


def between(one: Pair, other: Pair) -> Pair:
    """Limits of the one minus the other, from their limits at the same gains."""
    with np.errstate(invalid="ignore"):
        return (one[0] - other[1][::-1]).min(0), (one[1] - other[0][::-1]).max(0)


def differences(evidence: Evidence, control: int, failure: float) -> list[Difference]:
    """Every arm against one; each interval may miss, ever, with probability `failure`."""
    columns = [_column(evidence, what, control, failure) for what in ("mean", "variance", "cost")]
    return [Difference(evidence.label(i), *(column[i] for column in columns)) for i in range(len(evidence.arms))]


def _column(evidence: Evidence, what: Quantity, control: int, failure: float) -> list[Interval | None]:
    """The differences of means, of costs, or of the square roots of variances."""
    spent = failure * MEAN_SHARE if needs_mean(evidence, what) else 0.0
    gains = gains_of(evidence, what, math.log(2.0 / (failure - spent)))
    low, high = limits(evidence, what, gains, spent / 2.0)
    if what == "variance":
        low, high = np.sqrt(np.maximum(low, 0.0)), np.sqrt(np.maximum(high, 0.0))
    least, most = between((low, high), (low[:, [control]], high[:, [control]]))
    return [
        Interval(*ends) if i != control and all(map(math.isfinite, ends)) else None
        for i, ends in enumerate(zip(least.tolist(), most.tolist(), strict=True))
    ]
