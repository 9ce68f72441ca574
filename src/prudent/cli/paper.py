"""The command `paper`."""

import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import progress_bar, run_options, warning_first
from prudent.cli.paths import FILE, check_folder
from prudent.cli.tables import print_rows

if TYPE_CHECKING:
    from prudent.results.page import Section

RUNS = 500
"""Runs for each point, unless asked otherwise; all figures and claims together then take minutes."""


@click.command(short_help="Reproduce the paper's figures and claims.")
@click.argument("name", required=False)
@run_options(RUNS, "Runs for each point.")
@click.option("--quick", is_flag=True, help="50 runs for each point.")
@click.option("--rho", type=float, help="Only for fig2-left: another tolerance for risk than 0.")
@click.option("--arm", "arms", multiple=True, metavar="LAW", help="Only for fig2-left: another arm; give one per arm.")
@click.option("--policy", multiple=True, metavar="POLICY", help="Only for leaderboard: a policy to join.")
@click.option("--engine", metavar="ENGINE", help="Only for leaderboard: gpu, for policies that cannot leap.")
@click.option("--horizon", type=int, help="Only for leaderboard: rounds of the Gaussian suite, instead of 100,000.")
@click.option("--out", type=FILE, default=Path("results/paper"), show_default=True)
def paper(
    name: str | None,
    out: Path,
    quick: bool,
    rho: float | None,
    arms: tuple[str, ...],
    **options: Any,
) -> None:
    """Reproduce the paper (Sani et al., 2012): every figure and claim in one report, one figure by NAME, or `claims`.

    The names: fig2-left, fig2-right, heatmaps, configurations, frontiers, discussion, worst-case, theorems, periods,
    beyond. One more, `leaderboard`, compares all policies on two suites of problems, and yours with `--policy`; it
    takes long and is not in the report.

    Finished simulations are kept: run it again after an interruption, and it continues from there.
    """
    from prudent import paper as whole
    from prudent.base.errors import check_integer
    from prudent.engine.threads import count_workers
    from prudent.paper.making import Settings, make, measure

    options["runs"] = 50 if quick else check_integer("paper", "runs", options["runs"], low=2, hint="for error bars")
    count_workers("paper", options["workers"])
    check_integer("paper", "seed", options["seed"], low=0)
    figures = [whole.figure(each) for each in (whole.FIGURES if name is None else [name]) if each != "claims"]
    if rho is not None or arms:
        figures = [with_others(name, rho, arms)]
    of_board = {each: options.pop(each) for each in ("policy", "engine", "horizon")}
    if given := [each for each, value in of_board.items() if value not in (None, ())]:
        figures = [another_board(name, given[0], **of_board)]
    check_folder("paper", out)
    settings, started = Settings(out, **options), time.perf_counter()
    if name == "claims":
        for title, table in check(settings).tables().items():
            rows = table.drop("how it was checked")
            print_rows(title, rows.to_dicts(), left=rows.columns)
        return
    if name is not None:
        with simulating(figures[0], settings) as told:
            tell(make(figures[0], told))
        return
    sections: list[Section] = []
    drawn: deque[Future[Section]] = deque()
    with beside(options["workers"]) as pen:
        for figure in figures:
            with simulating(figure, settings) as told:
                tables = measure(figure, told)
            drawn.append(pen.submit(whole.described, figure.name, settings, tables))
            while drawn and drawn[0].done():
                sections.append(tell(drawn.popleft().result()))
                whole.write_report(settings, sections, None, time.perf_counter() - started)
        ledger = check(settings)
        sections += [tell(each.result()) for each in drawn]
    click.echo(whole.write_report(settings, sections, ledger, time.perf_counter() - started))


@contextmanager
def simulating(figure: Any, settings: Any) -> Iterator[Any]:
    """The settings with a progress bar, and a warning first if it takes long."""
    from prudent.paper.making import count_cells

    total = count_cells(figure)
    with progress_bar(figure.name, total) as advance:
        cells = [(cell, figure.share_of_runs) for panel in figure.cells().values() for cell in panel]
        yield replace(settings, progress=warning(advance, total, cells, settings))


def beside(workers: int | None) -> Executor:
    """Who draws a figure while the next one is simulated: another process, since two threads would wait for each other;
    for one worker a thread all the same."""
    if workers == 1:
        return ThreadPoolExecutor(1)
    # Ctrl-C is for the one who waits; the other ends with it.
    return ProcessPoolExecutor(1, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))


def tell(section: "Section") -> "Section":
    """Print the files of a section."""
    for path in section.files():
        click.echo(path)
    return section


def with_others(name: str | None, rho: float | None, arms: tuple[str, ...]) -> Any:
    """Figure 2, left, with another ρ or other arms."""
    from prudent import Bandit, MeanVariance
    from prudent.base.errors import PrudentError
    from prudent.paper import fig2_left
    from prudent.paper.problems import FIGURE_2

    if name != "fig2-left":
        raise PrudentError(f"paper: rho and arm are for fig2-left, got {name or 'the whole paper'}; leave them out")
    if len(arms) == 1:
        raise PrudentError("paper: arm must be given for each of two or more arms, got one")
    bandit = Bandit(arms) if arms else FIGURE_2
    risk = MeanVariance(0.0 if rho is None else rho)
    bandit.costs(risk)
    return fig2_left.with_others(bandit, risk.rho)


def another_board(
    name: str | None, given: str, policy: tuple[str, ...], engine: str | None, horizon: int | None
) -> Any:
    """The leaderboard with policies of one's own, or with other parameters, on another engine, or with other rounds."""
    from prudent.base.errors import PrudentError
    from prudent.paper.leaderboard import board

    if name != "leaderboard":
        raise PrudentError(f"paper: {given} is for leaderboard, got {name or 'the whole paper'}; leave it out")
    return board(policy, engine or "auto", horizon)


def check(settings: Any) -> Any:
    """The ledger of claims, filled in."""
    from prudent.paper import claims
    from prudent.paper.claims.ledger import check_ledger, count_cells, place_of

    every = [*claims.CLAIMS, *claims.REMARKS]
    cells = {place_of(cell): cell for each in every for cell in each.check.cells}
    with progress_bar("claims", count_cells(every)) as advance:
        told = warning(advance, len(cells), [(cell, share) for (_, share), cell in cells.items()], settings)
        return check_ledger(replace(settings, progress=told), claims.CLAIMS, claims.REMARKS)


def warning(advance: Callable[[int], None], total: int, cells: Sequence[tuple[Any, int]], settings: Any) -> Any:
    """`advance`, which says how long the cells take, each with one in so many of the runs, if that may be long."""
    from prudent.engine.threads import count_workers
    from prudent.study.timing import seconds_of_sample

    if settings.runs <= RUNS:
        return advance
    ready = [replace(each, cell=each.cell._replace(runs=max(2, settings.runs // share))) for each, share in cells]
    workers = count_workers("paper", settings.workers)
    return warning_first(advance, total, lambda: seconds_of_sample(ready, workers), workers)
