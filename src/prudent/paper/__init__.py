"""The seed, executable: one module per figure, its settings as data at the top."""

from importlib import import_module

from prudent.errors import PrudentError
from prudent.paper.measure import Desk
from prudent.paper.section import Section

FIGURES = ("fig2-left",)


def module(name: str) -> str:
    """The module of a figure, or an error that lists them."""
    if name not in FIGURES:
        raise PrudentError(f"paper: unknown figure {name!r}; known: {', '.join(FIGURES)}")
    return f"prudent.paper.{name.replace('-', '_')}"


def count_cells(name: str) -> int:
    """How many simulations a figure takes."""
    return len(import_module(module(name)).cells())


def make(name: str, desk: Desk) -> Section:
    """Make one figure; returns what the report shows of it."""
    section: Section = import_module(module(name)).make(desk)
    return section
