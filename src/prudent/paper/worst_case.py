"""Remark 2 of Theorem 1 at scale: the worst cases of MV-LCB and ExpExp against n up to 10⁸.

Two kinds of arms, both with Γ = 1.1, the largest difference of means on the paper's grid:

(a) Two deterministic arms. MV-LCB alternates, and its regret is exactly T₁T₂Γ²/n². ExpExp pulls the second arm m times.

(b) The grid's edge of largest Γ, Gaussian arms with μ = (1.5, 0.4) and σ² = (0.25 − Δ, 0.25). The worst Δ moves towards
zero as n grows and soon falls between the grid's first two points, so here Δ takes multiples of the worst gap of each
algorithm, derived below, no larger than the grid's largest 0.25. Both regrets grow with Γ², so the edge is enough.

*MV-LCB.* With T = n/2 (1 ± u) its indices are equal when Δ = w (1/√T₂ − 1/√T₁) ≈ w u √(2/n), w² = c² log(1/δ)/2, and
the regret is about Δ/2 (1 − u) + Γ²/4 (1 − u²). To leading order the worst gap is Δ_w = 2w²/(nΓ²), and adds O(log n/n)
to Γ²/4. The noise of the empirical variances moves u by s/w, with s as below, and takes Γ²/4 · s²/w² away; with
δ = 1/n² that is a share of s²/(c² log n), 0.05 % at n = 10⁸. So Γ²/4 is met exactly only by deterministic arms, and
otherwise in the limit.

*ExpExp.* After m pulls of each arm the difference of the empirical variances is nearly normal with variance s²/m,
s² = 2(σ₁⁴ + σ₂⁴), and the regret is about Γ² m/n + Δ Φ(−Δ√m/s). As x Φ(−x) is largest at x = 0.7518 (0.1700), the worst
gap is Δ_w = 0.7518 s/√m ∝ n^(−1/3), and the regret is Γ² m/n + 0.1700 s/√m ∝ n^(−1/3).
"""

import math
from itertools import product

import polars as pl
from matplotlib.figure import Figure

from prudent import MVLCB, Bandit, Deterministic
from prudent.base.text import number
from prudent.paper import grid
from prudent.paper.making import PaperFigure, Tables, point
from prudent.paper.problems import ALGORITHMS
from prudent.results.figures import over_runs
from prudent.results.page import Finding
from prudent.study import Labelled

HORIZONS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)
FIT_FROM = 100_000
"""Slopes are fitted from here; before, MV-LCB's excess over its limit, O(log n/n), shows."""

MEAN_GAP = 1.1
VARIANCE = 0.25
DETERMINISTIC = Bandit([Deterministic(0.0), Deterministic(MEAN_GAP)])
MULTIPLES = (0.0, 0.5, 1.0, 1.5, 2.0)
X_WORST, PEAK = 0.7518, 0.1700
"""x Φ(−x) is largest at X_WORST, where it is PEAK."""
S = 2.0 * VARIANCE
"""s of the docstring for σ₁² = σ₂²."""


def worst_gap(algorithm: str, horizon: int) -> float:
    """Δ_w of the module's docstring, for δ = 1/n² and m = (n/14)^(2/3); not larger than the grid's largest Δ."""
    if algorithm == "MV-LCB":
        gap = 2.0 * MVLCB().c ** 2 * math.log(horizon) / (horizon * MEAN_GAP**2)
    else:
        gap = X_WORST * S * math.pow(horizon / 14.0, -1.0 / 3.0)
    return min(gap, VARIANCE)


def predicted(algorithm: str, horizon: int) -> float:
    """The worst regret for large n, after the module's docstring."""
    if algorithm == "MV-LCB":
        return MEAN_GAP**2 / 4.0 * (1.0 - S**2 / (MVLCB().c ** 2 * math.log(horizon)))
    pulls = math.pow(horizon / 14.0, 2.0 / 3.0)
    return MEAN_GAP**2 * pulls / horizon + PEAK * S / math.sqrt(pulls)


def gaussian_cells(algorithm: str, horizon: int) -> list[Labelled]:
    """(b), the candidates for the worst case at one horizon."""
    gaps = sorted({min(multiple * worst_gap(algorithm, horizon), VARIANCE) for multiple in MULTIPLES})
    return [grid.grid_cell(algorithm, horizon, 1.5 - MEAN_GAP, VARIANCE - gap) for gap in gaps]


def cells() -> dict[str, list[Labelled]]:
    """Both kinds of arms, both algorithms."""
    exact = [
        point(DETERMINISTIC, policy, 0.0, n, algorithm=algorithm, variance_gap=0.0, mean_gap=MEAN_GAP)
        for (algorithm, policy), n in product(ALGORITHMS.items(), HORIZONS)
    ]
    near = [cell for place in product(ALGORITHMS, HORIZONS) for cell in gaussian_cells(*place)]
    return {"deterministic": exact, "gaussian": near}


def tables(found: Tables) -> Tables:
    """The deterministic arms, and the worst of the Gaussian ones."""
    kinds = {"deterministic": found["deterministic"], "gaussian": grid.worst_of_each(found["gaussian"])}
    return {"worst-case": pl.concat(table.with_columns(arms=pl.lit(kind)) for kind, table in kinds.items())}


def draw(tables: Tables) -> dict[str, Figure]:
    """Both kinds of arms side by side on one scale."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    data = tables["worst-case"]
    titles = {"deterministic": "two deterministic arms", "gaussian": "worst of Gaussian arms"}
    for ax, (kind, title) in zip(figure.subplots(1, 2, sharey=True), titles.items(), strict=True):
        curves = data.filter(arms=kind)
        grid.plot_regret(ax, curves)
        grid.plot_limit(ax, MEAN_GAP)
        n, regret = curves.filter(algorithm="ExpExp").select("horizon", "regret").to_numpy().T
        guide = regret[-1] * (n / n[-1]) ** (-1.0 / 3.0)
        ax.plot(n, guide, color="black", linestyle=":", linewidth=1.0, label="slope $-1/3$")
        ax.set_title(f"{title}, $\\rho = 0$, $\\Gamma = {MEAN_GAP:g}$", fontsize=10)
        ax.get_legend().remove()
    figure.axes[0].set_ylabel("regret per round")
    entries, note = figure.axes[0].get_legend_handles_labels(), over_runs(data["runs"][0])
    figure.legend(*entries, loc="outside lower center", ncols=4, title=note)
    return {"worst-case": figure}


def deterministic_error(data: pl.DataFrame) -> float:
    """The largest |regret − T₁T₂Γ²/n²| of MV-LCB on the deterministic arms."""
    rows = data.filter(arms="deterministic", algorithm="MV-LCB")
    share = rows["best_share"]
    return float(max((rows["regret"] - share * (1.0 - share) * MEAN_GAP**2).abs()))


def finding(tables: Tables) -> Finding:
    """The identity on deterministic arms; every curve in a row, beside what the docstring's formulas give."""
    data, last, rows = tables["worst-case"], HORIZONS[-1], []
    words = {"deterministic": "deterministic", "gaussian": "worst Gaussian"}
    for kind, name in product(words, ALGORITHMS):
        curve = data.filter(arms=kind, algorithm=name)
        expected = number(predicted(name, last), 5) if kind == "gaussian" else "–"
        row = {"arms": words[kind], "algorithm": name} | grid.curve_row(curve, FIT_FROM)
        rows.append(row | {f"expected at n = {last:,}": expected})
    error = deterministic_error(data)
    off = f"differs from T₁T₂Γ²/n² by at most {number(error, 2)}" if error else "is exactly T₁T₂Γ²/n²"
    verdict = f"On deterministic arms the regret of MV-LCB {off}; Γ²/4 = {MEAN_GAP**2 / 4.0:.4f}."
    return Finding(verdict, pl.DataFrame(rows))


FIGURE = PaperFigure(
    name="worst-case",
    title="Remark 2: the worst case up to a hundred million rounds",
    caption="Left: two deterministic arms. Right: the largest mean regret over a few gaps Δ around each "
    "algorithm's worst one, Gaussian arms. Dashed: Γ²/4; dotted: a line of slope −1/3 through the last point of "
    "ExpExp.",
    settings=f"ρ = 0, Γ = {MEAN_GAP:g}; Gaussian arms with σ₂² = {VARIANCE:g}, σ₁² = {VARIANCE:g} − Δ, Δ = "
    f"{', '.join(f'{multiple:g}' for multiple in MULTIPLES)} times the worst gap; MV-LCB with δ = 1/n², c = 5.",
    paper_says="On two deterministic arms MV-LCB has the constant regret T₁T₂Γ²/n² = Γ²/4; for any n there is a "
    "problem on which its regret is constant. The worst-case regret of ExpExp is at most 2K/n^(1/3).",
    cells=cells,
    tables=tables,
    draw=draw,
    finding=finding,
    shown=lambda tables: {"The worst gap": grid.worst_table(tables["worst-case"].filter(arms="gaussian"))},
)
