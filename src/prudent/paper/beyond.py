"""Beyond the seed: one algorithm for easy problems and for the worst case, the question after its Theorem 2."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from prudent.figures import plot_curves, save, style
from prudent.paper.measure import Cell, Desk, measured, write_table
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATION_2, FIGURE_2, MU_2, VARIANCE_1, grid_bandit
from prudent.paper.section import Section
from prudent.policies import MVLCB, BernsteinMVLCB, ExpExp, Policy, spec
from prudent.policies.best_of_both import BestOfBoth
from prudent.risk import MeanVariance

RISK = MeanVariance(rho=0.0)
POLICIES: dict[str, Policy] = {
    "MV-LCB, c = 5": MVLCB(),
    "MV-LCB, sharp": MVLCB.sharp(),
    "MV-LCB, Bernstein": BernsteinMVLCB(),
    "ExpExp": ExpExp(),
    "Best of both": BestOfBoth(),
}
HORIZONS = (100, 250, 1_000, 2_500, 10_000, 25_000, 100_000)
GRID = [(float(mu_2), float(variance_1)) for mu_2 in MU_2[::3] for variance_1 in VARIANCE_1]
"""Every third μ₂ of the heat maps and every σ₁²: the worst points are close in mean-variance, in σ₁²'s direction."""

CONFIGURATIONS = {"1": CONFIGURATION_1, "2": CONFIGURATION_2}
RHOS = (0.0, 1.0, 10.0)
TABLE_HORIZON = 100_000


def cells() -> list[Cell]:
    """All three panels."""
    return [*easy_cells(), *grid_cells(), *configuration_cells()]


def easy_cells() -> list[Cell]:
    """The arms of Figure 2, left."""
    return [
        Cell(FIGURE_2, policy, RISK, horizon, {"name": name})
        for name, policy in POLICIES.items()
        for horizon in HORIZONS
    ]


def grid_cells() -> list[Cell]:
    """Every point of the grid, to take the worst of."""
    return [
        Cell(grid_bandit(mu_2, variance_1), policy, RISK, n, {"name": name, "mu_2": mu_2, "variance_1": variance_1})
        for name, policy in POLICIES.items()
        for n in HORIZONS
        for mu_2, variance_1 in GRID
    ]


def configuration_cells() -> list[Cell]:
    """Both configurations of fifteen arms."""
    return [
        Cell(bandit, policy, MeanVariance(rho), TABLE_HORIZON, {"name": name, "configuration": which, "rho": rho})
        for which, bandit in CONFIGURATIONS.items()
        for rho in RHOS
        for name, policy in POLICIES.items()
    ]


def worst(data: pl.DataFrame) -> pl.DataFrame:
    """Per policy and horizon the row of the largest mean regret, in the order of the panel."""
    return data.sort("regret", descending=True).group_by("name", "horizon").first().sort(order("name"), "horizon")


def order(column: str) -> pl.Expr:
    """A sorting key: policies as they are listed above."""
    return pl.col(column).cast(pl.Enum(list(POLICIES)))


def slope(curve: pl.DataFrame) -> float:
    """The exponent of n from the first horizon of at least 1,000 rounds, or the first, to the last."""
    steep = curve.filter(pl.col("horizon") >= 1_000) if curve["horizon"].max() > 1_000 else curve  # type: ignore[operator]
    first, last = steep.row(0, named=True), steep.row(-1, named=True)
    return math.log(last["regret"] / first["regret"]) / math.log(last["horizon"] / first["horizon"])


def compared(data: pl.DataFrame) -> pl.DataFrame:
    """The table of the configurations: 100 × regret ± standard error, a column per policy."""
    shown = pl.format(
        "{} ± {}", (100.0 * pl.col("regret")).round(2).cast(pl.String), (100.0 * pl.col("regret_se")).round(2)
    )
    return data.with_columns(shown.alias("shown")).pivot("name", index=["configuration", "rho"], values="shown")


def make(desk: Desk) -> Section:
    """Simulate, and leave the figure, its data and the table."""
    easy = measured(desk, "beyond-easy", easy_cells())
    hard = worst(measured(desk, "beyond-grid", grid_cells()))
    many = measured(desk, "beyond-configurations", configuration_cells())
    tables = {"beyond-easy": easy, "beyond-worst": hard, "beyond-configurations": many}
    data = [desk.path(f"{name}.parquet") for name in tables]
    for table, path in zip(tables.values(), data, strict=True):
        write_table(table, path)
    pictures = save(draw(easy, hard, desk.runs), desk.path("beyond"))
    last, row = max(HORIZONS), facts(easy, hard, max(HORIZONS))
    slopes = {name: slope(hard.filter(name=name)) for name in POLICIES}
    return Section(
        name="beyond",
        title="Beyond the seed: the best of both algorithms",
        caption="Regret against the horizon on the easy problem of Figure 2 (left) and at the worst point of the grid "
        "(right), for the seed's two algorithms, two tighter MV-LCB and the budgeted one.",
        settings=f"ρ = 0. Left: means 1.0 and 0.5, variances 0.05 and 0.25. Right: largest mean regret over "
        f"{len(GRID)} points of the heat maps' grid (every third μ₂, every σ₁²), whose largest of noisy means is a "
        f"little too high. Table: 100 × regret at n = {TABLE_HORIZON:,}, ± standard error, fifteen arms. "
        f"Best of both: {spec(BestOfBoth())}, that is ⌈(n/14)^(2/3)⌉ rounds of exploration for each arm but one.",
        seed_says="Whether one algorithm can have MV-LCB's O(log n / n) on easy problems and ExpExp's O(n^(−1/3)) in "
        "the worst case is left open (after Theorem 2).",
        measured=f"At n = {last:,}, regret ×100 on the easy problem and in the worst case: "
        + "; ".join(f"{name} {row[name][0]:.3f} and {row[name][1]:.2f}" for name in POLICIES)
        + ". The worst case goes with n to the power "
        + ", ".join(f"{value:+.2f} ({name})" for name, value in slopes.items()).replace("-", "−")
        + f". With fifteen arms the budgeted algorithm has the smallest regret in {wins(many)} of "
        f"{len(CONFIGURATIONS) * len(RHOS)} cases.",
        figures=pictures,
        tables={"100 × regret with fifteen arms": compared(many)},
        data=data,
        beyond=True,
    )


def facts(easy: pl.DataFrame, hard: pl.DataFrame, horizon: int) -> dict[str, tuple[float, float]]:
    """Per policy 100 × the regret on the easy problem and in the worst case."""
    found = [dict(table.filter(horizon=horizon).select("name", "regret").iter_rows()) for table in (easy, hard)]
    return {name: (100.0 * found[0][name], 100.0 * found[1][name]) for name in POLICIES}


def wins(many: pl.DataFrame) -> int:
    """In how many configurations and tolerances best-of-both has the smallest mean regret."""
    best = many.sort("regret").group_by("configuration", "rho").first()
    return int((best["policy"] == spec(BestOfBoth())).sum())


def draw(easy: pl.DataFrame, hard: pl.DataFrame, runs: int) -> Figure:
    """Two panels with one legend."""
    with style():
        figure = Figure(figsize=(10.0, 4.3), layout="constrained")
        left, right = figure.subplots(1, 2)
        panels: Sequence[tuple[Any, pl.DataFrame, str]] = (
            (left, easy, "easy: $\\mu = (1, 0.5)$, $\\sigma^2 = (0.05, 0.25)$"),
            (right, hard, "worst case over the grid"),
        )
        for ax, data, title in panels:
            parts = [(name, data.filter(name=name)) for name in POLICIES]
            plot_curves(ax, HORIZONS, [(name, part["regret"], part["regret_se"]) for name, part in parts])
            ax.get_legend().remove()
            ax.set_xlabel("rounds $n$")
            ax.set_title(title, fontsize=10)
        left.set_ylabel(f"regret, mean over {runs} runs ± 2 s.e.")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(POLICIES))
    return figure
