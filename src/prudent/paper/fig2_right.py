"""Figure 2, right: the worst regret over the grid, against n."""

import polars as pl
from matplotlib.figure import Figure

from prudent.figures import plot_curves, save, style
from prudent.paper import grid
from prudent.paper.measure import Cell, Desk, write_table
from prudent.report import Section

FIT_FROM = {"MV-LCB": 25_000, "ExpExp": 1_000}
"""Slopes are fitted from here; before, MV-LCB's excess over its limit, O(log n/n), shows, and in ExpExp the rounding up
of (n/14)^{2/3} to whole pulls."""


def cells() -> list[Cell]:
    """The panels of the heat maps; those on disk are not simulated again."""
    return [cell for algorithm in grid.POLICIES for n in grid.HORIZONS for cell in grid.cells(algorithm, n)]


def make(desk: Desk) -> Section:
    """Take the worst cell of each panel, and leave the figure and its data."""
    data = pl.DataFrame([grid.worst(grid.measure(desk, name, n)) for name in grid.POLICIES for n in grid.HORIZONS])
    table = desk.path("fig2-right.parquet")
    write_table(data, table)
    curves = {name: data.filter(pl.col("algorithm") == name) for name in grid.POLICIES}
    limit = float(data["mean_gap"].to_numpy().max()) ** 2 / 4.0
    with style():
        figure = Figure(figsize=(6.4, 4.4))
        ax = plot_curves(
            figure.subplots(), grid.HORIZONS, [(name, c["regret"], c["regret_se"]) for name, c in curves.items()]
        )
        ax.axhline(limit, color="black", linestyle="--", linewidth=1.0, label=f"$\\Gamma^2/4$ = {limit:.4g}")
        ax.legend()
        ax.set_xlabel("rounds $n$")
        ax.set_ylabel(f"worst mean over {desk.runs} runs, ± 2 standard errors")
        ax.set_title("worst regret over the grid, $\\rho = 0$, two Gaussian arms", fontsize=10)
        pictures = save(figure, desk.path("fig2-right"))
    return Section(
        name="fig2-right",
        title="Figure 2, right: the worst case",
        caption="The largest mean regret over the grid of the heat maps, for each n and algorithm; being the largest "
        "of noisy means it lies a little too high. The dashed line is Γ²/4 for the largest Γ. ExpExp's worst Δ shrinks "
        "like n^{−1/3}: for the largest n it lies between the grid's first two values, and the true worst case is a "
        "little worse than the grid's (see the worst case up to a hundred million rounds).",
        settings=f"ρ = 0, μ₁ = 1.5, σ₂² = 0.25, {len(grid.MU_2)} values of μ₂ by {len(grid.VARIANCE_1)} of σ₁²; "
        "MV-LCB with δ = 1/n², c = 5; ExpExp with ⌈(n/14)^{2/3}⌉ pulls of each arm.",
        paper_says="The worst-case regret of ExpExp keeps decreasing over n, while that of MV-LCB stabilises to a "
        "constant (Γ²/4 by Remark 2 of Theorem 1).",
        measured=findings(curves, limit),
        figures=pictures,
        tables={"Where the worst case is": grid.worst_table(data)},
        data=[table],
    )


def findings(curves: dict[str, pl.DataFrame], limit: float) -> str:
    """Each curve in words, where its worst cell moves to, and the limit."""
    sentences = []
    for name, curve in curves.items():
        gaps = curve["variance_gap"]
        place = f"the worst Δ goes from {gaps[0]:g} to {gaps[-1]:g}"
        sentences.append(f"{name}: {grid.describe(curve, FIT_FROM[name])}; {place}.")
    return " ".join([*sentences, f"Γ²/4 = {limit:.4f}."])
