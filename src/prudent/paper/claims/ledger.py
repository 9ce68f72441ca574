"""The ledger of the paper's claims: every statement that can be checked, how, what was measured, and the verdict.

A check is a function of the runs of its cells that returns `Evidence`; verdict and text follow from what it computed,
never from a literal. The text says too what is required: every limit that a number is held against. `claim` files it
under its place in the paper, `on` says which cells it needs. The cells of all claims are one grid, so that a cell that
several claims need is simulated once. `remark` files what is worth checking and yet no claim of the paper: sentences
that its source keeps as comments, and steps that it leaves to the reader.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prudent import Runs
from prudent.base.arrays import Array
from prudent.base.text import count, minus, number, with_error
from prudent.paper.making import Settings, simulate_cells
from prudent.results.runs import averages
from prudent.study import Labelled

HOLDS = "holds"
LATER = "holds for larger n"
PART = "holds in part"
CORRECTED = "holds with a corrected constant"
FAILS = "does not hold"


class Verdict(NamedTuple):
    """How a verdict is said of several claims, its colour in the report, and what it means."""

    plural: str
    colour: str
    meaning: str


VERDICTS = {
    HOLDS: Verdict("hold", "good", "it is true as printed; a bound may be larger than it need be"),
    LATER: Verdict(
        "hold for larger n", "fair", "it is false at horizons that the paper shows, and true from some n on"
    ),
    PART: Verdict("hold in part", "fair", "it is true of some of the cases that it speaks of, and false of others"),
    CORRECTED: Verdict("hold with a corrected constant", "fair", "it is false as printed; another constant mends it"),
    FAILS: Verdict("do not hold", "bad", "it is false, and no constant mends it"),
}
REMARKS_TITLE = "Remarks: what is not a claim of the paper"
SCHEMA = dict.fromkeys(("place", "claim", "how it was checked", "verdict", "evidence"), pl.String)
SHARE = "share"
"""The label of cells that take long: one in so many of the runs asked for is enough for them."""

_FEWEST_RUNS = 5
"""They take at least so many, unless fewer are asked for."""


class Evidence(NamedTuple):
    """What a check found."""

    verdict: str
    text: str


class Check(NamedTuple):
    """How a claim is checked: on the runs of cells, or by computing alone."""

    function: Callable[..., Evidence]
    cells: tuple[Labelled, ...] = ()


class Claim(NamedTuple):
    """One statement, in our words, and its check."""

    place: str
    statement: str
    check: Check

    @property
    def name(self) -> str:
        """The name of the check."""
        return self.check.function.__name__


class Ledger(NamedTuple):
    """What was found, a row for each claim and for each remark."""

    claims: pl.DataFrame
    remarks: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """Both by their titles."""
        remarks = self.remarks.rename({"claim": "remark"})
        return {f"{len(self.claims)} claims of the paper": self.claims, REMARKS_TITLE: remarks}


CLAIMS: list[Claim] = []
REMARKS: list[Claim] = []
Found = Mapping[tuple[str, int], Runs]
"""Runs by the key of their cell and its share of the runs."""


def _file_in(claims: list[Claim], place: str, statement: str) -> Callable[[Check | Callable[..., Evidence]], None]:
    """Add a check to a list; its docstring says how it is made."""
    return lambda check: claims.append(Claim(place, statement, check if isinstance(check, Check) else Check(check)))


def claim(place: str, statement: str) -> Callable[[Check | Callable[..., Evidence]], None]:
    """File the check of a statement that the paper makes."""
    return _file_in(CLAIMS, place, statement)


def remark(place: str, statement: str) -> Callable[[Check | Callable[..., Evidence]], None]:
    """File the check of a statement that the paper does not make."""
    return _file_in(REMARKS, place, statement)


def on(*cells: Labelled) -> Callable[[Callable[..., Evidence]], Check]:
    """Call the check with the `Runs` of the cells, in their order."""
    return lambda function: Check(function, cells)


class Required(NamedTuple):
    """What a claim requires, in words, and whether it is so."""

    met: bool
    words: str


Numbers = float | Sequence[float] | Array


def at_most(limit: float, values: Numbers, of: str = "") -> Required:
    """All of the values are. Where the evidence does not show them, `of` says what they are, and the worst is shown."""
    return _required(of, "at most", limit, np.asarray(values) <= limit, np.max(values))


def below(limit: float, values: Numbers, of: str = "") -> Required:
    """All of the values are."""
    return _required(of, "below", limit, np.asarray(values) < limit, np.max(values))


def above(limit: float, values: Numbers, of: str = "") -> Required:
    """All of the values are."""
    return _required(of, "above", limit, np.asarray(values) > limit, np.min(values))


def exactly(wanted: float, values: Numbers) -> Required:
    """All of the values are."""
    return _required("", "exactly", wanted, np.asarray(values) == wanted, wanted)


def near(wanted: float, within: float, values: Numbers, of: str = "") -> Required:
    """All of the values are less than `within` from it."""
    away = np.asarray(values) - wanted
    worst = wanted + away.flat[np.abs(away).argmax()]
    return _required(of, f"within {number(within)} of", wanted, np.abs(away) < within, worst)


def _required(of: str, relation: str, limit: float, met: NDArray[np.bool_], worst: float) -> Required:
    shown = f"{of} ({number(float(worst), 3)}) " if of else ""
    return Required(bool(met.all()), f"{shown}{relation} {number(limit)}")


def judged(text: str, *asked: Required, part: Sequence[Required] = (), corrected: Sequence[Required] = ()) -> Evidence:
    """The verdict is "holds" if all is met that the claim requires; else "in part" or "corrected" if all is met that
    these require; else "does not hold". The text goes on to say what is required."""
    cases = {HOLDS: ("required", asked), PART: ("for a part", part), CORRECTED: ("corrected", corrected)}
    verdict = next((verdict for verdict, (_, case) in cases.items() if case and all(one.met for one in case)), FAILS)
    said = [f"{what}: {', '.join(dict.fromkeys(one.words for one in case))}" for what, case in cases.values() if case]
    return Evidence(verdict, minus(f"{text} ({'; '.join(said)})"))


def judged_over(horizons: Sequence[int], true_at: Sequence[bool], text: str) -> Evidence:
    """The verdict on what may begin to be true at some n: it holds if it is true at all of the horizons, and for
    larger n if from one of them on; the text goes on to say which."""
    start = len(true_at) - next((i for i, true in enumerate(reversed(true_at)) if not true), len(true_at))
    begins = f"true from n = {horizons[start]:,} on" if start < len(horizons) else f"not true at n = {horizons[-1]:,}"
    verdict = LATER if 0 < start < len(horizons) else FAILS if start else HOLDS
    return Evidence(verdict, minus(f"{text}; {begins}"))


def known(form: float | None) -> float:
    """The printed or the corrected value of a bound, which checks are made of only where the theory has it."""
    if form is None:
        raise ValueError("the theory has no such form of this bound")
    return form


def mean_se(values: Array) -> tuple[float, float]:
    """Mean and standard error."""
    mean, error = averages({"": values}).values()
    return mean, error


def pm(values: Array) -> str:
    """`0.0698 ± 0.0001`, or the mean alone where runs do not differ."""
    return with_error(*mean_se(values))


def regrets(found: Sequence[Runs]) -> Array:
    """The mean regret of each."""
    return np.array([runs.regret().mean() for runs in found])


def listed(values: Sequence[float] | Array, digits: int = 3) -> str:
    """`0.07, 0.0032 and 0.00043`, or `5,000 and 250,000`."""
    shown = [count(value) if isinstance(value, int) else number(value, digits) for value in values]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def place_of(cell: Labelled) -> tuple[str, int]:
    """The key of a cell, and its share of the runs."""
    return cell.key, int(cell.labels.get(SHARE, 1))


def count_cells(claims: Sequence[Claim]) -> int:
    """How many simulations the claims take."""
    return len({place_of(cell) for each in claims for cell in each.check.cells})


def simulate_claims(settings: Settings, claims: Sequence[Claim]) -> Found:
    """The runs of all cells of the claims."""
    asked: dict[int, dict[str, Labelled]] = {}
    for cell in [cell for each in claims for cell in each.check.cells]:
        key, share = place_of(cell)
        asked.setdefault(share, {})[key] = cell
    found: dict[tuple[str, int], Runs] = {}
    for share, own in asked.items():
        runs = max(settings.runs // share, min(_FEWEST_RUNS, settings.runs))
        cells, store = simulate_cells(list(own.values()), replace(settings, runs=runs), keep="runs")
        found |= {(key, share): each for key, each in zip(own, store.runs(cells), strict=True)}
    return found


def judge(claim: Claim, found: Found) -> Evidence:
    """What the check says of these runs."""
    return claim.check.function(*[found[place_of(cell)] for cell in claim.check.cells])


def check_ledger(settings: Settings, claims: Sequence[Claim], remarks: Sequence[Claim] = ()) -> Ledger:
    """Check all of them: place, claim, how it was checked, verdict and evidence."""
    found = simulate_claims(settings, [*claims, *remarks])
    return Ledger(
        *[pl.DataFrame([_row(each, found) for each in some], SCHEMA, orient="row") for some in (claims, remarks)]
    )


def _row(claim: Claim, found: Found) -> tuple[str, ...]:
    how = " ".join((claim.check.function.__doc__ or "").split())
    return claim.place, claim.statement, how, *judge(claim, found)


def count_verdicts(rows: pl.DataFrame) -> str:
    """`70: 55 hold, 6 hold in part, …`."""
    counts = Counter(rows["verdict"]).most_common()
    parts = [f"{count} {verdict if count == 1 else VERDICTS[verdict].plural}" for verdict, count in counts]
    return f"{len(rows)}: {', '.join(parts)}"
