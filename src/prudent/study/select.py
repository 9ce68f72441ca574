"""Choosing cells from a study's table."""

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase

import polars as pl

from prudent.base.errors import PrudentError, near
from prudent.base.text import risk_name


def select(
    table: pl.DataFrame,
    *,
    policies: Sequence[str] = (),
    risks: Sequence[str] = (),
    bandits: Sequence[str] = (),
    horizons: Sequence[float] = (),
    where: Sequence[str] = (),
) -> pl.DataFrame:
    """The rows whose policy, risk and bandit match one of the patterns of each, at these horizons and values."""
    for column, patterns in (("policy", policies), ("risk", risks), ("bandit", bandits)):
        known = table[column].unique(maintain_order=True).to_list() if column in table.columns else []
        kept: list[str] = []
        for pattern in patterns:
            found = [name for name in known if matches(pattern, name) or _is_shown_as(column, name, pattern)]
            if not found:
                raise PrudentError(f"no {column} here is called {pattern!r}; {near(pattern, known)}")
            kept += found
        if patterns:
            table = table.filter(pl.col(column).is_in(kept))
    if table.is_empty():
        raise PrudentError("no finished cell is left; take fewer filters, or `prudent study run` the study first")
    if horizons:
        table = table.filter(pl.any_horizontal([_at(table, "horizon", number, exact=True) for number in horizons]))
    for text in where:
        name, _, value = map(str.strip, text.partition("="))
        if name not in (ranges := ranges_of(table)):
            raise PrudentError(f"no range here is called {name!r}; {near(name, ranges)}")
        try:
            number = float(value)
        except ValueError:
            raise PrudentError(f"{text!r}: write a range and its value, as in {name}=0.5") from None
        table = table.filter(_at(table, name, number))
    return table


def _at(table: pl.DataFrame, column: str, number: float, *, exact: bool = False) -> pl.Expr:
    """Rows with this number, up to rounding unless `exact`; an error that names what there is if there are none."""
    margin = 0.0 if exact else 1e-9 * max(1.0, abs(number))
    found = (pl.col(column).cast(pl.Float64) - number).abs() <= margin
    if not math.isfinite(number) or table.filter(found).is_empty():
        values = table.get_column(column).drop_nulls().unique().sort().to_list()
        shown = [f"{value:g}" if isinstance(value, float) else f"{value}" for value in values]
        few = [*shown[:3], "…", *shown[-3:]] if len(shown) > 7 else shown
        raise PrudentError(f"no finished cell here has {column} {number:.12g}; known: {', '.join(few) or 'none'}")
    return found


def matches(pattern: str, name: str) -> bool:
    """Whether a spec fits a pattern; spaces do not matter."""
    return fnmatchcase(name.replace(" ", ""), pattern.replace(" ", ""))


def _is_shown_as(column: str, name: str, pattern: str) -> bool:
    """Risks are shown by another text than that of their cells."""
    return column == "risk" and matches(pattern, risk_name(name))


def labels_of(table: pl.DataFrame) -> list[str]:
    """The columns that hold labels; they stand before the arms."""
    return [name for name in table.columns[: table.columns.index("arms")] if name != "cell"]


def ranges_of(table: pl.DataFrame) -> list[str]:
    """The labels that are numbers."""
    return [name for name in labels_of(table) if table.schema[name].is_numeric()]


def varying(table: pl.DataFrame) -> list[str]:
    """The ranges with more than one value here."""
    return [name for name in ranges_of(table) if table.get_column(name).drop_nulls().n_unique() > 1]
