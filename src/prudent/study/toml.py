"""Studies as TOML files, read with errors that name the line."""

import json
import os
import re
import tomllib
from contextlib import suppress
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from prudent.base.errors import PrudentError, near, shown
from prudent.study.cells import Mistake, Place, StudyError, in_words
from prudent.study.expand import Progress
from prudent.study.ranges import check_keys
from prudent.study.spec import Study

KEYS = {field.name: field.default is MISSING and field.default_factory is MISSING for field in fields(Study)}
"""Every key of a study, and whether it must be given."""

MOST_MISTAKES = 20
"""As many as fit on a screen."""

WORD = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
HEADER = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
KEY = re.compile(rf"\s*({WORD}(?:\s*\.\s*{WORD})*)\s*=")


def load(path: Path | str, progress: Progress = lambda made, total: None) -> Study:
    """The study in a TOML file, checked whole; an error has a line `file:number: what is wrong` per mistake.

    `progress` is called as `Study.expand` says.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise PrudentError(f"load: path must be that of a TOML file, got {shown(path)}")
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")  # without the byte order mark that some editors write
        data = tomllib.loads(text)
    except OSError as error:
        raise PrudentError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PrudentError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from None
    except ValueError as error:  # what is no TOML, zero bytes in the path, numbers of more digits than Python reads
        raise PrudentError(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise PrudentError(f"{path}: brackets are nested too deeply; a study needs lists of lists at most") from None
    mistakes, readable = _shape(data)
    study = Study(**{name: data.get(name) for name in KEYS if name in data or KEYS[name]})  # type: ignore[arg-type]
    if readable:
        try:
            study.expand(progress)
        except StudyError as error:
            mistakes += error.mistakes
    if mistakes:
        lines = [_located(path, text, data, mistake) for mistake in mistakes[:MOST_MISTAKES]]
        if more := len(mistakes) - len(lines):
            lines.append(f"and {more:,} more")
        raise PrudentError("\n".join(lines))
    return study


def to_toml(study: Study) -> str:
    """The study as a TOML file from which `load` makes the same cells, ranges written out."""
    data = study.as_dict()
    ranges, bandits = data.pop("ranges"), data.pop("bandits")
    lines = [f"{name} = {_value(value)}" for name, value in data.items()]
    if ranges:
        lines += ["", "[ranges]", *(f"{_value(name)} = {_value(values)}" for name, values in ranges.items())]
    for name, arms in bandits.items():
        lines += ["", f"[bandits.{_value(name)}]", f"arms = {_value(arms)}"]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    """A number, text, list or table; text is written as in JSON, which TOML reads."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_value(key)} = {_value(item)}' for key, item in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _shape(data: dict[str, Any]) -> tuple[list[Mistake], bool]:
    """Mistakes in keys, and whether a study can be made all the same; bandits are taken out of their tables."""
    unknown = [Mistake((key,), f"unknown key; {near(key, KEYS)}") for key in data if key not in KEYS]
    mistakes = [Mistake((), f"{name} is missing") for name, needed in KEYS.items() if needed and name not in data]
    bandits: Any = data.get("bandits")
    for name, table in bandits.items() if isinstance(bandits, dict) else ():
        try:
            if not isinstance(table, dict):
                raise PrudentError(f"must be a table with the key arms, got {table!r}")
            check_keys("bandit", table, ("arms",), needed=("arms",))
            bandits[name] = table["arms"]
        except PrudentError as error:
            mistakes.append(Mistake(("bandits", name), str(error)))
    return unknown + mistakes, not mistakes


def _located(path: Path, text: str, data: dict[str, object], mistake: Mistake) -> str:
    place = mistake.place
    if place[:1] == ("bandits",) and len(place) > 1:
        place = (*place[:2], "arms", *place[2:])
    line = line_of(text, place, _item(data, mistake.place)) if place else 1
    name = in_words(mistake.place)
    return f"{path}:{line}: {name}: {mistake.text}" if name else f"{path}:{line}: {mistake.text}"


def _item(data: Any, place: Place) -> Any:
    """What stands at a place; None if nothing does."""
    with suppress(KeyError, IndexError, TypeError):
        for part in place:
            data = data[part]
        return data
    return None


def line_of(text: str, place: Place, item: object = None) -> int:
    """The line, from 1, where a key stands, or an item of its list; Python's TOML reader does not tell.

    A scan for headers and keys at the start of a line; what is inside an inline table counts as on the table's line.
    """
    lines = text.splitlines()
    section: tuple[str, ...] = ()
    best, found = 1, 0
    wanted = tuple(str(part) for part in place)
    for number, line in enumerate(lines, 1):
        if header := HEADER.match(line):
            section = here = _parts(header[1])
        elif key := KEY.match(line):
            here = section + _parts(key[1])
        else:
            continue
        if here == wanted[: len(here)] and len(here) > found:
            best, found = number, len(here)
    if not isinstance(item, str):
        return best
    return next((number for number in range(best, len(lines) + 1) if item in lines[number - 1]), best)


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(WORD, dotted))
