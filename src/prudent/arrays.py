"""The array types of the package, and how input becomes an array."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prudent.errors import PrudentError

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Marks = NDArray[np.bool_]


def as_array(owner: str, name: str, values: ArrayLike) -> Array:
    """`values` as an array, or an error that names the parameter."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise PrudentError(f"{owner}: {name} must be numbers, got {values!r}; rows must be of equal length") from None
