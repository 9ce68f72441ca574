"""The claims ledger: every checkable statement of the paper, how it is checked, what was measured, and the verdict.

A check is a function of the runs of its cells that returns `Evidence`; the verdict follows from what it measured, never
from a literal. `claim` files it under its place in the paper. The cells of all claims are one grid, so that a cell that
several claims need is simulated once.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl
from numpy.typing import NDArray

from prudent.bandit import Bandit
from prudent.paper.making import Settings, simulate_cells
from prudent.policies import Policy
from prudent.report import Section
from prudent.risk import MeanVariance
from prudent.runs import Runs, averages
from prudent.study import Cell, Labelled

HOLDS = "holds"
CORRECTED = "holds with a corrected constant"
OUTSIDE = "outside its assumptions"
FAILS = "does not hold"

PLURAL = {
    HOLDS: "hold",
    CORRECTED: "hold with a corrected constant",
    OUTSIDE: "lie outside their assumptions",
    FAILS: "do not hold",
}
MARKS = {HOLDS: "good", CORRECTED: "fair", OUTSIDE: "weak", FAILS: "bad"}
"""The colours of the verdicts in the report."""

VERDICTS = tuple(MARKS)


class Evidence(NamedTuple):
    """What a check found."""

    verdict: str
    text: str


Check = Callable[..., Evidence]


class Claim(NamedTuple):
    """One statement of the paper, in our words; the cells it is checked on, and the check."""

    place: str
    statement: str
    cells: tuple[Cell, ...]
    samples: bool
    check: Check

    def judge(self, found: Sequence[Runs], runs: int, seed: int) -> Evidence:
        """Check it on the runs of its cells, or on samples it draws itself."""
        return self.check(runs, seed) if self.samples else self.check(*found)


CLAIMS: list[Claim] = []


def claim(place: str, statement: str, *, cells: Sequence[Cell] = (), samples: bool = False) -> Callable[[Check], Check]:
    """File a check in the ledger; its docstring says how the claim is checked.

    It is called with the `Runs` of the cells, in their order; with `samples`, with a number of runs and a seed.
    """

    def file(check: Check) -> Check:
        CLAIMS.append(Claim(place, statement, tuple(cells), samples, check))
        return check

    return file


def cell(bandit: Bandit, policy: Policy, rho: float, horizon: int) -> Cell:
    """A cell of the mean-variance; its runs and seed are those of the settings."""
    return Cell(bandit, MeanVariance(rho), policy, horizon)


def judged(as_printed: bool, text: str, corrected: bool = False) -> Evidence:
    """Holds as printed, or only as corrected, or not at all."""
    return Evidence(HOLDS if as_printed else CORRECTED if corrected else FAILS, text)


def mean_se(values: NDArray) -> tuple[float, float]:  # type: ignore[type-arg]
    """Mean and standard error."""
    mean, error = averages({"": values}).values()
    return mean, error


def pm(values: NDArray) -> str:  # type: ignore[type-arg]
    """`0.0698 ± 0.0001`."""
    mean, error = mean_se(values)
    return f"{mean:.4g} ± {error:.1g}"


def regrets(found: Sequence[Runs]) -> list[float]:
    """The mean regret of each."""
    return [float(runs.regret().mean()) for runs in found]


def count_cells(claims: Sequence[Claim]) -> int:
    """How many simulations the claims take."""
    return len({each.key() for claim in claims for each in claim.cells})


def check_claims(settings: Settings, claims: Sequence[Claim]) -> pl.DataFrame:
    """One row per claim: place, claim, how it was checked, verdict and evidence."""
    asked = [Labelled(each) for claim in claims for each in claim.cells]
    found: list[Runs] = []
    if asked:
        ready, store = simulate_cells(asked, settings, keep="runs")
        found = store.runs([each.cell for each in ready])
    rows = []
    for each in claims:
        own, found = found[: len(each.cells)], found[len(each.cells) :]
        verdict, text = each.judge(own, settings.runs, settings.seed)
        method = (each.check.__doc__ or "").strip()
        rows.append((each.place, each.statement, method, verdict, text))
    return pl.DataFrame(rows, ["place", "claim", "how it was checked", "verdict", "evidence"], orient="row")


def count_verdicts(rows: pl.DataFrame) -> str:
    """`48: 35 hold, …`."""
    counts = Counter(rows["verdict"]).most_common()
    return f"{len(rows)}: {', '.join(f'{count} {PLURAL[verdict]}' for verdict, count in counts)}"


def ledger(rows: pl.DataFrame) -> Section:
    """All claims as a section of the report."""
    title = f"{len(rows)} claims of the paper"
    return Section("claims", "All claims", tables={title: rows}, again="prudent paper claims")
