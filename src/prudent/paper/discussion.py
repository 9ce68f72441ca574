"""The discussion's example: the variance within a run and the variance across runs are two different risks."""

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prudent import RandomArm, RoundRobin
from prudent.paper.making import PaperFigure, Tables, point
from prudent.paper.problems import ZERO_ONE
from prudent.policies.contract import Policy
from prudent.results.figures import COLOURS
from prudent.results.page import Finding

HORIZON = 1_000
ALGORITHMS: dict[str, Policy] = {"A₁, alternates": RoundRobin(), "A₂, one arm for good": RandomArm()}
PANELS = {"within": "within a run", "across": "across runs, of the mean reward"}


def draw(tables: Tables) -> dict[str, Figure]:
    """Both variances, side by side."""
    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (column, title) in zip(axes, PANELS.items(), strict=True):
        plot_variances(ax, tables["discussion"], column).set_title(f"variance {title}", fontsize=10)
    axes[0].invert_yaxis()
    return {"discussion": figure}


def finding(tables: Tables) -> Finding:
    """Both risks and both regrets of the two algorithms."""
    table = tables["discussion"]
    loss = table["standard regret"][0]
    verdict = (
        f"Both risks and both mean-variance regrets are as the paper says, but the standard regret of A₁, {loss:,.0f}, "
        f"is n times {loss / HORIZON:g} and not small; A₂ has the same on average."
    )
    columns = {"within": "variance within a run", "across": "variance across runs", "regret": "mean-variance regret"}
    return Finding(verdict, table.rename(columns))


def tables(found: Tables) -> Tables:
    """Both risks and both regrets, one row per algorithm."""
    loss = HORIZON * (ZERO_ONE.means.max() - pl.col("reward_mean"))
    regrets = {"standard regret": loss, "standard regret_se": HORIZON * pl.col("reward_mean_se")}
    risks = {"within": "reward_variance", "across": "across_variance"}
    return {"discussion": found["discussion"].select("algorithm", **risks, regret="regret", **regrets)}


def plot_variances(ax: Axes, table: pl.DataFrame, column: str) -> Axes:
    """One bar per algorithm, with its value."""
    names = table["algorithm"].to_list()
    bars = ax.barh(names, table[column].to_list(), color=COLOURS[: len(names)], height=0.5)
    ax.bar_label(bars, fmt="%.3f", padding=4)
    ax.set(xlabel="variance", xlim=(0.0, 0.3), xticks=[0.0, 0.1, 0.2, 0.3])
    ax.grid(visible=False, axis="y")
    return ax


FIGURE = PaperFigure(
    name="discussion",
    title="Discussion: risk within a run, risk across runs",
    caption=f"The variance of the {HORIZON:,} rewards of a run, and the variance over runs of their mean.",
    settings=f"Two arms that always pay 0 and 1, n = {HORIZON:,}, regret at ρ = 0.",
    paper_says="A₁ varies much within each run, has a high regret and no variance over runs; A₂ has neither "
    "variance within a run nor regret, and a high variance over runs. A₁ is an example of a very small standard "
    "regret.",
    cells=lambda: {"discussion": [point(ZERO_ONE, a, 0.0, HORIZON, algorithm=name) for name, a in ALGORITHMS.items()]},
    tables=tables,
    draw=draw,
    finding=finding,
)
