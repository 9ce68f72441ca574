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
    variances: a space and the unit, or nothing if nobody said what it is."""

    outcome: str = ""
    cost: str = ""
    variance: str = ""


def units(state: ExperimentState) -> Units:
    """Those of an experiment."""
    unit = state.spec.unit
    return Units(f" {unit}", f" {unit}{'²' * is_squared(state)}", f" {unit}²") if unit else Units()


def is_squared(state: ExperimentState) -> bool:
    """Whether costs have the unit of a variance."""
    risk = state.agent.risk
    return isinstance(risk, MeanVariance) and math.isfinite(risk.rho)


def text(value: float | None) -> str:
    """A number of the table."""
    return minus(number(value, 4))


def signed(value: float | None, digits: int = 3) -> str:
    """A difference: `+0.12`, `−3`."""
    return "–" if value is None else ("+" if value > 0.0 else "") + minus(number(value, digits))


def between(ends: Any) -> str:
    """An interval."""
    return "–" if ends is None else f"{minus(number(ends.low, 3))} to {minus(number(ends.high, 3))}"


def saved(summary: Summary, unit: str) -> str:
    """What learning has saved against an even split, in words."""
    if summary.saved is None:
        return "–"
    low, high = summary.saved
    if low >= 0.0:
        return f"{minus(number(low, 3))} to {minus(number(high, 3))}{unit} saved"
    if high <= 0.0:
        return f"{minus(number(-high, 3))} to {minus(number(-low, 3))}{unit} lost"
    return f"from {minus(number(-low, 3))} lost to {minus(number(high, 3))}{unit} saved"


def finite(ends: Interval | None) -> Ends | None:
    """The ends of an interval that has two."""
    return None if ends is None or not all(map(math.isfinite, ends)) else (float(ends.low), float(ends.high))
