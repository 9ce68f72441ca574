"""What touches the disk: one way to write a file, one way to read a CSV file."""

import csv
import errno
import io
import itertools
import math
import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from prudent.errors import PrudentError, near

SEPARATORS = ",;\t"
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
SPOILED = re.compile(r"[-+−(€$£¥\s]*\d[\d.,'’\s]*[)%‰€$£¥\s]*")
DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")


def write(path: str | os.PathLike[str], data: bytes | str, *, only_new: bool = False) -> Path:
    """All of `data` under `path` or nothing, even if the power fails; with `only_new` a file that is there stays.

    The data goes into a file beside it first, is synced, and takes the name then.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with beside.open("wb") as file:
                file.write(data.encode() if isinstance(data, str) else data)
                file.flush()
                os.fsync(file.fileno())
            take_name = _take_if_free if only_new else os.replace
            take_name(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        fix = "make room, change the rights, or choose another place"
        raise PrudentError(f"cannot write {path}: {error.strerror or error}; {fix}") from error
    return path


def _take_if_free(beside: Path, path: Path) -> None:
    """A link fails if the name is taken, at one stroke. Where there are no links, looking first is nearly as good."""
    try:
        os.link(beside, path)
    except (AttributeError, OSError):
        if not os.path.lexists(path):
            os.replace(beside, path)


def _sync_folder(folder: Path) -> None:
    """The new name survives a power failure too, on systems that can sync a folder; Windows cannot open one."""
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno in (errno.EIO, errno.ENOSPC):  # the disk failed, not the idea
            raise


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
        found = f"{cell!r}, {what}" if cell else "empty; fill it, or drop its row or its column"
        return PrudentError(f"{self.path}, line {self.lines[row]}: {self.header[place]} is {found}")


def read_columns(
    path: str | os.PathLike[str], names: Sequence[str] | None = None, *, gaps: bool = False, text: bool = True
) -> dict[str, list[float]]:
    """The named columns of a CSV file, or all that have a name and hold numbers. The first line holds the names.

    Columns are separated by commas, semicolons or tabs; where commas do not separate, they may be decimal commas. With
    `gaps` empty cells are passed over, so that columns may differ in length; without, every cell must be a number.
    Unless named, columns of text, such as dates, are passed over; with `text=False` they are errors. Whatever could be
    read in two ways is an error that says where.
    """
    sheet = _sheet(Path(path), gaps)
    places = _places(sheet, names, text)
    comma = _has_decimal_commas(sheet, places)
    found = {}
    for place in places:
        cells = sheet.column(place)
        numbers = [_number(cell, comma) for cell in cells]
        for row, number in enumerate(numbers):
            if not math.isfinite(number) and not (gaps and not cells[row]):
                raise sheet.error(row, place, "not a finite number; write it as 1234.5, and nothing else")
        if names is None and place == 0 and _counts_rows(numbers):
            fix = "leave its name empty if it is, else put another column first"
            raise sheet.error(0, 0, f"and the column looks like dates or row numbers; {fix}")
        found[sheet.header[place]] = [number for number in numbers if math.isfinite(number)]
    return found


def _sheet(path: Path, gaps: bool) -> _Sheet:
    """The file in cells. With `gaps` a row may end early."""
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")  # without the byte order mark that spreadsheets write
    except OSError as error:
        raise PrudentError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PrudentError(f"cannot read {path}, line {line}: not UTF-8 text; save it as CSV in UTF-8") from None
    if "\0" in text:
        raise PrudentError(f"cannot read {path}: it holds zero bytes; save it as CSV in UTF-8")
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
    return sheet


def _cut(path: Path, text: str, separator: str, gaps: bool) -> _Sheet | PrudentError:
    """The sheet if this separator separates, or what speaks against it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    lines, rows = [], []
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                lines.append(reader.line_num)
                rows.append([cell.strip() for cell in cells])
    except csv.Error as error:
        return PrudentError(f"{path}, line {reader.line_num}: {error}; save it as CSV, names in the first line")
    if len(rows) < 2:
        return PrudentError(f"{path}: must hold a line of names and rows of numbers, got {len(rows)} lines")
    width = len(rows[0])
    for line, cells in zip(lines, rows, strict=True):
        missing = width - len(cells)
        # A short row with a decimal comma may be one whose columns are separated by commas.
        if missing < 0 or (missing > 0 and not (gaps and not any("," in cell for cell in cells))):
            fix = "is it cut short? Numbers with decimal commas need semicolons between columns"
            return PrudentError(f"{path}, line {line}: must hold {width} cells, got {len(cells)}; {fix}")
        cells.extend([""] * missing)
    return _Sheet(path, separator, rows[0], lines[1:], rows[1:])


def _places(sheet: _Sheet, names: Sequence[str] | None, text: bool) -> list[int]:
    """Where the columns asked for stand, or all with names and numbers; all with names unless there may be `text`."""
    wanted = [name for name in sheet.header if name] if names is None else names
    unknown = next((name for name in wanted if name not in sheet.header), None)
    if names is None or unknown is not None:
        _check_header(sheet)
    if unknown is not None:
        raise PrudentError(f"{sheet.path}: no column {unknown!r}; {near(unknown, filter(None, sheet.header))}")
    for name in wanted:
        if name and max(sheet.header.count(name), wanted.count(name)) > 1:
            raise PrudentError(f"{sheet.path}, line 1: two columns are called {name!r}; rename one of them")
    places = [sheet.header.index(name) for name in wanted]
    if names is not None:
        return places
    for place in set(range(1, len(sheet.header))) - set(places):  # the first is what data frames write to number rows
        if any(sheet.column(place)):
            raise PrudentError(f"{sheet.path}, line 1: column {place + 1} has no name; give it one")
    columns = {place: sheet.column(place) for place in places}
    numeric = [i for i, cells in columns.items() if not (text and any(cells)) or any(map(_may_be_number, cells))]
    if not numeric:
        raise PrudentError(f"{sheet.path}: no column of numbers such as 0.01; its columns: {', '.join(sheet.header)}")
    return numeric


def _check_header(sheet: _Sheet) -> None:
    """A file without a line of names must not lose its first row. A data frame's 0, 1, 2, … after a blank are names."""
    counted = sheet.header == ["", *map(str, range(len(sheet.header) - 1))]
    for name in sheet.header:
        if not counted and any(math.isfinite(_number(name, comma)) for comma in (False, True)):
            raise PrudentError(f"{sheet.path}, line 1: must hold the names of the columns, got {name}; add them")


def _has_decimal_commas(sheet: _Sheet, places: Sequence[int]) -> bool:
    """Whether commas are decimal commas. Where nothing else tells, 1,234 may be 1234, and so may 1.234."""
    if sheet.separator == ",":
        return False
    for mark in ",.":
        cells = [(row, place, cell) for place in places for row, cell in enumerate(sheet.column(place)) if mark in cell]
        marked = [found for found in cells if math.isfinite(_number(found[-1], mark == ","))]
        if not all(GROUPED.fullmatch(cell) for _, _, cell in marked):
            return mark == ","
        if marked:
            row, place, cell = marked[0]
            raise sheet.error(row, place, f"which may mean two numbers; write {cell}0 or {cell.replace(mark, '')}")
    return False


def _number(cell: str, comma: bool) -> float:
    """The number in a cell, NaN if it is none. In a file with decimal commas a point is no decimal point."""
    if "_" in cell or (comma and "." in cell):
        return math.nan
    try:
        return float(cell.replace(",", ".") if comma and DECIMAL_COMMA.fullmatch(cell) else cell)
    except ValueError:
        return math.nan


def _may_be_number(cell: str) -> bool:
    """Even a spoiled one such as 5 %: it must be pointed out, not lose its column."""
    spoiled = SPOILED.fullmatch(cell) and not DATE.fullmatch(cell)
    return bool(spoiled) or math.isfinite(_number(cell, comma=False))


def _counts_rows(numbers: Sequence[float]) -> bool:
    """Whole numbers that rise by 1 from 0 or 1, or that rise or fall above 1800: years, 202401, 20240131, seconds."""
    if len(numbers) < 3 or not all(number.is_integer() for number in numbers):
        return False
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    if numbers[0] in (0.0, 1.0):
        return steps == {1.0}
    return min(numbers) >= 1800.0 and (min(steps) > 0.0 or max(steps) < 0.0)
