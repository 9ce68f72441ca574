"""One way to read a CSV file: as it was meant, or not at all."""

import codecs
import csv
import io
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prudent.base.csv_cells import (
    CONTROL_NAME,
    GROUPED,
    MISSING,
    counts_rows,
    groups_rows,
    may_be_number,
    no_outcome,
    number_in,
    without_currency,
)
from prudent.base.errors import PrudentError, near, shown

MAX_BYTES = 2**30
"""Bytes of the largest file that is read."""

PLAIN = frozenset("0123456789+-.eE")
"""The characters of cells that NumPy may read all at once; it takes some that are no numbers here, such as 1_000."""

MOST_CELLS = 100_000
"""Cells in a line; more are no table."""

MOST_SHOWN = 5
"""Cells that are wrong and are shown; of others it is said how many there are."""

SUMMARIES = {"total", "totals", "grand total", "sum", "mean", "average"}
"""What is written beside a last row that is no row of data."""

SEPARATORS = ",;\t"
BLANK = re.compile(r"[^\S\r\n]|\"")
"""Where a cell may begin or end with a space; one in quotes may also do so with a line end."""

Remark = Callable[[str], Any]


def ignore(text: str) -> None:
    """No one is told."""


class _Sheet(NamedTuple):
    """A CSV file cut into cells, as many in every row as there are names; `lines` says where the rows stand."""

    path: Path
    separator: str
    header: list[str]
    lines: list[int]
    rows: list[list[str]]

    def column(self, place: int) -> list[str]:
        return [cells[place] for cells in self.rows]

    def error(self, row: int, place: int, what: str) -> PrudentError:
        """What is wrong with a cell, and where it stands."""
        cell = self.rows[row][place]
        found = f"{shown(cell)}, {what}" if cell else "empty; fill it, or drop its row or its column"
        name = shown(self.header[place], str)
        return PrudentError(f"{self.path}, line {self.lines[row]}: {name} is {found}")


def read_columns(
    path: str | os.PathLike[str],
    names: Sequence[str] | None = None,
    *,
    gaps: bool = False,
    text: bool = True,
    remark: Remark = ignore,
) -> dict[str, list[float]]:
    """The named columns of a CSV file, or all that have a name and hold numbers. The first line holds the names.

    Columns are separated by commas, semicolons or tabs; where commas do not separate, they may be decimal commas. With
    `gaps` missing cells (empty, NA) are passed over, so that columns may differ in length; without, every cell must be
    a number. Unless named, columns of text, such as dates, are passed over; with `text=False` only dates, times and
    ids are, and other text is an error. Whatever could be read in two ways is an error that says where. `remark` is
    called with a sentence on each column that was passed over, and on values that are missing.
    """
    content = _content(path)
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names or ()):
        raise PrudentError(f"{path}: columns must be a list of their names, got {shown(names)}")
    sheet = _sheet(Path(path), content.decode(), gaps)
    places = _places(sheet, names, text, remark)
    comma = _has_decimal_commas(sheet, places)
    found = {}
    for place in places:
        numbers = _numbers(sheet, place, comma, gaps)
        if names is None and place == 0 and counts_rows(numbers):
            fix = "leave its name empty if it is, else put another column first"
            raise sheet.error(0, 0, f"and the column looks like dates or row numbers; {fix}")
        cells = sheet.column(place)
        while cells and not cells[-1]:  # columns may differ in length, so what is empty after the last is not missing
            cells.pop()
        found[sheet.header[place]] = numbers[: len(cells)]
    return {name: _present(name, numbers, remark) for name, numbers in found.items()}


def read_groups(
    path: str | os.PathLike[str], group: str, outcome: str | None = None, *, remark: Remark = ignore
) -> dict[str, list[float]]:
    """The outcomes of a CSV file with one row for each, by what its column `group` says: `{"A": […], "B": […]}`.

    `outcome` is the column of outcomes, which must be named unless there is only one. Rows without an outcome or
    without a group are passed over, and `remark` is called with how many.
    """
    sheet = _sheet(Path(path), _content(path).decode(), gaps=True)
    for name, given in (("group", group), ("outcome", outcome)):
        if not (isinstance(given, str) and given) and not (name == "outcome" and given is None):
            raise PrudentError(f"{path}: {name} must be the name of a column, got {shown(given)}")
    (by,) = _places(sheet, [group], text=True)
    place = _only_outcome(sheet, by) if outcome is None else _places(sheet, [outcome], text=True)[0]
    if place == by:
        raise PrudentError(f"{path}: group and outcome must be two columns, got {shown(group)} for both")
    labels = ["" if cell.lower() in MISSING else cell for cell in sheet.column(by)]
    if without := labels.count(""):
        remark(f"{group}: {without:,} of {len(labels):,} missing")
    found: dict[str, list[float]] = {label: [] for label in labels if label}
    for label, number in zip(labels, _numbers(sheet, place, _has_decimal_commas(sheet, [place]), True), strict=True):
        if label:
            found[label].append(number)
    folded: dict[str, str] = {}
    for label in found:
        if (other := folded.setdefault(label.casefold(), label)) != label:
            raise PrudentError(f"{path}: {group} holds {shown(other)} and {shown(label)}; write them in one way")
    _present(sheet.header[place], [number for numbers in found.values() for number in numbers], remark)
    return {label: _present(label, numbers, ignore) for label, numbers in found.items()}


def read_rows(
    path: str | os.PathLike[str], texts: Sequence[str], numbers: Sequence[str], *, gaps: bool = False
) -> tuple[dict[str, list[str]], dict[str, list[float]]]:
    """Some columns of a CSV file row by row: those of texts, no cell empty, and those of numbers, none missing; with
    `gaps` NaN where one is."""
    sheet = _sheet(Path(path), _content(path).decode(), gaps=False)
    places = _places(sheet, [*texts, *numbers], text=True)
    words, counted = places[: len(texts)], places[len(texts) :]
    for place in words:
        for row, cell in enumerate(sheet.column(place)):
            if cell.lower() in MISSING:
                raise sheet.error(row, place, "which says that it is missing; fill it, or drop its row")
    comma = _has_decimal_commas(sheet, counted)
    found = {sheet.header[place]: _numbers(sheet, place, comma, gaps) for place in counted}
    return {sheet.header[place]: sheet.column(place) for place in words}, found


def read_header(path: str | os.PathLike[str]) -> list[str]:
    """The names of the columns of a CSV file, those that have one."""
    return list(filter(None, _sheet(Path(path), _content(path).decode(), gaps=True).header))


def _present(name: str, numbers: list[float], remark: Remark) -> list[float]:
    """The numbers that are there; a remark on how many are not."""
    present = [number for number in numbers if not math.isnan(number)]
    if missing := len(numbers) - len(present):
        remark(f"{name}: {missing:,} of {len(numbers):,} missing")
    return present


def _numbers(sheet: _Sheet, place: int, comma: bool, gaps: bool) -> list[float]:
    """The numbers of a column; NaN for those that are missing, if there may be `gaps`."""
    cells = sheet.column(place)
    if not comma and PLAIN.issuperset("".join(cells)):
        with suppress(ValueError):  # an empty cell, or such as 1e: they are looked at one by one
            at_once = np.array(cells, dtype=float)
            if np.isfinite(at_once).all():
                return at_once.tolist()  # type: ignore[no-any-return]
    numbers = [number_in(cell, comma) for cell in cells]
    wrong = []
    for row, number in enumerate(numbers):
        if not math.isfinite(number):
            if not (gaps and cells[row].lower() in MISSING):
                wrong.append(row)
            numbers[row] = math.nan
    if wrong:
        example = "1234,5" if comma else "1234.5"
        others = [f"line {sheet.lines[row]} ({shown(cells[row])})" for row in wrong[1:MOST_SHOWN]]
        more = f"; so is {', '.join(others)}" if others else ""
        more += f" and {len(wrong) - MOST_SHOWN:,} more" if len(wrong) > MOST_SHOWN else ""
        raise sheet.error(wrong[0], place, f"not a finite number; write it as {example}, and nothing else{more}")
    return numbers


def _content(path: str | os.PathLike[str]) -> bytes:
    """What the file holds, without the byte order mark that spreadsheets write, if it is text of a sane size."""
    try:
        kind = os.stat(os.fspath(path))
        if stat.S_ISCHR(kind.st_mode) or stat.S_ISBLK(kind.st_mode):
            raise PrudentError(f"cannot read {shown(path, str)}: it is a device; pass a file or a pipe")
        size = kind.st_size
        if size <= MAX_BYTES:
            with Path(path).open("rb") as file:
                data = file.read(MAX_BYTES + 1)  # a pipe may have no end
            size = len(data)
    except OSError as error:
        raise PrudentError(f"cannot read {shown(path, str)}: {error.strerror or error}") from None
    except (TypeError, ValueError) as error:
        if isinstance(error, PrudentError):
            raise
        raise PrudentError(
            f"cannot read {shown(path)}: not the name of a file; pass a path such as 'data.csv'"
        ) from None
    if size > MAX_BYTES:
        raise PrudentError(
            f"cannot read {shown(path, str)}: it must hold at most {MAX_BYTES:,} bytes, got {size:,} or more"
        )
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PrudentError(
            f"cannot read {shown(path, str)}, line {line}: not UTF-8 text; save it as CSV in UTF-8"
        ) from None
    return data.removeprefix(codecs.BOM_UTF8)


def _sheet(path: Path, text: str, gaps: bool) -> _Sheet:
    """The file in cells. With `gaps` a row may end early."""
    if "\0" in text:
        raise PrudentError(f"cannot read {shown(path, str)}: it holds zero bytes; save it as CSV in UTF-8")
    # The header says what separates; names in quotes do not count.
    first = next((line for line in re.sub(r'"[^"]*"', "", text).splitlines() if line.strip(" ")), "")
    tried = [_cut(path, text, separator, gaps) for separator in SEPARATORS if separator in first]
    sheets = [sheet for sheet in tried if isinstance(sheet, _Sheet)]
    if len(tried) > 1 and len(sheets) != 1:
        fix = "put names that hold one of them in quotes"
        raise PrudentError(f"{path}, line 1: cannot tell which of , and ; and tabs separates columns; {fix}")
    sheet = (sheets or tried or [_cut(path, text, ",", gaps)])[0]
    if isinstance(sheet, PrudentError):
        raise sheet
    for place in range(len(sheet.header)):
        if any(sign in sheet.rows[0][place] for sign in "€$£¥") and (plain := without_currency(sheet.column(place))):
            for cells, cell in zip(sheet.rows, plain, strict=True):
                cells[place] = cell
    return sheet


def _cut(path: Path, text: str, separator: str, gaps: bool) -> _Sheet | PrudentError:
    """The sheet if this separator separates, or what speaks against it."""
    reader = csv.reader(_lines(path, text, separator), delimiter=separator, skipinitialspace=True, strict=True)
    lines: list[int] = []
    rows: list[list[str]] = []
    spaces = BLANK.search(text) is not None
    try:
        for cells in reader:
            if spaces:
                cells[:] = map(str.strip, cells)
            if not any(cells):
                continue
            missing = len(rows[0]) - len(cells) if rows else 0
            # A short row with a decimal comma may be one whose columns are separated by commas.
            if missing < 0 or (missing > 0 and not (gaps and not any("," in cell for cell in cells))):
                allowed, fix = f"{len(rows[0])} cells", "Numbers with decimal commas need semicolons between columns"
                at = f"{path}, line {reader.line_num}"
                return PrudentError(f"{at}: must hold {allowed}, got {len(cells)}; is it cut short? {fix}")
            lines.append(reader.line_num)
            rows.append([*cells, *[""] * missing] if missing else cells)
    except csv.Error as error:
        return PrudentError(f"{path}, line {reader.line_num}: {error}; save it as CSV, names in the first line")
    if len(rows) < 2:
        return PrudentError(f"{path}: must hold a line of names and rows of numbers, got {len(rows)} lines")
    if summary := next((cell for cell in rows[-1] if cell.lower() in SUMMARIES), None):
        return PrudentError(f"{path}, line {lines[-1]}: {summary!r} is no row of data; drop the row")
    return _Sheet(path, separator, rows[0], lines[1:], rows[1:])


def _lines(path: Path, text: str, separator: str) -> Iterator[str]:
    """The lines of the text; one without end would fill the memory with cells."""
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        cells = line.count(separator) + 1
        if cells > MOST_CELLS:
            raise PrudentError(f"{path}, line {number}: must hold at most {MOST_CELLS:,} cells, got {cells:,}")
        yield line


def _places(sheet: _Sheet, names: Sequence[str] | None, text: bool, remark: Remark = ignore) -> list[int]:
    """Where the columns asked for stand, or all with names and numbers; without `text`, all that may be outcomes."""
    wanted = [name for name in sheet.header if name] if names is None else names
    unknown = next((name for name in wanted if name not in sheet.header), None)
    if names is None or unknown is not None:
        _check_header(sheet)
    if unknown is not None:
        known = shown(near(unknown, filter(None, sheet.header)), str)
        raise PrudentError(f"{sheet.path}: no column {shown(unknown)}; {known}")
    there, asked = Counter(sheet.header), Counter(wanted)
    for name in wanted:
        if max(there[name], asked[name]) > 1:
            raise PrudentError(f"{sheet.path}, line 1: two columns are called {shown(name)}; rename one of them")
    place_of = {name: place for place, name in enumerate(sheet.header)}
    places = [place_of[name] for name in wanted]
    if names is not None:
        return places
    for place in set(range(1, len(sheet.header))) - set(places):  # the first is what data frames write to number rows
        if any(sheet.column(place)):
            raise PrudentError(f"{sheet.path}, line 1: column {place + 1} has no name; give it one")
    if text:
        columns = {place: sheet.column(place) for place in places}
        numeric = [i for i, cells in columns.items() if not any(cells) or any(map(may_be_number, cells))]
    else:
        numeric = _outcomes(sheet, places, remark)
    if not numeric:
        raise PrudentError(
            f"{sheet.path}: no column of numbers such as 0.01; its columns: {shown(', '.join(sheet.header), str)}"
        )
    return numeric


def _outcomes(sheet: _Sheet, places: Sequence[int], remark: Remark) -> list[int]:
    """Which columns hold outcomes: not those of dates, times and ids. One that groups the rows is an error."""
    why = {place: no_outcome(sheet.header[place], sheet.column(place)) for place in places}
    numeric = [place for place in places if not why[place]]
    groups = [place for place in places if why[place] == "text"]
    if not groups and not any(map(CONTROL_NAME.fullmatch, sheet.header)):
        groups = [place for place in numeric if groups_rows(sheet.header[place], sheet.column(place))]
    if groups:
        others = [sheet.header[place] for place in numeric if place not in groups]
        raise _ask_for_groups(sheet, groups[0], others)
    for place in places:
        if why[place]:
            remark(f"{shown(sheet.header[place], str)} holds {why[place]} and was passed over")
    return numeric


def _ask_for_groups(sheet: _Sheet, place: int, others: Sequence[str]) -> PrudentError:
    """The error for a file with a row for each outcome, in its own names."""
    name = shown(sheet.header[place], str)
    values = shown(", ".join(dict.fromkeys(filter(None, sheet.column(place)))), str)
    outcome = shown(others[0], str) if len(others) == 1 else "COLUMN"
    which = f" (COLUMN is one of {shown(', '.join(others), str)})" if len(others) > 1 else ""
    return PrudentError(
        f"column {shown(sheet.header[place])} holds no outcomes but {values}",
        owner=str(sheet.path),
        fix="if it says to which option each row belongs, give {}" + which + "; else take it out of the file",
        arguments={"group": name, "outcome": outcome},
    )


def _only_outcome(sheet: _Sheet, by: int) -> int:
    """The one column that may hold outcomes beside that of the groups."""
    places = [place for place, name in enumerate(sheet.header) if name and place != by]
    left = [
        place
        for place in places
        if any(sheet.column(place)) and not no_outcome(sheet.header[place], sheet.column(place))
    ]
    if len(left) != 1:
        names = shown(", ".join(sheet.header[place] for place in left or places), str)
        what = f"which column holds the outcomes? It may be {names or 'none'}"
        raise PrudentError(what, owner=str(sheet.path), fix="give {}", arguments={"outcome": "COLUMN"})
    return left[0]


def _check_header(sheet: _Sheet) -> None:
    """A file without a line of names must not lose its first row. A data frame's 0, 1, 2, … after a blank are names."""
    counted = sheet.header == ["", *map(str, range(len(sheet.header) - 1))]
    for name in sheet.header:
        if not counted and any(math.isfinite(number_in(name, comma)) for comma in (False, True)):
            raise PrudentError(
                f"{sheet.path}, line 1: must hold the names of the columns, got {shown(name, str)}; add them"
            )


def _has_decimal_commas(sheet: _Sheet, places: Sequence[int]) -> bool:
    """Whether commas are decimal commas. Where nothing else tells, 1,234 may be 1234, and so may 1.234."""
    if sheet.separator == ",":
        return False
    for mark in ",.":
        cells = [(row, place, cell) for place in places for row, cell in enumerate(sheet.column(place)) if mark in cell]
        marked = [found for found in cells if math.isfinite(number_in(found[-1], mark == ","))]
        if not all(GROUPED.fullmatch(cell) for _, _, cell in marked):
            return mark == ","
        if marked:
            row, place, cell = marked[0]
            raise sheet.error(row, place, f"which may mean two numbers; write {cell}0 or {cell.replace(mark, '')}")
    return False
