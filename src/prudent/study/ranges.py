"""Ranges of numbers, and the specs they are filled into: `gaussian({mu2}, 0.25)`."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from prudent.errors import PrudentError, check_finite, check_integer, near

MOST_VALUES = 1_000_000
HOLE = re.compile(r"\{\s*(\w+)\s*\}")

Values = Mapping[str, float]


def values_of(owner: str, given: Any) -> list[float]:
    """The numbers of a list, or of `{from, to, steps}` with both ends, evenly spaced or with `scale = "log"`."""
    if isinstance(given, Mapping):
        return _spaced(owner, given)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise PrudentError(f"{owner}: must be a list of numbers or {{from = …, to = …, steps = …}}, got {given!r}")
    numbers = [check_finite(owner, "each value", value) for value in given]
    if not numbers:
        raise PrudentError(f"{owner}: must hold at least one number, got none")
    return numbers


def _spaced(owner: str, given: Mapping[str, Any]) -> list[float]:
    check_keys(owner, given, ("from", "to", "steps", "scale"), needed=("from", "to", "steps"))
    start, stop = check_finite(owner, "from", given["from"]), check_finite(owner, "to", given["to"])
    steps = check_integer(owner, "steps", given["steps"], low=1, high=MOST_VALUES)
    scale = given.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise PrudentError(f'{owner}: scale must be "linear" or "log", got {scale!r}')
    if start > stop:
        raise PrudentError(f"{owner}: from must be at most to, got from {start:g} to {stop:g}; swap them")
    if steps == 1 and start < stop:
        raise PrudentError(f"{owner}: one step cannot reach from {start:g} to {stop:g}; take steps ≥ 2 or one value")
    if scale == "log" and start <= 0.0:
        raise PrudentError(f'{owner}: from must be above 0 with scale = "log", got {start:g}')
    shares = [i / (steps - 1) if steps > 1 else 0.0 for i in range(steps)]
    if scale == "log":
        raw = [start * (stop / start) ** share for share in shares]
    else:
        raw = [start + (stop - start) * share for share in shares]
    # 0.7 and not 0.7000000000000001: the value is part of a cell's name, however many steps led to it.
    return list(dict.fromkeys(float(f"{value:.12g}") for value in raw))


def check_keys(owner: str, given: Mapping[str, Any], known: Sequence[str], needed: Sequence[str] = ()) -> None:
    """No key unknown, none missing."""
    for key in given:
        if key not in known:
            raise PrudentError(f"{owner}: unknown key {key!r}; {near(str(key), known)}")
    if missing := [key for key in needed if key not in given]:
        raise PrudentError(f"{owner}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")


def holes(text: Any) -> list[str]:
    """The names in braces, in order; only text has any."""
    return list(dict.fromkeys(HOLE.findall(text))) if isinstance(text, str) else []


def filled(text: Any, values: Values) -> Any:
    """The spec with every name in braces replaced by its value; anything but text as it is."""
    return HOLE.sub(lambda hole: f"{values[hole[1]]:.12g}", text) if isinstance(text, str) else text


def assignments(names: Sequence[str], ranges: Mapping[str, Sequence[float]]) -> Iterator[dict[str, float]]:
    """Every combination of the values of the named ranges."""
    for values in itertools.product(*(ranges[name] for name in names)):
        yield dict(zip(names, values, strict=True))
