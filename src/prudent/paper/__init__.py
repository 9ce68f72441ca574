"""The paper, executable: one module per figure, its settings as data at the top; the claims ledger; the report."""

import platform
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from prudent.errors import PrudentError
from prudent.paper.measure import Desk
from prudent.report import LedgerRow, Section, render

FIGURES = (
    "fig2-left",
    "fig2-right",
    "heatmaps",
    "configurations",
    "frontiers",
    "discussion",
    "worst-case",
    "bounds",
    "beyond",
)
EXTRAS = ("leaderboard",)
"""Made by name only: they take longer than the rest together."""


def module(name: str) -> str:
    """The module of a figure, or an error that lists them."""
    if name not in (*FIGURES, *EXTRAS):
        raise PrudentError(f"paper: unknown figure {name!r}; known: {', '.join((*FIGURES, *EXTRAS))}, claims")
    return f"prudent.paper.{name.replace('-', '_')}"


def count_cells(name: str) -> int:
    """How many simulations a figure takes."""
    return len(import_module(module(name)).cells())


def make(name: str, desk: Desk) -> Section:
    """Make one figure; returns what the report shows of it."""
    section: Section = import_module(module(name)).make(desk)
    return section


def count_claims() -> int:
    """How many claims the ledger holds."""
    from prudent.paper.claims import CLAIMS

    return len(CLAIMS)


def check_claims(desk: Desk) -> list[LedgerRow]:
    """Check every claim of the paper."""
    from prudent.paper.claims import CLAIMS

    rows = []
    for claim in CLAIMS:
        verdict, text = claim.check(desk)
        rows.append(LedgerRow(claim.place, claim.statement, claim.method, verdict, text))
        desk.progress(1)
    return rows


def write_report(desk: Desk, sections: Sequence[Section], ledger: Sequence[LedgerRow], seconds: float) -> Path:
    """The report as it stands; sections still to come are simply not in it yet."""
    facts = {
        "figures": f"{len(sections)} of {len(FIGURES)}",
        "claims checked": str(len(ledger)) if ledger else "not yet",
        "runs per point": f"{desk.runs:,}",
        "seed": str(desk.seed),
        "time taken": f"{seconds:.0f} s",
        "prudent": version("prudent"),
        "numba, numpy": f"{version('numba')}, {version('numpy')}",
        "python": platform.python_version(),
    }
    path = desk.path("report.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    page = render("The paper, executed", facts, sections, ledger, desk.out)
    beside.write_text(page, encoding="utf-8")
    return beside.replace(path)
