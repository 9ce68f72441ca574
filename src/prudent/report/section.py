"""What goes into a report."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl


@dataclass(frozen=True)
class Section:
    """One part of the report: pictures, their data, and what the paper says, if anything, beside what was measured.

    `again` is the command that makes it again; `prudent paper NAME` unless given.
    """

    name: str
    title: str
    caption: str
    settings: str
    paper_says: str
    measured: str
    figures: list[Path] = field(default_factory=list)
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    data: list[Path] = field(default_factory=list)
    beyond: bool = False
    again: str = ""

    def files(self) -> list[Path]:
        """Everything the section left on disk."""
        return [*self.data, *self.figures]


class LedgerRow(NamedTuple):
    """A claim and its verdict."""

    place: str
    statement: str
    method: str
    verdict: str
    evidence: str
