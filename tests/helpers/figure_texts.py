"""The texts that a reader sees in a Matplotlib figure, in the order of its parts. Nothing is drawn."""

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend


def texts_of(figure: Figure) -> list[str]:
    """A line for each text: titles, labels of axes, ticks that are named, legends, labels of lines, notes."""
    lines = [f"title: {figure.get_suptitle()}"] if figure.get_suptitle() else []
    for number, ax in enumerate(figure.axes):
        lines += [f"axes {number}, {line}" for line in _axes_lines(ax)]
    lines += [line for legend in figure.legends for line in _legend_lines(legend)]
    return lines + [f"note: {text.get_text()}" for text in figure.texts if text.get_text() != figure.get_suptitle()]


def _axes_lines(ax: Axes) -> Iterator[str]:
    for place in ("left", "center", "right"):
        if title := ax.get_title(loc=place):
            yield f"title: {title}"
    for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        if label := axis.get_label_text():
            yield f"{name}: {label}"
        ticks = [tick.get_text() for tick in axis.get_ticklabels() if any(map(str.isalpha, tick.get_text()))]
        if ticks and not any("math" in tick for tick in ticks):
            yield f"{name} ticks: {'; '.join(ticks)}"
    artists: list[Any] = [*ax.lines, *ax.collections, *ax.containers, *ax.patches]
    for artist in artists:
        label = str(artist.get_label())
        if label and not label.startswith("_"):
            yield f"label: {label}"
    if legend := ax.get_legend():
        yield from _legend_lines(legend)
    for text in ax.texts:
        if text.get_text():
            yield f"note: {text.get_text()}"


def _legend_lines(legend: Legend) -> Iterator[str]:
    head = legend.get_title().get_text()
    yield f"legend{f' headed {head}' if head else ''}: {'; '.join(text.get_text() for text in legend.get_texts())}"
