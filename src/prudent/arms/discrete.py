"""Laws on finitely many values: Bernoulli, deterministic, empirical."""

import hashlib
import math
import os
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prudent.arms import sampling
from prudent.arms.base import Law, arms, reached
from prudent.base.arrays import Array, as_array
from prudent.base.csv_columns import read_columns
from prudent.base.errors import PrudentError, check_finite, check_number, shown
from prudent.base.registry import check_may_open


@arms.add("bernoulli", example="bernoulli(0.3)")
@dataclass(frozen=True)
class Bernoulli(Law):
    """1 with probability `success`, else 0.

    Examples
    --------
    >>> from prudent import Bernoulli
    >>> law = Bernoulli(0.3)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (0.3, 0.21, 0.0)
    """

    success: float

    kind = sampling.BERNOULLI

    def __post_init__(self) -> None:
        p = check_number(self.name, "success", self.success, low=0.0, high=1.0, hint="pass a probability")
        self._settle(success=p, mean=p, variance=p * (1.0 - p), support=(float(p == 1.0), float(p > 0.0)))

    def cdf(self, x: float) -> float:
        x = self._reward(x)
        return 0.0 if x < 0.0 else 1.0 if x >= 1.0 else 1.0 - self.success

    def quantile(self, alpha: float) -> float:
        return float(not reached(1.0 - self.success, self._level(alpha)))

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        return self.success if x >= 1.0 else 0.0

    def atoms(self) -> tuple[Array, Array]:
        return np.array([0.0, 1.0]), np.array([1.0 - self.success, self.success])


@arms.add("deterministic", example="deterministic(0.5)")
@dataclass(frozen=True)
class Deterministic(Law):
    """Always `value`.

    Examples
    --------
    >>> from prudent import Deterministic
    >>> law = Deterministic(0.5)
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (0.5, 0.0, 0.5)
    """

    value: float

    kind = sampling.DETERMINISTIC
    grows: ClassVar = {"value": 1}

    def __post_init__(self) -> None:
        value = check_finite(self.name, "value", self.value)
        self._settle(value=value, mean=value, variance=0.0, support=(value, value))

    def cdf(self, x: float) -> float:
        x = self._reward(x)
        return float(x >= self.value)

    def quantile(self, alpha: float) -> float:
        self._level(alpha)
        return self.value

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        return self.value * self.cdf(x)

    def atoms(self) -> tuple[Array, Array]:
        return np.array([self.value]), np.ones(1)


@dataclass(frozen=True, eq=False)
class Empirical(Law):
    """One of the observed values, each equally likely.

    Examples
    --------
    >>> from prudent import Empirical
    >>> law = Empirical([0, 1, 1, 4])
    >>> round(law.mean, 3), round(law.variance, 3), round(law.quantile(0.05), 3)
    (1.5, 2.25, 0.0)
    """

    values: Array

    name = "empirical"
    kind = sampling.EMPIRICAL

    def __init__(self, values: ArrayLike) -> None:
        # Adding zero turns −0 into 0, so that equal laws print and hash alike.
        array = np.sort(as_array(self.name, "values", values).ravel()) + 0.0
        if array.size == 0 or not np.isfinite(array).all():
            raise PrudentError(f"empirical: values must be one or more finite numbers, got {array.size} values")
        array.setflags(write=False)
        with np.errstate(over="ignore"):
            mean, variance = float(array.mean()), float(array.var())
        self._settle(values=array, mean=mean, variance=variance, support=(float(array[0]), float(array[-1])))

    @classmethod
    def from_csv(cls, path: str | Path, column: str) -> "Empirical":
        """The values of one column of a CSV file whose first line holds the names; see `prudent.base.read_columns`.

        Columns may differ in length: missing cells are passed over, with a warning that counts them.
        """
        if not isinstance(path, (str, os.PathLike)) or not isinstance(column, str):
            raise PrudentError(f"empirical: path and column must be text, got {shown(path)} and {shown(column)}")
        return cls(read_columns(path, [column], gaps=True, remark=partial(_warn, path))[column])

    def times(self, factor: float) -> "Empirical":
        return Empirical(self.values * factor)

    def cdf(self, x: float) -> float:
        x = self._reward(x)
        return float(np.searchsorted(self.values, x, side="right")) / self.values.size

    def quantile(self, alpha: float) -> float:
        # The tolerance undoes the rounding of α·n, so that quantile(k/n) is the k-th value.
        place = math.ceil(self._level(alpha) * self.values.size * (1.0 - 1e-15)) - 1
        return float(self.values[min(max(place, 0), self.values.size - 1)])

    def masses(self, x: Array) -> tuple[Array, Array]:
        count = np.searchsorted(self.values, x, side="right")
        return count / self.values.size, (self.values.size - count) / self.values.size

    def partial_mean(self, x: float) -> float:
        x = self._reward(x)
        count = int(np.searchsorted(self.values, x, side="right"))
        return float(self.values[:count].sum()) / self.values.size

    def parameters(self) -> tuple[float, ...]:
        distinct, counts = np.unique(self.values, return_counts=True)
        return tuple(np.concatenate([[self.values.size, distinct.size], self.values, distinct, counts]).tolist())

    def atoms(self) -> tuple[Array, Array]:
        distinct, counts = np.unique(self.values, return_counts=True)
        return distinct, counts / self.values.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Empirical) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        if self.values.size <= 20:
            return f"empirical({self.values.tolist()})"
        digest = hashlib.blake2b(self.values.tobytes(), digest_size=8).hexdigest()
        return f"empirical({self.values.size} values, {digest})"


def _warn(path: str | Path, text: str) -> None:
    warnings.warn(f"{path}: {text}", stacklevel=4)


@arms.add("empirical", example="empirical([0, 1, 1, 4])")
def _empirical(values: list[float] | str, column: str = "") -> Empirical:
    """One of the observed values, each equally likely, or of a column: `empirical("file.csv", "column")`."""
    if not isinstance(values, str):
        return Empirical(values)
    check_may_open("empirical", "write its values, as in empirical([0, 1, 1, 4]), or upload a file to a plan")
    return Empirical.from_csv(values, column)
