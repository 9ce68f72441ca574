"""The paper's grid of two-armed problems: the heat maps show it, Figure 2 (right) the largest value of each panel."""

from collections.abc import Iterable
from itertools import product

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from prudent import MeanVariance
from prudent.base.arrays import Array
from prudent.base.text import with_error
from prudent.paper.making import point
from prudent.paper.problems import ALGORITHMS, HORIZONS, MU_2, VARIANCE_1, grid_bandit
from prudent.results.figures import plot_curves
from prudent.results.rates import fit_slope
from prudent.study import Labelled

RISK = MeanVariance(rho=0.0)


def cells() -> list[Labelled]:
    """The grid for both algorithms and all horizons, by μ₂ and then σ₁²."""
    return [grid_cell(*place) for place in product(ALGORITHMS, HORIZONS, MU_2, VARIANCE_1)]


def grid_cell(algorithm: str, horizon: int, mu_2: float, variance_1: float) -> Labelled:
    """One point of the grid, or between its points; labelled with Δ and Γ."""
    bandit = grid_bandit(float(mu_2), float(variance_1))
    delta = round(float(bandit.gaps(RISK).max()), 9)  # 0.025, not 0.024999999999999994
    gamma = round(float(bandit.mean_differences.max()), 9)
    labels: dict[str, str | float] = {"algorithm": algorithm, "variance_gap": delta, "mean_gap": gamma}
    return point(bandit, ALGORITHMS[algorithm], RISK.rho, horizon, **labels)


def worst_of_each(data: pl.DataFrame, by: str = "algorithm") -> pl.DataFrame:
    """The row of the largest mean regret of every algorithm and horizon, in their order.

    As the largest of noisy means it lies a little too high.
    """
    largest = pl.col("regret").max().over(by, "horizon")
    return data.filter(pl.col("regret") == largest).unique((by, "horizon"), keep="first", maintain_order=True)


def worst_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Worst cells as the report shows them: how bad, and where."""
    columns = {"n": "horizon", "algorithm": "algorithm", "worst regret": "regret", "worst regret_se": "regret_se"}
    return rows.sort("horizon", maintain_order=True).select(**columns, Δ="variance_gap", Γ="mean_gap")


def clearly_lower(one: pl.DataFrame, other: pl.DataFrame) -> Array:
    """1 where `one` has the lower regret by more than two standard errors of the difference, −1 where `other` has."""
    difference = (other["regret"] - one["regret"]).to_numpy()
    margin = 2.0 * np.hypot(one["regret_se"].to_numpy(), other["regret_se"].to_numpy())
    return np.where(abs(difference) > margin, np.sign(difference), 0.0)


def plot_regret(ax: Axes, data: pl.DataFrame, names: Iterable[str] = tuple(ALGORITHMS), by: str = "algorithm") -> Axes:
    """The regret against n, a curve for each name."""
    parts = {name: data.filter(pl.col(by) == name) for name in names}
    curves = [(name, part["regret"], part["regret_se"]) for name, part in parts.items()]
    ax.set_xlabel("rounds $n$")
    return plot_curves(ax, data["horizon"].unique().sort(), curves)


def plot_limit(ax: Axes, mean_gap: float) -> None:
    """Γ²/4, the regret of MV-LCB in its worst case."""
    limit = mean_gap**2 / 4.0
    ax.axhline(limit, color="black", linestyle="--", linewidth=1.0, label=f"$\\Gamma^2/4$ = {limit:.4g}")


def curve_row(curve: pl.DataFrame, fit_from: int) -> dict[str, str]:
    """A curve of regret against n in columns of a table: both ends, and its exponent from `fit_from` on."""
    row = {
        f"regret at n = {end['horizon']:,}": with_error(end["regret"], end["regret_se"])
        for end in (curve.row(0, named=True), curve.row(-1, named=True))
    }
    return row | {f"exponent of n, from n = {fit_from:,} on": exponent(curve, fit_from)}


def exponent(curve: pl.DataFrame, fit_from: int) -> str:
    """The slope of the curve in logarithms from `fit_from` on, if three points remain."""
    late = curve.filter(pl.col("horizon") >= fit_from)
    return str(fit_slope(late["horizon"], late["regret"], late["regret_se"])) if len(late) > 2 else "–"
