"""Plots. A figure function takes data and an `ax`, returns the `ax`, saves nothing, changes no global style.

Examples
--------
>>> from prudent.results.figures import panels
>>> figure, axes = panels(3, columns=2, width=6, height=2)
>>> len(axes)
3
"""

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from prudent.base import files
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, shown

# Okabe and Ito's colours, which colour-blind readers can distinguish, also in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

ERRORS = "± 2 standard errors"
"""What bands and error bars show, as pictures say it."""

LOWER_BOUND: dict[str, Any] = {
    "color": "black",
    "linestyle": (0, (4, 2)),
    "linewidth": 1.2,
    "label": "lower bound as $n \\to \\infty$",
}
"""How a picture shows what no policy that learns can beat, as n grows (docs: lower-bounds)."""

BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "alignment": "left"}
"""A legend on the right of its axes, where it covers no curve."""

STYLE: dict[Any, Any] = {
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.title_fontsize": 8.0,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "svg.hashsalt": "prudent",
}


def style() -> AbstractContextManager[None]:
    """The one style of every figure, for a `with` block."""
    return mpl.rc_context(STYLE)


def plot_curves(
    ax: Axes,
    x: ArrayLike,
    curves: Sequence[tuple[str, ArrayLike, ArrayLike]],
    *,
    log: bool = True,
    note: str = ERRORS,
    **line: Any,
) -> Axes:
    """Lines with bands of two standard errors; `curves` are (label, mean, standard error), `line` is Matplotlib's.

    A point without neighbours has an error bar. The legend is headed by the `note`, unless all errors are 0.
    """
    x, known = np.asarray(x, dtype=float), False
    for i, (label, mean, error) in enumerate(curves):
        centre, margin = np.asarray(mean, dtype=float), 2.0 * np.asarray(error, dtype=float)
        colour, there = COLOURS[i % len(COLOURS)], np.pad(np.isfinite(centre), 1)
        ax.plot(x, centre, color=colour, marker=MARKERS[i % len(MARKERS)], label=label, **line)
        ax.fill_between(x, centre - margin, centre + margin, color=colour, alpha=0.2, linewidth=0)
        alone = there[1:-1] & ~there[:-2] & ~there[2:]
        if alone.any():
            ax.errorbar(x[alone], centre[alone], margin[alone], fmt="none", ecolor=colour, capsize=3.0)
        known = known or bool((margin > 0.0).any())
    if log:
        ax.set(xscale="log", yscale="log")
    ax.legend(title=note if known else None, alignment="left")
    return ax


def over_rounds(ax: Axes, label: str, rounds: str, *, linear: bool) -> Axes:
    """Finish a picture of `plot_curves` over rounds on a logarithmic axis: labels, scale, and the legend beside it."""
    ax.set(xlabel=rounds, ylabel=label, xscale="log")
    if not linear:
        ax.set_yscale("log")
        label_log_axis(ax, "y")
    drawn = ax.get_legend()
    ax.legend(title=(drawn.get_title().get_text() or None) if drawn else None, **BESIDE)
    return ax


def label_log_axis(ax: Axes, name: str) -> None:
    """Label the logarithmic axis `x` or `y` at 1, 2 and 5 where it spans less than two decades, as 0.02 and 0.05."""
    (low, high), axis = getattr(ax, f"get_{name}lim")(), getattr(ax, f"{name}axis")
    if high < 100.0 * low:
        axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(ticker.NullFormatter())


def plot_dots(ax: Axes, rows: Sequence[tuple[str, float, float]]) -> Axes:
    """A dot with an error bar of two standard errors for each row, (label, mean, standard error), the first on top."""
    labels, means, errors = zip(*rows, strict=True)
    margins = 2.0 * np.asarray(errors, dtype=float)
    ax.errorbar(means, range(len(rows)), xerr=margins, fmt=MARKERS[0], color=COLOURS[0], capsize=3.0)
    ax.set_yticks(range(len(rows)), labels)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.grid(visible=False, axis="y")
    return ax


def in_ratios(values: ArrayLike) -> bool:
    """Whether numbers grow by one factor, as 0.1, 1, 10 do, so that a logarithmic axis shows them evenly."""
    x = np.unique(np.asarray(values, dtype=float))
    if len(x) < 3 or x[0] <= 0.0 or x[-1] < 2.0 * x[0]:
        return False
    return bool(np.allclose(np.diff(np.log(x)), np.log(x[-1] / x[0]) / (len(x) - 1), rtol=0.1, atol=0.0))


MARGIN = 2.5
"""Points that a text keeps from curves and markers."""


def label_points(
    ax: Axes,
    points: ArrayLike,
    texts: Sequence[str],
    *,
    clear_of: Sequence[ArrayLike] = (),
    size: float = 8.0,
    **text: Any,
) -> Axes:
    """Write each text beside its point (x, y), nearer to it than to others, where it covers least of the points, of the
    curves it has to stay `clear_of` (rows of x and y), and of texts written before.

    To be called last, since places are chosen for the axes as they are; letters count as 0.55 of their size wide.
    """
    ax.autoscale_view()
    scale = 72.0 / ax.figure.dpi
    at = ax.transData.transform(np.asarray(points, dtype=float)) * scale
    curves = [ax.transData.transform(np.asarray(curve, dtype=float)) * scale for curve in clear_of]
    ink = np.concatenate([at, *map(_along, curves)])
    frame, taken = np.array(ax.bbox.extents) * scale, np.empty((0, 4))
    for i, (point, xy, label) in enumerate(zip(np.asarray(points), at, texts, strict=True)):
        boxes = _beside(0.55 * size * len(label), 1.2 * size)
        placed = boxes + np.tile(xy, 2)
        over = [((ink > box[:2] - MARGIN) & (ink < box[2:] + MARGIN)).all(1).sum() for box in placed]
        hits = [((taken[:, :2] < box[2:]) & (taken[:, 2:] > box[:2])).all(1).sum() for box in placed]
        outside = (placed[:, :2] < frame[:2]).any(1) | (placed[:, 2:] > frame[2:]).any(1)
        far = np.linalg.norm(np.maximum(np.maximum(placed[:, None, :2] - at, at - placed[:, None, 2:]), 0.0), axis=2)
        stray = (far < far[:, [i]]).any(1)  # nearer to another point than to its own
        best = int(np.argmin(np.array(over) + 100.0 * np.array(hits) + 100.0 * outside + 100.0 * stray))
        taken = np.vstack([taken, placed[best]])
        ax.annotate(
            label, point, tuple(boxes[best, :2]), textcoords="offset points", fontsize=size, va="bottom", **text
        )
    return ax


def _along(curve: Array) -> Array:
    """Points on a curve, close to each other."""
    steps = np.linspace(0.0, 1.0, 20)[:, None, None]
    found: Array = ((1.0 - steps) * curve[:-1] + steps * curve[1:]).reshape(-1, 2)
    return found


def _beside(width: float, height: float) -> Array:
    """Boxes around the origin in which a text could stand, as (left, bottom, right, top), the most usual first."""
    found = []
    for far in (5.0, 10.0, 18.0):
        for across, up in ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)):
            slant = far if not (across and up) else 0.7 * far
            left = (-0.5 * width, slant, -slant - width)[across]
            low = (-0.5 * height, slant, -slant - height)[up]
            found.append((left, low, left + width, low + height))
    return np.array(found)


def over_runs(runs: int) -> str:
    """What a picture of simulated means and their bands says of them."""
    return f"mean of {runs:,} runs, {ERRORS}"


def panels(count: int, columns: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of many panels on shared axes, `columns` in a row of this height; and their axes."""
    rows = -(-count // columns)
    figure = Figure(figsize=(width, height * rows + 0.7), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.set_axis_off()
    return figure, list(axes[:count])


OPTIONS: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None}},
    "png": {"dpi": 160},
    "pdf": {"metadata": {"CreationDate": None}},
}
"""The kinds of files, by their endings. No date is in them, so that the same figure makes the same file."""


def save(
    figure: Figure, path: Path, endings: Sequence[str] = ("svg", "png"), *, exact: bool = False, title: str = ""
) -> list[Path]:
    """The figure as SVG and PNG next to each other, or as files with these endings, of `svg`, `png` and `pdf`.

    The margins are cut off, unless the size of the figure is to be `exact`. The files carry the `title`, which says in
    a line what is seen.
    """
    made = []
    for ending in endings:
        if ending not in OPTIONS:
            raise PrudentError(f"save: endings must be of {', '.join(OPTIONS)}, got {shown(ending)}")
        drawn, margins = io.BytesIO(), None if exact else "tight"
        options = OPTIONS[ending]
        if title:
            options = options | {"metadata": {**options.get("metadata", {}), "Title": title}}
        figure.savefig(drawn, bbox_inches=margins, format=ending, **options)
        made.append(files.write(path.with_suffix(f".{ending}"), drawn.getvalue()))
    return made
