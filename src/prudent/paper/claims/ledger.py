"""The claims ledger: every checkable statement of the paper, how it is checked, what was measured, and the verdict.

A check is a function that measures and returns `Evidence`; the verdict follows from what it measured, never from a
literal. `claim` files it under its place in the paper.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prudent.paper.measure import Desk

HOLDS = "holds"
CORRECTED = "holds with a corrected constant"
OUTSIDE = "outside its assumptions"
FAILS = "does not hold"
VERDICTS = (HOLDS, CORRECTED, OUTSIDE, FAILS)


class Evidence(NamedTuple):
    """What a check found."""

    verdict: str
    text: str


class Claim(NamedTuple):
    """One statement of the paper, in our words, and its check."""

    place: str
    statement: str
    method: str
    check: Callable[[Desk], Evidence]


CLAIMS: list[Claim] = []

Check = Callable[[Desk], Evidence]


def claim(place: str, statement: str) -> Callable[[Check], Check]:
    """File a check in the ledger; its docstring says how the claim is checked."""

    def file(check: Check) -> Check:
        CLAIMS.append(Claim(place, statement, (check.__doc__ or "").strip(), check))
        return check

    return file


def judged(as_printed: bool, text: str, corrected: bool = False) -> Evidence:
    """Holds as printed, or only as corrected, or not at all."""
    return Evidence(HOLDS if as_printed else CORRECTED if corrected else FAILS, text)


def mean_se(values: ArrayLike) -> tuple[float, float]:
    """Mean and standard error."""
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))


def pm(values: ArrayLike) -> str:
    """`0.0698 ± 0.0001`."""
    mean, error = mean_se(values)
    return f"{mean:.4g} ± {error:.1g}"
