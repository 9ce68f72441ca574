"""Ranges of numbers, and the specs they are filled into: `gaussian({mu2}, 0.25)`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prudent.errors import PrudentError, check_finite, check_integer, near

MOST_VALUES = 1_000_000
HOLE = re.compile(r"\{\s*(\w+)\s*\}")


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
    shares = [i / max(steps - 1, 1) for i in range(steps)]
    raw = [start * (stop / start) ** x if scale == "log" else start + (stop - start) * x for x in shares]
    # 0.7 and not 0.7000000000000001: the value is part of a cell's name, however many steps led to it.
    return list(dict.fromkeys(float(f"{value:.12g}") for value in raw))


def check_keys(owner: str, given: Mapping[str, Any], known: Sequence[str], needed: Sequence[str] = ()) -> None:
    """No key unknown, none missing."""
    for key in given:
        if key not in known:
            raise PrudentError(f"{owner}: unknown key {key!r}; {near(str(key), known)}")
    if missing := [key for key in needed if key not in given]:
        raise PrudentError(f"{owner}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")


def holes(*items: Any) -> list[str]:
    """The names in braces, in order of appearance: in texts, and in lists and tables of texts."""
    found: list[str] = []
    for item in items:
        if isinstance(item, str):
            found += HOLE.findall(item)
        elif isinstance(item, Mapping):
            found += holes(*item.values())
        elif isinstance(item, (list, tuple)) and not hasattr(item, "_fields"):  # a NamedTuple is a policy or a law
            found += holes(*item)
    return list(dict.fromkeys(found))


def filled(text: Any, values: Mapping[str, float]) -> Any:
    """The spec with every name in braces replaced by its value; anything but text as it is."""
    return HOLE.sub(lambda hole: f"{values[hole[1]]:.12g}", text) if isinstance(text, str) else text
