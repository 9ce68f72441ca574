"""Parameters that many have in common: what each means, where it lies, and the hint for a value that does not."""

import functools
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from prudent.errors import PrudentError, as_float, check_number

UNSET: Any = None
"""A parameter to be filled in when its owner meets the problem."""


class Parameter(NamedTuple):
    """The interval in which a parameter lies, its ends closed unless `open`, and what to say of a value outside.

    `percent` is what to say where a percentage was given for a share.
    """

    low: float
    high: float
    open: str
    hint: str
    percent: str = ""


PARAMETERS = {
    "rho": Parameter(0.0, math.inf, "", "ρ is the tolerance for risk: 0 counts only the variance, inf only the mean"),
    "alpha": Parameter(
        0.0, 1.0, "low", "α is the share of the worst rewards, such as 0.05 for the worst 5 %", "the worst {} %"
    ),
    "lam": Parameter(0.0, math.inf, "low high", "λ is the aversion to risk; for the mean take mean-variance(inf)"),
    "delta": Parameter(0.0, 1.0, "low high", "δ is a probability of failure, such as 0.05", "a {} % failure rate"),
    "failure": Parameter(0.0, 1.0, "low high", "for 95 % confidence pass 0.05", "a {} % failure rate"),
    "level": Parameter(0.0, 1.0, "low high", "for 95 % confidence pass 0.95", "{} % confidence"),
    "range": Parameter(0.0, math.inf, "low high", "pass the largest minus the smallest possible reward"),
    "low": Parameter(-math.inf, math.inf, "low high", "pass the smallest reward possible"),
    "high": Parameter(-math.inf, math.inf, "low high", "pass the largest reward possible"),
}


def check_parameter(owner: str, name: str, value: Any) -> float:
    """A value of one of PARAMETERS, within its interval."""
    low, high, ends, hint, percent = PARAMETERS[name]
    if percent and isinstance(value, (int, float)) and 1.0 < value < 100.0:
        hint = f"for {percent.format(f'{value:g}')} pass {value / 100:g}"
    return check_number(
        owner, name, value, low=low, high=high, open_low="low" in ends, open_high="high" in ends, hint=hint
    )


def checked(cls: Any, owner: str) -> None:
    """Have every instance of a `NamedTuple` class checked when it is made."""
    make = cls.__new__

    @functools.wraps(make)
    def made(kind: type, *args: Any, **kwargs: Any) -> Any:
        # Specs and JSON give lists; as tuples, a policy equals the one it was written from.
        new = make(kind, *map(_frozen, args), **{name: _frozen(value) for name, value in kwargs.items()})
        check_fields(owner, new)
        return new

    cls.__new__ = made


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def check_fields(owner: str, given: Any) -> None:
    """The fields of a `NamedTuple` that are set: the shared parameters, then by its own `check` the others."""
    fields = {name: value for name, value in zip(given._fields, given, strict=True) if value is not UNSET}
    for name, value in fields.items():
        if name in PARAMETERS:
            check_parameter(owner, name, value)
        elif name == "values":
            check_values(owner, value)
    if "low" in fields and "high" in fields and not fields["low"] < fields["high"]:
        raise PrudentError(f"{owner}: low must be below high, got {fields['low']:g} and {fields['high']:g}; swap them?")
    if hasattr(given, "check"):
        given.check()


def check_support(owner: str, support: Sequence[float]) -> tuple[float, float]:
    """The interval that rewards cannot leave; either end may be infinite."""
    try:
        first, second = support
    except (TypeError, ValueError):
        raise PrudentError(f"{owner}: support must be a pair (low, high), got {support!r}") from None
    low, high = as_float(owner, "support", first), as_float(owner, "support", second)
    if not low < high:
        raise PrudentError(f"{owner}: support must be a pair (low, high) with low < high, got ({low}, {high})")
    return low, high


def check_values(owner: str, values: Any) -> None:
    """All values that rewards can take, ascending."""
    hint = "pass all rewards possible, ascending: values=[0, 0.5, 1]"
    if not isinstance(values, tuple) or not values:
        raise PrudentError(f"{owner}: values must be a list of one or more numbers, got {values!r}; {hint}")
    numbers = [as_float(owner, "values", value) for value in values]
    if not all(map(math.isfinite, numbers)) or any(a >= b for a, b in pairwise(numbers)):
        raise PrudentError(f"{owner}: values must be finite and strictly ascending, got {list(values)}; {hint}")
