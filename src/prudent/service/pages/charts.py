"""Pictures as SVG: bars of shares, intervals on a common axis, and curves with names, bands and marks.

They take the colours of the page, so that they follow its dark mode, and print. Each has a text for those who do not
see it, and the numbers stand in a table beside it. Sizes are attributes, because the page allows no inline style.
Curves carry their numbers as data: with its script the page tells them under the pointer and by the arrow keys.
"""

import math
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

ACROSS, HIGH = 400.0, 250.0
"""Units across and down a picture of curves. A telephone shows it somewhat smaller, a desk larger."""

TOP, BOTTOM = 26.0, 44.0
"""Room for marks, and for what is written below."""

LETTER = 16.0
"""Units of the largest letters, which a telephone needs."""

WIDTHS = {
    **dict.fromkeys("mwMWOQDGCNH@%—…", 1.0),
    **dict.fromkeys("frtI()[]-", 0.5),
    **dict.fromkeys("ijl.,:;'|! ", 0.36),
}
"""Widths of letters that need more room than others, or less, in heights of a letter; others need 0.66."""

LINE = 16.0
"""Units between two lines of words."""

LONGEST_NAME = 14
"""Letters of a name at a curve in one of its lines, of which there are two."""

COLOURS = 6
"""Colours that people tell apart, also those who see fewer of them."""


def across(text: str) -> float:
    """Units across a text, or a little more than it needs."""
    return LETTER * sum(WIDTHS.get(c, 0.66 if ord(c) < 0x2E80 else 1.0) for c in text)


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


def axis(scale: Scale | None, label: str, unit: str = "") -> Markup:
    """The axis of a column of intervals; the `unit` stands directly behind numbers."""
    if scale is None:
        return Markup("")
    parts, edge = [], -1e9
    for at, text in linear_ticks(scale.low, scale.high, 5):
        x, wide = scale.x(at), across(f"{text}{unit}")
        middle = min(max(x, wide / 2.0), CELL - wide / 2.0)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="5"/>')
        if middle - wide / 2.0 >= edge:
            edge = middle + wide / 2.0
            parts.append(f'<text x="{middle:.1f}" y="18" text-anchor="middle">{text}{unit}</text>')
    return picture(CELL, 22.0, label, parts, "interval")


class Curve(NamedTuple):
    """A curve: its name, the number of its colour (None: it is grey and not named), a value at each place or none, and
    ends of intervals, for which a band is drawn if `band` says so. One that is `over` ended before the last place."""

    name: str
    colour: int | None
    values: Sequence[float | None]
    ends: Sequence[tuple[float, float] | None] = ()
    band: bool = True
    over: bool = False


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
    """The place of the curves in their picture. `margin` is the room of what is written at the left, `ticks` that."""

    left: float
    right: float
    low: float
    high: float
    margin: float
    wide: float
    ticks: Ticks

    def x(self, at: float) -> float:
        span = (self.right - self.left) or 1.0
        return self.margin + self.wide * (at - self.left) / span

    @property
    def edge(self) -> float:
        return self.margin + self.wide

    def y(self, value: float) -> float:
        span = (self.high - self.low) or 1.0
        return TOP + (HIGH - TOP - BOTTOM) * (1.0 - (min(max(value, self.low), self.high) - self.low) / span)


def _framed(at: Sequence[float], low: float, high: float, room: float, unit: str) -> _Frame:
    """A frame whose left margin holds the widest of its ticks; `room` is needed at the right."""
    ticks = [(value, f"{text}{unit}") for value, text in linear_ticks(low, high)]
    margin = 10.0 + max(across(text) for _, text in ticks) if ticks else 10.0
    return _Frame(min(at), max(at), low, high, margin, ACROSS - margin - room, ticks)


def curves(
    places: Places, some: Sequence[Curve], label: str, *, zero: bool = False, settled: int = 0, unit: str = ""
) -> Markup:
    """Curves over places; with `zero` a line there. All of them have room from the place of number `settled` on. The
    `unit` stands directly behind numbers."""
    values = [value for curve in some for value in curve.values[settled:] if value is not None]
    if len(places.at) < 2 or not values:
        return Markup("")
    drawn = [curve._replace(ends=curve.ends[settled:] if curve.band else ()) for curve in some]
    low, high = _range(drawn, values, zero)
    names = [curve for curve in some if curve.colour is not None]
    room = 10.0 + max((across(line) for curve in names for line in lines_of(curve.name)), default=0.0)
    frame = _framed(places.at, low, high, room, unit)
    parts = [*_grid(frame, places), *_marks(frame, places)]
    if zero:
        y = frame.y(0.0)
        parts.append(f'<line class="zero" x1="{frame.margin:.1f}" x2="{frame.edge:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
    for curve in sorted(some, key=lambda curve: curve.colour is not None):  # those in grey lie below
        parts += _curve(frame, places, curve)
    parts += _names(frame, names)
    return picture(ACROSS, HIGH, label, parts, "curves", _told(frame, places, some, unit))


def _told(frame: _Frame, places: Places, some: Sequence[Curve], unit: str = "") -> str:
    """What the script tells under the pointer, as an attribute."""
    told: dict[str, Any] = {
        "x": [round(frame.x(at), 1) for at in places.at],
        "at": list(places.told),
        "y": [frame.low, frame.high, TOP, HIGH - BOTTOM],
        "names": [curve.name for curve in some],
        "colours": [curve.colour for curve in some],
        "values": [[_short(value) for value in curve.values] for curve in some],
    }
    if any(curve.ends for curve in some):
        told["ends"] = [[pair and [_short(end, 3) for end in pair] for pair in curve.ends] for curve in some]
    told |= {"times": list(places.times)} if places.times else {}
    told |= {"unit": unit} if unit else {}
    return f' data-curves="{escape(msgspec.json.encode(told).decode())}"'


def _short(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")


def lines_of(name: str) -> list[str]:
    """A name in two lines at most, parted where a word ends if that is possible; what is longer is cut."""
    if len(name) <= LONGEST_NAME:
        return [name]
    at = name.rfind(" ", 1, LONGEST_NAME + 1)
    first, rest = (name[:at], name[at + 1 :]) if at > 0 else (name[:LONGEST_NAME], name[LONGEST_NAME:])
    return [first, rest if len(rest) <= LONGEST_NAME else f"{rest[: LONGEST_NAME - 1]}…"]


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
    found = []
    for at, text in frame.ticks:
        y = frame.y(at)
        line = f'x1="{frame.margin:.1f}" x2="{frame.edge:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
        found.append(f'<line class="grid" {line}/>')
        found.append(f'<text x="{frame.margin - 5.0:.1f}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>')
    edge = math.inf
    for at, text in reversed(places.ticks):  # of those that would cover each other, the last one stays
        x, wide = frame.x(at), across(text)
        x = min(max(x, wide / 2.0), ACROSS - wide / 2.0)  # no text is cut
        if x + wide / 2.0 > edge - 6.0:
            continue
        edge = x - wide / 2.0
        found.append(f'<text x="{x:.1f}" y="{HIGH - BOTTOM + 19:g}" text-anchor="middle">{escape(text)}</text>')
    if places.axis:
        x = max(0.0, min(frame.margin, ACROSS - across(places.axis)))
        found.append(f'<text x="{x:.1f}" y="{HIGH - 5:g}">{escape(places.axis)}</text>')
    return found


def _marks(frame: _Frame, places: Places) -> list[str]:
    """Numbered lines where something happened; those that lie together have their first and last number."""
    groups: list[list[tuple[float, int]]] = []
    for at, mark in sorted(places.marks):
        if not frame.left <= at <= frame.right:
            continue
        x = frame.x(at)
        if groups and x < groups[-1][0][0] + 34.0:
            groups[-1].append((x, mark))
        else:
            groups.append([(x, mark)])
    found = []
    for group in groups:
        ends = f'y1="{TOP - 4:g}" y2="{HIGH - BOTTOM:g}"'
        found += [f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" {ends}/>' for x, _ in group]
        first, last = group[0][1], group[-1][1]
        text = f"{first}" if first == last else f"{first}, {last}" if last == first + 1 else f"{first}–{last}"
        wide = across(text)
        x = min(max(group[0][0], wide / 2.0), ACROSS - wide / 2.0)
        found.append(f'<text class="mark" x="{x:.1f}" y="{TOP - 9:g}" text-anchor="middle">{text}</text>')
    return found


def _curve(frame: _Frame, places: Places, curve: Curve) -> list[str]:
    kind = "other" if curve.colour is None else f"s{curve.colour}"
    known = [(at, value) for at, value in zip(places.at, curve.values, strict=True) if value is not None]
    found = []
    band = (
        [(at, pair) for at, pair in zip(places.at, curve.ends, strict=True) if pair is not None]
        if curve.ends and curve.band
        else []
    )
    if len(band) > 1:
        upper = [f"{frame.x(at):.1f},{frame.y(high):.1f}" for at, (_, high) in band]
        lower = [f"{frame.x(at):.1f},{frame.y(low):.1f}" for at, (low, _) in band]
        found.append(f'<polygon class="band {kind}" points="{" ".join([*upper, *reversed(lower)])}"/>')
    path = " ".join(f"{frame.x(at):.1f},{frame.y(value):.1f}" for at, value in known)
    if known:
        found.append(f'<polyline class="curve {kind}" points="{path}"/>')
    if known and curve.over and curve.colour is not None:  # from where it ended to its name
        x, y = frame.x(known[-1][0]), frame.y(known[-1][1])
        found.append(f'<line class="gone" x1="{x:.1f}" x2="{frame.edge:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        found.append(f'<circle class="end {kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
    return found


def _names(frame: _Frame, named: Sequence[Curve]) -> list[str]:
    """Names at the ends of curves, moved apart where they would cover each other."""
    ends = []
    for curve in named:
        last = next((value for value in reversed(curve.values) if value is not None), None)
        if last is not None:
            ends.append((frame.y(last), curve))
    ends.sort(key=lambda end: end[0])
    bottom = HIGH - BOTTOM
    heights = [LINE * len(lines_of(curve.name)) for _, curve in ends]
    places = [y - (height - LINE) / 2.0 for (y, _), height in zip(ends, heights, strict=True)]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + heights[i - 1])
    for i in reversed(range(len(places))):
        below = places[i + 1] if i + 1 < len(places) else bottom + LINE
        places[i] = min(places[i], below - heights[i])
    found = []
    for y, (_, curve) in zip(places, ends, strict=True):
        kind = "name over" if curve.over else f"name s{curve.colour}"
        for i, line in enumerate(lines_of(curve.name)):
            at = f'x="{frame.edge + 6:.1f}" y="{y + 4 + LINE * i:.1f}"'
            found.append(f'<text class="{kind}" {at}>{escape(line)}</text>')
    return found


def fan(points: Sequence[tuple[int, Sequence[float]]], label: str) -> Markup:
    """Quantiles over the rounds to come, of which there is an odd number in each point: bands between the outer ones,
    the darker the likelier, and a line in the middle."""
    if len(points) < 2:
        return Markup("")
    values = [value for _, quantiles in points for value in quantiles]
    frame = _framed([float(at) for at, _ in points], min(values), max(values), 10.0, "")
    ticks = [(float(points[0][0]), "now"), (float(points[-1][0]), f"round {count(points[-1][0])}")]
    places = Places([at for at, _ in points], [f"round {count(at)}" for at, _ in points], ticks)
    parts = _grid(frame, places)
    middle = len(points[0][1]) // 2
    for i in range(middle):
        upper = [f"{frame.x(at):.1f},{frame.y(quantiles[-1 - i]):.1f}" for at, quantiles in points]
        lower = [f"{frame.x(at):.1f},{frame.y(quantiles[i]):.1f}" for at, quantiles in points]
        parts.append(f'<polygon class="fan" points="{" ".join([*upper, *reversed(lower)])}"/>')
    line = " ".join(f"{frame.x(at):.1f},{frame.y(quantiles[middle]):.1f}" for at, quantiles in points)
    parts.append(f'<polyline class="curve s0" points="{line}"/>')
    median = Curve("median", 0, [quantiles[middle] for _, quantiles in points])
    return picture(ACROSS, HIGH, label, parts, "curves", _told(frame, places, [median]))


def text_of(value: float | None) -> str:
    """A value of a table under a picture."""
    return "–" if value is None else minus(number(value, 3))
