"""What goes into a report, and its rendering."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

LONG = 60
"""Characters above which a cell of a table is prose: on a narrow screen such a table is read row by row."""


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


def render(
    title: str,
    facts: Mapping[str, str],
    sections: Sequence[Section],
    folder: Path,
    subtitle: str = "",
    marks: Mapping[str, str] | None = None,
) -> str:
    """The whole page. `facts` head it; data files are linked relative to `folder`, where the page will stand.

    `marks` colours the cells of tables that hold these words: "good", "fair", "weak" or "bad".
    """
    shown = {"title": title, "subtitle": subtitle, "facts": facts, "sections": sections, "folder": folder}
    page: str = environment().get_template("page.html.j2").render(shown, marks=marks or {})
    return page


def environment(*packages: str) -> Environment:
    """Where templates are found: in these packages, and in this one, whose page others extend."""
    loader = ChoiceLoader([PackageLoader(package, ".") for package in (*packages, "prudent.report")])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.filters |= {"picture": picture, "rows": table_rows}
    made.filters["prose"] = lambda rows: any(len(cell) > LONG for row in rows for cell in row)
    return made


def picture(path: Path, prefix: str) -> str:
    """An SVG file as markup to stand in the page: no prologue, its size left to the page, its ids made its own."""
    markup = path.read_text(encoding="utf-8")
    markup = markup[markup.index("<svg") :]
    for size in ("width", "height"):
        markup = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", markup, count=1)
    markup = re.sub(r"<metadata>.*?</metadata>", "", markup, flags=re.DOTALL)
    return re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{prefix}-", markup)


def table_rows(table: pl.DataFrame) -> list[list[str]]:
    """Cells as text, numbers to four digits."""

    def text(cell: object) -> str:
        return "–" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell)

    return [[text(cell) for cell in row] for row in table.iter_rows()]
