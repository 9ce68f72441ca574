"""The paper's grid of two-armed problems: the heat maps show it, Figure 2 (right) the largest value of each panel."""

from itertools import product
from typing import Any

import polars as pl

from prudent import MVLCB, ExpExp, MeanVariance
from prudent.paper.making import point
from prudent.paper.problems import HORIZONS, MU_2, VARIANCE_1, grid_bandit
from prudent.policies.base import Policy
from prudent.rates import ROUNDING, fit_slope
from prudent.study import Labelled

RISK = MeanVariance(rho=0.0)
POLICIES: dict[str, Policy] = {"MV-LCB": MVLCB(), "ExpExp": ExpExp()}


def cells() -> list[Labelled]:
    """The grid for both algorithms and all horizons, by μ₂ and then σ₁²."""
    points = product(POLICIES, HORIZONS, MU_2, VARIANCE_1)
    return [grid_cell(algorithm, n, mu_2, variance_1) for algorithm, n, mu_2, variance_1 in points]


def grid_cell(algorithm: str, horizon: int, mu_2: float, variance_1: float) -> Labelled:
    """One point of the grid, or between its points; labelled with Δ and Γ."""
    bandit = grid_bandit(float(mu_2), float(variance_1))
    delta = round(float(bandit.gaps(RISK).max()), 9)  # 0.025, not 0.024999999999999994
    gamma = round(float(bandit.mean_differences.max()), 9)
    labels: dict[str, str | float] = {"algorithm": algorithm, "variance_gap": delta, "mean_gap": gamma}
    return point(bandit, POLICIES[algorithm], RISK.rho, horizon, **labels)


def worst(panel: pl.DataFrame) -> pl.DataFrame:
    """The row of the largest mean regret. As the largest of noisy means it lies a little too high."""
    return panel.sort("regret", descending=True, maintain_order=True).head(1)


def worst_of_each(data: pl.DataFrame) -> pl.DataFrame:
    """The worst row of every algorithm and horizon, in their order."""
    return pl.concat(worst(panel) for _, panel in data.group_by("algorithm", "horizon", maintain_order=True))


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
    ends: list[dict[str, Any]] = [curve.row(0, named=True), curve.row(-1, named=True)]
    parts = []
    for row in ends:
        exact = row["regret_se"] <= ROUNDING * abs(row["regret"])
        error = "" if exact else f" ± {row['regret_se']:.1g}"
        parts.append(f"{row['regret']:.5g}{error} at n = {row['horizon']:,}")
    late = curve.filter(pl.col("horizon") >= fit_from)
    if len(late) > 2:
        slope = fit_slope(late["horizon"], late["regret"], late["regret_se"])
        parts.append(f"log-log slope {slope} from n = {fit_from:,} on")
    return ", ".join(parts)
