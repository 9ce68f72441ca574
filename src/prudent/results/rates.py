"""Rates: the exponent a of y ∝ x^a, from two points, fitted to many, or fitted to runs that are resampled."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prudent.base.errors import PrudentError
from prudent.base.text import ROUNDING, with_error

REWEIGHTINGS = 5
RESAMPLES = 1000


class Slope(NamedTuple):
    """The exponent a of y ∝ x^a, and its standard error."""

    value: float
    se: float

    def __str__(self) -> str:
        return with_error(round(self.value, 9), round(self.se, 9))  # less is rounding of logarithms


def end_slope(x: ArrayLike, y: ArrayLike) -> float:
    """The exponent between the first point and the last."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return math.log(y[-1] / y[0]) / math.log(x[-1] / x[0])


def fit_slope(x: ArrayLike, y: ArrayLike, se: ArrayLike) -> Slope:
    """Weighted least squares of log y on log x, with weights (ŷ/se)², the inverse variances of log y.

    ŷ is the fitted line, found in a few rounds from y itself: weights (y/se)² would favour points that came out high
    and tilt the line towards the noisier end. The standard error is that of the weights, times √(χ²/(points − 2)) where
    the points scatter about the line by more than their errors explain. If an error is zero (deterministic arms) all
    points weigh the same, and the scatter alone gives the standard error.
    """
    values, errors = np.asarray(y, dtype=float), np.asarray(se, dtype=float)
    if len(values) < 3 or not np.all(values > 0.0):
        raise PrudentError(f"fit_slope: y must be at least 3 positive values, got {values.tolist()}; drop the others")
    log_x, log_y = np.log(np.asarray(x, dtype=float)), np.log(values)
    known = bool(np.all(errors > ROUNDING * values))
    fitted = values
    for _ in range(REWEIGHTINGS):
        weights = fitted / errors if known else np.ones_like(values)
        line, covariance = np.polyfit(log_x, log_y, 1, w=weights, cov="unscaled")
        fitted = np.exp(np.polyval(line, log_x))
    scatter = np.sum((weights * (log_y - np.log(fitted))) ** 2) / (len(values) - 2)
    return Slope(float(line[0]), float(np.sqrt((max(1.0, scatter) if known else scatter) * covariance[0, 0])))


class Band(NamedTuple):
    """A number with its 95 % band."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (round(number, 2) + 0.0 for number in self)  # no minus before a zero
        return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def bootstrap_slope(rounds: Sequence[int], regrets: Sequence[NDArray[np.float64]]) -> Band:
    """The exponent a of regret ~ nᵃ, fitted to the mean regrets in logarithms, with its 95 % band over resampled runs.

    `regrets` holds one array of runs for each of the `rounds`.
    """
    if len(rounds) < 2:
        raise PrudentError(f"regret_slope: needs two snapshots or more, got {len(rounds)}; pass snapshots=… beforehand")
    values = np.array(regrets)
    x = np.log(np.array(rounds, dtype=float))
    x -= x.mean()
    chosen = np.random.default_rng(0).integers(values.shape[1], size=(RESAMPLES, values.shape[1]))
    means = np.vstack([values.mean(1), values[:, chosen].mean(2).T])
    if means[0].min() <= 0.0:
        raise PrudentError("regret_slope: the mean regret is not above zero at every snapshot; take more runs")
    slopes = np.log(np.maximum(means, 1e-3 * means[0])) @ x / (x @ x)
    return Band(float(slopes[0]), *map(float, np.quantile(slopes[1:], [0.025, 0.975])))
