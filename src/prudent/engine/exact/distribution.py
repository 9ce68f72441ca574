"""The distribution of a number that takes finitely many values."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_finite, check_number

if TYPE_CHECKING:
    import polars as pl

EQUAL = 1e-12
"""Values that differ by less, as a share of the largest, are one value computed in two ways."""


@dataclass(frozen=True, eq=False, repr=False)
class Distribution:
    """The distribution of a number: its values, ascending, and their probabilities.

    Probabilities are sums of positive terms, so a tiny one has as many correct digits as a large one.

    Examples
    --------
    >>> from prudent import exact
    >>> die = exact.Distribution.of([1, 2, 3, 4, 5, 6], [1 / 6] * 6)
    >>> round(die.mean(), 3), die.quantile(0.9), round(die.tail(5), 3)
    (3.5, 6.0, 0.333)
    """

    values: Array
    probabilities: Array
    what: str = "value"

    @classmethod
    def of(cls, values: Any, probabilities: Any, what: str = "value") -> "Distribution":
        """From values in any order, equal ones counted together."""
        x, p = (np.asarray(given, dtype=float).ravel() for given in (values, probabilities))
        if x.size != p.size or x.size == 0 or not np.isfinite(x).all() or not (p >= 0.0).all():
            raise PrudentError(
                f"Distribution: values and probabilities must be as many finite numbers, none of the latter below 0,"
                f" got {x.size} and {p.size}"
            )
        x, p = x[p > 0.0], p[p > 0.0]
        if x.size == 0:
            raise PrudentError("Distribution: probabilities must sum to 1, got only zeros")
        order = np.argsort(x, kind="stable")
        x, p = x[order], p[order]
        starts = np.flatnonzero(np.concatenate([[True], np.diff(x) > EQUAL * np.abs(x).max()]))
        return cls(x[starts], np.add.reduceat(p, starts), what)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        sizes = f"mean {self.mean():.6g}, standard deviation {self.sd():.6g}"
        return f"<Distribution of the {self.what}: {len(self):,} values, {sizes}>"

    def mean(self) -> float:
        """E X."""
        return math.fsum(self.probabilities * self.values)

    def variance(self) -> float:
        """E (X − E X)²."""
        return math.fsum(self.probabilities * (self.values - self.mean()) ** 2)

    def sd(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance())

    def quantile(self, alpha: float) -> float:
        """The smallest x with P(X ≤ x) ≥ α, for α in (0, 1]."""
        alpha = check_number("Distribution", "alpha", alpha, low=0.0, high=1.0, open_low=True, hint="pass a level")
        reached = np.cumsum(self.probabilities) >= alpha * (1.0 - EQUAL)
        return float(self.values[np.argmax(reached)] if reached.any() else self.values[-1])

    def cdf(self, x: float) -> float:
        """P(X ≤ x)."""
        return math.fsum(self.probabilities[self.values <= self._point(x, 1.0)])

    def tail(self, x: float) -> float:
        """P(X ≥ x), to all its digits however small it is."""
        return math.fsum(self.probabilities[self.values >= self._point(x, -1.0)])

    def _point(self, x: float, side: float) -> float:
        """A point moved by as much as rounding may have moved a value."""
        return check_finite("Distribution", "x", x) + side * EQUAL * float(np.abs(self.values).max())

    def table(self) -> "pl.DataFrame":
        """A row for each value: the value, its probability, P(X ≤ value) and P(X ≥ value)."""
        import polars as pl  # slow to import

        below, above = np.cumsum(self.probabilities), np.cumsum(self.probabilities[::-1])[::-1]
        return pl.DataFrame(
            {self.what: self.values, "probability": self.probabilities, "at most": below, "at least": above}
        )

    def plot(self, ax: Any = None, *, tail: bool = False) -> Any:
        """Draw the probabilities of the values, or with `tail` P(X ≥ x) on a logarithmic axis; returns the axes."""
        import matplotlib.pyplot as plt  # slow to import

        ax = plt.subplots()[1] if ax is None else ax
        if tail:
            ax.step(self.values, np.cumsum(self.probabilities[::-1])[::-1], where="post")
            ax.set_yscale("log")
        else:
            ax.vlines(self.values, 0.0, self.probabilities)
            ax.set_ylim(bottom=0.0)
        ax.set_xlabel(self.what)
        ax.set_ylabel("probability of at least as much" if tail else "probability")
        return ax
