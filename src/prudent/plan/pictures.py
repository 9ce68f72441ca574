"""The pictures of a plan: what it promises, the options, the people, the lengths."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from prudent.arms.base import arms
from prudent.plan.elicit import Option, Pilot
from prudent.plan.ranking import Promise
from prudent.plan.words import Outcome
from prudent.results import figures

MOST_SHOWN = 30
"""Options in a picture."""

LEVELS = (0.05, 0.25, 0.75, 0.95)
"""Between which quantiles nine of ten outcomes, and half of them, lie."""


class Span(NamedTuple):
    """An option by its mean and its quantiles."""

    name: str
    mean: float
    quantiles: Sequence[float]


def spans(options: Sequence[Option]) -> list[Span]:
    """The quantiles of the pilot, and for guesses those of one distribution that is possible."""
    found = []
    for option in options:
        if isinstance(option, Pilot):
            quantiles = np.quantile(option.outcomes, LEVELS, method="inverted_cdf").tolist()
        else:
            law = arms.parse(option.draw(np.random.default_rng(0)))
            quantiles = [law.quantile(level) for level in LEVELS]
        found.append(Span(option.name, option.moments[0], quantiles))
    return found


def plot_promise(ax: Axes, rows: Sequence[tuple[str, Promise]]) -> Axes:
    """How often the best option is found: a point and a line for each way."""
    for place, (_, promise) in enumerate(rows):
        colour = figures.COLOURS[0] if place < len(rows) - 2 else "0.5"
        ends = 100.0 * promise.low, 100.0 * promise.high
        ax.plot(ends, (place, place), color=colour, linewidth=3.0, alpha=0.35, solid_capstyle="butt")
        ax.plot(100.0 * promise.mean, place, marker="o", color=colour, markersize=7.0)
    _names(ax, [name for name, _ in rows])
    ax.set(xlabel="best option found, % of trials", xlim=(-2.0, 102.0))
    return ax


def plot_options(ax: Axes, rows: Sequence[Span], outcome: Outcome) -> Axes:
    """The mean of each option, a thick bar where half of the outcomes lie and a thin one where nine of ten do."""
    for place, (_, mean, quantiles) in enumerate(rows):
        colour = figures.COLOURS[place % len(figures.COLOURS)]
        for ends, width, strength in ((quantiles[::3], 2.0, 0.5), (quantiles[1:3], 9.0, 0.35)):
            ax.plot(ends, (place, place), color=colour, linewidth=width, alpha=strength, solid_capstyle="butt")
        ax.plot(mean, place, marker="o", color=colour, markersize=7.0)
    _names(ax, [row.name for row in rows])
    better = "larger is better →" if outcome.larger_is_better else "← smaller is better"
    ax.set_xlabel(f"outcome{f', {outcome.unit}' if outcome.unit else ''} ({better})")
    return ax


def plot_people(ax: Axes, people: pl.DataFrame) -> Axes:
    """How many people get each option: the average, and a line from the few trials with fewest to those with most."""
    for place, row in enumerate(people.iter_rows(named=True)):
        colour = figures.COLOURS[place % len(figures.COLOURS)]
        ax.barh(place, row["average"], color=colour, alpha=0.35, height=0.55)
        ax.plot((row["fewest"], row["most"]), (place, place), color=colour, marker="|", markersize=9.0)
    _names(ax, people["option"].to_list())
    ax.set(xlabel="people", xlim=(0.0, None))
    return ax


def plot_found(ax: Axes, lengths: pl.DataFrame, chosen: int) -> Axes:
    """How often the best option is found, against the length of the trial; a band where it lies in 90 % of worlds."""
    rounds = lengths["horizon"].to_list()
    mean, low, high = (100.0 * lengths[f"found_best{end}"].to_numpy() for end in ("", "_low", "_high"))
    ax.plot(rounds, mean, marker="o", color=figures.COLOURS[0])
    ax.fill_between(rounds, low, high, color=figures.COLOURS[0], alpha=0.15, linewidth=0.0)
    ax.axvline(chosen, color="0.5", linewidth=1.0, linestyle="--")
    ax.set(xscale="log", xlabel="rounds of the trial", ylabel="best option found, % of trials", ylim=(-2.0, 102.0))
    ax.set_xticks(rounds, [f"{n:,}" for n in rounds], minor=False)
    ax.minorticks_off()
    return ax


def _names(ax: Axes, names: Sequence[str]) -> None:
    """The names of the rows, from above."""
    ax.set_yticks(range(len(names)), [name if len(name) <= 28 else f"{name[:27]}…" for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
