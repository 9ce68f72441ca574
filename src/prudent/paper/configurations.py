"""Configurations 1 and 2: their arms, the optimal arm against the tolerance ρ, and how hard each is to learn."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.optimize import bisect

from prudent import Bandit
from prudent.base.arrays import Array
from prudent.base.text import number
from prudent.paper import problems
from prudent.paper.making import PaperFigure, Tables
from prudent.results.figures import COLOURS
from prudent.results.page import Finding

CONFIGURATIONS = {f"configuration {which}": bandit for which, bandit in problems.CONFIGURATIONS.items()}
LOW, HIGH = 0.0, 10.0
RHO_STEPS = 100_000
"""Steps of ρ between which a change of order is looked for; the ties are added, and each change is then bisected."""

TOP = 1e7
"""Where the plot of the complexity ends: at a tie it is infinite."""

RHO = "tolerance for risk $\\rho$"


class Piece(NamedTuple):
    """An arm (from 0) and the tolerances from `low` to `high` at which no other is better."""

    arm: int
    low: Fraction
    high: Fraction | float


def tables(_: Tables) -> Tables:
    """The complexity of both against ρ; nothing is simulated."""
    rhos = rho_grid()
    curves = {name: complexity(bandit, rhos) for name, bandit in CONFIGURATIONS.items()}
    return {"configurations": pl.DataFrame({"rho": rhos, **curves})}


def draw(tables: Tables) -> dict[str, Figure]:
    """The complexity above, the optimal arm of both below."""
    figure = Figure(figsize=(9.0, 8.0), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(1.0, 1.15))
    plot_complexity(figure.add_subplot(grid[0, :]), tables["configurations"], first_more_complex())
    panels = [figure.add_subplot(grid[1, i]) for i in range(len(CONFIGURATIONS))]
    for ax, (name, bandit), colour in zip(panels, CONFIGURATIONS.items(), COLOURS, strict=False):
        plot_optimal_arm(ax, bandit, colour).set_title(name, fontsize=10)
    panels[0].set_ylabel("arm")
    return {"configurations": figure}


def finding(_: Tables) -> Finding:
    """Where configuration 1 is the harder one; of both, how hard, which arms are dominated, and the ties."""
    bandits, intervals = CONFIGURATIONS.values(), first_more_complex()
    share = sum(high - low for low, high in intervals) / (HIGH - LOW)
    medians = [float(np.median(complexity(bandit, np.linspace(LOW, HIGH, RHO_STEPS + 1)))) for bandit in bandits]
    rows = {
        "median of the complexity over ρ": [f"{median:,.0f}" for median in medians],
        "dominated arms": [", ".join(bandit.names[i] for i in dominated(bandit)) for bandit in bandits],
        "ρ of the ties, where the complexity is infinite": [ties(bandit) for bandit in bandits],
        "the more complex for ρ in": [", ".join(f"{a:.3f}–{b:.3f}" for a, b in intervals), "all other ρ"],
    }
    table = pl.DataFrame(
        [[name, *values] for name, values in rows.items()], ["quantity", *CONFIGURATIONS], orient="row"
    )
    return Finding(
        f"“Always” is false on {share:.1%} of the range; elsewhere configuration 2 is the harder one.", table
    )


def pieces(bandit: Bandit) -> list[Piece]:
    """The optimal arm for every ρ ≥ 0: the lower envelope of the lines σ² − ρ μ.

    Exact: the fractions are those of the decimals the paper prints, not of their binary neighbours.
    """
    means, variances = decimals(bandit)
    arm = min(range(len(bandit)), key=lambda i: (variances[i], -means[i]))
    low = Fraction(0)
    found: list[Piece] = []
    while True:
        ahead = [i for i in range(len(bandit)) if means[i] > means[arm]]
        if not ahead:
            return [*found, Piece(arm, low, math.inf)]
        crossings = [(variances[i] - variances[arm]) / (means[i] - means[arm]) for i in ahead]
        high, _, following = min((rho, -means[i], i) for rho, i in zip(crossings, ahead, strict=True))
        found.append(Piece(arm, low, high))
        arm, low = following, high


def dominated(bandit: Bandit) -> list[int]:
    """The arms (from 0) that are optimal for no ρ ≥ 0, as the paper has it: strictly worse than i* at each.

    A line that touches the envelope does so where two pieces meet, or lies along one, so their ends are enough.
    """
    means, variances = decimals(bandit)
    ends = [(piece.low, variances[piece.arm] - piece.low * means[piece.arm]) for piece in pieces(bandit)]
    return [i for i in range(len(bandit)) if all(variances[i] - rho * means[i] > best for rho, best in ends)]


def decimals(bandit: Bandit) -> tuple[list[Fraction], list[Fraction]]:
    """Means and variances as they are written."""
    means, variances = ([Fraction(repr(x)) for x in values.tolist()] for values in (bandit.means, bandit.variances))
    return means, variances


def complexity(bandit: Bandit, rhos: ArrayLike) -> Array:
    """Σ_{i≠i*} 1/Δ², as `Bandit.complexity`, for one ρ or for many at once."""
    costs = bandit.variances - np.asarray(rhos)[..., None] * bandit.means
    gaps = np.sort(costs - costs.min(-1, keepdims=True), -1)[..., 1:]
    with np.errstate(divide="ignore"):
        total: Array = (1.0 / gaps**2).sum(-1)
    return total


def tie_points(bandit: Bandit) -> list[float]:
    """The ρ within the range at which the optimal arm changes."""
    return [float(piece.low) for piece in pieces(bandit)[1:] if LOW <= piece.low <= HIGH]


def rho_grid() -> Array:
    """Values of ρ for the plot: even steps, and ever closer ones on both sides of each tie."""
    near = np.geomspace(1e-5, 0.05, 40)
    ties_at = np.array([rho for bandit in CONFIGURATIONS.values() for rho in tie_points(bandit)])
    around = (ties_at[:, None] + np.concatenate([-near, near])).ravel()
    every = np.unique(np.concatenate([np.linspace(LOW, HIGH, 501), around]))
    return every[(every >= LOW) & (every <= HIGH) & ~np.isin(every, ties_at)]


def first_more_complex() -> list[tuple[float, float]]:
    """The intervals of ρ on which configuration 1 is more complex than configuration 2."""
    one, two = CONFIGURATIONS.values()

    def lead(rhos: ArrayLike) -> Array:
        return np.where(complexity(one, rhos) > complexity(two, rhos), 1.0, -1.0)

    grid = np.unique(np.concatenate([np.linspace(LOW, HIGH, RHO_STEPS + 1), tie_points(one), tie_points(two)]))
    state = lead(grid)
    edges = [bisect(lead, *grid[i : i + 2]) for i in np.flatnonzero(state[1:] != state[:-1])]
    return list(zip(edges[::2], edges[1::2], strict=True))  # configuration 2 leads at both ends of the range


def plot_complexity(ax: Axes, curves: pl.DataFrame, shaded: list[tuple[float, float]]) -> Axes:
    """Both complexities against ρ; the intervals of `shaded` in grey."""
    for i, (low, high) in enumerate(shaded):
        label = "configuration 1 is the more complex" if i == 0 else None
        ax.axvspan(low, high, color="0.8", linewidth=0, label=label, zorder=0)
    for name, colour in zip(CONFIGURATIONS, COLOURS, strict=False):
        ax.plot(curves["rho"], curves[name], color=colour, linewidth=1.2, label=name)
    ax.set(xlabel=RHO, xlim=(LOW, HIGH), ylabel="complexity $\\Sigma_i\\ 1/\\Delta_i^2$", yscale="log")
    ax.set_ylim(top=TOP)
    ax.set_title("Complexity; infinite at every tie, where the curves leave the picture", fontsize=10)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize=9)
    return ax


def plot_optimal_arm(ax: Axes, bandit: Bandit, colour: str) -> Axes:
    """The optimal arm against ρ, and crosses along the lines of the dominated arms."""
    lines: dict[str, Any] = {"color": colour, "linewidth": 4, "marker": "o", "markersize": 4.5}
    for piece in pieces(bandit):
        label = "optimal" if piece.low == 0 else None
        ax.plot([float(piece.low), min(float(piece.high), HIGH)], [piece.arm + 1] * 2, **lines, label=label)
    steps = np.linspace(LOW, HIGH, 11)
    crosses: dict[str, Any] = {"color": "0.6", "marker": "x", "markersize": 4, "linestyle": ":", "linewidth": 0.8}
    for i, arm in enumerate(dominated(bandit)):
        ax.plot(steps, np.full_like(steps, arm + 1), **crosses, label="dominated" if i == 0 else None)
    ax.set_yticks(range(1, len(bandit) + 1), [f"$\\alpha_{{{i}}}$" for i in range(1, len(bandit) + 1)])
    ax.set(xlabel=RHO, xlim=(LOW - 0.2, HIGH + 0.2))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize=9)
    return ax


def arm_table(bandit: Bandit) -> pl.DataFrame:
    """The arms as the paper's table has them, and the tolerances at which each is optimal."""
    arms = pl.DataFrame({"arm": bandit.names, "mean": bandit.means, "variance": bandit.variances})
    best = {piece.arm: (float(piece.low), float(piece.high)) for piece in pieces(bandit)}
    ends = [(*best.get(i, (None, None)), i in dominated(bandit)) for i in range(len(bandit))]
    return arms.hstack(pl.DataFrame(ends, ["optimal from ρ", "optimal to ρ", "dominated"], orient="row"))


def ties(bandit: Bandit) -> str:
    """Every tie of the range and its arms, exact ones as they are."""
    changes = [(b.low, bandit.names[a.arm], bandit.names[b.arm]) for a, b in pairwise(pieces(bandit))]
    return ", ".join(f"ρ = {number(float(rho))} ({one} and {two})" for rho, one, two in changes if LOW <= rho <= HIGH)


FIGURE = PaperFigure(
    name="configurations",
    title="Configurations 1 and 2: arms, complexity, and the optimal arm",
    caption="Above, Σ 1/Δ² against ρ; where configuration 1 is the more complex the background is shaded. Below, "
    "the optimal arm against ρ, with crosses at the arms that are optimal for no ρ.",
    settings=f"Two sets of 15 Gaussian arms, ρ from {LOW:g} to {HIGH:g}; nothing is simulated.",
    paper_says="A subset of the arms is dominated for every ρ. Configuration 1 has quite large gaps, and "
    "configuration 2 has always a higher complexity than configuration 1.",
    tables=tables,
    draw=draw,
    finding=finding,
    shown=lambda _: {name.capitalize(): arm_table(bandit) for name, bandit in CONFIGURATIONS.items()},
)
