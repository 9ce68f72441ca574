"""Rendering the report."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from prudent.report.section import LedgerRow, Section

PLURAL = {
    "holds": "hold",
    "holds with a corrected constant": "hold with a corrected constant",
    "outside its assumptions": "lie outside their assumptions",
    "does not hold": "do not hold",
}


SEED = "Risk-Aversion in Multi-armed Bandits (Sani, Lazaric, Munos, 2012), run again from the definitions up."


def render(
    title: str,
    facts: Mapping[str, str],
    sections: Sequence[Section],
    ledger: Sequence[LedgerRow],
    folder: Path,
    subtitle: str = SEED,
) -> str:
    """The whole page. `facts` head it; data files are linked relative to `folder`, where the page will stand."""
    environment = Environment(
        loader=PackageLoader("prudent.report", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["picture"] = picture
    environment.filters["rows"] = table_rows
    environment.filters["slug"] = lambda text: re.sub(r"\W+", "-", text)
    page: str = environment.get_template("page.html.j2").render(
        title=title,
        subtitle=subtitle,
        facts=facts,
        sections=sections,
        ledger=ledger,
        plural=PLURAL,
        verdicts=Counter(row.verdict for row in ledger),
        link=lambda path: path.relative_to(folder).as_posix(),
    )
    return page


def picture(path: Path, prefix: str) -> str:
    """An SVG file as markup to stand in the page: no prologue, its size left to the page, its ids made its own."""
    markup = path.read_text(encoding="utf-8")
    markup = markup[markup.index("<svg") :]
    markup = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", markup, count=1)
    markup = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", markup, count=1)
    markup = re.sub(r"<metadata>.*?</metadata>", "", markup, flags=re.DOTALL)
    return re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{prefix}-", markup)


def table_rows(table: pl.DataFrame) -> list[list[str]]:
    """Cells as text, numbers to four digits."""
    return [[f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row] for row in table.iter_rows()]
