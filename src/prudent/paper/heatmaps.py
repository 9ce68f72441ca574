"""The paper's heat maps: the regret over the grid of Δ and Γ, one panel for each n."""

from itertools import product
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prudent.base.text import minus
from prudent.paper import grid
from prudent.paper.making import PaperFigure, Tables
from prudent.paper.problems import ALGORITHMS, HORIZONS, MU_2, VARIANCE_1
from prudent.policies.contract import spec
from prudent.results.figures import panels
from prudent.results.page import Finding

COLUMNS = 4
RING: dict[str, Any] = {"markersize": 7, "markerfacecolor": "none", "color": "#D00000", "clip_on": False}
FIT_FROM = 25_000
"""The rates on the easiest problem are fitted from here; before, MV-LCB still pulls both arms alike."""


def draw(tables: Tables) -> dict[str, Figure]:
    """A figure for each algorithm."""
    parts = {name: tables["heatmaps"].filter(algorithm=name) for name in ALGORITHMS}
    return {f"heatmaps-{spec(ALGORITHMS[name])}": draw_one(name, part) for name, part in parts.items()}


def draw_one(algorithm: str, data: pl.DataFrame) -> Figure:
    """All panels of one algorithm; only the outer axes are labelled."""
    parts = data.partition_by("horizon")
    figure, axes = panels(len(parts), COLUMNS, width=11.0, height=2.5)
    for ax, panel in zip(axes, parts, strict=True):
        plot_panel(ax, panel)
    figure.supxlabel("gap of the variances $\\Delta$", fontsize=11)
    figure.supylabel("difference of the means $\\Gamma$", fontsize=11)
    figure.suptitle(f"{algorithm}, $\\rho = 0$: mean regret over {data['runs'][0]} runs", fontsize=11)
    return figure


def plot_panel(ax: Axes, panel: pl.DataFrame) -> Axes:
    """One panel: a colour for each cell, a colour bar that names both ends, a ring at the largest value."""
    square = panel.pivot("variance_gap", index="mean_gap", values="regret").sort("mean_gap")
    gaps = sorted(square.columns[1:], key=float)
    centres = [float(gap) for gap in gaps]
    mesh = ax.pcolormesh(centres, square["mean_gap"], square.select(gaps), shading="nearest", cmap="viridis")
    top = grid.worst_of_each(panel).row(0, named=True)
    # A ring, so that the cell's own colour stays visible; viridis holds no red.
    ax.plot(top["variance_gap"], top["mean_gap"], "o", **RING)
    ax.grid(False)
    ax.set_title(f"$n$ = {top['horizon']:,}", fontsize=9)
    low, high = mesh.get_clim()
    bar = ax.figure.colorbar(mesh, ax=ax, ticks=[low, high], aspect=14, pad=0.03)
    ends = f"{round(low, 4) + 0.0:g}", f"{high:#.2g}"
    bar.ax.set_yticklabels([minus(end) for end in ends], fontsize=8)
    bar.outline.set_visible(False)
    return ax


def finding(tables: Tables) -> Finding:
    """The paper's two sentences, checked by counting cells; a row for both ends of Δ where Γ is largest."""
    data = tables["heatmaps"]
    widest, gaps, rows = max(data["mean_gap"]), data["variance_gap"], []
    for gap, name in product((min(gaps), max(gaps)), ALGORITHMS):
        curve = data.filter(algorithm=name, variance_gap=gap, mean_gap=widest)
        rows.append({"Δ": f"{gap:g}", "Γ": f"{widest:g}", "algorithm": name} | grid.curve_row(curve, FIT_FROM))
    last = max(data["horizon"])
    lower = grid.clearly_lower(*(data.filter(algorithm=name, horizon=last) for name in ALGORITHMS))
    counted = (
        f"At n = {last:,} MV-LCB has the smaller regret by more than two standard errors in {(lower > 0).sum()} of "
        f"{len(lower)} cells, ExpExp in {(lower < 0).sum()}."
    )
    return Finding(counted, pl.DataFrame(rows))


FIGURE = PaperFigure(
    name="heatmaps",
    title="Heat maps: the regret over gaps and differences of means",
    caption="Mean true regret over the grid; colours are rescaled in each panel, a ring marks the largest value.",
    settings=f"ρ = 0, Gaussian arms, μ₁ = 1.5, σ₂² = 0.25, {len(MU_2)} values of μ₂ from "
    f"{MU_2[0]:g} to {MU_2[-1]:g} by {len(VARIANCE_1)} of σ₁² from {VARIANCE_1[0]:g} to "
    f"{VARIANCE_1[-1]:g}; n from {HORIZONS[0]:,} to {HORIZONS[-1]:,}; MV-LCB with δ = 1/n², c = 5.",
    paper_says="For large gaps Δ MV-LCB converges to zero regret faster than ExpExp; for Δ close to zero MV-LCB "
    "has a constant regret that does not decrease with n, while that of ExpExp slowly decreases to zero.",
    cells=lambda: {"heatmaps": grid.cells()},
    draw=draw,
    finding=finding,
)
