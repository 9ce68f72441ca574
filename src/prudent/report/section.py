"""What goes into a report."""

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl


@dataclass(frozen=True)
class Section:
    """One part of a report: pictures, tables and notes under a title, each under a heading of its own.

    `again` is the command that makes it again; `tag` is a word or two beside the title.
    """

    name: str
    title: str
    figures: list[Path] = field(default_factory=list)
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    data: list[Path] = field(default_factory=list)
    again: str = ""
    tag: str = ""

    def files(self) -> list[Path]:
        """Everything the section left on disk."""
        return [*self.data, *self.figures]
