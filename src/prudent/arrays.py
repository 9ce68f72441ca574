"""The array types of the package."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Marks = NDArray[np.bool_]
