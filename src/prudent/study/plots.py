"""Pictures of a study. Each function takes the table and an `ax`, and returns the `ax`."""

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prudent import figures
from prudent.errors import PrudentError, near
from prudent.study.compare import check_measure
from prudent.study.select import varying


def draw(kind: str, table: pl.DataFrame, path: Path, *, measure: str = "regret", x: str | None, y: str | None) -> Path:
    """A picture as a file, PNG or SVG by its ending."""
    check_measure("plot", measure)
    if path.suffix not in (".png", ".svg"):
        raise PrudentError(f"plot: out must end in .png or .svg, got {path}")
    if kind in ("regret", "heatmap") and table.get_column(measure).null_count() == len(table):
        raise PrudentError(f"plot: {measure} is not defined for these risks; take --measure gap_regret")
    with figures.style():
        if kind == "heatmap":
            figure = heat_maps(table, measure, *_axes(table, x, y))
        else:
            figure = Figure(figsize=(6.4, 4.2))
            kinds = {"frontier": plot_frontier, "pulls": plot_pulls, "distribution": plot_distribution}
            kinds.get(kind, partial(plot_horizons, measure=measure))(figure.add_subplot(), table)
        return figures.save(figure, path, [path.suffix[1:]])[0]


def plot_horizons(ax: Axes, table: pl.DataFrame, measure: str = "regret") -> Axes:
    """The measure against the horizon, a line per policy, averaged over the bandits and risks shown."""
    mean = pl.col(measure).mean()
    error = (pl.col(f"{measure}_se").fill_null(0.0) ** 2).sum().sqrt() / pl.len()
    means = table.group_by("policy", "horizon", maintain_order=True).agg(mean, error).sort("horizon")
    x = np.unique(table.get_column("horizon").to_numpy())
    curves = []
    for policy in table.get_column("policy").unique(maintain_order=True):
        line = pl.DataFrame({"horizon": x}).join(means.filter(policy=policy), on="horizon", how="left")
        curves.append((policy, line[measure].to_numpy(), line[f"{measure}_se"].to_numpy()))
    figures.plot_curves(ax, x, curves, log=bool((means[measure] > 0.0).all()))
    problems = table.select("arms", "risk").n_unique()
    over = f", mean of {problems} problems" if problems > 1 else ""
    ax.set(xlabel="horizon", ylabel=measure.replace("_", " ") + over)
    return ax


def heat_maps(table: pl.DataFrame, measure: str, x: str, y: str) -> Figure:
    """A panel per policy at the longest horizon shown, all on one scale."""
    longest = table.filter(pl.col("horizon") == pl.col("horizon").max())
    policies = longest.get_column("policy").unique(maintain_order=True).to_list()
    figure = Figure(figsize=(3.6 * len(policies) + 0.8, 3.6), layout="constrained")
    panels = figure.subplots(1, len(policies), squeeze=False)[0]
    for ax, policy in zip(panels, policies, strict=True):
        plot_heat_map(ax, longest.filter(policy=policy), measure, x, y)
        ax.collections[0].set_clim(longest[measure].min(), longest[measure].max())
        ax.set_title(policy)
    label = f"{measure.replace('_', ' ')}, horizon {longest['horizon'][0]:,}"
    figure.colorbar(panels[-1].collections[0], ax=list(panels), label=label)
    return figure


def plot_heat_map(ax: Axes, table: pl.DataFrame, measure: str, x: str, y: str) -> Axes:
    """The measure over two ranges, the mean over what else varies."""
    grid = table.drop_nulls([x, y]).pivot(x, index=y, values=measure, aggregate_function="mean").sort(y)
    columns = sorted((name for name in grid.columns if name != y), key=float)
    ax.pcolormesh(list(map(float, columns)), grid[y], grid.select(columns), shading="nearest", rasterized=True)
    ax.grid(False)
    ax.set(xlabel=x, ylabel=y)
    return ax


def plot_frontier(ax: Axes, table: pl.DataFrame) -> Axes:
    """Mean of the rewards against their standard deviation, a point per risk and a line per policy; of one bandit at
    its longest horizon."""
    cells = _one(table, "frontier", "bandit")
    for i, ((policy,), line) in enumerate(cells.group_by("policy", maintain_order=True)):
        colour, marker = figures.COLOURS[i % len(figures.COLOURS)], figures.MARKERS[i % len(figures.MARKERS)]
        ax.plot(line["reward_variance"].sqrt(), line["reward_mean"], color=colour, marker=marker, label=policy)
    ax.legend()
    horizon = f"horizon {cells['horizon'][0]:,}"
    ax.set(xlabel=f"standard deviation of the rewards in a run, {horizon}", ylabel="mean reward")
    return ax


def plot_pulls(ax: Axes, table: pl.DataFrame) -> Axes:
    """The share of each arm in the pulls, a bar per policy; of one problem at its longest horizon."""
    cells = _one(table, "pulls", "problem").unique("policy", keep="first", maintain_order=True)
    shares = np.array(cells["pulls"].to_list()) / cells["horizon"].to_numpy()[:, None]
    left = np.zeros(len(cells))
    for arm, share in enumerate(shares.T):
        colour = figures.COLOURS[arm % len(figures.COLOURS)]
        ax.barh(cells["policy"].to_list(), share, left=left, label=cells["arms"][0].split("; ")[arm], color=colour)
        left += share
    ax.invert_yaxis()
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)
    ax.set(xlabel=f"share of {cells['horizon'][0]:,} pulls", xlim=(0, 1))
    return ax


def plot_distribution(ax: Axes, table: pl.DataFrame) -> Axes:
    """How the regret of single runs is distributed, a line per policy; of one problem at its longest horizon."""
    if "regret_by_run" not in table.columns:
        raise PrudentError('plot: the study keeps summaries only; set keep = "runs" and run it into another folder')
    cells = _one(table, "distribution", "problem").unique("policy", keep="first", maintain_order=True)
    for i, (policy, regret) in enumerate(cells.select("policy", "regret_by_run").iter_rows()):
        ax.ecdf(regret, label=policy, color=figures.COLOURS[i % len(figures.COLOURS)])
    ax.legend()
    ax.set(xlabel=f"regret of a run, horizon {cells['horizon'][0]:,}", ylabel="share of runs at or below")
    return ax


def _one(table: pl.DataFrame, kind: str, what: str) -> pl.DataFrame:
    """The longest horizon of the only bandit, or of the only problem, a bandit and a risk."""
    found = table.select("arms", *(["risk"] if what == "problem" else [])).n_unique()
    if found > 1:
        narrow = "narrow it with --bandit, --risk and --where" if what == "problem" else "take --bandit and --where"
        raise PrudentError(f"plot: {kind} shows one {what}, and {found} are left; {narrow}")
    return table.filter(pl.col("horizon") == pl.col("horizon").max())


def _axes(table: pl.DataFrame, x: str | None, y: str | None) -> tuple[str, str]:
    """The ranges along the axes: those asked for, or the first that are free."""
    known = varying(table)
    for name in (x, y):
        if name is not None and name not in known:
            raise PrudentError(f"plot: no range here is called {name!r}, or it has one value; {near(name, known)}")
    free = iter([name for name in known if name not in (x, y)])
    x, y = x or next(free, None), y or next(free, None)
    if x is None or y is None or x == y:
        raise PrudentError(f"plot: a heat map needs two ranges with several values; here vary: {', '.join(known)}")
    return x, y
