"""Figure 2, left: the regret of MV-LCB on an easy problem, and its two parts."""

from matplotlib.figure import Figure

from prudent.figures import plot_curves, save, style
from prudent.paper.measure import Cell, Desk, measured, write_table
from prudent.paper.problems import FIGURE_2
from prudent.policies.mv_lcb import MVLCB
from prudent.report import Section
from prudent.risk.mean_variance import MeanVariance

RISK = MeanVariance(rho=0.0)
POLICY = MVLCB()
HORIZONS = (5_000, 10_000, 25_000, 50_000, 100_000, 250_000)
CURVES = {
    "regret": "regret $R_n$",
    "gap": "gap part $R_n^{\\Delta}$",
    "exploration": "exploration risk $R_n^{\\Gamma}$",
}


def cells() -> list[Cell]:
    """Each horizon is its own set of runs."""
    return [Cell(FIGURE_2, POLICY, RISK, horizon) for horizon in HORIZONS]


def make(desk: Desk) -> Section:
    """Simulate, and leave the figure and its data."""
    data = measured(desk, "fig2-left", cells())
    table = desk.path("fig2-left.parquet")
    write_table(data, table)
    with style():
        figure = Figure(figsize=(6.4, 4.4))
        ax = plot_curves(
            figure.subplots(), HORIZONS, [(label, data[name], data[f"{name}_se"]) for name, label in CURVES.items()]
        )
        ax.set_xticks(HORIZONS, [f"{n / 1000:g}" for n in HORIZONS])
        ax.minorticks_off()
        ax.set_xlabel("rounds $n$ (thousands)")
        ax.set_ylabel(f"mean over {desk.runs} runs, ± 2 standard errors")
        ax.set_title("MV-LCB, $\\rho = 0$, $\\mu = (1, 0.5)$, $\\sigma^2 = (0.05, 0.25)$", fontsize=10)
        pictures = save(figure, desk.path("fig2-left"))
    first, last = data.row(0, named=True), data.row(-1, named=True)
    return Section(
        name="fig2-left",
        title="Figure 2, left: the regret and its two parts",
        caption="Regret of MV-LCB, the part from pulling the worse arm, and the exploration risk.",
        settings="ρ = 0, Gaussian arms with means 1.0 and 0.5, variances 0.05 and 0.25; δ = 1/n², c = 5.",
        paper_says="The regret is made of both parts, tends to zero, and both decrease at the same rate O(log n / n).",
        measured=f"From {first['regret']:.4f} ± {first['regret_se']:.4f} at n = {first['horizon']:,} to "
        f"{last['regret']:.5f} ± {last['regret_se']:.5f} at n = {last['horizon']:,}; gap over exploration goes from "
        f"{first['gap'] / first['exploration']:.2f} to {last['gap'] / last['exploration']:.2f}.",
        figures=pictures,
        data=[table],
    )
