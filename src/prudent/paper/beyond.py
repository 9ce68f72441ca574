"""Beyond the paper: one algorithm for easy problems and for the worst case, the question after its Theorem 2."""

from itertools import product

import polars as pl
from matplotlib.figure import Figure

from prudent import MVLCB, BernsteinMVLCB, BestOfBoth, ExpExp
from prudent.base.text import with_error
from prudent.paper import grid
from prudent.paper.making import PaperFigure, Tables, point
from prudent.paper.problems import CONFIGURATIONS, FIGURE_2, FIGURE_2_ARMS, MU_2, VARIANCE_1, grid_bandit
from prudent.policies.contract import Policy, spec
from prudent.results.figures import over_runs
from prudent.results.page import Finding
from prudent.results.rates import end_slope
from prudent.study import Labelled

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

RHOS = (0.0, 1.0, 10.0)
TABLE_HORIZON = 100_000


def cells() -> dict[str, list[Labelled]]:
    """The arms of Figure 2 (left); every point of the grid, to take the worst of; both configurations."""
    easy = [point(FIGURE_2, policy, 0.0, n, name=name) for name, policy in POLICIES.items() for n in EASY_HORIZONS]
    hard = [
        point(grid_bandit(mu_2, variance_1), POLICIES[name], 0.0, n, name=name, mu_2=mu_2, variance_1=variance_1)
        for name, n, (mu_2, variance_1) in product(POLICIES, HORIZONS, GRID)
    ]
    many = [
        point(CONFIGURATIONS[which], POLICIES[name], rho, TABLE_HORIZON, name=name, configuration=which, rho=rho)
        for which, rho, name in product(CONFIGURATIONS, RHOS, POLICIES)
    ]
    return {"beyond-easy": easy, "beyond-worst": hard, "beyond-configurations": many}


def worst(data: pl.DataFrame) -> pl.DataFrame:
    """Per policy and horizon the row of the largest mean regret."""
    return grid.worst_of_each(data, "name").sort("name", "horizon")


def late_slope(curve: pl.DataFrame) -> float:
    """The exponent of n between the third horizon, past the first few pulls, and the last."""
    late = curve[min(2, len(curve) - 2) :]
    return end_slope(late["horizon"], late["regret"])


def compared(data: pl.DataFrame) -> pl.DataFrame:
    """The table of the configurations: 100 × regret ± standard error, a column per policy."""
    shown = [with_error(100.0 * mean, 100.0 * se) for mean, se in data.select("regret", "regret_se").iter_rows()]
    return data.with_columns(shown=pl.Series(shown)).pivot("name", index=["configuration", "rho"], values="shown")


def finding(tables: Tables) -> Finding:
    """Who wins with fifteen arms; a row per policy: regrets at the longest shared horizon, rate in the worst case."""
    first, clearly = wins(tables["beyond-configurations"])
    easy, hard = tables["beyond-easy"], tables["beyond-worst"]
    at, since = max(HORIZONS), HORIZONS[min(2, len(HORIZONS) - 2)]
    means = pl.col("regret", "regret_se") * 100.0
    easy_at, worst_at = (table.filter(horizon=at).select("name", means).rows_by_key("name") for table in (easy, hard))
    rows = [
        {
            "policy": name,
            f"100 × regret at n = {at:,}, easy problem": with_error(*easy_at[name][0]),
            "worst case": with_error(*worst_at[name][0]),
            f"exponent of n in the worst case, from n = {since:,} on": f"{late_slope(hard.filter(name=name)):.2f}",
        }
        for name in POLICIES
    ]
    verdict = (
        f"With fifteen arms the budgeted algorithm has the smallest mean regret in {first} of "
        f"{len(CONFIGURATIONS) * len(RHOS)} cases, in {clearly} by more than two standard errors."
    )
    return Finding(verdict, pl.DataFrame(rows))


def shown(tables: Tables) -> Tables:
    """The configurations."""
    return {"100 × regret with fifteen arms": compared(tables["beyond-configurations"])}


def wins(many: pl.DataFrame) -> tuple[int, int]:
    """In how many configurations and tolerances best-of-both has the smallest mean regret, and clearly so."""
    by, ours = ("configuration", "rho"), pl.col("policy") == spec(BestOfBoth())
    rivals = many.filter(~ours).sort("regret").unique(by, keep="first")
    both = many.filter(ours).join(rivals, on=by, suffix="_rival")
    lead = both["regret_rival"] - both["regret"]
    error = (both["regret_se_rival"] ** 2 + both["regret_se"] ** 2).sqrt()
    return int((lead > 0.0).sum()), int((lead > 2.0 * error).sum())


def draw(tables: Tables) -> dict[str, Figure]:
    """Two panels with one legend."""
    figure = Figure(figsize=(10.0, 4.3), layout="constrained")
    axes = figure.subplots(1, 2)
    titles = {"beyond-easy": f"easy: {FIGURE_2_ARMS}", "beyond-worst": "worst case over the grid"}
    for ax, (which, title) in zip(axes, titles.items(), strict=True):
        grid.plot_regret(ax, tables[which], POLICIES, "name").set_title(title, fontsize=10)
        ax.lines[list(POLICIES).index("ExpExp")].set_markersize(8.0)  # to be seen where another line covers it
        ax.get_legend().remove()
    axes[0].set_ylabel("regret per round")
    note = over_runs(tables["beyond-easy"]["runs"][0])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(POLICIES), title=note)
    return {"beyond": figure}


FIGURE = PaperFigure(
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
    cells=cells,
    tables=lambda found: {**found, "beyond-worst": worst(found["beyond-worst"])},
    draw=draw,
    finding=finding,
    shown=shown,
    tag="beyond the paper",
)
