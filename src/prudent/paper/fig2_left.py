"""Figure 2, left: the regret of MV-LCB on an easy problem, and its two parts."""

from matplotlib.figure import Figure

from prudent import MVLCB
from prudent.figures import plot_curves
from prudent.paper.making import PaperFigure, Tables, point
from prudent.paper.problems import FIGURE_2, FIGURE_2_ARMS
from prudent.text import with_error

HORIZONS = (5_000, 10_000, 25_000, 50_000, 100_000, 250_000)
CURVES = {
    "regret": "regret $R_n$",
    "gap": "gap part $R_n^{\\Delta}$",
    "exploration": "exploration risk $R_n^{\\Gamma}$",
}


def draw(tables: Tables) -> dict[str, Figure]:
    """The regret and its parts against n."""
    data = tables["fig2-left"]
    figure = Figure(figsize=(6.4, 4.4))
    curves = [(label, data[name], data[f"{name}_se"]) for name, label in CURVES.items()]
    ax = plot_curves(figure.subplots(), data["horizon"], curves)
    ax.set_xticks(data["horizon"], [f"{n / 1000:g}" for n in data["horizon"]])
    ax.minorticks_off()
    ax.set(xlabel="rounds $n$ (thousands)", ylabel=f"mean over {data['runs'][0]} runs, ± 2 standard errors")
    ax.set_title(f"MV-LCB, $\\rho = 0$, {FIGURE_2_ARMS}", fontsize=10)
    return {"fig2-left": figure}


def findings(tables: Tables) -> str:
    """Both ends of the curve."""
    first, last = (tables["fig2-left"].row(i, named=True) for i in (0, -1))
    return (
        f"From {with_error(first['regret'], first['regret_se'])} at n = {first['horizon']:,} to "
        f"{with_error(last['regret'], last['regret_se'])} at n = {last['horizon']:,}; gap over exploration goes from "
        f"{first['gap'] / first['exploration']:.2f} to {last['gap'] / last['exploration']:.2f}."
    )


FIGURE = PaperFigure(
    name="fig2-left",
    title="Figure 2, left: the regret and its two parts",
    caption="Regret of MV-LCB, the part from pulling the worse arm, and the exploration risk.",
    settings="ρ = 0, Gaussian arms with means 1.0 and 0.5, variances 0.05 and 0.25; δ = 1/n², c = 5.",
    paper_says="The regret is made of both parts, tends to zero, and both decrease at the same rate O(log n / n).",
    cells=lambda: {"fig2-left": [point(FIGURE_2, MVLCB(), 0.0, horizon) for horizon in HORIZONS]},
    draw=draw,
    findings=findings,
)
