"""Small pictures as SVG: bars of shares, intervals on one axis, lines over time.

They take the colours of the page, so that they follow its dark mode, and print. Each has a text for those who do not
see it; the numbers stand in a table beside it. Sizes are attributes, because the page allows no inline style.
"""

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from prudent.text import count, minus, number

WIDTH = 600.0
"""Units across; a picture is as wide as its place on the page."""


NARROW = 320.0
"""Units across a picture of which several stand side by side."""


def picture(height: float, label: str, parts: Sequence[str], kind: str = "", width: float = WIDTH) -> Markup:
    """A picture of these parts; `label` is what it shows, in words."""
    head = (
        f'<svg class="chart {escape(kind)}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}">'
    )
    return Markup(head + f"<title>{escape(label)}</title>" + "".join(parts) + "</svg>")


def bar(whole: float, recent: float, label: str) -> Markup:
    """The share of all decisions, and within it, narrower, that of the last ones."""
    return picture(
        40.0,
        label,
        [
            f'<rect class="track" x="0" y="4" width="{WIDTH:g}" height="32"/>',
            f'<rect class="soft" x="0" y="4" width="{WIDTH * whole:.1f}" height="32"/>',
            f'<rect class="strong" x="0" y="14" width="{WIDTH * recent:.1f}" height="12"/>',
        ],
    )


def split_bar(first: float, second: float, label: str) -> Markup:
    """Two parts of a whole."""
    whole = first + second
    at = WIDTH * first / whole if whole > 0.0 else WIDTH
    return picture(
        18.0,
        label,
        [
            f'<rect class="soft" x="0" y="2" width="{at:.1f}" height="14"/>',
            f'<rect class="warm" x="{at:.1f}" y="2" width="{WIDTH - at:.1f}" height="14"/>',
        ],
        "thin",
    )


def intervals(rows: Sequence[tuple[float | None, tuple[float, float] | None, bool]], label: str) -> Markup:
    """For each arm its estimate as a dot and its interval as a line, on one axis; `muted` rows are out of the race."""
    known = [end for _, ends, _ in rows if ends is not None for end in ends]
    row, height = 26.0, 26.0 * len(rows) + 24.0
    if not known:
        return Markup("")
    low, high = min(known), max(known)
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return 10.0 + (WIDTH - 20.0) * min(max((value - low) / span, 0.0), 1.0)

    parts = []
    for tick in ticks(low, high):
        at = x(tick)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{height - 20:g}"/>')
        parts.append(f'<text x="{at:.1f}" y="{height - 5:g}" text-anchor="middle">{minus(number(tick, 3))}</text>')
    for i, (value, ends, muted) in enumerate(rows):
        middle, kind = row * i + row / 2.0, "muted" if muted else "line"
        if ends is not None:
            left, right = x(ends[0]), x(ends[1])
            parts.append(f'<line class="{kind}" x1="{left:.1f}" x2="{right:.1f}" y1="{middle:g}" y2="{middle:g}"/>')
        if value is not None:
            parts.append(f'<circle class="{kind}" cx="{x(value):.1f}" cy="{middle:g}" r="5"/>')
    return picture(height, label, parts, "axis")


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between the ends, four or five of them."""
    span = high - low
    if not span > 0.0:
        return [low]
    from matplotlib.ticker import MaxNLocator

    found: Any = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in found if low <= tick <= high]


def lines(series: Sequence[tuple[str, Sequence[tuple[float, float]]]], label: str, height: float = 170.0) -> Markup:
    """Curves over the number of decisions, which is on a logarithmic axis because most happens at the start."""
    points = [point for _, curve in series for point in curve]
    if len(points) < 2:
        return Markup("")
    right = math.log(max(2.0, *(at for at, _ in points)))
    low, high = min(value for _, value in points), max(value for _, value in points)
    span = (high - low) or 1.0

    def place(at: float, value: float) -> str:
        across = 46.0 + (NARROW - 56.0) * math.log(max(at, 1.0)) / right
        return f"{across:.1f},{8.0 + (height - 34.0) * (1.0 - (value - low) / span):.1f}"

    parts = []
    for tick in ticks(low, high):
        _, y = place(1.0, tick).split(",")
        parts.append(f'<line class="grid" x1="46" x2="{NARROW - 10:g}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="42" y="{float(y) + 4:.1f}" text-anchor="end">{minus(number(tick, 3))}</text>')
    for power in range(int(right / math.log(10.0)) + 1):
        across = place(10.0**power, low).split(",")[0]
        parts.append(f'<text x="{across}" y="{height - 6:g}" text-anchor="middle">{number(10.0**power)}</text>')
    for i, (_, curve) in enumerate(series):
        path = " ".join(place(at, value) for at, value in curve)
        parts.append(f'<polyline class="curve c{i % 6}" points="{path}"/>')
    return picture(height, label, parts, "axis", NARROW)


def fan(points: Sequence[tuple[int, Sequence[float]]], label: str, height: float = 190.0) -> Markup:
    """Quantiles over the rounds to come, of which there is an odd number in each point: bands between the outer ones,
    the darker the likelier, and a line in the middle."""
    if len(points) < 2:
        return Markup("")
    first, last = points[0][0], points[-1][0]
    values = [value for _, quantiles in points for value in quantiles]
    low, high = min(values), max(values)
    span = (high - low) or 1.0

    def x(at: float) -> float:
        return 52.0 + (NARROW - 62.0) * (at - first) / (last - first)

    def y(value: float) -> float:
        return 8.0 + (height - 34.0) * (1.0 - (value - low) / span)

    parts = []
    for tick in ticks(low, high):
        parts.append(f'<line class="grid" x1="52" x2="{NARROW - 10:g}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text x="48" y="{y(tick) + 4:.1f}" text-anchor="end">{minus(number(tick, 3))}</text>')
    for at, text, anchor in ((first, "now", "start"), (last, f"round {count(last)}", "end")):
        parts.append(f'<text x="{x(at):.1f}" y="{height - 6:g}" text-anchor="{anchor}">{text}</text>')
    middle = len(points[0][1]) // 2
    for i in range(middle):
        upper = [f"{x(at):.1f},{y(quantiles[-1 - i]):.1f}" for at, quantiles in points]
        lower = [f"{x(at):.1f},{y(quantiles[i]):.1f}" for at, quantiles in points]
        parts.append(f'<polygon class="fan" points="{" ".join([*upper, *reversed(lower)])}"/>')
    line = " ".join(f"{x(at):.1f},{y(quantiles[middle]):.1f}" for at, quantiles in points)
    parts.append(f'<polyline class="curve c0" points="{line}"/>')
    return picture(height, label, parts, "axis", NARROW)
