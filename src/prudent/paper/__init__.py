"""The paper, executable: one module per figure, its settings as data at the top; the claims ledger; the report."""

import platform
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from prudent import PrudentError, files
from prudent.paper.making import PaperFigure, Settings, Tables, describe
from prudent.report import Section, render

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
