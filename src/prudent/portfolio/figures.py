"""Pictures of portfolios. A figure function takes data and an `ax`, returns the `ax`, saves nothing."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from prudent.portfolio.bandit import Frontier, PortfolioBandit
from prudent.portfolio.runs import PortfolioRuns
from prudent.results.figures import COLOURS, ERRORS, MARKERS, label_points

BESIDE: dict[str, object] = {"fontsize": 8, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
"""A legend on the right of its axes."""


def plot_frontier(
    ax: Axes, bandit: PortfolioBandit, frontiers: Sequence[tuple[str, Frontier]], learned: PortfolioRuns | None = None
) -> Axes:
    """Mean against standard deviation: the frontiers, the single arms, and the learner's mixes from round to round.

    The path is that of the first run at its snapshots. With short selling a frontier has no end: it is drawn as far as
    a little beyond the riskiest arm and the best mix.
    """
    law = bandit.law
    deviations = np.sqrt(np.diag(law.covariance))
    reach = 1.2 * max(deviations.max(), 0.0 if learned is None else np.sqrt(learned.best.variance))
    curves = []
    for i, (label, frontier) in enumerate(frontiers):
        near = np.sqrt(frontier.variance) <= reach
        curves.append(np.column_stack([np.sqrt(frontier.variance[near]), frontier.mean[near]]))
        ax.plot(*curves[-1].T, color=COLOURS[i], label=label, zorder=2)
    ax.scatter(deviations, law.mean, color="0.5", s=14, zorder=1, label="single arms")
    points, texts = np.empty((0, 2)), list[str]()
    if len(bandit) <= 12:
        points, texts = np.column_stack([deviations, law.mean]), [*bandit.names]
    if learned is not None:
        path = np.array([snapshot.weights[0] for snapshot in learned.history])
        x, y = np.sqrt(np.einsum("ki,ij,kj->k", path, law.covariance, path)), path @ law.mean
        ax.plot(x, y, color=COLOURS[6], linewidth=0.8, marker=".", markersize=4, label="learned, one run", zorder=3)
        curves.append(np.column_stack([x, y]))
        points = np.vstack([points, curves[-1][0]])
        texts.append(f"n = {learned.history[0].horizon:,}")
        best = learned.best
        ax.plot(np.sqrt(best.variance), best.mean, "*", color=COLOURS[1], markersize=12, label="best mix", zorder=4)
    ax.set(xlabel="standard deviation", ylabel="mean")
    ax.legend(**BESIDE)
    return label_points(ax, points, texts, clear_of=curves, size=7.5, color="0.3") if texts else ax


def plot_weights(ax: Axes, runs: PortfolioRuns, most: int = 7) -> Axes:
    """The mean weights at the snapshots; dashes mark the best mix. Only the `most` heaviest arms are drawn."""
    rounds = [snapshot.horizon for snapshot in runs.history]
    weights = np.array([snapshot.weights.mean(0) for snapshot in runs.history])
    heaviest = np.argsort(-np.maximum(np.abs(runs.best.weights), np.abs(weights[-1])), kind="stable")[:most]
    for i, arm in enumerate(heaviest):
        colour = COLOURS[i % len(COLOURS)]
        ax.plot(rounds, weights[:, arm], color=colour, marker=MARKERS[i % len(MARKERS)], label=runs.bandit.names[arm])
        ax.axhline(runs.best.weights[arm], color=colour, linestyle="--", linewidth=0.9)
    ax.set(xscale="log", xlabel="rounds n", ylabel="weight (dashed: best mix)")
    ax.legend(**BESIDE)
    return ax


def plot_regret(ax: Axes, many: Sequence[PortfolioRuns], since: int = 1) -> Axes:
    """The mean regret against n with two standard errors, and the fitted slope with its 95 % band in the legend."""
    positive = []  # over a few short runs the mean regret may be below zero
    for i, runs in enumerate(many):
        shown = [snapshot for snapshot in runs.history if snapshot.horizon >= since]
        rounds = np.array([snapshot.horizon for snapshot in shown], dtype=float)
        values = np.array([snapshot.regret() for snapshot in shown])
        mean, margin = values.mean(1), 2.0 * values.std(1) / np.sqrt(values.shape[1])
        colour, label = COLOURS[i % len(COLOURS)], str(runs.policy)
        positive.append(mean.min() > 0.0)
        if len(shown) > 1 and positive[-1]:
            fit = runs.regret_slope(since=since)
            label += f": slope {fit}".replace("-", "−")
            line = np.exp(np.log(mean).mean() + fit.value * (np.log(rounds) - np.log(rounds).mean()))
            ax.plot(rounds, line, color=colour, linestyle="--", linewidth=0.8)
        ax.plot(rounds, mean, color=colour, marker=MARKERS[i % len(MARKERS)], label=label)
        low = np.maximum(mean - margin, 1e-3 * mean) if positive[-1] else mean - margin
        ax.fill_between(rounds, low, mean + margin, color=colour, alpha=0.2, lw=0)
    ax.set(xscale="log", yscale="log" if all(positive) else "linear", xlabel="rounds n", ylabel="true regret per round")
    ax.legend(fontsize=8, title=f"mean, {ERRORS}", alignment="left")
    return ax
