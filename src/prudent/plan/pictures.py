"""The pictures of a plan: the options, the people, the lengths, the policies."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes

from prudent import figures
from prudent.plan.trial import Trial
from prudent.plan.words import Outcome

MOST_SHOWN = 30
"""Options in a picture."""


def plot_options(ax: Axes, rows: Sequence[tuple[str, float, float]], outcome: Outcome) -> Axes:
    """The mean of each option, a thick bar of one standard deviation to each side and a thin one of two.

    `rows` are (name, mean, standard deviation).
    """
    for place, (_, mean, deviation) in enumerate(rows):
        colour = figures.COLOURS[place % len(figures.COLOURS)]
        for times, width, strength in ((2.0, 2.0, 0.5), (1.0, 9.0, 0.35)):
            ends = (mean - times * deviation, mean + times * deviation)
            ax.plot(ends, (place, place), color=colour, linewidth=width, alpha=strength, solid_capstyle="butt")
        ax.plot(mean, place, marker="o", color=colour, markersize=7.0)
    _names(ax, [name for name, _, _ in rows])
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


def plot_found(ax: Axes, lengths: pl.DataFrame, labels: dict[str, str], chosen: int) -> Axes:
    """How often the best option is found, against the length of the trial."""
    _curves(ax, lengths, labels, "found_best", 100.0, chosen)
    ax.set(ylabel="best option found, % of trials", ylim=(None, 101.0))
    return ax


def plot_loss(ax: Axes, lengths: pl.DataFrame, labels: dict[str, str], chosen: int, trial: Trial) -> Axes:
    """What the option that looks best at the end loses, against the length of the trial."""
    factor, power = trial.worth(1.0)
    _curves(ax, lengths, labels, "loss", factor, chosen)
    unit = f", {trial.outcome.unit}{'²' if power == 2 else ''}" if trial.outcome.unit else ""
    ax.set(ylabel=f"expected loss per round{unit}", ylim=(0.0, None))
    return ax


def _curves(ax: Axes, lengths: pl.DataFrame, labels: dict[str, str], measure: str, factor: float, chosen: int) -> None:
    horizons = lengths["horizon"].unique(maintain_order=True).sort()
    own = {policy: lengths.filter(policy=policy).sort("horizon") for policy in labels}
    curves = [
        (label, factor * own[policy][measure].to_numpy(), factor * own[policy][f"{measure}_se"].to_numpy())
        for policy, label in labels.items()
    ]
    figures.plot_curves(ax, horizons, curves, log=False)
    ax.axvline(chosen, color="0.5", linewidth=1.0, linestyle="--")
    ax.set(xscale="log", xlabel="rounds of the trial")
    ax.set_xticks(horizons, [f"{n:,}" for n in horizons], minor=False)
    ax.minorticks_off()


def plot_policies(ax: Axes, policies: pl.DataFrame, yardsticks: pl.DataFrame) -> Axes:
    """A point and error bar per policy, the best on top, and below the yardsticks in grey."""
    rows = [(row["policy"], row, figures.COLOURS[0 if row["as_good"] else 1]) for row in policies.to_dicts()]
    rows += [(row["yardstick"], row, "0.5") for row in yardsticks.to_dicts()]
    for place, (_, row, colour) in enumerate(rows):
        ax.errorbar(row["regret"], place, xerr=2.0 * row["regret_se"], fmt="o", color=colour, capsize=3)
    _names(ax, [name for name, _, _ in rows])
    ax.set(xlabel="mean regret")
    return ax


def _names(ax: Axes, names: Sequence[str]) -> None:
    """The names of the rows, from above."""
    ax.set_yticks(range(len(names)), [name if len(name) <= 28 else f"{name[:27]}…" for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
