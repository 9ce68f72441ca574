"""Which rewards are taken: those of an interval, or two values that were declared, since rewards seen prove nothing."""

import math
from collections.abc import Sequence

from prudent.base.arrays import is_listing
from prudent.base.errors import PrudentError, check_finite, shown
from prudent.base.parameters import check_support


def ends_of(support: Sequence[float] | None, values: Sequence[float] | None) -> tuple[float, float]:
    """Where rewards lie, by the support or by the two values that are all there are."""
    if values is None:
        return (-math.inf, math.inf) if support is None else check_support("Agent", support)
    given = list(values) if is_listing(values) else []
    if len(given) != 2:
        raise PrudentError(f"Agent: values must be two numbers, such as (0, 1), got {shown(values)}")
    low, high = sorted(check_finite("Agent", "values", value) for value in given)
    if not low < high:
        raise PrudentError(f"Agent: values must differ, got {shown(values)}")
    if support is not None and check_support("Agent", support) != (low, high):
        got = f"got {shown(support)}; leave it out"
        raise PrudentError(f"Agent: support must go from one of the values to the other, {got}")
    return low, high


def check_value(owner: str, parameter: str, reward: float, values: tuple[float, float] | None) -> None:
    """Refuse a reward that is none of the two that were declared."""
    if values is not None and reward not in values:
        low, high = values
        fix = "without values any reward of the support is taken, and intervals are wider"
        raise PrudentError(f"{owner}: {parameter} must be {low:g} or {high:g}, as declared, got {shown(reward)}; {fix}")
