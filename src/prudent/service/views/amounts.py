"""Amounts, differences and intervals as pages write them, with their units."""

import math
from typing import Any, NamedTuple

from prudent.base.text import minus, number
from prudent.live.summary import Summary
from prudent.risk.base import Interval
from prudent.risk.mean_variance import MeanVariance
from prudent.service.log.state import ExperimentState

Ends = tuple[float, float]


class Units(NamedTuple):
    """What stands behind outcomes, behind costs, which have the unit of a variance if the risk has, and behind
    variances: a space and the unit, or nothing if nobody said what it is. If all outcomes are 0 or 1, means are written
    as a `rate`: in percent, and their differences in percentage points."""

    outcome: str = ""
    cost: str = ""
    variance: str = ""
    rate: bool = False

    @property
    def factor(self) -> float:
        """What a mean is multiplied with before it is written."""
        return 100.0 if self.rate else 1.0

    @property
    def mean(self) -> str:
        """What stands behind a mean."""
        return " %" if self.rate else self.outcome

    @property
    def difference(self) -> str:
        """What stands behind a difference of means."""
        return " percentage points" if self.rate else self.outcome

    def scaled(self, value: float | None) -> float | None:
        """A mean, or a difference of means, as it is written."""
        return None if value is None else self.factor * value

    def scaled_ends(self, ends: Any) -> "Ends | None":
        """The ends of where a mean, or a difference, lies, as they are written."""
        return None if ends is None else (self.factor * ends[0], self.factor * ends[1])


def units(state: ExperimentState) -> Units:
    """Those of an experiment."""
    unit, rate = state.spec.unit, is_rate(state)
    return Units(f" {unit}", f" {unit}{'²' * is_squared(state)}", f" {unit}²", rate) if unit else Units(rate=rate)


def is_rate(state: ExperimentState) -> bool:
    """Whether all outcomes so far were 0 or 1: of outcomes in [0, 1] with a mean m, no others have the variance
    m(1 − m)."""
    if tuple(state.agent.support) != (0.0, 1.0):
        return False
    arms = [known for known in state.agent.estimates() if known.pulls]
    return bool(arms) and all(
        abs((known.variance or 0.0) - (known.mean or 0.0) * (1.0 - (known.mean or 0.0))) < 1e-9 for known in arms
    )


def is_squared(state: ExperimentState) -> bool:
    """Whether costs have the unit of a variance."""
    risk = state.agent.risk
    return isinstance(risk, MeanVariance) and math.isfinite(risk.rho)


def text(value: float | None) -> str:
    """A number of the table."""
    return minus(number(value, 4))


def estimate(value: float | None, ends: Any = None) -> str:
    """A number with as many digits as where it lies can justify."""
    return text(value) if value is None or ends is None else _to_place(value, place_of(ends))


def between(ends: Any, *, sign: bool = False) -> str:
    """An interval, both of whose ends have the same last place; with `sign` also where they are positive."""
    if ends is None:
        return "–"
    low, high = ends
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{minus(number(low, 3))} to {minus(number(high, 3))}"
    texts = [_to_place(end, place_of(ends)) for end in (low, high)]
    plus = [
        "+" if sign and end > 0.0 and text.strip("0.") else "" for end, text in zip((low, high), texts, strict=True)
    ]
    return f"{plus[0]}{texts[0]} to {plus[1]}{texts[1]}"


def place_of(ends: Any) -> int:
    """The power of ten of the second digit of the width of an interval: digits below it say nothing."""
    low, high = ends
    wide = high - low
    return math.floor(math.log10(wide) + 1e-9) - 1 if 0.0 < wide < math.inf else -4


def _to_place(value: float, place: int) -> str:
    """A number to this power of ten. Where it is very small, digits are counted instead."""
    if place < -8 or not math.isfinite(value):
        return minus(number(value, 3))
    decimals = max(0, -place)
    return minus(f"{round(value, decimals) + 0.0:,.{decimals}f}")  # + 0.0: no minus before a zero


def saved(summary: Summary, unit: str) -> str:
    """What learning has saved against an even split, in words."""
    if summary.saved is None:
        return "–"
    low, high = summary.saved
    if low >= 0.0:
        return f"{between((low, high))}{unit} saved"
    if high <= 0.0:
        return f"{between((-high, -low))}{unit} lost"
    lost, _, more = between((low, high)).partition(" to ")
    return f"from {lost.removeprefix('−')} lost to {more}{unit} saved"


def finite(ends: Interval | None) -> Ends | None:
    """The ends of an interval that has two."""
    return None if ends is None or not all(map(math.isfinite, ends)) else (float(ends.low), float(ends.high))
