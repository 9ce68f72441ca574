"""A Matplotlib figure in words: everything a reader sees of it, one line for each part, so that two can be compared.

Nothing is drawn, so fonts and pixels do not matter. Numbers have four digits; of long series both ends are told, the
extremes, and a mean weighted by the place.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, LineCollection, PathCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

MOST = 12
"""Series up to this long are told in full."""

LONG = 50
"""Lines of an axes longer than this are told once and then referred to."""

DIGITS = 4


def number(value: Any) -> str:
    """A number with four digits; minus zero is zero, and so is what rounding leaves of it."""
    value = float(value)
    return "0" if abs(value) < 1e-12 else f"{value:.{DIGITS}g}"


def series(values: Any) -> str:
    """Numbers in their order, or a summary if they are many."""
    flat = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan).ravel()
    if len(flat) <= MOST:
        return " ".join(map(number, flat))
    known = flat[np.isfinite(flat)]
    parts = [f"{len(flat)} numbers: {series(flat[:2])} … {series(flat[-2:])}"]
    if len(known) < len(flat):
        parts.append(f"{len(flat) - len(known)} not finite")
    if len(known):
        weights = np.arange(1, len(known) + 1) / len(known)
        parts.append(f"from {number(known.min())} to {number(known.max())}")
        parts.append(f"weighted mean {number((weights * known).mean())}")
    return ", ".join(parts)


def colour(given: Any) -> str:
    """A colour, or several, as hexadecimal digits with their opacity."""
    if isinstance(given, str) and given == "none":
        return "none"
    found = [to_hex(each, keep_alpha=each[3] < 1.0) for each in to_rgba_array(given)]
    shown = list(dict.fromkeys(found)) if len(found) > MOST else found
    return " ".join(shown) or "none"


def listed(**parts: Any) -> str:
    """The parts that say something, by their names."""
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value not in (None, ""))


def described(figure: Figure) -> list[str]:
    """The figure in lines."""
    engine = figure.get_layout_engine()
    layout = "none" if engine is None else type(engine).__name__
    width, height = map(number, figure.get_size_inches())
    lines = [f"figure {width} by {height} inches, layout {layout}"]
    for name in ("suptitle", "supxlabel", "supylabel"):
        text = getattr(figure, f"_{name}", None)
        lines += [f"{name}: {in_words(text)}"] if text else []
    lines += [legend_words(each, figure.transSubfigure) for each in figure.legends]
    seen: dict[str, str] = {}
    for index, ax in enumerate(figure.axes):
        lines.append(f"axes {index}: {place_words(ax, figure)}")
        for row, line in enumerate(axes_lines(ax)):
            lines.append("  " + (seen.get(line, line) if len(line) > LONG else line))
            seen.setdefault(line, f"{line.split(maxsplit=1)[0]} … as line {row} of axes {index}")
    return lines


def place_words(ax: Axes, figure: Figure) -> str:
    """Where the axes are before any layout, with whom they share a scale, and what frames them."""
    shared = {"x": ax.get_shared_x_axes(), "y": ax.get_shared_y_axes()}
    others = {
        name: [i for i, each in enumerate(figure.axes) if each in group.get_siblings(ax)]
        for name, group in shared.items()
    }
    shares = [f"{len(found)} axes from {found[0]} on share {name}" for name, found in others.items() if len(found) > 1]
    frame = "+".join(name for name, spine in ax.spines.items() if spine.get_visible())
    parts = [f"at {series(ax.get_position(original=True).bounds)}", *shares, f"frame {frame or 'none'}"]
    parts += [] if ax.axison else ["switched off"]
    bar = getattr(ax, "_colorbar_info", None)  # what the layout will do with a colour bar
    if bar:
        parts.append(
            "colour bar " + listed(**{key: bar[key] for key in ("location", "shrink", "fraction", "aspect", "pad")})
        )
    return ", ".join(parts)


def axes_lines(ax: Axes) -> Iterator[str]:
    """All that the axes hold."""
    for where, title in zip(
        ("title", "left title", "right title"), (ax.title, ax._left_title, ax._right_title), strict=True
    ):
        if title.get_text():
            yield f"{where}: {in_words(title)}"
    yield f"x: {axis_words(ax.xaxis, ax.get_xlim(), ax.get_xscale())}"
    yield f"y: {axis_words(ax.yaxis, ax.get_ylim(), ax.get_yscale())}"
    yield from map(line_words, ax.lines)
    yield from map(collection_words, ax.collections)
    yield from map(patch_words, ax.patches)
    yield from (f"image {series(image.get_array())}, extent {series(image.get_extent())}" for image in ax.images)
    yield from (f"text: {in_words(text)}" for text in ax.texts)
    if ax.get_legend() is not None:
        yield legend_words(ax.get_legend(), ax.transAxes)


def axis_words(axis: Axis, limits: Iterable[float], scale: str) -> str:
    """Scale, limits, label, ticks and grid of an axis."""
    ticks = axis.get_majorticklocs()
    labels = axis.get_ticklabels()
    base = getattr(axis.get_transform(), "base", None) if scale == "log" else None
    seen = [text.get_text() for text in labels if text.get_visible()]
    words = f"{scale}, {series(list(limits))}, ticks {series(ticks)}, tick labels {seen if seen else 'hidden'}"
    size = number(labels[0].get_fontsize()) if labels else None
    more = listed(base=base, size=size, minor=len(axis.get_minorticklocs()), label=in_words(axis.label))
    return f"{words}, {more}, grid {grid_words(axis)}"


def grid_words(axis: Axis) -> str:
    """How the grid lines across an axis look."""
    lines = [line for line in axis.get_gridlines() if line.get_visible()]
    if not lines:
        return "none"
    return listed(
        width=number(lines[0].get_linewidth()), alpha=lines[0].get_alpha(), colour=colour(lines[0].get_color())
    )


def in_words(text: Text) -> str:
    """A text with its place, size and colour."""
    if not text.get_text():
        return ""
    ink = colour(text.get_color())
    looks = listed(
        size=number(text.get_fontsize()),
        colour=None if ink == "#000000" else ink,
        align=f"{text.get_ha()} {text.get_va()}",
    )
    place = series(text.get_position())
    if isinstance(text, Annotation):
        place = f"{series(text.xy)} moved by {series(text.xyann)} in {text.anncoords}"
    return f"{text.get_text()!r} at {place}, {looks}"


def name_of(artist: Any) -> str | None:
    """Its label, unless Matplotlib made one up."""
    label = str(artist.get_label())
    return None if label.startswith("_") else repr(label)


def line_words(line: Line2D) -> str:
    """A line: looks and data."""
    width = number(line.get_linewidth())
    dashes = getattr(line, "_unscaled_dash_pattern", (0, None))[1]
    stroke = line.get_linestyle() + (f" {series(dashes)}" if dashes else "")
    marker = line.get_marker()
    looks = listed(
        label=name_of(line), colour=colour(line.get_color()), width=width, style=stroke, alpha=line.get_alpha(),
        z=number(line.get_zorder()), marker=None if marker in ("None", None, "") else marker,
    )  # fmt: skip
    if marker not in ("None", None, ""):
        looks += ", " + listed(
            size=number(line.get_markersize()), face=colour(line.get_markerfacecolor()), fill=line.get_fillstyle()
        )
    clipped = "" if line.get_clip_on() else ", not clipped"
    x, y = line.get_data(orig=False)
    return f"line {looks}{clipped}; x {series(x)}; y {series(y)}"


def collection_words(found: Collection) -> str:
    """Points, error bars, bands or a mesh of colours."""
    kinds = {QuadMesh: "mesh", PathCollection: "points", LineCollection: "segments"}
    kind = next((name for cls, name in kinds.items() if isinstance(found, cls)), "band")
    looks = listed(label=name_of(found), alpha=found.get_alpha(), z=number(found.get_zorder()))
    if isinstance(found, QuadMesh):
        corners = found.get_coordinates()
        span = f"x {series(corners[0, :, 0])}; y {series(corners[:, 0, 1])}"
        scale = f"colours {found.get_cmap().name} over {series(found.get_clim())}"
        return (
            f"{kind} {looks}, {scale}, rasterized {found.get_rasterized()}; {span}; values {series(found.get_array())}"
        )
    faces = colour(found.get_facecolor()) if kind != "segments" else colour(found.get_edgecolor())
    looks += f", colour {faces}, width {series(found.get_linewidth())}"
    if isinstance(found, PathCollection):
        x, y = np.asarray(found.get_offsets(), dtype=float).T
        shape = series(found.get_paths()[0].vertices)
        return f"{kind} {looks}, size {series(found.get_sizes())}, shape {shape}; x {series(x)}; y {series(y)}"
    corners = np.concatenate([path.vertices for path in found.get_paths()] or [np.empty((0, 2))])
    return f"{kind} {looks}, {len(found.get_paths())} of them; x {series(corners[:, 0])}; y {series(corners[:, 1])}"


def patch_words(patch: Patch) -> str:
    """A bar or a span."""
    looks = listed(
        label=name_of(patch), colour=colour(patch.get_facecolor()), width=number(patch.get_linewidth()),
        alpha=patch.get_alpha(), z=number(patch.get_zorder()),
    )  # fmt: skip
    box = patch.get_path().transformed(patch.get_patch_transform()).get_extents()
    return f"patch {looks}; x {number(box.x0)} {number(box.x1)}; y {number(box.y0)} {number(box.y1)}"


def legend_words(legend: Legend, inside: Any) -> str:
    """The entries of a legend and its place; the anchor is in parts of what it belongs to."""
    names = [text.get_text() for text in legend.get_texts()]
    anchor = series(legend.get_bbox_to_anchor().transformed(inside.inverted()).bounds)
    place = listed(
        place=legend._loc, outside=getattr(legend, "_outside_loc", None), anchor=anchor, columns=legend._ncols
    )
    sizes = series([text.get_fontsize() for text in legend.get_texts()][:1])
    names += [f"headed {title}"] if (title := legend.get_title().get_text()) else []
    return f"legend {names}, {place}, size {sizes}, frame {legend.get_frame_on()}"
