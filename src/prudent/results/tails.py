"""How bad runs may be: shares of runs with exact intervals, and the mean of the worst."""

from typing import NamedTuple

import numpy as np
from scipy import special

from prudent.base.arrays import Array
from prudent.base.parameters import check_parameter


class Share(NamedTuple):
    """A share of runs, its standard error, and an interval for the probability behind it (Clopper and Pearson)."""

    value: float
    se: float
    low: float
    high: float


class Worst(NamedTuple):
    """The mean of the worst share of runs, its standard error, and how many runs it rests on."""

    mean: float
    se: float
    runs: int


def share_of(owner: str, hits: int, runs: int, level: float) -> Share:
    """`hits` out of `runs` independent runs."""
    level = check_parameter(owner, "level", level)
    value, tail = hits / runs, 0.5 * (1.0 - level)
    low = float(special.betaincinv(hits, runs - hits + 1, tail)) if hits else 0.0
    high = float(special.betaincinv(hits + 1, runs - hits, 1.0 - tail)) if hits < runs else 1.0
    return Share(value, float(np.sqrt(value * (1.0 - value) / runs)), low, high)


def worst_of(owner: str, values: Array, alpha: float) -> Worst:
    """The mean of the largest α-fraction of the values. Its standard error is that of the mean excess over the
    quantile, divided by α, which is the first order of its law in many runs; NaN where fewer than two runs count."""
    alpha = check_parameter(owner, "alpha", alpha)
    ordered = np.sort(values)[::-1]
    runs = len(ordered)
    reach = alpha * runs
    counted = max(int(np.ceil(reach - 1e-9)), 1)
    quantile = ordered[counted - 1]
    excess = np.maximum(ordered - quantile, 0.0)
    se = float(excess.std(ddof=1) / (alpha * np.sqrt(runs))) if counted > 1 else np.nan
    return Worst(float(quantile + excess.sum() / reach), se, counted)
