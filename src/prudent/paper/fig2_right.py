"""Figure 2, right: the worst regret over the grid, against n."""

import polars as pl
from matplotlib.figure import Figure

from prudent.figures import plot_curves
from prudent.paper import grid
from prudent.paper.making import PaperFigure, Tables
from prudent.paper.problems import MU_2, VARIANCE_1
from prudent.study import Labelled

FIT_FROM = {"MV-LCB": 25_000, "ExpExp": 1_000}
"""Slopes are fitted from here; before, MV-LCB's excess over its limit, O(log n/n), shows, and in ExpExp the rounding up
of (n/14)^{2/3} to whole pulls."""


def cells() -> dict[str, list[Labelled]]:
    """Those of the heat maps."""
    return {"fig2-right": grid.cells()}


def tables(found: Tables) -> Tables:
    """The worst cell of each algorithm and horizon."""
    return {"fig2-right": grid.worst_of_each(found["fig2-right"])}


def limit(data: pl.DataFrame) -> float:
    """Γ²/4 for the largest Γ."""
    return float(data["mean_gap"].to_numpy().max()) ** 2 / 4.0


def draw(tables: Tables) -> dict[str, Figure]:
    """The worst regret of both algorithms against n."""
    data, figure = tables["fig2-right"], Figure(figsize=(6.4, 4.4))
    curves = [(name, c["regret"], c["regret_se"]) for (name,), c in data.group_by("algorithm", maintain_order=True)]
    ax = plot_curves(figure.subplots(), data["horizon"].unique(maintain_order=True), curves)
    ax.axhline(limit(data), color="black", linestyle="--", linewidth=1.0, label=f"$\\Gamma^2/4$ = {limit(data):.4g}")
    ax.legend()
    ax.set_xlabel("rounds $n$")
    ax.set_ylabel(f"worst mean over {data['runs'][0]} runs, ± 2 standard errors")
    ax.set_title("worst regret over the grid, $\\rho = 0$, two Gaussian arms", fontsize=10)
    return {"fig2-right": figure}


def findings(tables: Tables) -> str:
    """Each curve in words, where its worst cell moves to, and the limit."""
    data, sentences = tables["fig2-right"], []
    for name in grid.POLICIES:
        curve = data.filter(algorithm=name)
        gaps = curve["variance_gap"]
        place = f"the worst Δ goes from {gaps[0]:g} to {gaps[-1]:g}"
        sentences.append(f"{name}: {grid.describe(curve, FIT_FROM[name])}; {place}.")
    return " ".join([*sentences, f"Γ²/4 = {limit(data):.4f}."])


FIGURE = PaperFigure(
    name="fig2-right",
    title="Figure 2, right: the worst case",
    caption="The largest mean regret over the grid of the heat maps, for each n and algorithm; being the largest "
    "of noisy means it lies a little too high. The dashed line is Γ²/4 for the largest Γ. ExpExp's worst Δ shrinks "
    "like n^{−1/3}: for the largest n it lies between the grid's first two values, and the true worst case is a "
    "little worse than the grid's (see the worst case up to a hundred million rounds).",
    settings=f"ρ = 0, μ₁ = 1.5, σ₂² = 0.25, {len(MU_2)} values of μ₂ by {len(VARIANCE_1)} of σ₁²; "
    "MV-LCB with δ = 1/n², c = 5; ExpExp with ⌈(n/14)^{2/3}⌉ pulls of each arm.",
    paper_says="The worst-case regret of ExpExp keeps decreasing over n, while that of MV-LCB stabilises to a "
    "constant (Γ²/4 by Remark 2 of Theorem 1).",
    cells=cells,
    tables=tables,
    draw=draw,
    findings=findings,
    shown=lambda tables: {"Where the worst case is": grid.worst_table(tables["fig2-right"])},
)
