"""Returns from a CSV file, one row per period, one column per arm."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from prudent.errors import PrudentError

OWNER = "empirical-joint"

SEPARATORS = ",;\t"


class Line(NamedTuple):
    """A line that is not empty, by its number in the file."""

    number: int
    values: list[str]


def read_returns(path: Path, columns: Sequence[str] | None) -> tuple[list[str], list[list[float]]]:
    """The names and the rows of the columns asked for; by default all that have a name and hold numbers."""
    header, lines = _read(path)
    wanted = list(columns) if columns is not None else _number_columns(header, lines)
    missing = [name for name in wanted if name not in header]
    if missing or not wanted:
        raise PrudentError(
            f"{OWNER}: no column {', '.join(missing) or 'of numbers such as 0.01'} in {path}; it has"
            f" {', '.join(header)}"
        )
    places = [header.index(name) for name in wanted]
    gaps = {header[i]: number for number, values in reversed(lines) for i in places if not _is_number(values[i])}
    if gaps:
        where = ", ".join(f"{name} (line {gaps[name]})" for name in wanted if name in gaps)
        raise PrudentError(f"{OWNER}: missing values in {where} of {path}; fill them or drop those rows")
    return wanted, [[float(values[i]) for i in places] for _, values in lines]


def _read(path: Path) -> tuple[list[str], list[Line]]:
    try:
        # Spreadsheets write a byte order mark before the first column's name; utf-8-sig drops it.
        with path.open(newline="", encoding="utf-8-sig") as file:
            separator = max(SEPARATORS, key=file.readline().count)
            file.seek(0)
            reader = csv.reader(file, delimiter=separator)
            lines = [Line(reader.line_num, values) for values in reader if values]
    except (OSError, UnicodeDecodeError) as error:
        raise PrudentError(f"{OWNER}: cannot read {path}: {error}") from None
    if len(lines) < 2:
        raise PrudentError(f"{OWNER}: {path} must hold a header line and rows of numbers, got {len(lines)} lines")
    header = lines[0].values
    if all(map(_is_number, header)):
        raise PrudentError(f"{OWNER}: {path} must begin with a line of names, got {', '.join(header)}; add one")
    for number, values in lines:
        if len(values) != len(header):
            raise PrudentError(f"{OWNER}: line {number} of {path} must hold {len(header)} values, got {len(values)}")
    return header, lines[1:]


def _number_columns(header: Sequence[str], lines: Sequence[Line]) -> list[str]:
    """One number makes a column of numbers: a gap in its first row must be named, not lose the column.

    A column without a name is what data frames write to number their rows.
    """
    return [name for i, name in enumerate(header) if name and any(_is_number(line.values[i]) for line in lines)]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
