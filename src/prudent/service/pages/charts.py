"""Pictures as SVG: bars of shares, intervals on a common axis, and curves with names, bands and marks.

They take the colours of the page, so that they follow its dark mode, and print. Each has a text for those who do not
see it, and the numbers stand in a table beside it. Sizes are attributes, because the page allows no inline style.
Curves carry their numbers as data: with its script the page tells them under the pointer and by the arrow keys.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup, escape

from prudent.base.text import count, minus, number
from prudent.service.pages.axes import Ticks, linear_ticks

WIDTH = 600.0
"""Units across a bar."""

CELL = 240.0
"""Units across an interval in a table."""

ACROSS, HIGH = 400.0, 240.0
"""Units across and down a picture of curves. A telephone shows it somewhat smaller, a desk somewhat larger."""

LEFT, TOP, BOTTOM = 62.0, 22.0, 40.0
"""Room for what is written at the axes, and for marks."""

LETTER = 9.0
"""Units across a letter, about."""

LONGEST_NAME = 14
"""Letters of a name at a curve."""

COLOURS = 6
"""Colours that people tell apart, also those who see fewer of them."""


def picture(width: float, height: float, label: str, parts: Sequence[str], kind: str = "", more: str = "") -> Markup:
    """A picture of these parts; `label` is what it shows, in words."""
    head = (
        f'<svg class="chart {escape(kind)}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}"'
    )
    return Markup(f"{head}{more}>{''.join(parts)}</svg>")


def bar(whole: float, recent: float, label: str) -> Markup:
    """The share of all decisions, and below it, narrower, that of the last ones."""
    return picture(
        WIDTH,
        40.0,
        label,
        [
            f'<rect class="track" x="0" y="4" width="{WIDTH:g}" height="32"/>',
            f'<rect class="all" x="0" y="4" width="{WIDTH * whole:.1f}" height="20"/>',
            f'<rect class="lately" x="0" y="24" width="{WIDTH * recent:.1f}" height="12"/>',
        ],
        "bar",
    )


def split_bar(first: float, second: float, label: str) -> Markup:
    """Two parts of a whole."""
    whole = first + second
    at = WIDTH * first / whole if whole > 0.0 else WIDTH
    return picture(
        WIDTH,
        18.0,
        label,
        [
            f'<rect class="all" x="0" y="2" width="{at:.1f}" height="14"/>',
            f'<rect class="warm" x="{at:.1f}" y="2" width="{WIDTH - at:.1f}" height="14"/>',
        ],
        "bar",
    )


class Scale(NamedTuple):
    """A common axis of intervals in a column of a table."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """Where a value is, from the left."""
        return 8.0 + (CELL - 16.0) * min(max((value - self.low) / ((self.high - self.low) or 1.0), 0.0), 1.0)


def scale_of(rows: Sequence[tuple[float | None, tuple[float, float] | None]], *more: float) -> Scale | None:
    """An axis on which all estimates and intervals of a column have their place, and so much more."""
    ends = [end for value, known in rows for end in (*(known or ()), *(() if value is None else (value,)))]
    return Scale(min(*ends, *more, ends[0]), max(*ends, *more, ends[0])) if ends else None


def interval(
    scale: Scale | None, value: float | None, ends: tuple[float, float] | None, label: str, muted: bool, *grid: float
) -> Markup:
    """An estimate as a dot and its interval as a line; `muted` if the arm is out of the race. Lines at `grid`."""
    if scale is None or (value is None and ends is None):
        return Markup("")
    kind = "muted" if muted else "line"
    parts = [f'<line class="grid" x1="{scale.x(x):.1f}" x2="{scale.x(x):.1f}" y1="0" y2="22"/>' for x in grid]
    if ends is not None:
        left, right = map(scale.x, ends)
        parts.append(f'<line class="{kind}" x1="{left:.1f}" x2="{right:.1f}" y1="11" y2="11"/>')
    if value is not None:
        parts.append(f'<circle class="{kind}" cx="{scale.x(value):.1f}" cy="11" r="5"/>')
    return picture(CELL, 22.0, label, parts, "interval")


def axis(scale: Scale | None, label: str) -> Markup:
    """The axis of a column of intervals."""
    if scale is None:
        return Markup("")
    parts = []
    for at, text in linear_ticks(scale.low, scale.high, 3):
        x = scale.x(at)
        anchor = "start" if x < 30.0 else "end" if x > CELL - 30.0 else "middle"
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="5"/>')
        parts.append(f'<text x="{x:.1f}" y="17" text-anchor="{anchor}">{text}</text>')
    return picture(CELL, 22.0, label, parts, "interval")


class Curve(NamedTuple):
    """A curve: its name, the number of its colour (None: it is grey and not named), a value at each place or none, and
    ends of intervals."""

    name: str
    colour: int | None
    values: Sequence[float | None]
    ends: Sequence[tuple[float, float] | None] = ()


class Places(NamedTuple):
    """Where points are across a picture, what is told of each, the ticks and the words below, and events with their
    numbers; if a period can be chosen, the time of each point as an address says it."""

    at: Sequence[float]
    told: Sequence[str]
    ticks: Ticks
    axis: str = ""
    marks: Sequence[tuple[float, int]] = ()
    times: Sequence[str] = ()


class _Frame(NamedTuple):
    """The place of the curves in their picture."""

    left: float
    right: float
    low: float
    high: float
    wide: float

    def x(self, at: float) -> float:
        span = (self.right - self.left) or 1.0
        return LEFT + self.wide * (at - self.left) / span

    def y(self, value: float) -> float:
        span = (self.high - self.low) or 1.0
        return TOP + (HIGH - TOP - BOTTOM) * (1.0 - (min(max(value, self.low), self.high) - self.low) / span)


def curves(places: Places, some: Sequence[Curve], label: str, *, zero: bool = False, settled: int = 0) -> Markup:
    """Curves over places; with `zero` a line there. All of them have room from the place of number `settled` on."""
    values = [value for curve in some for value in curve.values[settled:] if value is not None]
    if len(places.at) < 2 or not values:
        return Markup("")
    low, high = _range([curve._replace(ends=curve.ends[settled:]) for curve in some], values, zero)
    names = [curve for curve in some if curve.colour is not None]
    room = 8.0 + LETTER * max((min(len(curve.name), LONGEST_NAME) for curve in names), default=0)
    frame = _Frame(min(places.at), max(places.at), low, high, ACROSS - LEFT - room)
    parts = [*_grid(frame, places), *_marks(frame, places)]
    if zero:
        y, right = frame.y(0.0), LEFT + frame.wide
        parts.append(f'<line class="zero" x1="{LEFT:g}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
    for curve in sorted(some, key=lambda curve: curve.colour is not None):  # those in grey lie below
        parts += _curve(frame, places, curve)
    parts += _names(frame, names)
    told: dict[str, Any] = {
        "x": [round(frame.x(at), 1) for at in places.at],
        "at": list(places.told),
        "y": [frame.low, frame.high, TOP, HIGH - BOTTOM],
        "names": [curve.name for curve in some],
        "colours": [curve.colour for curve in some],
        "values": [[None if value is None else float(f"{value:.4g}") for value in curve.values] for curve in some],
    }
    told |= {"times": list(places.times)} if places.times else {}
    data = f' data-curves="{escape(msgspec.json.encode(told).decode())}"'
    return picture(ACROSS, HIGH, label, parts, "curves", data)


def _range(some: Sequence[Curve], values: list[float], zero: bool) -> tuple[float, float]:
    """The ends of the axis: all estimates, and of the intervals what is not much wider, as the first are very wide."""
    low, high = min(values), max(values)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    ends = [end for curve in some for pair in curve.ends if pair is not None for end in pair]
    span = (high - low) or 0.5 * abs(high) or 1.0
    if ends:
        low, high = max(min(low, *ends), low - span), min(max(high, *ends), high + span)
    return (low, high) if high > low else (low - 0.5 * span, high + 0.5 * span)


def _grid(frame: _Frame, places: Places) -> list[str]:
    right = LEFT + frame.wide
    found = []
    for at, text in linear_ticks(frame.low, frame.high):
        y = frame.y(at)
        found.append(f'<line class="grid" x1="{LEFT:g}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        found.append(f'<text x="{LEFT - 5:g}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    edge = -1e9
    for at, text in places.ticks:
        x, wide = frame.x(at), LETTER * len(text)
        x = min(max(x, LEFT - 40.0 + wide / 2.0), ACROSS - wide / 2.0)  # no text is cut
        if x - wide / 2.0 < edge + 6.0:
            continue
        edge = x + wide / 2.0
        found.append(f'<text x="{x:.1f}" y="{HIGH - 20:g}" text-anchor="middle">{escape(text)}</text>')
    if places.axis:
        found.append(f'<text x="{LEFT:g}" y="{HIGH - 2:g}">{escape(places.axis)}</text>')
    return found


def _marks(frame: _Frame, places: Places) -> list[str]:
    """Numbered lines where something happened; of those that lie together the first has its number."""
    found, edge = [], -1e9
    for at, mark in places.marks:
        if not frame.left <= at <= frame.right:
            continue
        x = frame.x(at)
        found.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4:g}" y2="{HIGH - BOTTOM:g}"/>')
        if x >= edge + 14.0:
            found.append(f'<text class="mark" x="{x:.1f}" y="{TOP - 8:g}" text-anchor="middle">{mark}</text>')
            edge = x
    return found


def _curve(frame: _Frame, places: Places, curve: Curve) -> list[str]:
    kind = "other" if curve.colour is None else f"s{curve.colour}"
    known = [(at, value) for at, value in zip(places.at, curve.values, strict=True) if value is not None]
    found = []
    band = (
        [(at, pair) for at, pair in zip(places.at, curve.ends, strict=True) if pair is not None] if curve.ends else []
    )
    if len(band) > 1:
        upper = [f"{frame.x(at):.1f},{frame.y(high):.1f}" for at, (_, high) in band]
        lower = [f"{frame.x(at):.1f},{frame.y(low):.1f}" for at, (low, _) in band]
        found.append(f'<polygon class="band {kind}" points="{" ".join([*upper, *reversed(lower)])}"/>')
    path = " ".join(f"{frame.x(at):.1f},{frame.y(value):.1f}" for at, value in known)
    if known:
        found.append(f'<polyline class="curve {kind}" points="{path}"/>')
    return found


def _names(frame: _Frame, named: Sequence[Curve]) -> list[str]:
    """Names at the ends of curves, moved apart where they would cover each other."""
    ends = []
    for curve in named:
        last = next((value for value in reversed(curve.values) if value is not None), None)
        if last is not None:
            ends.append((frame.y(last), curve))
    ends.sort(key=lambda end: end[0])
    line, bottom = 15.0, HIGH - BOTTOM
    places = [y for y, _ in ends]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + line)
    for i in reversed(range(len(places))):
        places[i] = min(places[i], bottom - line * (len(places) - 1 - i))
    found = []
    for y, (_, curve) in zip(places, ends, strict=True):
        short = curve.name if len(curve.name) <= LONGEST_NAME else f"{curve.name[: LONGEST_NAME - 1]}…"
        found.append(
            f'<text class="name s{curve.colour}" x="{LEFT + frame.wide + 6:.1f}" y="{y + 4:.1f}">{escape(short)}</text>'
        )
    return found


def fan(points: Sequence[tuple[int, Sequence[float]]], label: str) -> Markup:
    """Quantiles over the rounds to come, of which there is an odd number in each point: bands between the outer ones,
    the darker the likelier, and a line in the middle."""
    if len(points) < 2:
        return Markup("")
    values = [value for _, quantiles in points for value in quantiles]
    frame = _Frame(points[0][0], points[-1][0], min(values), max(values), ACROSS - LEFT - 10.0)
    ticks = [(float(points[0][0]), "now"), (float(points[-1][0]), f"round {count(points[-1][0])}")]
    parts = _grid(frame, Places([at for at, _ in points], [], ticks))
    middle = len(points[0][1]) // 2
    for i in range(middle):
        upper = [f"{frame.x(at):.1f},{frame.y(quantiles[-1 - i]):.1f}" for at, quantiles in points]
        lower = [f"{frame.x(at):.1f},{frame.y(quantiles[i]):.1f}" for at, quantiles in points]
        parts.append(f'<polygon class="fan" points="{" ".join([*upper, *reversed(lower)])}"/>')
    line = " ".join(f"{frame.x(at):.1f},{frame.y(quantiles[middle]):.1f}" for at, quantiles in points)
    parts.append(f'<polyline class="curve s0" points="{line}"/>')
    told: dict[str, Any] = {
        "x": [round(frame.x(at), 1) for at, _ in points],
        "at": [f"round {count(at)}" for at, _ in points],
        "y": [frame.low, frame.high, TOP, HIGH - BOTTOM],
        "names": ["median"],
        "colours": [0],
        "values": [[float(f"{quantiles[middle]:.3g}") for _, quantiles in points]],
    }
    return picture(ACROSS, HIGH, label, parts, "curves", f' data-curves="{escape(msgspec.json.encode(told).decode())}"')


def text_of(value: float | None) -> str:
    """A value of a table under a picture."""
    return "–" if value is None else minus(number(value, 3))
