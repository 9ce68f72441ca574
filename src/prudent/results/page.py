"""What goes into a report, and its rendering."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from prudent.base.text import count, minus, number, with_error

NO_BREAK = "\N{NO-BREAK SPACE}"

LONG = 60
"""Characters above which a cell of a table is prose: on a narrow screen such a table is read row by row."""


@dataclass(frozen=True)
class Finding:
    """What was measured: a verdict of one sentence, and the few numbers behind it."""

    verdict: str
    table: pl.DataFrame


@dataclass(frozen=True)
class Section:
    """One part of a report, a plan or the paper; whatever is empty is left out, the rest comes in the order of fields.

    `text` are paragraphs, `pictures` files with their captions, `points` a list, `code` lines to copy, and `folded`
    sections that readers open. A note is a text or a finding under a heading of its own; `tables` have headings too.
    `again` is the command that makes the section again; `tag` is a word or two beside the title.
    """

    name: str
    title: str
    text: Sequence[str] = ()
    pictures: Sequence[tuple[Path, str]] = ()
    table: pl.DataFrame | None = None
    points: Sequence[str] = ()
    code: str = ""
    folded: "Sequence[Section]" = ()
    figures: list[Path] = field(default_factory=list)
    """Pictures without captions, which can be opened large; files of other kinds than SVG stand beside the report."""
    notes: Mapping[str, str | Finding] = field(default_factory=dict)
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    data: list[Path] = field(default_factory=list)
    again: str = ""
    tag: str = ""

    def files(self) -> list[Path]:
        """Everything the section left on disk."""
        return [*self.data, *self.figures]

    def plain(self) -> dict[str, Any]:
        """What a page of the service shows of it, as JSON; pictures by their names."""
        return {
            "name": self.name,
            "title": self.title,
            "text": list(self.text),
            "pictures": [(path.name, caption) for path, caption in self.pictures],
            "columns": [] if self.table is None else self.table.columns,
            "rows": [] if self.table is None else table_rows(self.table),
            "points": list(self.points),
            "code": self.code,
            "folded": [each.plain() for each in self.folded],
        }


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
    shown = {"title": title, "subtitle": subtitle, "facts": facts, "sections": sections, "marks": marks or {}}
    template = environment().get_template("page.html.j2")
    page: str = template.render(shown, place=lambda path: path.relative_to(folder).as_posix())
    return page


@cache
def design() -> str:
    """The style sheet that all pages and reports share; docs: design."""
    return files("prudent.results").joinpath("static", "design.css").read_text("utf-8")


@cache
def environment(*packages: str) -> Environment:
    """Where templates are found: in these packages (or `package/folder`), and in this one, whose page others extend."""
    places = [package.partition("/") for package in (*packages, "prudent.results")]
    loader = ChoiceLoader([PackageLoader(package, folder or ".") for package, _, folder in places])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.globals["design"] = design
    made.filters |= {"picture": picture, "rows": table_rows, "merged": merged, "typeset": typeset}
    made.filters |= {"count": count, "number": rounded}
    made.filters["prose"] = lambda rows: any(len(cell) > LONG for row in rows for cell in row)
    return made


def picture(path: Path, prefix: str, title: str = "") -> str:
    """An SVG file as markup to stand in the page: no prologue, its size left to the page, its ids made its own.

    Its title is what a screen reader says of it: this one, or that of the file.
    """
    markup = path.read_text(encoding="utf-8")
    markup = markup[markup.index("<svg") :]
    own = re.search(r"<title>(.*?)</title>\s*", markup)
    name = escape(title) if title or not own else Markup(own[1])
    markup = markup.replace(own[0], "", 1) if own else markup
    for size in ("width", "height"):
        markup = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", markup, count=1)
    markup = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", markup, flags=re.DOTALL)
    markup = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{prefix}-", markup)
    named = f'<svg role="img" aria-labelledby="{prefix}-title"'
    return re.sub(r"<svg([^>]*)>", rf'{named}\1><title id="{prefix}-title">{name}</title>', markup, count=1)


def rounded(value: float | None, digits: int = 4) -> str:
    """A number as pages show it."""
    return minus(number(value, digits))


def typeset(text: str) -> Markup:
    """A text as markup: real minus signs, powers set high, n^(1/3), and numbers that stay with their error or unit."""
    whole = re.sub(r" (?=[±×%])|(?<=[±×]) ", NO_BREAK, minus(text))
    return Markup(re.sub(r"\^\(([^()]*)\)|\^\{([^{}]*)\}|\^([−-]?\w+(?:\.\d+)?)", _power, str(escape(whole))))


def _power(found: re.Match[str]) -> str:
    inside = next(part for part in found.groups() if part is not None)
    return f"<sup>{inside.replace('-', '−')}</sup>"


def merged(table: pl.DataFrame) -> pl.DataFrame:
    """The table with every standard error, `regret_se`, beside its mean, `regret`, in one column."""
    errors = [name for name in table.columns if name.endswith("_se") and name.removesuffix("_se") in table.columns]
    pairs = {name.removesuffix("_se"): (table[name.removesuffix("_se")], table[name]) for name in errors}
    shown = [pl.Series(name, list(map(with_error, *pair)), pl.String) for name, pair in pairs.items()]
    return table.with_columns(shown).drop(errors)


def table_rows(table: pl.DataFrame) -> list[list[str]]:
    """Cells as people read them."""
    return [[_cell(value) for value in row] for row in table.iter_rows()]


def _cell(value: object) -> str:
    if isinstance(value, bool) or not (value is None or isinstance(value, int | float)):
        return str(value)
    return count(value) if isinstance(value, int) else number(value)
