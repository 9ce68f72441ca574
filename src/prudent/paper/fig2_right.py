"""Figure 2, right: the worst regret over the grid, against n."""

import polars as pl
from matplotlib.figure import Figure

from prudent.base.text import number
from prudent.paper import grid
from prudent.paper.making import PaperFigure, Tables
from prudent.paper.problems import ALGORITHMS, MU_2, VARIANCE_1
from prudent.results.figures import over_runs
from prudent.results.page import Finding

FIT_FROM = {"MV-LCB": 25_000, "ExpExp": 1_000}
"""Slopes are fitted from here; before, MV-LCB's excess over its limit, O(log n/n), shows, and in ExpExp the rounding up
of (n/14)^(2/3) to whole pulls."""


def draw(tables: Tables) -> dict[str, Figure]:
    """The worst regret of both algorithms against n."""
    data, figure = tables["fig2-right"], Figure(figsize=(6.4, 4.4))
    ax = grid.plot_regret(figure.subplots(), data)
    grid.plot_limit(ax, max(data["mean_gap"]))
    ax.legend(title=over_runs(data["runs"][0]), alignment="left")
    ax.set_ylabel("worst regret per round")
    ax.set_title("worst regret over the grid, $\\rho = 0$, two Gaussian arms", fontsize=10)
    return {"fig2-right": figure}


def finding(tables: Tables) -> Finding:
    """Where both curves end beside the limit; each curve in a row, and where its worst cell moves to."""
    data = tables["fig2-right"]
    last = data.filter(horizon=max(data["horizon"]))
    ends = " and ".join(f"{number(regret, 3)} for {name}" for name, regret in last.select("algorithm", "regret").rows())
    limit = f"Γ²/4 = {max(data['mean_gap']) ** 2 / 4.0:.4f}"
    rows = []
    for name in ALGORITHMS:
        curve = data.filter(algorithm=name)
        gaps, since = curve["variance_gap"], FIT_FROM[name]
        row = grid.curve_row(curve, since)
        fitted = {"exponent of n": row.popitem()[1], "fitted from n =": f"{since:,}"}
        rows.append({"algorithm": name} | row | fitted | {"worst Δ": f"from {gaps[0]:g} to {gaps[-1]:g}"})
    return Finding(f"At n = {last['horizon'][0]:,} the worst regret is {ends}; {limit}.", pl.DataFrame(rows))


FIGURE = PaperFigure(
    name="fig2-right",
    title="Figure 2, right: the worst case",
    caption="The largest mean regret over the grid of the heat maps, for each n and algorithm; being the largest "
    "of noisy means it lies a little too high. The dashed line is Γ²/4 for the largest Γ. ExpExp's worst Δ shrinks "
    "like n^(−1/3): for the largest n it lies between the grid's first two values, and the true worst case is a "
    "little worse than the grid's (see the worst case up to a hundred million rounds).",
    settings=f"ρ = 0, μ₁ = 1.5, σ₂² = 0.25, {len(MU_2)} values of μ₂ by {len(VARIANCE_1)} of σ₁²; "
    "MV-LCB with δ = 1/n², c = 5; ExpExp with ⌈(n/14)^(2/3)⌉ pulls of each arm.",
    paper_says="The worst-case regret of ExpExp keeps decreasing over n, while that of MV-LCB stabilises to a "
    "constant (Γ²/4 by Remark 2 of Theorem 1).",
    cells=lambda: {"fig2-right": grid.cells()},
    tables=lambda found: {"fig2-right": grid.worst_of_each(found["fig2-right"])},
    draw=draw,
    finding=finding,
    shown=lambda tables: {"Where the worst case is": grid.worst_table(tables["fig2-right"])},
)
