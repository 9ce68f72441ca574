"""The commands for studies: run, show, plot, compare, compact. Heavy imports wait for their command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from prudent.cli.output import print_table, progress_bar, with_error

KINDS = ("regret", "heatmap", "frontier", "pulls", "distribution")
SHOWN = ("regret", "exploration_risk", "best_share", "reward_mean", "reward_variance")


def warn(text: str) -> None:
    """A remark on stderr."""
    click.echo(f"Warning: {text}", err=True)


def store_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """The folder of a study."""
    return click.argument("folder", type=click.Path(path_type=Path))(command)


def filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which cells: patterns such as "mv-lcb*", values of ranges."""
    for option in (
        click.option("--where", multiple=True, metavar="NAME=VALUE", help="A value of a range; may be repeated."),
        click.option("--horizon", "horizons", type=float, multiple=True, metavar="N", help="May be repeated."),
        click.option("--risk", "risks", multiple=True, metavar="RISK", help="A risk or a pattern; may be repeated."),
        click.option("--bandit", "bandits", multiple=True, metavar="NAME", help="A bandit's name or a pattern."),
        click.option("--policy", "policies", multiple=True, metavar="POLICY", help='A policy, or "mv-lcb*".'),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=None, help="The folder; results/STUDY by default.")
@click.option("--workers", type=int, default=None, help="Threads or processes; all cores by default.")
@click.option("--backend", default="threads", show_default=True, help="threads or processes.")
@click.option("--cluster", default=None, metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786.")
@click.option("--dry-run", is_flag=True, help="Check the study and estimate the time; run nothing.")
def run(study: Path, out: Path | None, cluster: str | None, dry_run: bool, **settings: Any) -> None:
    """Run a study written in TOML. Stopped at any moment, it continues where it was.

    Workers, backend and cluster never change the results.
    """
    from prudent.study import load
    from prudent.study import run as play

    out = out or Path("results") / study.stem
    asked = load(study)
    if dry_run:
        forecast(asked, out, settings["workers"], settings["backend"])
        return
    with progress_bar(study.stem, len({entry.key for entry in asked.entries})) as advance:
        store = play(asked, out, address=cluster, progress=advance, complain=warn, **settings)
    click.echo(store.folder)


def forecast(study: Any, out: Path, workers: int | None, backend: str) -> None:
    """What is left to do, and how long it may take."""
    from prudent.study import Store, estimate
    from prudent.study.running import default_workers

    entries = study.entries
    known = set(Store(out).table(warn).get_column("cell")) if (out / "manifest.json").exists() else set()
    rest = [entry for entry in entries if entry.key not in known]
    left = estimate(rest, default_workers(workers), threads=backend == "threads")
    click.echo(f"{len(entries):,} cells, {len(entries) - len(rest):,} finished, {left.cells:,} to run")
    click.echo(f"{left.pulls:,} pulls, about {duration(left.seconds)} with {default_workers(workers)} {backend}")


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


@click.command()
@store_argument
@filters
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array with every column.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with every column of numbers and words.")
def show(folder: Path, as_json: bool, as_csv: bool, **chosen: Any) -> None:
    """Print the finished cells of a study, with error bars."""
    import polars as pl

    from prudent.study import Store
    from prudent.study.select import select, varying

    store = Store(folder)
    table = select(store.table(warn), **chosen)
    if as_json:
        click.echo(json.dumps(table.to_dicts()))
        return
    if as_csv:
        flat = [name for name, kind in table.schema.items() if not isinstance(kind, pl.List)]
        click.echo(table.select(flat).write_csv(), nl=False)
        return
    print_cells(table, ["bandit", *varying(table)], f"{len(table):,} of {len(store.labels()):,} cells")


def print_cells(table: Any, names: list[str], title: str) -> None:
    """One row per cell."""
    from rich.markup import escape
    from rich.table import Table

    printed = Table(title=f"{title} (± standard error)")
    words = list(dict.fromkeys([*names, "risk", "policy", "horizon"]))
    for name in (*words, *SHOWN):
        printed.add_column(name, justify="right" if name in SHOWN or name == "horizon" else "left")
    for row in table.iter_rows(named=True):
        values = ("–" if row[name] is None else with_error(row[name], row[f"{name}_se"]) for name in SHOWN)
        printed.add_row(*(escape(in_words(row[name])) for name in words), *values)
    print_table(printed)


def in_words(value: Any) -> str:
    """A label as it is printed."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


@click.command()
@store_argument
@click.argument("kind", type=click.Choice(KINDS))
@filters
@click.option("--measure", default="regret", show_default=True, help="Which of the stored measures to draw.")
@click.option("--x", default=None, metavar="RANGE", help="Heat map: the range along x; the first by default.")
@click.option("--y", default=None, metavar="RANGE", help="Heat map: the range along y; the second by default.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help=".png or .svg; default: FOLDER/KIND.svg.")
def plot(folder: Path, kind: str, measure: str, x: str | None, y: str | None, out: Path | None, **chosen: Any) -> None:
    """Draw a study: regret against the horizon, a heat map over two ranges, the frontier, pulls, or the distribution
    of regret over runs."""
    from prudent.study import Store
    from prudent.study.plots import draw
    from prudent.study.select import select

    out = out or folder / f"{kind}.svg"
    table = select(Store(folder).table(warn), **chosen)
    click.echo(draw(kind, table, out, measure=measure, x=x, y=y))


@click.command()
@store_argument
@click.argument("policy_a")
@click.argument("policy_b")
@filters
@click.option("--measure", default="regret", show_default=True, help="Which of the stored measures to compare.")
@click.option("--level", default=0.95, show_default=True, help="Confidence of all intervals together.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def compare(
    folder: Path, policy_a: str, policy_b: str, measure: str, level: float, as_json: bool, **chosen: Any
) -> None:
    """Compare two policies on the cells they share: A − B, with intervals that hold all together."""
    from prudent.study import Store
    from prudent.study.compare import compare as differences
    from prudent.study.select import select

    table = select(Store(folder).table(warn), **chosen)
    answer = differences(table, policy_a, policy_b, measure=measure, level=level)
    if as_json:
        click.echo(json.dumps(answer.to_dicts()))
        return
    print_comparison(answer, policy_a, policy_b, measure, level)


def print_comparison(answer: Any, policy_a: str, policy_b: str, measure: str, level: float) -> None:
    """One row per pair of cells, and the count of verdicts."""
    from rich.markup import escape
    from rich.table import Table

    from prudent.study.select import varying

    together = f"s for all {len(answer)} together" if len(answer) > 1 else ""
    intervals = f"{100 * level:g} % interval{together}"
    table = Table(title=f"{measure} of {escape(policy_a)} − {escape(policy_b)}; {intervals}")
    words = ["bandit", *varying(answer), "risk", "horizon"]
    for name in (*words, "difference", "low", "high", "p (Holm)", "verdict"):
        table.add_column(name, justify="left" if name in words or name == "verdict" else "right")
    for row in answer.iter_rows(named=True):
        numbers = (f"{row[name]:.4g}" for name in ("difference", "low", "high", "p_holm"))
        table.add_row(*(escape(in_words(row[name])) for name in words), *numbers, row["verdict"])
    print_table(table)
    counts = answer.get_column("verdict").value_counts(sort=True).iter_rows()
    click.echo("; ".join(f"{verdict}: {count}" for verdict, count in counts))


@click.command()
@store_argument
def compact(folder: Path) -> None:
    """Merge the results of a study into a few large files."""
    from prudent.study import Store

    click.echo(f"{Store(folder).compact(warn)} parts")


COMMANDS = (run, show, plot, compare, compact)
