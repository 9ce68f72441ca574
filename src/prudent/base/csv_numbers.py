"""Reading a large CSV file through polars, where there is no doubt about a single cell.

Whatever is doubtful, wrong or merely unusual is left to the careful reader of `columns`, which goes cell by cell and
words the errors. So this one may give up as often as it likes, but where it answers the two must agree to the last bit.
"""

import csv
import io
import re
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import polars as pl

from prudent.base.arrays import Marks
from prudent.base.csv_cells import CLOCK_NAME, GROUP_NAME, ID_NAME, counts_rows
from prudent.base.csv_columns import MOST_CELLS, SEPARATORS, SUMMARIES

UNUSUAL = bytes(set(range(32)) - set(b"\t\n"))
BLANK_LINE = re.compile(rb"\n[ \t]*\n")
QUOTED = rb'(?<![^%b\n])"(?:[^"\n]|"")*"(?=[%b\n]|\Z)'
"""A cell in quotes, all on one line; %b is the separator."""

# As polars takes them: the careful reader's own patterns also know digits of other scripts.
POINT = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
COMMA = r"^[+-]?[0-9]+(?:,[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
GROUPED = r"^[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}$"
SPOILED = r"^[-+−(€$£¥\s]*\d[\d.,'’\s]*[)%‰€$£¥\s]*$"
DATE = r"^(?:\d{1,4}\.\d{1,2}\.\d{1,4}|\d{1,4}/\d{1,2}/\d{1,4}|\d{1,4}-\d{1,2}-\d{1,4})$"


class DoubtError(Exception):
    """Let the careful reader look at it."""


class _Cells(NamedTuple):
    """All cells of some columns, one column after the other: polars is fast with long columns, not with many."""

    cells: pl.Series
    height: int

    def each(self, of_cells: pl.Series) -> Marks:
        """One mark for each cell, a row for each column."""
        return of_cells.to_numpy().reshape(-1, self.height)

    def match(self, pattern: str) -> Marks:
        return self.each(self.cells.str.contains(pattern))

    @property
    def filled(self) -> Marks:
        return self.each(self.cells != "")

    def columns(self, places: Sequence[int]) -> "_Cells":
        if len(places) * self.height == len(self.cells) and list(places) == sorted(places):
            return self
        parts = [self.cells.slice(place * self.height, self.height) for place in places]
        return _Cells(pl.concat(parts), self.height)


def read_quickly(data: bytes, names: Sequence[str] | None, *, gaps: bool, text: bool) -> dict[str, list[float]] | None:
    """The columns that the careful reader would find, or None in doubt; `data` is UTF-8 without a byte order mark."""
    try:
        separator, header, table = _table(data)
        telling = (ID_NAME, CLOCK_NAME, GROUP_NAME)
        _doubt_if(not text and any(pattern.fullmatch(name) for pattern in telling for name in header))
        _doubt_if(gaps and not table.filled.any(axis=0).all())  # an empty row is no row
        places = _places(header, table, names, text)
        numbers = _numbers(table.columns(places), separator, gaps)
        _doubt_if(names is None and places[0] == 0 and counts_rows(numbers[0]))
    except DoubtError:
        return None
    return {header[place]: own for place, own in zip(places, numbers, strict=True)}


def _doubt_if(doubtful: object) -> None:
    if doubtful:
        raise DoubtError


def _table(data: bytes) -> tuple[str, list[str], _Cells]:
    """What separates, the names, and the cells without spaces around them."""
    data = data.replace(b"\r\n", b"\n").rstrip(b"\n")
    _doubt_if(BLANK_LINE.search(data) or len(data.translate(None, UNUSUAL)) < len(data))
    first, _, rest = data.partition(b"\n")
    separator, header = _header(first.decode())
    mark = separator.encode()
    bare = re.sub(QUOTED % (mark, mark), b"", rest) if b'"' in rest else rest
    height = rest.count(b"\n") + 1
    # Polars finds rows that are too wide, but not those that are too short: these lack separators.
    _doubt_if(not rest or b'"' in bare or bare.count(mark) != (len(header) - 1) * height)
    schema = {str(place): pl.String for place in range(len(header))}
    try:
        rows = pl.read_csv(io.BytesIO(rest), has_header=False, separator=separator, schema=schema)
    except pl.exceptions.PolarsError:
        raise DoubtError from None
    last = {str(cell or "").strip().lower() for cell in rows.row(-1)}
    cells = pl.concat(rows.get_columns()).fill_null("")
    longest = cast(int, cells.str.len_chars().max())
    _doubt_if(rows.height != height or last & SUMMARIES or last == {""} or longest > csv.field_size_limit() // 2)
    return separator, header, _Cells(cells.str.strip_chars(), height)


def _header(line: str) -> tuple[str, list[str]]:
    """What separates, and the names."""
    separators = [separator for separator in SEPARATORS if separator in re.sub(r'"[^"]*"', "", line)]
    _doubt_if(len(separators) > 1 or len(line.splitlines()) != 1 or not line.strip())
    separator = separators[0] if separators else ","
    try:
        cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        raise DoubtError from None
    header = [name.strip() for name in cells]
    named = [name for name in header if name]
    _doubt_if(len(set(named)) < len(named) or len(header) > MOST_CELLS or any(map(_is_number, header)))
    return separator, header


def _is_number(name: str) -> bool:
    try:
        float(name.replace(",", "."))
    except ValueError:
        return False
    return True


def _places(header: list[str], table: _Cells, names: Sequence[str] | None, text: bool) -> list[int]:
    """Where the columns asked for stand."""
    place_of = {name: place for place, name in enumerate(header) if name}
    wanted = list(place_of) if names is None else list(names)
    _doubt_if(not wanted or not set(wanted) <= set(place_of) or len(set(wanted)) < len(wanted))
    places = [place_of[name] for name in wanted]
    if names is not None:
        return places
    filled = _some(table.filled)
    _doubt_if(any(some for name, some in zip(header[1:], filled[1:], strict=True) if not name))
    if text:
        numeric = _some(table.match(POINT.replace("0-9", r"\d")))
        if not numeric[places].all():
            numeric |= _some(table.match(SPOILED) & ~table.match(DATE))
        places = [place for place in places if numeric[place] or not filled[place]]
    _doubt_if(not places)
    return places


def _some(marks: Marks) -> Marks:
    """Whether a column has a cell that is marked."""
    return np.asarray(marks.any(axis=1))


def _numbers(table: _Cells, separator: str, gaps: bool) -> list[list[float]]:
    """The numbers of each column; with `gaps` empty cells are NaN, and none at the end."""
    comma, filled = False, table.filled
    if separator != ",":
        comma = bool(table.match(",").any())
        marked = table.match("," if comma else r"\.")
        _doubt_if(marked.any() and table.match(GROUPED)[marked].all())
    _doubt_if(not (table.match(COMMA if comma else POINT) | (gaps & ~filled)).all())
    cells = table.cells.str.replace(",", ".", literal=True) if comma else table.cells
    numbers = cells.cast(pl.Float64, strict=False).to_numpy().reshape(-1, table.height)
    _doubt_if(not np.isfinite(numbers[filled]).all())
    ends = [int(where.nonzero()[0][-1]) + 1 if where.any() else 0 for where in filled]
    return [own[:end].tolist() for own, end in zip(numbers, ends, strict=True)]
