"""Parameters that many have in common: what each means, where it lies, and the hint for a value that does not."""

import dataclasses
import functools
import math
import types
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from prudent.base.errors import PrudentError, as_float, check_flag, check_integer, check_number, shown

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
    "sd": Parameter(0.0, math.inf, "low high", "pass about the largest standard deviation of an arm's rewards"),
    "low": Parameter(-math.inf, math.inf, "low high", "pass the smallest reward possible"),
    "high": Parameter(-math.inf, math.inf, "low high", "pass the largest reward possible"),
}


def in_other_unit(thing: Any, factor: float) -> Any:
    """A law or a measure for rewards times a factor; `grows` says by which power of it each parameter grows. None
    where that is not known."""
    if thing.grows is None:
        return None
    changed = {name: getattr(thing, name) * factor**power for name, power in thing.grows.items()}
    return dataclasses.replace(thing, **changed)


def check_parameter(owner: str, name: str, value: object, known: Mapping[str, Parameter] = PARAMETERS) -> float:
    """A value of one of PARAMETERS, or of others that are `known`, within its interval."""
    low, high, ends, hint, percent = known[name]
    if percent and isinstance(value, (int, float)) and 1.0 < value < 100.0:
        hint = f"for {percent.format(f'{value:g}')} pass {value / 100:g}"
    return check_number(
        owner, name, value, low=low, high=high, open_low="low" in ends, open_high="high" in ends, hint=hint
    )


def checked(cls: Any, owner: str) -> None:
    """Have every instance of a class checked when it is made: a `NamedTuple`, or a dataclass that checks itself and
    leaves the types of its fields to this."""
    if not issubclass(cls, tuple):
        _check_types_when_made(cls, owner)
        return
    make = cls.__new__

    @functools.wraps(make)
    def made(kind: type, *args: Any, **kwargs: Any) -> Any:
        new = make(kind, *args, **kwargs)
        given = zip(new._fields, map(_frozen, new), strict=True)
        new = make(kind, *(_typed(owner, kind, name, value) for name, value in given))
        check_fields(owner, new)
        return new

    cls.__new__ = made


def _check_types_when_made(cls: Any, owner: str) -> None:
    if not hasattr(cls, "__dataclass_fields__"):
        return
    make = cls.__init__
    annotated = [(field.name, type_hints(cls).get(field.name), field.default) for field in dataclasses.fields(cls)]

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        for name, hint, default in annotated:
            if (value := getattr(self, name)) is not default:
                check_type(owner, name, value, hint)

    cls.__init__ = made


def type_hints(owner: object) -> Mapping[str, Any]:
    """The annotations of a class or function; none where they name what is not there when the program runs."""
    return _type_hints(owner)


@functools.cache
def _type_hints(owner: object) -> Mapping[str, Any]:
    try:
        return get_type_hints(owner)
    except NameError:
        return {}


def check_type(owner: str, name: str, value: object, hint: object) -> Any:
    """A value that its annotation fits, as a plain one; what is annotated as anything else than below is not checked.

    A class with `check_given(owner, value)` decides itself what may stand for it, and returns what is made of it if
    that is something else.
    """
    if hint is float and type(value) is float and not math.isnan(value):  # by far the most frequent
        return value
    if hint is bool:
        return check_flag(owner, name, value)
    if hint is int:
        whole = check_integer(owner, name, value, low=-(2**53), high=2**53)
        return value if isinstance(value, (int, float)) else whole
    if hint is float:
        number = as_float(owner, name, value)
        if math.isnan(number):
            raise PrudentError(f"{owner}: {name} must be a number, got nan")
        return value if isinstance(value, (int, float)) else number
    if hint is str and not isinstance(value, str):
        raise PrudentError(f"{owner}: {name} must be text, got {shown(value)}")
    if get_origin(hint) in (Union, types.UnionType):
        return _check_union(owner, name, value, get_args(hint))
    if hasattr(hint, "check_given"):
        made = hint.check_given(owner, value)
        value = value if made is None else made
    return value


def _check_union(owner: str, name: str, value: object, kinds: Sequence[object]) -> Any:
    for kind in kinds:
        try:
            if kind is not type(None) or value is None:
                return check_type(owner, name, value, kind)
        except PrudentError:
            continue
    words = " or ".join({bool: "True or False", int: "a whole number", float: "a number", str: "text"}[kind]
                        for kind in kinds if kind in (bool, int, float, str))  # fmt: skip
    raise PrudentError(f"{owner}: {name} must be {words or 'left out'}, got {shown(value)}")


def _frozen(value: object) -> Any:
    # Specs and JSON give lists; as tuples, a policy equals the one it was written from.
    return tuple(value) if isinstance(value, list) else value


def _typed(owner: str, kind: type, name: str, value: object) -> Any:
    return value if value is UNSET else check_type(owner, name, value, type_hints(kind).get(name))


def check_fields(owner: str, given: Any) -> None:
    """The fields of a `NamedTuple` that are set: their types, the shared parameters, by its own `check` the others."""
    fields = {name: value for name, value in zip(given._fields, given, strict=True) if value is not UNSET}
    for name, value in fields.items():
        _typed(owner, type(given), name, value)
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
        raise PrudentError(f"{owner}: support must be a pair (low, high), got {shown(support)}") from None
    low, high = as_float(owner, "support", first), as_float(owner, "support", second)
    if not low < high:
        raise PrudentError(f"{owner}: support must be a pair (low, high) with low < high, got ({low}, {high})")
    return low, high


def check_values(owner: str, values: object) -> None:
    """All values that rewards can take, ascending."""
    hint = "pass all rewards possible, ascending: values=[0, 0.5, 1]"
    if not isinstance(values, tuple) or not values:
        raise PrudentError(f"{owner}: values must be a list of one or more numbers, got {shown(values)}; {hint}")
    numbers = [as_float(owner, "values", value) for value in values]
    if not all(map(math.isfinite, numbers)) or any(a >= b for a, b in pairwise(numbers)):
        raise PrudentError(f"{owner}: values must be finite and strictly ascending, got {shown(list(values))}; {hint}")
