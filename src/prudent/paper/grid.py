"""The paper's grid of two-armed problems, measured once for each algorithm and horizon and shared by the figures.

The heat maps show its panels, Figure 2 (right) the largest value in each; whichever comes first does the work.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from prudent.errors import PrudentError
from prudent.paper.measure import Cell, Desk, measured
from prudent.paper.problems import HORIZONS, MU_2, VARIANCE_1, grid_bandit
from prudent.policies.base import Policy, spec
from prudent.policies.exp_exp import ExpExp
from prudent.policies.mv_lcb import MVLCB
from prudent.risk.mean_variance import MeanVariance

__all__ = [
    "HORIZONS",
    "MU_2",
    "POLICIES",
    "RISK",
    "ROUNDING",
    "VARIANCE_1",
    "Slope",
    "cells",
    "describe",
    "fit_slope",
    "grid_cell",
    "measure",
    "worst",
    "worst_table",
]

RISK = MeanVariance(rho=0.0)
POLICIES: dict[str, Policy] = {"MV-LCB": MVLCB(), "ExpExp": ExpExp()}
ROUNDING = 1e-12
"""A standard error below this share of its mean is rounding: every run had the same value."""
REWEIGHTINGS = 5


def cells(algorithm: str, horizon: int) -> list[Cell]:
    """The grid for one algorithm and horizon, by μ₂ and then σ₁²; labelled with Δ and Γ."""
    return [grid_cell(algorithm, horizon, mu_2, variance_1) for mu_2, variance_1 in product(MU_2, VARIANCE_1)]


def grid_cell(algorithm: str, horizon: int, mu_2: float, variance_1: float) -> Cell:
    """One point of the grid, or between its points."""
    bandit = grid_bandit(float(mu_2), float(variance_1))
    labels: dict[str, float | str] = {
        "algorithm": algorithm,
        "variance_gap": round(float(bandit.gaps(RISK).max()), 9),  # 0.025, not 0.024999999999999994
        "mean_gap": round(float(bandit.mean_differences.max()), 9),
    }
    return Cell(bandit, POLICIES[algorithm], RISK, horizon, labels)


def measure(desk: Desk, algorithm: str, horizon: int) -> pl.DataFrame:
    """One panel, simulated unless it is on disk already."""
    return measured(desk, f"grid-{spec(POLICIES[algorithm])}-{horizon}", cells(algorithm, horizon))


def worst(panel: pl.DataFrame) -> dict[str, Any]:
    """The cell with the largest mean regret. As the largest of noisy means it lies a little too high."""
    return panel.sort("regret", descending=True, maintain_order=True).row(0, named=True)


def worst_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Worst cells as the report shows them: how bad, and where."""
    return rows.sort("horizon", maintain_order=True).select(
        pl.col("horizon").alias("n"),
        "algorithm",
        pl.col("regret").alias("worst regret"),
        pl.col("regret_se").alias("se"),
        pl.col("variance_gap").alias("Δ"),
        pl.col("mean_gap").alias("Γ"),
    )


def describe(curve: pl.DataFrame, fit_from: int) -> str:
    """A curve of regret against n in words: both ends, and the slope from `fit_from` on if three points remain."""
    parts = []
    for row in (curve.row(0, named=True), curve.row(-1, named=True)):
        exact = row["regret_se"] <= ROUNDING * abs(row["regret"])
        error = "" if exact else f" ± {row['regret_se']:.1g}"
        parts.append(f"{row['regret']:.5g}{error} at n = {row['horizon']:,}")
    late = curve.filter(pl.col("horizon") >= fit_from)
    if len(late) > 2:
        slope = fit_slope(late["horizon"], late["regret"], late["regret_se"])
        parts.append(f"log-log slope {slope} from n = {fit_from:,} on")
    return ", ".join(parts)


class Slope(NamedTuple):
    """The exponent a of y ∝ x^a, and its standard error."""

    value: float
    se: float

    def __str__(self) -> str:
        return f"{round(self.value, 4) + 0.0:.4f} ± {self.se:.4f}"  # + 0.0 turns −0 into 0


def fit_slope(x: Sequence[float] | pl.Series, y: Sequence[float] | pl.Series, se: Sequence[float] | pl.Series) -> Slope:
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
        weights = (fitted / errors) ** 2 if known else np.ones_like(values)
        centred = log_x - np.average(log_x, weights=weights)
        spread = float(np.sum(weights * centred**2))
        slope = float(np.sum(weights * centred * log_y)) / spread
        line = np.average(log_y, weights=weights) + slope * centred
        fitted = np.exp(line)
    scatter = float(np.sum(weights * (log_y - line) ** 2)) / (len(values) - 2)
    return Slope(slope, float(np.sqrt((max(1.0, scatter) if known else scatter) / spread)))
