"""Beyond the paper: one algorithm for easy problems and for the worst case, the question after its Theorem 2."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from prudent.figures import plot_curves, save, style
from prudent.paper.measure import Cell, Desk, measured, write_table
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATION_2, FIGURE_2, MU_2, VARIANCE_1, grid_bandit
from prudent.policies.base import Policy, spec
from prudent.policies.bernstein_mv_lcb import BernsteinMVLCB
from prudent.policies.best_of_both import BestOfBoth
from prudent.policies.exp_exp import ExpExp
from prudent.policies.mv_lcb import MVLCB
from prudent.report import Section
from prudent.risk.mean_variance import MeanVariance

RISK = MeanVariance(rho=0.0)
POLICIES: dict[str, Policy] = {
    "MV-LCB, c = 5": MVLCB(),
    "MV-LCB, sharp": MVLCB.sharp(),
    "MV-LCB, Bernstein": BernsteinMVLCB(),
    "ExpExp": ExpExp(),
    "Best of both": BestOfBoth(),
}
HORIZONS = (100, 250, 1_000, 2_500, 10_000, 25_000, 100_000)
EASY_HORIZONS = (*HORIZONS, 250_000, 1_000_000)
GRID = [(float(mu_2), float(variance_1)) for mu_2 in MU_2[::4] for variance_1 in VARIANCE_1]
"""Every fourth μ₂ of the heat maps, with the farthest means, and every σ₁², which decides how close the arms are."""

CONFIGURATIONS = {"1": CONFIGURATION_1, "2": CONFIGURATION_2}
RHOS = (0.0, 1.0, 10.0)
TABLE_HORIZON = 100_000


def cells() -> list[Cell]:
    """All three panels."""
    return [*easy_cells(), *grid_cells(), *configuration_cells()]


def easy_cells() -> list[Cell]:
    """The arms of Figure 2, left."""
    return [Cell(FIGURE_2, policy, RISK, n, {"name": name}) for name, policy in POLICIES.items() for n in EASY_HORIZONS]


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
    """Per policy and horizon the row of the largest mean regret."""
    return data.sort("regret", descending=True).group_by("name", "horizon").first().sort("name", "horizon")


def slope(curve: pl.DataFrame) -> float:
    """The exponent of n between the third horizon, past the first few pulls, and the last."""
    first, last = curve.row(min(2, len(curve) - 2), named=True), curve.row(-1, named=True)
    return math.log(last["regret"] / first["regret"]) / math.log(last["horizon"] / first["horizon"])


def compared(data: pl.DataFrame) -> pl.DataFrame:
    """The table of the configurations: 100 × regret ± standard error, a column per policy."""
    shown = [f"{100.0 * mean:.2f} ± {100.0 * se:.3f}" for mean, se in data.select("regret", "regret_se").iter_rows()]
    return data.with_columns(shown=pl.Series(shown)).pivot("name", index=["configuration", "rho"], values="shown")


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
    at = max(HORIZONS)
    easy_at, worst_at = (dict(table.filter(horizon=at).select("name", "regret").iter_rows()) for table in (easy, hard))
    powers = [f"{name}: {slope(hard.filter(name=name)):.2f}" for name in POLICIES]
    first, clearly = wins(many)
    return Section(
        name="beyond",
        title="Beyond the paper: the best of both algorithms",
        caption="Regret against the horizon on the easy problem of Figure 2 (left) and at the worst point of the grid "
        "(right), for the paper's two algorithms, two tighter MV-LCB and the budgeted one.",
        settings="ρ = 0. Left: means 1.0 and 0.5, variances 0.05 and 0.25. Right: largest mean regret over "
        f"{len(GRID)} points of the heat maps' grid (every fourth μ₂, every σ₁²), whose largest of noisy means is a "
        f"little too high. Table: 100 × regret at n = {TABLE_HORIZON:,}, ± standard error, fifteen arms. "
        "Best of both may explore ⌈(n/14)^(2/3)⌉ rounds for each arm but one, as ExpExp does. At the smallest n "
        "Bernstein's variance bound is 0 for all arms, and the tie goes to the first arm, on the left the best.",
        paper_says="Whether one algorithm can have MV-LCB's O(log n / n) on easy problems and ExpExp's O(n^(−1/3)) in "
        "the worst case is left open (after Theorem 2).",
        measured=f"At n = {at:,}, 100 × regret on the easy problem and in the worst case: "
        + "; ".join(f"{name}: {100.0 * easy_at[name]:.3f} and {100.0 * worst_at[name]:.2f}" for name in POLICIES)
        + f". From n = {HORIZONS[min(2, len(HORIZONS) - 2)]:,} on, the exponent of n in the worst case is: "
        + "; ".join(powers)
        + f". With fifteen arms the budgeted algorithm has the smallest mean regret in {first} of "
        f"{len(CONFIGURATIONS) * len(RHOS)} cases, in {clearly} by more than two standard errors.",
        figures=pictures,
        tables={"100 × regret with fifteen arms": compared(many)},
        data=data,
        beyond=True,
    )


def wins(many: pl.DataFrame) -> tuple[int, int]:
    """In how many configurations and tolerances best-of-both has the smallest mean regret, and clearly so."""
    first = clearly = 0
    for _, cell in many.group_by("configuration", "rho"):
        ours, (best, *_) = cell["policy"] == spec(BestOfBoth()), cell.sort("regret").iter_rows(named=True)
        rival = cell.filter(~ours).sort("regret").row(0, named=True)
        if best["policy"] == spec(BestOfBoth()):
            first += 1
            clearly += rival["regret"] - best["regret"] > 2.0 * math.hypot(best["regret_se"], rival["regret_se"])
    return first, clearly


def draw(easy: pl.DataFrame, hard: pl.DataFrame, runs: int) -> Figure:
    """Two panels with one legend."""
    with style():
        figure = Figure(figsize=(10.0, 4.3), layout="constrained")
        left, right = figure.subplots(1, 2)
        panels: Sequence[tuple[Any, pl.DataFrame, Sequence[int], str]] = (
            (left, easy, EASY_HORIZONS, "easy: $\\mu = (1, 0.5)$, $\\sigma^2 = (0.05, 0.25)$"),
            (right, hard, HORIZONS, "worst case over the grid"),
        )
        for ax, data, horizons, title in panels:
            parts = [(name, data.filter(name=name)) for name in POLICIES]
            plot_curves(ax, horizons, [(name, part["regret"], part["regret_se"]) for name, part in parts])
            ax.lines[list(POLICIES).index("ExpExp")].set_markersize(8.0)  # to be seen where another line covers it
            ax.get_legend().remove()
            ax.set_xlabel("rounds $n$")
            ax.set_title(title, fontsize=10)
        left.set_ylabel(f"regret, mean over {runs} runs ± 2 s.e.")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(POLICIES))
    return figure
