"""Figure 2, left: the regret of MV-LCB on an easy problem, and its two parts; on the paper's arms or on others."""

import math
from functools import partial

import polars as pl
from matplotlib.figure import Figure

from prudent import MVLCB, Bandit
from prudent.base.text import with_error
from prudent.paper.making import PaperFigure, Tables, point
from prudent.paper.problems import FIGURE_2, FIGURE_2_ARMS
from prudent.results.figures import over_runs, plot_curves
from prudent.results.page import Finding

HORIZONS = (5_000, 10_000, 25_000, 50_000, 100_000, 250_000)
CURVES = {
    "regret": "regret $R_n$",
    "gap": "gap part $R_n^{\\Delta}$",
    "exploration": "exploration risk $R_n^{\\Gamma}$",
}
OWN = "fig2-left-own"
"""The files of the figure with another ρ or other arms, beside those of the paper's."""


def draw(tables: Tables, name: str = "fig2-left", title: str = f"$\\rho = 0$, {FIGURE_2_ARMS}") -> dict[str, Figure]:
    """The regret and its parts against n."""
    data = tables[name]
    figure = Figure(figsize=(6.4, 4.4))
    curves = [(label, data[curve], data[f"{curve}_se"]) for curve, label in CURVES.items()]
    positive = all((mean > 0.0).all() for _, mean, _ in curves)  # as on the paper's arms
    ax = plot_curves(figure.subplots(), data["horizon"], curves, log=False, note=over_runs(data["runs"][0]))
    ax.set(xscale="log", yscale="log" if positive else "linear")
    ax.set_xticks(data["horizon"], [f"{n / 1000:g}" for n in data["horizon"]])
    ax.minorticks_off()
    ax.set(xlabel="rounds $n$ (thousands)", ylabel="regret per round")
    ax.set_title(f"MV-LCB, {title}", fontsize=10)
    return {name: figure}


def with_others(bandit: Bandit, rho: float) -> PaperFigure:
    """The figure for other arms or another ρ, of which the paper says nothing."""
    arms = ", ".join(map(str, bandit.arms)) if len(bandit) <= 3 else f"{len(bandit)} arms"
    return PaperFigure(
        name="fig2-left",
        title="Figure 2, left, with another ρ or other arms",
        caption=FIGURE.caption,
        settings=f"ρ = {rho:g}; {bandit!r}; δ = 1/n², c = 5.",
        paper_says="Nothing of these arms.",
        cells=lambda: {OWN: [point(bandit, MVLCB(), rho, horizon) for horizon in HORIZONS]},
        draw=partial(draw, name=OWN, title=f"$\\rho = {rho:g}$, {arms}"),
    )


PARTS = {"regret": "regret", "gap": "gap part", "exploration": "exploration risk"}


def finding(tables: Tables) -> Finding:
    """Both ends of each curve, and by how much it falls, beside log n/n."""
    first, last = (tables["fig2-left"].row(i, named=True) for i in (0, -1))
    ends = {f"at n = {row['horizon']:,}": row for row in (first, last)}
    falls = {part: first[part] / last[part] for part in PARTS}
    rows = [
        {"part": name}
        | {at: with_error(row[part], row[f"{part}_se"]) for at, row in ends.items()}
        | {"falls by a factor of": f"{falls[part]:.1f}"}
        for part, name in PARTS.items()
    ]
    one, other = (math.log(row["horizon"]) / row["horizon"] for row in (first, last))
    said = f"gap part falls {falls['gap']:.1f}-fold and the exploration risk {falls['exploration']:.1f}-fold"
    return Finding(f"While log n/n falls {one / other:.1f}-fold, the {said}.", pl.DataFrame(rows))


FIGURE = PaperFigure(
    name="fig2-left",
    title="Figure 2, left: the regret and its two parts",
    caption="Regret of MV-LCB, the part from pulling the worse arm, and the exploration risk. Where no band is seen, "
    "it is narrower than the line.",
    settings="ρ = 0, Gaussian arms with means 1.0 and 0.5, variances 0.05 and 0.25; δ = 1/n², c = 5.",
    paper_says="The regret is made of both parts, tends to zero, and both decrease at the same rate O(log n / n).",
    cells=lambda: {"fig2-left": [point(FIGURE_2, MVLCB(), 0.0, horizon) for horizon in HORIZONS]},
    draw=draw,
    finding=finding,
)
