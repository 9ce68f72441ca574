"""Write docs/paper/figures.md and its pictures: `python docs/report.py [FOLDER]`.

The folder is that of `prudent paper`. What it has is not simulated again.
"""

import sys
from pathlib import Path

import polars as pl
from claims import typeset
from PIL import Image

from prudent import paper
from prudent.base.text import minus
from prudent.paper.making import PaperFigure, Settings, make
from prudent.results.page import Finding, Section, merged, table_rows

HERE = Path(__file__).parent
PAGE, IMAGES = HERE / "paper/figures.md", HERE / "images/paper"
WIDTH = 900
"""Pixels across a picture."""

HEAD = """# The figures of the paper, made again

This page shows every figure of *Risk-Aversion in Multi-armed Bandits* (Sani, Lazaric and Munos, 2012), made
again from its definitions, beside what the paper says of it and what was measured. `prudent paper` makes them all in
a few minutes and writes a report, one file for the browser, with further tables and the data. `prudent paper
fig2-left` makes one of them.
"""


def page(sections: list[Section]) -> str:
    """The whole page."""
    return "\n".join([HEAD, *(described(each) for each in sections)])


def described(section: Section) -> str:
    """A figure: its pictures, what is seen, the settings, what the paper says, and what was measured."""
    pictures = [f"![{section.title}](../images/paper/{path.stem}.png)\n" for path in section.figures if is_png(path)]
    notes = []
    for heading, note in section.notes.items():
        text = note.verdict if isinstance(note, Finding) else note
        notes.append(f"**{heading}.** {typeset(minus(text))}\n")
        if isinstance(note, Finding):
            notes.append(as_table(note.table))
    return "\n".join([f"## {section.title}\n", *pictures, *notes])


def as_table(table: pl.DataFrame) -> str:
    """A table with means and their errors in one column."""
    shown = merged(table)
    lines = [shown.columns, ["---"] * shown.width, *table_rows(shown)]
    return "".join(f"| {' | '.join(typeset(minus(cell)) for cell in line)} |\n" for line in lines)


def is_png(path: Path) -> bool:
    """Whether a picture is one for this page."""
    return path.suffix == ".png"


def shrink(path: Path) -> None:
    """A picture as a small file of few colours."""
    picture = Image.open(path).convert("RGB")
    height = round(picture.height * WIDTH / picture.width)
    IMAGES.mkdir(exist_ok=True)
    picture.resize((WIDTH, height), Image.Resampling.LANCZOS).quantize(64).save(IMAGES / path.name, optimize=True)


def main(folder: Path) -> None:
    """Every figure of the paper, at the size of `prudent paper`."""
    figures: list[PaperFigure] = [paper.figure(name) for name in paper.FIGURES]
    sections = [make(figure, Settings(folder)) for figure in figures]
    for path in (path for section in sections for path in section.figures if is_png(path)):
        shrink(path)
    PAGE.write_text(page(sections), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/paper"))
