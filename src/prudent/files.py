"""What touches the disk: one way to write a file, one way to read a CSV file."""

import csv
import math
import os
import re
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from prudent.errors import PrudentError, near

SEPARATORS = ",;\t"
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+|[+-]?\d{1,3}(?:,\d{3})+\.\d+")


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
            if only_new:
                _name_if_free(beside, path)
            else:
                os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise PrudentError(f"cannot write {path}: {error.strerror}; make room or change the rights") from error
    return path


def _name_if_free(beside: Path, path: Path) -> None:
    """A link fails if the name is taken, at one stroke. Where there are no links, looking first is nearly as good."""
    try:
        os.link(beside, path)
    except FileExistsError:
        return
    except (AttributeError, OSError):
        if not path.exists():
            os.replace(beside, path)


def _sync_folder(folder: Path) -> None:
    """The new name survives a power failure too, on systems that can sync a folder."""
    with suppress(AttributeError, OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class _Line(NamedTuple):
    """A line that is not empty, by its number in the file."""

    number: int
    cells: list[str]


def read_columns(
    path: str | os.PathLike[str], names: Sequence[str] | None = None, *, gaps: bool = False
) -> dict[str, list[float]]:
    """The named columns of a CSV file, or all that have a name and hold a number. The first line holds the names.

    Cells are separated by commas, semicolons or tabs; where commas do not separate, they may be decimal commas. With
    `gaps` empty cells are passed over, so that columns may differ in length; without, every cell must be a number.
    """
    path = Path(path)
    header, lines = _read(path)
    comma = any(DECIMAL_COMMA.fullmatch(cell) for line in lines for cell in line.cells)
    found: dict[str, list[float]] = {}
    for place, name in enumerate(header):
        cells = [(line.number, line.cells[place]) for line in lines]
        numbers = [_number(cell, comma) for _, cell in cells]
        # One number makes a column of numbers: a gap in its first row must be named, not lose the column.
        numeric = any(map(math.isfinite, numbers)) or not any(cell for _, cell in cells)
        if name not in names if names is not None else not (name and numeric):
            continue
        for (line, cell), number in zip(cells, numbers, strict=True):
            if not math.isfinite(number) and not (gaps and not cell):
                what = f"is {cell!r}, not a finite number; correct it" if cell else "is empty; fill it, or drop the row"
                raise PrudentError(f"{path}, line {line}: {name} {what}")
        found[name] = [number for number in numbers if math.isfinite(number)]
    for name in names or ():
        if name not in found:
            raise PrudentError(f"{path}: no column {name!r}; {near(name, filter(None, header))}")
    if not found:
        raise PrudentError(f"{path}: no column of numbers such as 0.01; its columns: {', '.join(header)}")
    return {name: found[name] for name in names} if names is not None else found


def _read(path: Path) -> tuple[list[str], list[_Line]]:
    """The names and the lines of cells, as many in every line."""
    try:
        # Spreadsheets write a byte order mark before the first name; utf-8-sig drops it.
        with path.open(newline="", encoding="utf-8-sig") as file:
            separator = max(SEPARATORS, key=file.readline().count)
            file.seek(0)
            reader = csv.reader(file, delimiter=separator, strict=True)
            lines = [_Line(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(cells)]
    except OSError as error:
        raise PrudentError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PrudentError(f"cannot read {path}: it is not UTF-8 text; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise PrudentError(f"cannot read {path}: {error}; save it as CSV with a header line") from None
    if len(lines) < 2:
        raise PrudentError(f"{path}: must hold a header line and rows of numbers, got {len(lines)} lines")
    header = lines[0].cells
    if all(math.isfinite(_number(name, comma=True)) for name in header):
        raise PrudentError(f"{path}: must begin with a line of names, got {', '.join(header)}; add one")
    if twice := next((name for name in header if name and header.count(name) > 1), None):
        raise PrudentError(f"{path}: two columns are called {twice!r}; rename one of them")
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            fix = "is the file cut short, or are decimal commas between commas? Separate columns by semicolons"
            raise PrudentError(f"{path}, line {number}: must hold {len(header)} cells, got {len(cells)}; {fix}")
        for cell in cells:
            if THOUSANDS.fullmatch(cell) or (separator == "," and DECIMAL_COMMA.fullmatch(cell)):
                fix = "write it without thousands separators, and with a decimal point"
                raise PrudentError(f"{path}, line {number}: cannot tell what number {cell!r} is; {fix}")
    return header, lines[1:]


def _number(cell: str, comma: bool) -> float:
    """The number in a cell, NaN if it is none. In a file with decimal commas a point is no decimal point."""
    if comma and "," in cell:
        cell = cell.replace(",", ".", 1) if DECIMAL_COMMA.fullmatch(cell) else ""
    elif comma and "." in cell:
        cell = ""
    try:
        return float(cell) if "_" not in cell else math.nan
    except ValueError:
        return math.nan
