"""The one error type users meet, and the checks that raise it.

A message names the owner and parameter, what is allowed, what was given, and the likely fix.
"""

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any


class PrudentError(ValueError):
    """Bad input, rejected before anything is computed."""


def check_number(
    owner: str,
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    hint: str = "",
) -> float:
    """`value` as a float within the stated interval, whose ends are closed unless said otherwise.

    Minus infinity is always refused; plus infinity is let through by the few callers that leave the upper end open
    to it (ρ = ∞ means "mean only"). Where it would be a mistake upstream, call `check_finite` or `check_positive`.
    """
    number = as_float(owner, name, value)
    open_low = open_low or low == -math.inf
    above = number > low if open_low else number >= low
    below = number < high if open_high else number <= high
    if not (above and below):  # NaN is neither
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        allowed = f"{left}{pretty(low)}, {pretty(high)}{right}"
        raise PrudentError(f"{owner}: {name} must lie in {allowed}, got {value}{_tail(hint)}")
    return number


def check_finite(owner: str, name: str, value: Any, *, low: float = -math.inf, hint: str = "") -> float:
    """`value` as a finite float, at least `low`."""
    return check_number(owner, name, value, low=low, high=math.inf, open_high=True, hint=hint)


def check_positive(owner: str, name: str, value: Any, *, hint: str = "") -> float:
    """`value` as a finite float above zero."""
    return check_number(owner, name, value, low=0.0, open_low=True, open_high=True, hint=hint)


def check_integer(owner: str, name: str, value: Any, *, low: int, high: int | None = None, hint: str = "") -> int:
    """`value` as an int in [low, high]; a float with an integer value (1e4) is accepted."""
    try:
        whole = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise PrudentError(f"{owner}: {name} must be a whole number, got {value!r}{_tail(hint)}") from None
    if isinstance(value, bool) or whole < low or (high is not None and whole > high):
        allowed = f"at least {low}" if high is None else f"from {low} to {high}"
        raise PrudentError(f"{owner}: {name} must be a whole number {allowed}, got {value}{_tail(hint)}")
    return whole


def as_float(owner: str, name: str, value: Any) -> float:
    """`value` as a float, or an error that names the parameter."""
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise PrudentError(f"{owner}: {name} must be a number, got {value!r}") from None


def pretty(number: float) -> str:
    """A bound as people write it: ∞ instead of inf, 1 instead of 1.0."""
    return {math.inf: "∞", -math.inf: "−∞"}.get(number, f"{number:g}")


def near(word: str, known: Iterable[str]) -> str:
    """A hint for a word that is not known: the nearest that are, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=2, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(names) or 'none'}"


def _tail(hint: str) -> str:
    return f"; {hint}" if hint else ""
