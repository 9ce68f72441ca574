"""Pictures of a study. Each function takes the table and an `ax`, and returns the `ax`."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prudent.bandit import Bandit
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_number, near
from prudent.results import figures
from prudent.results.runs import MEASURES, check_measure, named
from prudent.risk.base import risks
from prudent.risk.mean_variance import MeanVariance
from prudent.study.select import varying
from prudent.theory import asymptotic_bound

SIZES = (1.0, 50.0)
"""The least and the largest side of a picture, in inches."""


def draw(
    kind: str,
    table: pl.DataFrame,
    path: Path,
    *,
    measure: str = "regret",
    axes: tuple[str | None, str | None] = (None, None),
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Path:
    """A picture as a file, PNG, SVG or PDF by its ending; `size` is width and height in inches, and `axes` are the
    ranges of a heat map."""
    check_measure("plot", measure, MEASURES)
    if path.suffix[1:] not in figures.OPTIONS:
        raise PrudentError(f"plot: out must end in {', '.join(f'.{each}' for each in figures.OPTIONS)}, got {path}")
    for side in size or ():
        check_number("plot", "size", side, low=SIZES[0], high=SIZES[1], hint="width and height in inches")
    if kind in ("regret", "heatmap") and table.get_column(measure).null_count() == len(table):
        raise PrudentError(f"plot: {measure} is not defined for these risks; take --measure gap_regret")
    with figures.style():
        mapped = kind == "heatmap"
        figure = heat_maps(table, measure, *_axes(table, *axes)) if mapped else Figure(figsize=(6.4, 4.2))
        if size is not None:  # before anything is drawn, since labels are placed for the size
            figure.set_layout_engine("constrained")
            figure.set_size_inches(*size)
        if not mapped:
            kinds = {"frontier": plot_frontier, "pulls": plot_pulls, "distribution": plot_distribution}
            kinds.get(kind, partial(plot_horizons, measure=measure))(figure.add_subplot(), table)
        if title:
            (figure.suptitle if mapped else figure.axes[0].set_title)(title, fontsize=11, parse_math=False)
        return figures.save(figure, path, [path.suffix[1:]], exact=size is not None)[0]


def plot_horizons(ax: Axes, table: pl.DataFrame, measure: str = "regret") -> Axes:
    """The measure against the horizon, a line per policy, averaged over the bandits and risks shown.

    Of a single problem the lower bound is drawn too, if it is known. With a single horizon it is a dot per policy.
    """
    mean = pl.col(measure).mean()
    error = (pl.col(f"{measure}_se").fill_null(0.0) ** 2).sum().sqrt() / pl.len()
    means = (
        table.group_by("policy", "horizon", maintain_order=True).agg(mean, error).sort("horizon", maintain_order=True)
    )
    problems = table.select("arms", "risk").n_unique()
    label = named(measure) + (f", mean of {problems} problems" if problems > 1 else "")
    positive = bool((means[measure] > 0.0).all())
    x = np.unique(table.get_column("horizon").to_numpy())
    if len(x) == 1:
        rows = means.drop_nulls(measure).select("policy", measure, f"{measure}_se").rows()
        figures.plot_dots(ax, rows)
        if positive and len(rows) > 1:
            ax.set_xscale("log")
            figures.label_log_axis(ax, "x")
        ax.set(xlabel=f"{label}, horizon {x[0]:,}, {figures.ERRORS}")
        return ax
    curves = []
    for policy in table.get_column("policy").unique(maintain_order=True):
        line = pl.DataFrame({"horizon": x}).join(means.filter(policy=policy), on="horizon", how="left")
        curves.append((policy, line[measure].to_numpy(), line[f"{measure}_se"].to_numpy()))
    figures.plot_curves(ax, x, curves, log=False)
    if problems == 1 and positive:
        plot_lower_bound(ax, x, table["arms"][0], table["risk"][0], measure)
    return figures.over_rounds(ax, label, "horizon", linear=not positive)


def plot_lower_bound(ax: Axes, horizons: Array, arms: str, risk: str, measure: str) -> Axes:
    """What n times the regret over log n tends to at best, times log n/n; nothing where that is not known, or 0."""
    try:
        bound = asymptotic_bound(Bandit(arms.split("; ")), risk)
    except PrudentError:
        return ax
    whole = isinstance(risks.parse(risk), MeanVariance)
    known = {"gap_regret": bound.gap_constant, **({"regret": bound.constant} if whole else {})}
    if 0.0 < known.get(measure, 0.0) < math.inf:
        n = np.geomspace(max(2.0, horizons[0]), horizons[-1])
        ax.plot(n, known[measure] * np.log(n) / n, **figures.LOWER_BOUND)
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
    label = f"{named(measure)}, horizon {longest['horizon'][0]:,}"
    figure.colorbar(panels[-1].collections[0], ax=list(panels), label=label)
    return figure


def plot_heat_map(ax: Axes, table: pl.DataFrame, measure: str, x: str, y: str) -> Axes:
    """The measure over two ranges, the mean over what else varies; ranges in equal ratios have logarithmic axes."""
    grid = table.drop_nulls([x, y]).pivot(x, index=y, values=measure, aggregate_function="mean").sort(y)
    columns = sorted((name for name in grid.columns if name != y), key=float)
    sides = np.array([float(name) for name in columns]), grid[y].to_numpy()
    logs = [figures.in_ratios(side) for side in sides]
    edges = [_edges(side, log) for side, log in zip(sides, logs, strict=True)]
    ax.pcolormesh(*edges, grid.select(columns), rasterized=True)
    ax.grid(False)
    scales = ["log" if log else "linear" for log in logs]
    ax.set(xlabel=x, ylabel=y, xscale=scales[0], yscale=scales[1])
    return ax


def _edges(centres: Array, log: bool) -> Array:
    """Where the cells around the centres meet: halfway, on the scale of the axis."""
    x = np.log(centres) if log else np.asarray(centres, dtype=float)
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    half = 0.5 * np.diff(x)
    edges = np.concatenate([[x[0] - half[0]], x[:-1] + half, [x[-1] + half[-1]]])
    return np.exp(edges) if log else edges


def plot_frontier(ax: Axes, table: pl.DataFrame) -> Axes:
    """Mean of the rewards against their standard deviation, a point per risk and a line per policy, and the arms; of
    one bandit at its longest horizon."""
    cells = _one(table, "frontier", "bandit")
    single = np.array(_moments(cells["arms"][0]))
    if len(single):
        ax.plot(*single.T, "x", color="0.5", label="single arms")
    paths = []
    for i, ((policy,), line) in enumerate(cells.group_by("policy", maintain_order=True)):
        colour, marker = figures.COLOURS[i % len(figures.COLOURS)], figures.MARKERS[i % len(figures.MARKERS)]
        paths.append(np.column_stack([line["reward_variance"].sqrt(), line["reward_mean"]]))
        join = "-" if len(line) > 1 else "none"  # the legend shows a line where there is one
        ax.plot(*paths[-1].T, color=colour, marker=marker, linestyle=join, label=policy)
    ax.legend(title=f"horizon {cells['horizon'][0]:,}", **figures.BESIDE)
    ax.set(xlabel="standard deviation of a run's rewards", ylabel="mean reward")
    if len(single):
        names = [f"arm {i + 1}" for i in range(len(single))]
        figures.label_points(ax, single, names, clear_of=paths, color="0.4")
    return ax


def _moments(arms: str) -> list[tuple[float, float]]:
    """Standard deviation and mean of each arm; none if one of them has no spec, as a long sample, or no variance."""
    try:
        laws = Bandit(arms.split("; "))
        return list(zip(np.sqrt(laws.variances).tolist(), laws.means.tolist(), strict=True))
    except PrudentError:
        return []


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
    ax.grid(visible=False, axis="y")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)
    ax.set(xlabel=f"share of {cells['horizon'][0]:,} pulls", xlim=(0, 1))
    return ax


def plot_distribution(ax: Axes, table: pl.DataFrame) -> Axes:
    """How the regret of single runs is distributed, a line per policy; of one problem at its longest horizon."""
    if "regret_by_run" not in table.columns:
        raise PrudentError('plot: the study keeps summaries only; set keep = "runs" and run it into another folder')
    cells = _one(table, "distribution", "problem").unique("policy", keep="first", maintain_order=True)
    known = [(policy, np.sort(regret)) for policy, regret in cells.select("policy", "regret_by_run").iter_rows()]
    halo = [patheffects.withStroke(linewidth=3.0, foreground="white")]
    order = np.argsort([float(np.median(regret)) for _, regret in known], kind="stable").tolist()
    for i, (policy, regret) in enumerate(known):
        colour, marker = figures.COLOURS[i % len(figures.COLOURS)], figures.MARKERS[i % len(figures.MARKERS)]
        ax.ecdf(regret, label=policy, color=colour, marker=marker, markevery=max(1, len(regret) // 8))
        # Labels stand at different heights, those of lower curves higher, where there is room beside them.
        share = 0.9 - 0.8 * (order.index(i) + 0.5) / len(known)
        at = (regret[min(int(share * len(regret)), len(regret) - 1)], share)
        look: dict[str, Any] = {"color": colour, "fontsize": 9, "va": "center", "path_effects": halo, "zorder": 5}
        ax.annotate(policy, at, (7, 0), textcoords="offset points", **look)
    ax.set(xlabel=f"regret per round of a run, horizon {cells['horizon'][0]:,}", ylabel="share of runs at or below")
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
