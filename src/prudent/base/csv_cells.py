"""What a cell or a column of a CSV file holds: a number, a date, an id, nothing."""

import itertools
import math
import re
from collections.abc import Sequence

MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "missing"}
"""What is written, in any case, where a number is missing; not a dash or a 999, which may be meant as a number."""

MAX_GROUPS = 20
"""As many different values a column may hold that says to which option a row belongs."""

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
POINTS_THEN_COMMA = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+")
COMMAS_THEN_POINT = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+\.\d+")
"""Thousands and decimals, which can be read in one way only."""

CURRENCY = re.compile(r"(?P<before>[€$£¥])\s*(?P<number>[+-]?[\d.,]+)|(?P<amount>[+-]?[\d.,]+)\s*(?P<after>[€$£¥])")
SPOILED = re.compile(r"[-+−(€$£¥\s]*\d[\d.,'’\s]*[)%‰€$£¥\s]*")
DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DAY = rf"{DATE.pattern}|\d{{1,2}}[ .-]+{MONTH}[ .-]+\d{{2,4}}|{MONTH} \d{{1,2}},? \d{{4}}"
CLOCK = r"\d{1,2}:\d\d[\d:.,]*(?:Z|[+-]\d\d:?\d\d)?(?: ?[ap]m)?"
TIME = re.compile(rf"(?:{DAY})(?:[ T]+{CLOCK})?|{CLOCK}", re.IGNORECASE)
"""A date, a time of day or both."""

ID_NAME = re.compile(r"(?i:(?:.*[\W_])?(?:id|ids|uuid))|.*[a-z](?:Id|ID)")
CLOCK_NAME = re.compile(r"(?i:(?:.*[\W_])?(?:date|day|time|timestamp|year|month|week|row|index))")
GROUP_NAME = re.compile(r"(?i:(?:.*[\W_])?(?:variant|group|arm|treatment|condition|bucket))")
CONTROL_NAME = re.compile(r"(?i:(?:.*[\W_])?(?:control|placebo|baseline|old|a)(?:[\W_].*)?)")
"""A column beside that of a treatment whose rows are outcomes too."""


BLANKS = r"[\s\0-\x20\x7f-\xa0\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"
FORMULA = re.compile(rf"{BLANKS}[=+\-@＝＋－＠−']")
"""What spreadsheets may take for a formula: a sign of one, also of full width, after blanks of all kinds. What begins
with an apostrophe is like them, so that the one that is put before them can be told from one that was there."""


def guarded(cell: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe before it makes it text."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """What was guarded."""
    return cell[1:] if cell[:1] == "'" and FORMULA.match(cell[1:]) else cell


def no_outcome(name: str, cells: Sequence[str]) -> str:
    """What a column holds if it holds no outcomes: dates or times, ids, or other text; else nothing."""
    filled = [cell for cell in cells if cell.lower() not in MISSING]
    if filled and all(map(TIME.fullmatch, filled)):
        return "dates or times"
    if any(map(may_be_number, filled)):
        if not all(cell.isdecimal() for cell in filled):
            return ""
        numbers = list(map(float, filled))
        sorted_rows = len(numbers) >= 3 and numbers in (sorted(numbers), sorted(numbers, reverse=True))
        return "ids or dates" if ID_NAME.fullmatch(name) or (CLOCK_NAME.fullmatch(name) and sorted_rows) else ""
    if len(filled) >= 3 and len(set(filled)) == len(filled):
        return "ids or notes"
    return "text" if filled else ""


def groups_rows(name: str, cells: Sequence[str]) -> bool:
    """Whether a column of whole numbers says by its name that it groups the rows."""
    filled = [cell for cell in cells if cell]
    few = len(filled) > len(set(filled)) <= MAX_GROUPS
    return bool(few and GROUP_NAME.fullmatch(name) and all(map(str.isdecimal, filled)))


def number_in(cell: str, comma: bool) -> float:
    """The number in a cell, NaN if it is none. In a file with decimal commas a point is no decimal point."""
    if (POINTS_THEN_COMMA if comma else COMMAS_THEN_POINT).fullmatch(cell):
        cell = cell.replace("." if comma else ",", "")
    if "_" in cell or (comma and "." in cell):
        return math.nan
    try:
        return float(cell.replace(",", ".") if comma and DECIMAL_COMMA.fullmatch(cell) else cell)
    except ValueError:
        return math.nan


def may_be_number(cell: str) -> bool:
    """Even a spoiled one such as 5 %: it must be pointed out, not lose its column."""
    spoiled = SPOILED.fullmatch(cell) and not DATE.fullmatch(cell)
    return bool(spoiled) or math.isfinite(number_in(cell, comma=False))


def counts_rows(numbers: Sequence[float]) -> bool:
    """Whole numbers that rise by 1 from 0 or 1, or that rise or fall above 1800: years, 202401, 20240131, seconds."""
    if len(numbers) < 3 or not all(number.is_integer() for number in numbers):
        return False
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    if numbers[0] in (0.0, 1.0):
        return steps == {1.0}
    return min(numbers) >= 1800.0 and (min(steps) > 0.0 or max(steps) < 0.0)


def without_currency(cells: Sequence[str]) -> list[str] | None:
    """The cells of a column without the currency sign that all of them have; None if they have none, or several."""
    found, signs = [], set()
    for cell in cells:
        amount = CURRENCY.fullmatch(cell)
        if amount is None and cell.lower() not in MISSING:
            return None
        found.append(cell if amount is None else amount["number"] or amount["amount"])
        signs |= set() if amount is None else {amount["before"] or amount["after"]}
    return found if len(signs) == 1 else None
