"""The paper's heat maps: the regret over the grid of Δ and Γ, one panel for each n."""

import math

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prudent.paper import grid
from prudent.paper.making import PaperFigure, Tables
from prudent.paper.problems import HORIZONS, MU_2, VARIANCE_1
from prudent.policies.base import spec
from prudent.study import Labelled

COLUMNS = 4
FIT_FROM = 25_000
"""The rates on the easiest problem are fitted from here; before, MV-LCB still pulls both arms alike."""


def cells() -> dict[str, list[Labelled]]:
    """Every panel of both algorithms."""
    return {"heatmaps": grid.cells()}


def draw(tables: Tables) -> dict[str, Figure]:
    """A figure for each algorithm."""
    data = tables["heatmaps"]
    return {
        f"heatmaps-{spec(grid.POLICIES[name])}": draw_one(name, data.filter(algorithm=name)) for name in grid.POLICIES
    }


def draw_one(algorithm: str, data: pl.DataFrame) -> Figure:
    """All panels of one algorithm; only the outer axes are labelled."""
    panels = [panel for _, panel in data.group_by("horizon", maintain_order=True)]
    rows = math.ceil(len(panels) / COLUMNS)
    figure = Figure(figsize=(11.0, 2.5 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, panel in zip(axes, panels, strict=False):
        plot_panel(ax, panel)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    figure.supxlabel("gap of the variances $\\Delta$", fontsize=11)
    figure.supylabel("difference of the means $\\Gamma$", fontsize=11)
    figure.suptitle(f"{algorithm}, $\\rho = 0$: mean regret over {data['runs'][0]} runs", fontsize=11)
    return figure


def plot_panel(ax: Axes, panel: pl.DataFrame) -> Axes:
    """One panel: a colour for each cell, a colour bar that names both ends, a ring at the largest value."""
    square = panel.pivot("variance_gap", index="mean_gap", values="regret").sort("mean_gap")
    gaps = sorted(float(column) for column in square.columns[1:])
    by_gap = sorted(square.columns[1:], key=float)
    mesh = ax.pcolormesh(
        gaps, square["mean_gap"].to_numpy(), square.select(by_gap).to_numpy(), shading="nearest", cmap="viridis"
    )
    top = grid.worst(panel).row(0, named=True)
    # A ring, so that the cell's own colour stays visible; viridis holds no red.
    ax.plot(
        top["variance_gap"], top["mean_gap"], "o", markersize=7, markerfacecolor="none", color="#D00000", clip_on=False
    )
    ax.grid(False)
    ax.set_title(f"$n$ = {top['horizon']:,}", fontsize=9)
    low, high = mesh.get_clim()
    bar = ax.figure.colorbar(mesh, ax=ax, ticks=[low, high], aspect=14, pad=0.03)
    bar.ax.set_yticklabels([f"{round(low, 4) + 0.0:g}", f"{high:#.2g}"], fontsize=8)
    bar.outline.set_visible(False)
    return ax


def findings(tables: Tables) -> str:
    """The paper's two sentences, checked where Γ is largest at both ends of Δ, and by counting cells."""
    data = tables["heatmaps"]
    widest, gaps = data["mean_gap"].to_numpy().max(), data["variance_gap"].to_numpy()
    sentences = []
    for gap in (gaps.min(), gaps.max()):
        for name in grid.POLICIES:
            place = (pl.col("algorithm") == name) & (pl.col("variance_gap") == gap) & (pl.col("mean_gap") == widest)
            sentences.append(f"Δ = {gap:g}, Γ = {widest:g}, {name}: {grid.describe(data.filter(place), FIT_FROM)}.")
    return " ".join([*sentences, count_wins(data)])


def count_wins(data: pl.DataFrame) -> str:
    """In how many cells each algorithm is the better one, by more than two standard errors, at the largest n."""
    last = data.filter(pl.col("horizon") == data["horizon"].max())
    first, second = (last.filter(pl.col("algorithm") == name) for name in grid.POLICIES)
    difference = (first["regret"] - second["regret"]).to_numpy()
    margin = 2.0 * ((first["regret_se"] ** 2 + second["regret_se"] ** 2) ** 0.5).to_numpy()
    names = list(grid.POLICIES)
    return (
        f"At n = {last['horizon'][0]:,} {names[0]} has the smaller regret by more than two standard errors in "
        f"{int((difference < -margin).sum())} of {len(difference)} cells, {names[1]} in "
        f"{int((difference > margin).sum())}."
    )


FIGURE = PaperFigure(
    name="heatmaps",
    title="Heat maps: the regret over gaps and differences of means",
    caption="Mean true regret over the grid; colours are rescaled in each panel, a ring marks the largest value.",
    settings=f"ρ = 0, Gaussian arms, μ₁ = 1.5, σ₂² = 0.25, {len(MU_2)} values of μ₂ from "
    f"{MU_2[0]:g} to {MU_2[-1]:g} by {len(VARIANCE_1)} of σ₁² from {VARIANCE_1[0]:g} to "
    f"{VARIANCE_1[-1]:g}; n from {HORIZONS[0]:,} to {HORIZONS[-1]:,}; MV-LCB with δ = 1/n², c = 5.",
    paper_says="For large gaps Δ MV-LCB converges to zero regret faster than ExpExp; for Δ close to zero MV-LCB "
    "has a constant regret that does not decrease with n, while that of ExpExp slowly decreases to zero.",
    cells=cells,
    draw=draw,
    findings=findings,
)
