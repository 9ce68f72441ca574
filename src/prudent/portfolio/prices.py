"""Prices and returns: to recognise the former, and to turn them into the latter."""

from collections.abc import Mapping

import numpy as np

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError

LARGE = 5.0
"""Returns do not average this much, not even in percent; prices do."""

MIN_CORRELATION, MIN_PRICES = 0.9, 10
"""The correlation of each value with the one before from which they follow each other as prices do, where there are
that many rows or more."""


def look_like_prices(column: Array) -> bool:
    """Whether all values are positive, and their mean is above 5, or each value is close to the one before.

    Close means a correlation of successive values above 0.9, over ten rows or more. Returns are negative now and then,
    and hardly depend on the one before.
    """
    if not (column > 0.0).all():
        return False
    if column.mean() > LARGE:
        return True
    before, after = column[:-1], column[1:]
    if len(column) < MIN_PRICES or not min(np.ptp(before), np.ptp(after)) > 0.0:
        return False
    return bool(np.corrcoef(before, after)[0, 1] > MIN_CORRELATION)


def simple_returns(owner: str, prices: Mapping[str, Array]) -> dict[str, Array]:
    """p_t / p_{t−1} − 1 of every column, the oldest price in the first row; one row fewer."""
    for name, column in prices.items():
        if not (column > 0.0).all():
            raise PrudentError(f"{owner}: prices must be above 0, got {column.min():g} in {name}; are these returns?")
    return {name: column[1:] / column[:-1] - 1.0 for name, column in prices.items()}


def settled(owner: str, columns: Mapping[str, Array], prices: bool | None) -> dict[str, Array]:
    """The columns as returns. Where `prices` does not say what they are, columns that look like prices are an error."""
    if prices:
        return simple_returns(owner, columns)
    alike = [name for name, column in columns.items() if prices is None and look_like_prices(column)]
    if alike:
        shown = ", ".join(alike[:3]) + (f" and {len(alike) - 3} more" if len(alike) > 3 else "")
        why = "all values are positive, and large or close to the one before"
        fix = "--prices (prices=True) takes p_t/p_{t−1} − 1 of them, --returns (prices=False) takes them as they are"
        raise PrudentError(f"{owner}: are these prices or returns? {shown}: {why}; {fix}")
    return dict(columns)
