"""The cells of the paper's figures and claims, and the texts of every picture.

The results are synthetic, so nothing is simulated. Sizes, colours and widths are no promise, and are not in it.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from helpers.figure_texts import texts_of
from helpers.pinned_texts import Sections
from helpers.synthetic_results import portfolio, portfolio_runs, results, spread, study_cells
from prudent import paper
from prudent.paper import periods
from prudent.paper.claims import CLAIMS, REMARKS
from prudent.paper.leaderboard import ranks
from prudent.plan import guesses, page
from prudent.plan.advise import Advice
from prudent.plan.check import Check
from prudent.plan.ranking import BEST, PROMISED, Promise
from prudent.plan.trial import Trial
from prudent.plan.verdict import Favourite, Verdict
from prudent.portfolio import report
from prudent.portfolio.figures import plot_frontier, plot_regret, plot_weights
from prudent.results import figures
from prudent.study import Labelled, plots


def paper_figure(name: str) -> Sections:
    """One figure of the paper: its cells, and its pictures, finding and tables for made-up results."""
    figure = paper.figure(name)
    panels = figure.cells()
    found = {f"{name}: cells of {panel}": cell_lines(cells) for panel, cells in panels.items()}
    with fixed_clock_and_learner(), figures.style():
        measured = {panel: results(cells) for panel, cells in panels.items()}
        tables = figure.tables(measured)
        drawn, shown = figure.draw(tables), figure.shown(tables)
        finding = figure.finding(tables) if figure.finding else None
    found |= {f"{name}: picture {key}": texts_of(each) for key, each in drawn.items()}
    own = {key: table for key, table in tables.items() if table is not measured.get(key)}
    found |= {f"{name}: columns of {key}": table.columns for key, table in (own | shown).items()}
    settings = f"runs: one in {figure.share_of_runs}; a page: {bool(figure.page)}"
    found[f"{name}: texts"] = [settings, *sentences(figure.caption), *sentences(figure.settings)]
    if finding:
        found[f"{name}: measured"] = [finding.verdict, *finding.table.columns]
    return found


@contextmanager
def fixed_clock_and_learner() -> Iterator[None]:
    """The leaderboard takes no time and runs no policy, and the learner of the sequences draws nothing."""

    def timed(cell: Any) -> dict[str, Any]:
        return {"engine": "made up", "milliseconds": 10.0 + len(str(cell.policy))}

    def learner(bandit: Any, risk: Any, count: int, *, runs: int, seed: int) -> np.ndarray:
        return count * (spread(runs, seed + risk.alpha) - 0.4) * bandit.means.mean()

    board = patch.multiple(ranks, timed=timed, unit_free=lambda policy: len(str(policy)) % 2 == 0)
    with board, patch.object(periods, "explore_then_sequence", learner):
        yield


def sentences(text: str) -> list[str]:
    """A line for each sentence."""
    return re.split(r"(?<=[.;]) ", text)


def rounded(text: str) -> str:
    """The text with every long number cut to six digits, since logarithms differ in the last ones."""
    return re.sub(r"\d+\.\d{6,}(e-?\d+)?", lambda found: f"{float(found[0]):.6g}", text)


def cell_lines(cells: Sequence[Labelled]) -> list[str]:
    """How many cells, what they vary in, both ends, and a digest of all."""
    rows = [{**each.cell.facts(), "labels": each.labels} for each in cells]
    lines = [f"{len(rows)} cells"]
    for name in ("policy", "risk", "horizon", "runs", "seed", "engine"):
        lines.append(f"{name}: {', '.join(dict.fromkeys(str(row[name]) for row in rows))}")
    for name in dict.fromkeys(label for each in cells for label in each.labels):
        values = list(dict.fromkeys(str(each.labels.get(name)) for each in cells))
        lines.append(rounded(f"label {name}: {', '.join(values[:20])}; {len(values)} values"))
    texts = [rounded(json.dumps(row, ensure_ascii=False)) for row in rows]
    digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=6).hexdigest()
    arms = dict.fromkeys(rounded(row["arms"]) for row in rows)
    return [*lines, f"{len(arms)} bandits, first {next(iter(arms))}", f"last {texts[-1]}", f"digest {digest}"]


def claim_cells() -> Sections:
    """Which cells each claim and each remark is checked on."""
    kinds = {"claim": CLAIMS, "remark": REMARKS}
    every = {f"{kind} {each.name}": each.check.cells for kind, some in kinds.items() for each in some}
    return {"cells of the claims": [f"{name}: {cells_in_short(cells)}" for name, cells in every.items()]}


def cells_in_short(cells: Sequence[Labelled]) -> str:
    """The cells of a claim in one line."""
    if not cells:
        return "none"
    told = cell_lines(cells)
    return f"{told[0]}, {told[1]}, {told[3]}, {told[-1]}"


def saved_by(owner: Any, call: Callable[[Path], Any]) -> dict[str, Figure]:
    """The figures that a call gives to `owner.save`, by the names of their files."""
    found: dict[str, Figure] = {}

    def keep(figure: Figure, path: Path, endings: Sequence[str] = ("svg", "png"), *, exact: bool = False) -> list[Path]:
        found[f"{path.name} as {' and '.join(endings)}{' exactly' * exact}"] = figure
        return [path]

    with TemporaryDirectory() as folder, patch.object(owner, "save", keep):
        call(Path(folder))
    return found


def study_pictures() -> Sections:
    """Every kind of picture of a study."""
    many, one = results(study_cells()), pl.col("mean") == 0.5
    single = results(study_cells(), by_run=30).filter(one, pl.col("variance") == 1.0)
    frontier = results(study_cells(rhos=(0.0, 1.0, 4.0))).filter(one, pl.col("variance") == 0.25)
    gaps = many.with_columns(regret=pl.col("regret") - 0.2, regret_se=pl.when(one).then(pl.col("regret_se")))
    asked = {
        "regret": ("regret", many, {}),
        "gap regret": ("regret", many.filter(pl.col("policy") == "mv-lcb"), {"measure": "gap_regret"}),
        "regret below zero": ("regret", gaps, {}),
        "heat map": ("heatmap", many, {}),
        "heat map turned": ("heatmap", many, {"axes": ("variance", None), "measure": "pseudo_regret"}),
        "frontier": ("frontier", frontier, {}),
        "pulls": ("pulls", single, {}),
        "distribution": ("distribution", single, {}),
    }
    found: Sections = {}
    for name, (kind, table, options) in asked.items():
        call = partial(plots.draw, kind, table, **options)
        drawn = saved_by(figures, lambda out, call=call: call(path=out / "study.png"))
        found |= {f"study: {name}, {key}": texts_of(each) for key, each in drawn.items()}
    return found


def plan_pictures() -> Sections:
    """The pictures and the table of a plan."""
    columns = {f"{name}{end}": spread(3, i) for i, name in enumerate(PROMISED) for end in ("", "_low", "_high")}
    more = {"trials": [90, 90, 9], "as_good": [True, False, False], "horizon": [30, 100, 300]}
    table = pl.DataFrame({"policy": ["one", "two", "three"], **columns, **more})
    rows = table.with_columns(yardstick=pl.Series(["always A", "always B", "all in turn"]))
    people = pl.DataFrame(
        {"option": ["A", "B", BEST], "average": [2.5, 4.0, 5.5], "fewest": [1, 2, 3], "most": [7, 8, 9]}
    )
    trial = Trial.checked(guesses(["A: gaussian(1, 2)", "B: gaussian(3, 9)"]), "mean-variance(rho=2)", 100, unit="EUR")
    promises = {name: Promise(0.5, 0.4, 0.6) for name in PROMISED}
    advice = Advice(
        Verdict("run", ("Run this.",)), "one", 100, promises, Check(9, False, *[0.5] * 8), [], ["Because."],
        Favourite(0, "A", 0.7), [], table, [], rows, people, table,
        {"four": "It is too slow."}, trial, 30, 3, 0, Path("."),
    )  # fmt: skip
    drawn = saved_by(figures, lambda out: page.parts_of(advice, out, []))
    pictures = {f"plan: {key}": texts_of(each) for key, each in drawn.items()}
    return {**pictures, "plan: table": page.readable(advice).columns}


def portfolio_pictures() -> Sections:
    """The pictures of a portfolio: few arms and many, with limits and without, regret below zero and few rounds."""
    learned, many = portfolio_runs(3), portfolio_runs(12)
    limits = {"upper": [0.5, 0.6, 0.7], "short": True}
    drawn = saved_by(report, lambda out: report.draw(learned, out))
    drawn |= {
        f"limited {key}": each
        for key, each in saved_by(report, lambda out: report.draw(learned, out, **limits)).items()
    }
    parts: dict[str, Callable[[Any], Any]] = {
        "frontier of twelve": lambda ax: plot_frontier(ax, many.bandit, [("long", many.bandit.frontier())], many),
        "frontier of thirteen": lambda ax: plot_frontier(ax, portfolio(13), [("long", portfolio(13).frontier())]),
        "weights of twelve": lambda ax: plot_weights(ax, many),
        "regret below zero": lambda ax: plot_regret(ax, [learned, portfolio_runs(3, worse=0.1)]),
        "regret from round 100 on": lambda ax: plot_regret(ax, [learned, many], since=100),
        "regret of one round": lambda ax: plot_regret(ax, [learned], since=10_000),
    }
    with figures.style():
        for name, plot in parts.items():
            drawn[name] = Figure()
            plot(drawn[name].subplots())
    return {f"portfolio: {key}": texts_of(each) for key, each in drawn.items()}


PARTS: dict[str, Callable[[], Sections]] = {
    **{name: partial(paper_figure, name) for name in (*paper.FIGURES, *paper.EXTRAS)},
    "claims": claim_cells,
    "study": study_pictures,
    "plan": plan_pictures,
    "portfolio": portfolio_pictures,
}
"""What is pinned; a part has sections of its own."""


@cache
def part(name: str) -> Sections:
    """The sections of a part, named after it."""
    return {f"[{name}] {section}": lines for section, lines in PARTS[name]().items()}
