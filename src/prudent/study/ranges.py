"""Ranges of numbers, and the specs they are filled into: `gaussian({mu2}, 0.25)`."""

import itertools
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from prudent.base.errors import PrudentError, check_finite, check_integer, near, shown
from prudent.base.registry import Registry

MOST_VALUES = 1_000_000
HOLE = re.compile(r"\{\s*(\w+)\s*\}")
CALL = re.compile(r"\s*([\w-]+)\s*\((.*)\)\s*")
ARGUMENT = re.compile(r"\s*(?:(\w+)\s*=)?\s*(?:\{\s*(\w+)\s*\}|(-?\d+(?:\.\d+)?(?:e-?\d+)?))\s*")


def values_of(owner: str, given: Any) -> list[float]:
    """The numbers of a list, or of `{from, to, steps}` with both ends, evenly spaced or with `scale = "log"`."""
    if isinstance(given, Mapping):
        return _spaced(owner, given)
    try:
        first = list(itertools.islice(given, MOST_VALUES + 1)) if not isinstance(given, (str, bytes)) else None
    except TypeError:
        first = None
    if first is None:
        raise PrudentError(f"{owner}: must be a list of numbers or {{from = …, to = …, steps = …}}, got {shown(given)}")
    numbers = [check_finite(owner, "each value", value) for value in first]
    if len(numbers) > MOST_VALUES:
        raise PrudentError(f"{owner}: must hold at most {MOST_VALUES:,} numbers, got more")
    if not numbers:
        raise PrudentError(f"{owner}: must hold at least one number, got none")
    return numbers


def _spaced(owner: str, given: Mapping[str, object]) -> list[float]:
    check_keys(owner, given, ("from", "to", "steps", "scale"), needed=("from", "to", "steps"))
    start, stop = check_finite(owner, "from", given["from"]), check_finite(owner, "to", given["to"])
    steps = check_integer(owner, "steps", given["steps"], low=1, high=MOST_VALUES)
    scale = given.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise PrudentError(f'{owner}: scale must be "linear" or "log", got {shown(scale)}')
    if start > stop:
        raise PrudentError(f"{owner}: from must be at most to, got from {start:g} to {stop:g}; swap them")
    if steps == 1 and start < stop:
        raise PrudentError(f"{owner}: one step cannot reach from {start:g} to {stop:g}; take steps ≥ 2 or one value")
    if scale == "log" and start <= 0.0:
        raise PrudentError(f'{owner}: from must be above 0 with scale = "log", got {start:g}')
    shares = [i / max(steps - 1, 1) for i in range(steps)]
    raw = [start * (stop / start) ** x if scale == "log" else start + (stop - start) * x for x in shares]
    # 0.7 and not 0.7000000000000001: the value is part of a cell's name, however many steps led to it.
    return list(dict.fromkeys(float(as_text(value)) for value in raw))


def check_keys(owner: str, given: Mapping[str, object], known: Sequence[str], needed: Sequence[str] = ()) -> None:
    """No key unknown, none missing."""
    for key in given:
        if key not in known:
            raise PrudentError(f"{owner}: unknown key {shown(key)}; {near(shown(key, str), known)}")
    if missing := [key for key in needed if key not in given]:
        raise PrudentError(f"{owner}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")


def holes(*items: object) -> list[str]:
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


def as_text(value: float) -> str:
    """A value as it is filled into a spec."""
    return f"{value:.12g}"


def filled(text: str, values: Mapping[str, float]) -> str:
    """The spec with every name in braces replaced by its value."""
    return HOLE.sub(lambda hole: as_text(values[hole[1]]), text)


class Template:
    """A spec with holes. One of numbers and holes alone, as most are, is read once and not once for each value.

    That its parts are understood is seen on the first values: they must give the same as the spec read as a whole.
    """

    def __init__(self, registry: Registry[Any], text: str) -> None:
        self.uses = holes(text)
        self._registry, self._text = registry, text
        self._parts = _parts(text) if self.uses else None
        self._understood = False

    def made(self, values: Mapping[str, float]) -> Any:
        """What the spec stands for with these values."""
        if self._understood:
            with suppress(Exception):  # what is wrong is said below
                return self._from_parts(values)
        whole = self._registry.make("study", filled(self._text, values))
        if self._parts is not None and not self._understood:
            again = self._from_parts(values)
            self._understood = type(again) is type(whole) and repr(again) == repr(whole)
        return whole

    def _from_parts(self, values: Mapping[str, float]) -> Any:
        name, parts = self._parts or ("", [])
        found = [(key, _number(as_text(values[hole]) if hole else number)) for key, hole, number in parts]
        plain, named = [value for key, value in found if not key], {key: value for key, value in found if key}
        return self._registry.get(name).factory(*plain, **named)


def _parts(text: str) -> tuple[str, list[tuple[str, str, str]]] | None:
    """The name of a spec, and of each argument its keyword, its hole and its number, two of which may be empty."""
    call = CALL.fullmatch(text)
    found = [ARGUMENT.fullmatch(part) for part in call[2].split(",")] if call else [None]
    parts = [(part[1] or "", part[2] or "", part[3] or "") for part in found if part]
    return (call[1], parts) if call and len(parts) == len(found) else None


def _number(text: str) -> float:
    """As Python reads it: 1 is no 1.0, since cells are known by their text."""
    return int(text) if text.lstrip("-").isdigit() else float(text)
