"""Choosing cells from a study's table."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

import polars as pl

from prudent.errors import PrudentError, near


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
            found = [name for name in known if matches(pattern, name)]
            if not found:
                raise PrudentError(f"no {column} here is called {pattern!r}; {near(pattern, known)}")
            kept += found
        if patterns:
            table = table.filter(pl.col(column).is_in(kept))
    if horizons:
        table = table.filter(pl.col("horizon").is_in([int(n) for n in horizons]))
    for text in where:
        name, _, value = map(str.strip, text.partition("="))
        if name not in (known := ranges_of(table)):
            raise PrudentError(f"no range here is called {name!r}; {near(name, known)}")
        try:
            number = float(value)
        except ValueError:
            raise PrudentError(f"{text!r}: write a range and its value, as in {name}=0.5") from None
        table = table.filter((pl.col(name) - number).abs() <= 1e-9 * max(1.0, abs(number)))
    if table.is_empty():
        raise PrudentError("no finished cell is left; take fewer filters, or `prudent run` the study first")
    return table


def matches(pattern: str, name: str) -> bool:
    """Whether a spec fits a pattern; spaces do not matter."""
    return fnmatchcase(name.replace(" ", ""), pattern.replace(" ", ""))


def labels_of(table: pl.DataFrame) -> list[str]:
    """The columns that hold labels; they stand before the arms."""
    return [name for name in table.columns[: table.columns.index("arms")] if name != "cell"]


def ranges_of(table: pl.DataFrame) -> list[str]:
    """The labels that are numbers."""
    return [name for name in labels_of(table) if table.schema[name].is_numeric()]


def varying(table: pl.DataFrame) -> list[str]:
    """The ranges with more than one value here."""
    return [name for name in ranges_of(table) if table.get_column(name).drop_nulls().n_unique() > 1]
