"""How a figure of the paper is made: its cells are simulated, its tables written, its pictures drawn and described.

A figure is data and pure functions, `PaperFigure`; what touches the disk is here. All figures share one folder of
finished cells, found by content: what two figures need is simulated once, and an interrupted figure continues where it
stopped. The folder belongs to one version of the code, so that an upgrade starts another.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from prudent import Bandit, MeanVariance, PrudentError
from prudent.base import files
from prudent.policies.contract import Policy
from prudent.results.figures import save, style
from prudent.results.page import Finding, Section
from prudent.study import Cell, Labelled, Store, run
from prudent.study.play import code_version, to_bytes
from prudent.study.select import labels_of

Tables = dict[str, pl.DataFrame]


def ignored(_: int) -> None:
    """Nobody is told how many simulations are finished."""


@dataclass(frozen=True)
class Settings:
    """Where the paper is made, and how every point is simulated."""

    out: Path
    runs: int = 500
    seed: int = 0
    workers: int | None = None
    progress: Callable[[int], object] = ignored


def point(bandit: Bandit, policy: Policy, rho: float, horizon: int, /, **labels: str | float) -> Labelled:
    """A cell of the mean-variance; its runs and seed will be those of the settings."""
    return Labelled(Cell(bandit, MeanVariance(rho), policy, horizon), labels)


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """A figure: its texts, its cells by table, and what is made of their results.

    `tables` makes the tables that are written from those that were simulated, by the same names unless it says
    otherwise. `draw`, `finding` and `shown`, the report's tables, see the written ones. Drawings are by file name.
    """

    name: str
    title: str
    caption: str
    settings: str
    paper_says: str
    draw: Callable[[Tables], dict[str, Figure]]
    finding: Callable[[Tables], Finding] | None = None
    cells: Callable[[], Mapping[str, Sequence[Labelled]]] = dict
    tables: Callable[[Tables], Tables] = lambda found: found
    shown: Callable[[Tables], Tables] = lambda _: {}
    tag: str = ""
    share_of_runs: int = 1
    """One in so many of the runs asked for: for cells that take long."""

    page: str = ""
    """What the reader knows after the section: with this sentence it is written as a page in Markdown too."""


def count_cells(figure: PaperFigure) -> int:
    """How many simulations a figure takes."""
    return len({each.key for cells in figure.cells().values() for each in cells})


def simulate_cells(asked: Sequence[Labelled], settings: Settings, keep: str = "summary") -> tuple[list[Cell], Store]:
    """The cells with the runs and seed of the settings, and the folder that holds them all, finished."""
    made_with = json.dumps(Store.identity(settings.seed, keep))
    folder = f"{keep}-{hashlib.blake2b(made_with.encode(), digest_size=4).hexdigest()}-{settings.seed}"
    ready = [Labelled(e.cell._replace(runs=settings.runs, seed=settings.seed), e.labels) for e in asked]
    store = run(ready, settings.out / folder, keep=keep, workers=settings.workers, progress=settings.progress)
    return [each.cell for each in ready], store


def measured(panels: Mapping[str, Sequence[Labelled]], settings: Settings) -> Tables:
    """One row per cell, a table per panel: labels, content, means and standard errors."""
    if not panels:
        return {}
    ready, store = simulate_cells([each for cells in panels.values() for each in cells], settings)
    table = store.table()
    if len(table) != len(ready):
        raise PrudentError(f"{store.folder} was changed meanwhile; run again")
    found, start = {}, 0
    for name, cells in panels.items():
        own = {label for each in cells for label in each.labels}
        found[name] = table[start : start + len(cells)].drop(set(labels_of(table)) - own)
        start += len(cells)
    return found


def make(figure: PaperFigure, settings: Settings) -> Section:
    """Simulate, write the tables, draw, and describe."""
    return describe(figure, settings, measure(figure, settings))


def measure(figure: PaperFigure, settings: Settings) -> Tables:
    """Simulate, and make the tables of a figure."""
    return figure.tables(measured(figure.cells(), replace(settings, runs=runs_of(figure, settings))))


def runs_of(figure: PaperFigure, settings: Settings) -> int:
    """The runs of each of its simulations."""
    return max(2, settings.runs // figure.share_of_runs)


def describe(figure: PaperFigure, settings: Settings, tables: Tables) -> Section:
    """Write the tables, draw, and say what is seen."""
    data = [files.write(settings.out / f"{n}.parquet", to_bytes(t, code_version())) for n, t in tables.items()]
    with style():
        drawn = figure.draw(tables)
        titles = picture_titles(figure, list(drawn))
        pictures = [path for n, each in drawn.items() for path in save(each, settings.out / n, title=titles[n])]
    runs = f" {runs_of(figure, settings):,} runs of each simulation, random seed {settings.seed}."
    size = runs if figure.cells() else ""
    notes: dict[str, str | Finding] = {"The figure": figure.caption, "Settings": figure.settings + size}
    notes |= {"The paper says": figure.paper_says}
    notes |= {"Measured": figure.finding(tables)} if figure.finding else {}
    shown, again = figure.shown(tables), f"prudent paper {figure.name}"
    section = Section(
        figure.name, figure.title, figures=pictures, tables=shown, notes=notes, data=data, again=again, tag=figure.tag
    )
    if figure.page:
        section.data.append(files.write(settings.out / f"{figure.name}.md", as_markdown(section, figure.page)))
    return section


def picture_titles(figure: PaperFigure, names: Sequence[str]) -> dict[str, str]:
    """What a screen reader says of each picture: the figure's title, and which of several it is by its file name."""
    parts = {name: name.removeprefix(figure.name).strip("-") for name in names}
    return {
        name: f"{figure.title} ({part})" if part and len(names) > 1 else figure.title for name, part in parts.items()
    }


def as_markdown(section: Section, opening: str) -> str:
    """The section as a page."""
    parts = [f"# {section.title}", opening]
    for heading, note in section.notes.items():
        if isinstance(note, str):
            parts.append(f"**{heading}.** {note}")
        else:
            parts += [f"**{heading}.** {note.verdict}", table_as_markdown(note.table)]
    parts += [f"Made by `{section.again}`. Times are of the machine that made it."]
    parts += [f"![{section.title}]({path.name})" for path in section.figures if path.suffix == ".png"]
    for title, table in section.tables.items():
        parts += [f"## {title}", table_as_markdown(table)]
    return "\n\n".join(parts) + "\n"


def table_as_markdown(table: pl.DataFrame) -> str:
    """All rows and columns, with long texts whole."""
    with pl.Config(
        tbl_formatting="MARKDOWN", tbl_rows=-1, tbl_cols=-1, tbl_width_chars=10_000, fmt_str_lengths=200,
        tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, float_precision=2,
    ):  # fmt: skip
        return str(table)
