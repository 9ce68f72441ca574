"""The paper, executable: one module per figure, its settings as data at the top; the claims ledger; the report.

beyond.py           beyond the paper: one algorithm for easy problems and for the worst case
configurations.py   configurations 1 and 2: their arms, the optimal arm against the tolerance ρ
discussion.py       the discussion's example
fig2_left.py        figure 2, left: the regret of MV-LCB on an easy problem, and its two parts
fig2_right.py       figure 2, right: the worst regret over the grid, against n
frontiers.py        risk tolerance: what MV-LCB and ExpExp earn for each ρ, in the standard deviation–mean plane
grid.py             the paper's grid of two-armed problems: the heat maps show it, Figure 2
heatmaps.py         the paper's heat maps: the regret over the grid of Δ and Γ, one panel for each n
making.py           how a figure of the paper is made: its cells are simulated, its tables written
periods.py          the multi-period problem of the conclusions: a sequence of arms may beat every single arm
problems.py         the paper's two algorithms and its problems: the arms of its figures and tables
theorems.py         the theorems beside what is measured: Theorem 1 and MV-LCB, Theorem 2 and ExpExp
worst_case.py       remark 2 of Theorem 1 at scale: the worst cases of MV-LCB and ExpExp against n up to 10⁸
claims/             the ledger of the paper's claims; importing it files all of them, in the order of the paper
leaderboard/        the literature side by side: every policy on two suites of problems, its worst case
"""

import platform
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from prudent import PrudentError
from prudent.base import files
from prudent.paper.making import PaperFigure, Settings, Tables, describe
from prudent.results.page import Section, render

if TYPE_CHECKING:
    from prudent.paper.claims.ledger import Ledger

FIGURES = (
    "fig2-left", "fig2-right", "heatmaps", "configurations", "frontiers",
    "discussion", "worst-case", "theorems", "periods", "beyond",
)  # fmt: skip
EXTRAS = ("leaderboard",)
"""Made by name only: they take longer than the rest together."""

THE_PAPER = "Risk-Aversion in Multi-armed Bandits (Sani, Lazaric, Munos, 2012), run again from the definitions up."


def figure(name: str) -> PaperFigure:
    """A figure by name, or an error that lists them."""
    if name not in (*FIGURES, *EXTRAS):
        raise PrudentError(f"paper: unknown figure {name!r}; known: {', '.join((*FIGURES, *EXTRAS))}, claims")
    found: PaperFigure = import_module(f"prudent.paper.{name.replace('-', '_')}").FIGURE
    return found


def described(name: str, settings: Settings, tables: Tables) -> Section:
    """A figure by name, drawn from its tables; another process can do it."""
    return describe(figure(name), settings, tables)


def write_report(settings: Settings, sections: Sequence[Section], ledger: "Ledger | None", seconds: float) -> Path:
    """The report as it stands; sections still to come are simply not in it yet."""
    from prudent.paper.claims.ledger import VERDICTS, count_verdicts

    facts = {
        "figures": f"{len(sections)} of {len(FIGURES)}",
        "claims checked": "not yet" if ledger is None else count_verdicts(ledger.claims),
        "runs per point": f"{settings.runs:,}",
        "random seed": str(settings.seed),
        "time taken": f"{seconds:.0f} s",
        "prudent": version("prudent"),
        "numba, numpy": f"{version('numba')}, {version('numpy')}",
        "python": platform.python_version(),
    }
    marks = {verdict: meant.colour for verdict, meant in VERDICTS.items()}
    if ledger is not None:
        meanings = " ".join(
            f"“{verdict[0].upper()}{verdict[1:]}”: {meant.meaning}." for verdict, meant in VERDICTS.items()
        )
        notes = {"The verdicts": meanings}
        claims = Section("claims", "All claims", tables=ledger.tables(), notes=notes, again="prudent paper claims")
        sections = [*sections, claims]
    page = render("The paper, executed", facts, sections, settings.out, THE_PAPER, marks)
    return files.write(settings.out / "report.html", page)
