"""The claims ledger: every checkable statement of the paper, how it is checked, what was measured, and the verdict.

A check is a function of the runs of its cells that returns `Evidence`; the verdict follows from what it measured, never
from a literal. `claim` files it under its place in the paper, `on` says which cells it needs. The cells of all claims
are one grid, so that a cell that several claims need is simulated once.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import polars as pl

from prudent import Runs
from prudent.arrays import Array
from prudent.paper.making import Settings, simulate_cells
from prudent.runs import averages
from prudent.study import Labelled

HOLDS = "holds"
CORRECTED = "holds with a corrected constant"
OUTSIDE = "outside its assumptions"
FAILS = "does not hold"

VERDICTS = {
    HOLDS: ("hold", "good"),
    CORRECTED: ("hold with a corrected constant", "fair"),
    OUTSIDE: ("are outside their assumptions", "weak"),
    FAILS: ("do not hold", "bad"),
}
"""Every verdict: how it is said of several claims, and its colour in the report."""


class Evidence(NamedTuple):
    """What a check found."""

    verdict: str
    text: str


class Check(NamedTuple):
    """How a claim is checked: on the runs of cells, on samples that it draws itself, or by computing alone."""

    function: Callable[..., Evidence]
    cells: tuple[Labelled, ...] = ()
    samples: bool = False


class Claim(NamedTuple):
    """One statement of the paper, in our words, and its check."""

    place: str
    statement: str
    check: Check


CLAIMS: list[Claim] = []


def claim(place: str, statement: str) -> Callable[[Check | Callable[..., Evidence]], None]:
    """File a check in the ledger; its docstring says how the claim is checked."""
    return lambda check: CLAIMS.append(Claim(place, statement, check if isinstance(check, Check) else Check(check)))


def on(*cells: Labelled, samples: bool = False) -> Callable[[Callable[..., Evidence]], Check]:
    """Call the check with the `Runs` of the cells, in their order; with `samples`, with their number and a seed."""
    return lambda function: Check(function, cells, samples)


def judged(as_printed: bool, text: str, corrected: bool = False) -> Evidence:
    """Holds as printed, or only as corrected, or not at all."""
    return Evidence(HOLDS if as_printed else CORRECTED if corrected else FAILS, text)


def mean_se(values: Array) -> tuple[float, float]:
    """Mean and standard error."""
    mean, error = averages({"": values}).values()
    return mean, error


def pm(values: Array) -> str:
    """`0.0698 ± 0.0001`."""
    mean, error = mean_se(values)
    return f"{mean:.4g} ± {error:.1g}"


def regrets(found: Sequence[Runs]) -> Array:
    """The mean regret of each."""
    return np.array([runs.regret().mean() for runs in found])


def count_cells(claims: Sequence[Claim]) -> int:
    """How many simulations the claims take."""
    return len({each.key for claim in claims for each in claim.check.cells})


def check_claims(settings: Settings, claims: Sequence[Claim]) -> pl.DataFrame:
    """One row per claim: place, claim, how it was checked, verdict and evidence."""
    asked = [each for claim in claims for each in claim.check.cells]
    found: Iterator[Runs] = iter(())
    if asked:
        cells, store = simulate_cells(asked, settings, keep="runs")
        found = iter(store.runs(cells))
    rows = []
    for place, statement, (function, own, samples) in claims:
        evidence = function(settings.runs, settings.seed) if samples else function(*islice(found, len(own)))
        rows.append((place, statement, (function.__doc__ or "").strip(), *evidence))
    return pl.DataFrame(rows, ["place", "claim", "how it was checked", "verdict", "evidence"], orient="row")


def count_verdicts(rows: pl.DataFrame) -> str:
    """`48: 35 hold, 7 do not hold, …`."""
    counts = Counter(rows["verdict"]).most_common()
    parts = [f"{count} {verdict if count == 1 else VERDICTS[verdict][0]}" for verdict, count in counts]
    return f"{len(rows)}: {', '.join(parts)}"
