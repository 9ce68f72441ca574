"""The array types of the package, and how input becomes an array."""

import numbers
from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prudent.base.errors import PrudentError, shown

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Marks = NDArray[np.bool_]


def as_array(owner: str, name: str, values: ArrayLike) -> Array:
    """`values` as an array of floats, or an error that names the parameter; text and dates are no numbers."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "iufb" and not (given.dtype == object and all(map(_is_number, given.ravel()))):
            raise TypeError
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        got = f"got {shown(values)}; rows must be of equal length"
        raise PrudentError(f"{owner}: {name} must be numbers, {got}") from None


def is_listing(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether it has members. Text has none here; an array of no dimension and a frame of polars that is not computed
    yet only look as if they had."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and np.iterable(value)


def _is_number(value: object) -> bool:
    """Whether it is a number although NumPy has no type for it, such as a fraction or a very large integer."""
    return isinstance(value, numbers.Real)
