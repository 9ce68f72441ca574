"""Pictures over time, from the statistics that the follower keeps at ever longer distances."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from prudent.base.text import counted
from prudent.service.log.events import Event
from prudent.service.pages import charts
from prudent.service.pages.axes import calendar_ticks, linear_ticks, log_ticks
from prudent.service.pages.charts import COLOURS, Curve, Places
from prudent.service.pages.settings import AXES, Settings
from prudent.service.views.amounts import Ends, Units, between, estimate

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

FEW_BANDS = 3
"""Arms whose intervals are drawn as bands."""

ROWS = 7
"""Rows of the table under a picture."""

HOUR = 3_600_000.0


class Arm(NamedTuple):
    """An arm at a point: decisions, rewards, mean, variance, cost, where its mean and its cost lie, and of each other
    metric the mean and where it lies; see `follower.rows_of`."""

    asked: int
    pulls: int
    mean: float | None
    variance: float | None
    cost: float | None
    ends: Ends | None
    cost_ends: Ends | None = None
    metrics: Sequence[tuple[float | None, Ends | None]] = ()


class Point(NamedTuple):
    """All arms after an event: its number, its time, all decisions so far, and the arms."""

    seq: int
    at: int
    asked: int
    arms: list[Arm]


class Timeline(NamedTuple):
    """The points of a period, and how they are shown: over which axis, with which arms in colour, and whether costs
    are squared. `over` says of arms that were retired after which event."""

    points: list[Point]
    labels: list[str]
    colours: dict[int, int]
    places: Places
    units: Units
    axis: str
    squared: bool
    over: Mapping[int, int] = {}

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

    def curve(self, arm: int, label: str, values: list[Any], ends: Sequence[Ends | None] = ()) -> Curve:
        """The curve of an arm, which ends when it is retired. There are no bands if they would cover each other."""
        last = self.over.get(arm, math.inf)
        known = [value if point.seq <= last else None for value, point in zip(values, self.points, strict=True)]
        ends = (
            [pair if point.seq <= last else None for pair, point in zip(ends, self.points, strict=True)] if ends else ()
        )
        few = arm in self.colours and len(self.colours) <= FEW_BANDS
        return Curve(label, self.colours.get(arm), known, ends, few, last < self.points[-1].seq)

    def curves(self, what: Any, ends: Any = None) -> list[Curve]:
        """A curve for each arm; `what` gives a value of a point and an arm's number, or None."""
        return [
            self.curve(
                i,
                label,
                [what(point, i) if i < len(point.arms) else None for point in self.points],
                [ends(point, i) if i < len(point.arms) else None for point in self.points] if ends is not None else (),
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
    row = [*row, *[None] * (9 - len(row)), []]  # older versions kept less
    ends, cost = (None if pair[0] is None else (pair[0], pair[1]) for pair in (row[5:7], row[7:9]))
    metrics = [(mean, None if low is None else (low, high)) for mean, low, high in row[9]]
    return Arm(row[0], row[1], row[2], row[3], row[4], ends, cost, metrics)


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
    units = line.units
    unit, rate = units.outcome and f", {units.outcome.strip()}", " %" if units.rate else ""
    word = "Rate" if units.rate else f"Mean{unit}"
    means = line.curves(
        lambda point, i: units.scaled(point.arms[i].mean), lambda point, i: units.scaled_ends(point.arms[i].ends)
    )
    found = [_chart(f"{word} of each arm" if units.rate else f"Mean of each arm{unit}", line, means, unit=rate)]
    if len(line.labels) > 1:
        found_all = line.curves(_more(control, units), _more_ends(control, units))
        more = [curve for (i, _), curve in zip(line.drawn, found_all, strict=True) if i != control]
        points = ", percentage points" if units.rate else unit
        found.append(_chart(f"How much more than {line.labels[control]}{points}", line, more, zero=True))
        found.append(_chart("Share of decisions, step by step", line, _steps(line, _share), unit=" %"))
    whole = _whole(line, "outcomes", lambda pair: units.scaled(_received(pair)))
    of_all = f"{'Rate' if units.rate else 'Mean'} of all outcomes, step by step{'' if units.rate else unit}"
    found.append(_chart(of_all, line, [whole], unit=rate))
    found.append(_chart("Decisions an hour, step by step", line, [_whole(line, "decisions", _pace)]))
    return [chart for chart in found if chart.svg]


def charts_of_metric(line: Timeline, name: str, number: int) -> list[Chart]:
    """The mean of another metric, by its number among them."""

    def known(point: Point, arm: int) -> tuple[float | None, Ends | None]:
        metrics = point.arms[arm].metrics
        return metrics[number] if number < len(metrics) else (None, None)

    means = line.curves(lambda point, i: known(point, i)[0], lambda point, i: known(point, i)[1])
    return [chart for chart in [_chart(f"Mean {name} of each arm", line, means)] if chart.svg]


def charts_of_risk(line: Timeline) -> list[Chart]:
    """The same in the measure that the policy optimises."""
    cost, variance = (text and f", {text.strip()}" for text in (line.units.cost, line.units.variance))
    moving = Curve("all arms", 0, [exploration(point.arms) for point in line.points])
    costs = line.curves(lambda point, i: point.arms[i].cost, lambda point, i: point.arms[i].cost_ends)
    found = [_chart(f"Cost of each arm{cost}", line, costs)]
    if line.squared:
        found.append(_chart(f"Variance from moving between arms{variance}", line, [moving]))
    return [chart for chart in found if chart.svg]


def _chart(title: str, line: Timeline, some: list[Curve], *, zero: bool = False, unit: str = "") -> Chart:
    label = f"{title}, over the {line.axis}"
    svg = charts.curves(line.places, some, label, zero=zero, settled=line.settled, unit=unit)
    rows = [
        [line.places.told[i], *(_cell(curve, i, unit) for curve in some)]
        for i in thinned(range(len(line.points)), ROWS)
    ]
    return Chart(title, svg, [curve.name for curve in some], rows)


def _cell(curve: Curve, i: int, unit: str) -> str:
    """A value of a table under a picture, with its interval."""
    value, ends = curve.values[i], curve.ends[i] if curve.ends else None
    if value is None or ends is None:
        return f"{charts.text_of(value)}{unit if value is not None else ''}"
    return f"{estimate(value, ends)}{unit} ({between(ends)})"


def _more(control: int, units: Units) -> Any:
    def more(point: Point, arm: int) -> float | None:
        means = point.arms[arm].mean, point.arms[control].mean
        return None if means[0] is None or means[1] is None else units.scaled(means[0] - means[1])

    return more


def _more_ends(control: int, units: Units) -> Any:
    def ends(point: Point, arm: int) -> Ends | None:
        first, second = point.arms[arm].ends, point.arms[control].ends
        if first is None or second is None:
            return None
        return units.scaled_ends((first[0] - second[1], first[1] - second[0]))

    return ends


def _steps(line: Timeline, what: Any) -> list[Curve]:
    """Curves of what happened in each step."""
    pairs = line.steps()
    return [line.curve(i, label, [pair and what(pair, i) for pair in pairs]) for i, label in line.drawn]


def _whole(line: Timeline, name: str, what: Any) -> Curve:
    return Curve(name, 0, [pair and what(pair) for pair in line.steps()])


def _share(pair: tuple[Point, Point], arm: int) -> float | None:
    """The percentage of a step's decisions that an arm got."""
    before, point = pair
    if arm >= len(point.arms) or point.asked == before.asked:
        return None
    already = before.arms[arm].asked if arm < len(before.arms) else 0
    return 100.0 * (point.arms[arm].asked - already) / (point.asked - before.asked)


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
