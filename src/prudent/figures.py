"""Plots. A figure function takes data and an `ax`, returns the `ax`, saves nothing, changes no global style."""

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from prudent import files

# Okabe and Ito's colours, which colour-blind readers can distinguish, also in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

STYLE: dict[Any, Any] = {
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "svg.hashsalt": "prudent",
}


def style() -> AbstractContextManager[None]:
    """The one style of every figure, for a `with` block."""
    return mpl.rc_context(STYLE)


def plot_curves(
    ax: Axes, x: ArrayLike, curves: Sequence[tuple[str, ArrayLike, ArrayLike]], *, log: bool = True, **line: Any
) -> Axes:
    """Lines with bands of two standard errors; `curves` are (label, mean, standard error), `line` is Matplotlib's."""
    x = np.asarray(x, dtype=float)
    for i, (label, mean, error) in enumerate(curves):
        centre, margin = np.asarray(mean, dtype=float), 2.0 * np.asarray(error, dtype=float)
        colour = COLOURS[i % len(COLOURS)]
        ax.plot(x, centre, color=colour, marker=MARKERS[i % len(MARKERS)], label=label, **line)
        ax.fill_between(x, centre - margin, centre + margin, color=colour, alpha=0.2, linewidth=0)
    if log:
        ax.set(xscale="log", yscale="log")
    ax.legend()
    return ax


def panels(count: int, columns: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of many panels on shared axes, `columns` in a row of this height; and their axes."""
    rows = -(-count // columns)
    figure = Figure(figsize=(width, height * rows + 0.7), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.set_axis_off()
    return figure, list(axes[:count])


def save(figure: Figure, path: Path, endings: Sequence[str] = ("svg", "png")) -> list[Path]:
    """The figure as SVG and PNG next to each other, or one of them."""
    made = []
    options: dict[str, dict[str, Any]] = {"svg": {"metadata": {"Date": None}}, "png": {"dpi": 160}}
    for ending in endings:
        drawn = io.BytesIO()
        figure.savefig(drawn, bbox_inches="tight", format=ending, **options[ending])
        made.append(files.write(path.with_suffix(f".{ending}"), drawn.getvalue()))
    return made
