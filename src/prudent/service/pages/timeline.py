"""Pictures over time, from the statistics that the follower keeps at ever longer distances."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from prudent.base.text import counted
from prudent.service.log.events import Event
from prudent.service.pages import charts
from prudent.service.pages.axes import calendar_ticks, linear_ticks, log_ticks
from prudent.service.pages.charts import COLOURS, Curve, Places
from prudent.service.pages.settings import AXES, Settings
from prudent.service.views.amounts import Units

POINTS = 400
"""Points of all curves of a picture: a page with many arms must not be large."""

FEWEST = 12
"""Points of a curve, however many arms there are."""

SETTLED = 0.05
"""Before so large a share of the decisions an axis need not hold all of a curve."""

STEPS = 30
"""Steps across a picture of what happened in each."""

MAX_CURVES = 30
"""Of more arms only those in colour have curves."""

ROWS = 7
"""Rows of the table under a picture."""

HOUR = 3_600_000.0


class Arm(NamedTuple):
    """An arm at a point: decisions, rewards, mean, variance, cost, and where its mean lies; see `follower.point`."""

    asked: int
    pulls: int
    mean: float | None
    variance: float | None
    cost: float | None
    ends: tuple[float, float] | None


class Point(NamedTuple):
    """All arms after an event: its number, its time, all decisions so far, and the arms."""

    seq: int
    at: int
    asked: int
    arms: list[Arm]


class Timeline(NamedTuple):
    """The points of a period, and how they are shown: over which axis, with which arms in colour, and whether costs
    are squared."""

    points: list[Point]
    labels: list[str]
    colours: dict[int, int]
    places: Places
    units: Units
    axis: str
    squared: bool

    @property
    def drawn(self) -> list[tuple[int, str]]:
        """The arms that have curves: all, unless they are very many."""
        some = enumerate(self.labels)
        return [pair for pair in some if len(self.labels) <= MAX_CURVES or pair[0] in self.colours]

    @property
    def settled(self) -> int:
        """The number of the point from which on curves are not wild: those decide how high a picture reaches."""
        return bisect_left(self.points, SETTLED * self.points[-1].asked, key=lambda point: point.asked)

    def steps(self) -> list[tuple[Point, Point] | None]:
        """For each point the end of a step and itself, if a step ends there: each is so wide that it holds more than a
        few decisions, and that the picture is no hatching."""
        found: list[tuple[Point, Point] | None] = [None] * len(self.points)
        at, end = self.places.at, 0  # of the step before
        for i, point in enumerate(self.points):
            wide = at[i] - at[end] >= (at[-1] - at[0]) / STEPS and point.asked - self.points[end].asked >= FEWEST
            if wide:
                found[i], end = (self.points[end], point), i
        if last := found[end]:  # it holds what is left too
            found[end], found[-1] = None, (last[0], self.points[-1])
        elif len(self.points) > 1:
            found[-1] = self.points[0], self.points[-1]
        return found

    def curves(self, what: Any, ends: Any = None) -> list[Curve]:
        """A curve for each arm; `what` gives a value of a point and an arm's number, or None."""
        return [
            Curve(
                label,
                self.colours.get(i),
                [what(point, i) if i < len(point.arms) else None for point in self.points],
                [ends(point, i) if i < len(point.arms) else None for point in self.points]
                if ends is not None and i in self.colours and len(self.colours) <= 3
                else (),
            )
            for i, label in self.drawn
        ]


def points_of(series: Sequence[tuple[int, int, str]], arms: int, period: tuple[float, float]) -> list[Point]:
    """The points of a period, not too many, with the one before it."""
    first = max(0, bisect_left(series, period[0], key=lambda row: row[1]) - 1)
    last = bisect_left(series, period[1] + 1.0, key=lambda row: row[1])
    some = thinned(series[first:last], max(FEWEST, POINTS // arms))
    points = [Point(seq, at, 0, [_arm(row) for row in msgspec.json.decode(text)]) for seq, at, text in some]
    made = [point._replace(asked=sum(arm.asked for arm in point.arms)) for point in points]
    return [point for point in made if point.asked > 0]


def _arm(row: list[Any]) -> Arm:
    ends = (row[5], row[6]) if len(row) > 6 and row[5] is not None else None  # older versions kept no intervals
    return Arm(row[0], row[1], row[2], row[3], row[4], ends)


def in_colour(labels: Sequence[str], shares: Sequence[float], first: Sequence[str]) -> dict[int, int]:
    """Which arms have colours, and which: all if they are few, or else those of `first` and those chosen most."""
    numbers = range(len(labels))
    if len(labels) > COLOURS:
        known = [labels.index(label) for label in dict.fromkeys(first) if label in labels]
        others = sorted((i for i in numbers if i not in known), key=lambda i: -shares[i])
        numbers = sorted([*known, *others][:COLOURS])  # type: ignore[assignment]
    return {number: colour for colour, number in enumerate(numbers)}


def timeline(
    points: list[Point],
    labels: list[str],
    colours: dict[int, int],
    marks: Sequence[tuple[Event, int]],
    units: Units,
    settings: Settings,
    squared: bool = True,
) -> Timeline:
    """The points over the axis of the settings; `marks` are events with their numbers."""

    def across(asked: float, at: float) -> float:
        return at if settings.axis == "time" else math.log(max(asked, 1.0)) if settings.axis == "log" else asked

    seqs, asked = [point.seq for point in points], [point.asked for point in points]
    at = [across(point.asked, point.at) for point in points]
    told = [f"{counted(point.asked, 'decision')}, {_moment(point.at)}" for point in points]
    if settings.axis == "time":
        ticks = calendar_ticks(points[0].at, points[-1].at)
    elif settings.axis == "log":
        ticks = [(math.log(value), text) for value, text in log_ticks(asked[0], asked[-1])]
    else:
        ticks = linear_ticks(asked[0], asked[-1], 4)
    times = [datetime.fromtimestamp(point.at / 1000.0, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] for point in points]
    where = [(across(_between(seqs, asked, event.seq), event.at), number) for event, number in marks]
    inside = [(x, number) for (x, number), (event, _) in zip(where, marks, strict=True) if event.seq >= seqs[0]]
    axis = AXES[settings.axis]
    places = Places(at, told, ticks, axis, inside, times)
    return Timeline(points, labels, colours, places, units, axis, squared)


def _between(seqs: Sequence[int], values: Sequence[int], seq: int) -> float:
    """The number of decisions after an event between two points."""
    i = min(max(bisect_left(seqs, seq), 1), len(seqs) - 1)
    share = (seq - seqs[i - 1]) / ((seqs[i] - seqs[i - 1]) or 1)
    return values[i - 1] + min(max(share, 0.0), 1.0) * (values[i] - values[i - 1])


def _moment(at: int) -> str:
    moment = datetime.fromtimestamp(at / 1000.0, UTC)
    return f"{moment.day} {moment:%b %Y %H:%M}"


class Chart(NamedTuple):
    """A picture with its title, what stands below, the names of its columns, and some of its numbers."""

    title: str
    svg: Any
    names: list[str]
    rows: list[list[str]]


def charts_of(line: Timeline, control: int) -> list[Chart]:
    """What people ask over time, in the unit of outcomes."""
    unit = line.units.outcome and f", {line.units.outcome.strip()}"
    found = [_chart(f"Mean of each arm{unit}", line, line.curves(_mean, lambda point, i: point.arms[i].ends))]
    if len(line.labels) > 1:
        found_all = line.curves(_more(control), _more_ends(control))
        more = [curve for (i, _), curve in zip(line.drawn, found_all, strict=True) if i != control]
        title = f"How much more than {line.labels[control]}{unit}"
        found.append(_chart(title, line, more, zero=True))
        found.append(_chart("Share of decisions, step by step", line, _steps(line, _share)))
    found.append(_chart(f"Mean of all outcomes, step by step{unit}", line, [_whole(line, "outcomes", _received)]))
    found.append(_chart("Decisions an hour, step by step", line, [_whole(line, "decisions", _pace)]))
    return [chart for chart in found if chart.svg]


def charts_of_risk(line: Timeline) -> list[Chart]:
    """The same in the measure that the policy optimises."""
    cost, variance = (text and f", {text.strip()}" for text in (line.units.cost, line.units.variance))
    moving = Curve("all arms", 0, [exploration(point.arms) for point in line.points])
    found = [_chart(f"Cost of each arm{cost}", line, line.curves(lambda point, i: point.arms[i].cost))]
    if line.squared:
        found.append(_chart(f"Variance from moving between arms{variance}", line, [moving]))
    return [chart for chart in found if chart.svg]


def _chart(title: str, line: Timeline, some: list[Curve], *, zero: bool = False) -> Chart:
    svg = charts.curves(line.places, some, f"{title}, over the {line.axis}", zero=zero, settled=line.settled)
    rows = [
        [line.places.told[i], *(charts.text_of(curve.values[i]) for curve in some)]
        for i in thinned(range(len(line.points)), ROWS)
    ]
    return Chart(title, svg, [curve.name for curve in some], rows)


def _mean(point: Point, arm: int) -> float | None:
    return point.arms[arm].mean


def _more(control: int) -> Any:
    def more(point: Point, arm: int) -> float | None:
        means = point.arms[arm].mean, point.arms[control].mean
        return None if means[0] is None or means[1] is None else means[0] - means[1]

    return more


def _more_ends(control: int) -> Any:
    def ends(point: Point, arm: int) -> tuple[float, float] | None:
        first, second = point.arms[arm].ends, point.arms[control].ends
        return None if first is None or second is None else (first[0] - second[1], first[1] - second[0])

    return ends


def _steps(line: Timeline, what: Any) -> list[Curve]:
    """Curves of what happened in each step."""
    pairs = line.steps()
    return [Curve(label, line.colours.get(i), [pair and what(pair, i) for pair in pairs]) for i, label in line.drawn]


def _whole(line: Timeline, name: str, what: Any) -> Curve:
    return Curve(name, 0, [pair and what(pair) for pair in line.steps()])


def _share(pair: tuple[Point, Point], arm: int) -> float | None:
    before, point = pair
    if arm >= len(point.arms) or point.asked == before.asked:
        return None
    already = before.arms[arm].asked if arm < len(before.arms) else 0
    return (point.arms[arm].asked - already) / (point.asked - before.asked)


def _received(pair: tuple[Point, Point]) -> float | None:
    """The mean of all outcomes that were counted in a step."""
    (now, total), (then, before) = (_sum(point) for point in reversed(pair))
    return (total - before) / (now - then) if now > then else None


def _sum(point: Point) -> tuple[int, float]:
    return sum(arm.pulls for arm in point.arms), sum(arm.pulls * (arm.mean or 0.0) for arm in point.arms)


def _pace(pair: tuple[Point, Point]) -> float | None:
    before, point = pair
    if point.at <= before.at:
        return None
    return (point.asked - before.asked) * HOUR / (point.at - before.at)


def present_pace(points: Sequence[Point]) -> float | None:
    """Decisions an hour over the last fifth of all decisions; None if that cannot be said."""
    if len(points) < 2:
        return None
    last = points[-1]
    before = next((point for point in reversed(points) if point.asked <= 0.8 * last.asked), points[0])
    return _pace((before, last))


def thinned(points: Any, most: int) -> list[Any]:
    """So many of them at most, evenly spaced, with the first and the last."""
    last = len(points) - 1
    if last < most:
        return list(points)
    return [points[i] for i in sorted({round(j * last / (most - 1)) for j in range(most)})]


def exploration(arms: Sequence[Arm]) -> float:
    """The variance that comes from moving between arms."""
    known = [(arm.pulls, arm.mean) for arm in arms if arm.pulls and arm.mean is not None]
    total = sum(pulls for pulls, _ in known)
    centre = sum(pulls * mean for pulls, mean in known) / total if total else 0.0
    return sum(pulls * (mean - centre) ** 2 for pulls, mean in known) / total if total else 0.0
