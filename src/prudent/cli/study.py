"""The commands for studies: run, show, plot, compare, compact. Heavy imports wait for their command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from prudent.cli.output import print_rows, progress_bar, with_error

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
@click.option(
    "--backend", default="threads", show_default=True, help="threads, processes, or a Dask scheduler: tcp://host:8786."
)
@click.option("--dry-run", is_flag=True, help="Check the study, say how much work is left, simulate nothing.")
def run(study: Path, out: Path | None, dry_run: bool, **settings: Any) -> None:
    """Run a study written in TOML. Stopped at any moment, it continues where it was when called again.

    Workers and backend never change the results.
    """
    from prudent.study import load
    from prudent.study import run as run_study

    out = out or Path("results") / study.stem
    asked = load(study)
    if dry_run:
        print_forecast(asked, out, settings["workers"], settings["backend"])
        return
    with progress_bar(study.stem, len({each.key for each in asked.cells})) as advance:
        store = run_study(asked, out, progress=advance, complain=warn, **settings)
    click.echo(store.folder)


def print_forecast(study: Any, out: Path, workers: int | None, backend: str) -> None:
    """What is left to do, and how long it may take."""
    from prudent.engine.threads import count_workers
    from prudent.study import Store, forecast

    count = count_workers("run", workers)
    known = set(Store(out).table(warn)["cell"]) if (out / "manifest.json").exists() else set()
    rest = [each for each in study.cells if each.key not in known]
    left = forecast(rest, count, threads=backend == "threads")
    click.echo(f"{len(study.cells):,} cells, {len(study.cells) - len(rest):,} finished, {left.cells:,} to run")
    where = "threads of this machine" if "://" in backend else backend
    click.echo(f"{left.pulls:,} pulls, about {duration(left.seconds)} with {count} {where}")


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
    from prudent.study.select import select

    store = Store(folder)
    table = select(store.table(warn), **chosen)
    if as_json:
        click.echo(json.dumps(table.to_dicts()))
        return
    if as_csv:
        flat = [name for name, kind in table.schema.items() if not isinstance(kind, pl.List)]
        click.echo(table.select(flat).write_csv(), nl=False)
        return
    words = [*labels_shown(table), "risk", "policy", "horizon"]
    rows = [
        {name: in_words(row[name]) for name in words}
        | {name: "–" if row[name] is None else with_error(row[name], row[f"{name}_se"]) for name in SHOWN}
        for row in table.iter_rows(named=True)
    ]
    print_rows(f"{len(table):,} of {len(store.labels()):,} cells (± standard error)", rows, left=words[:-1])


def labels_shown(table: Any) -> list[str]:
    """Labels in words, and ranges with more than one value."""
    from prudent.study.select import labels_of, ranges_of, varying

    return [name for name in labels_of(table) if name not in ranges_of(table) or name in varying(table)]


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
    words = [*labels_shown(answer), "risk", "horizon"]
    rows = [
        {name: in_words(row[name]) for name in words}
        | {name: f"{row[name]:.4g}" for name in ("difference", "low", "high")}
        | {"p (Holm)": f"{row['p_holm']:.4g}", "verdict": row["verdict"]}
        for row in answer.iter_rows(named=True)
    ]
    together = f"s for all {len(answer)} together" if len(answer) > 1 else ""
    intervals = f"{100 * level:g} % interval{together}"
    print_rows(f"{measure} of {policy_a} − {policy_b}; {intervals}", rows, left=(*words[:-1], "verdict"))
    counts = answer["verdict"].value_counts(sort=True).iter_rows()
    click.echo("; ".join(f"{verdict}: {count}" for verdict, count in counts))


@click.command()
@store_argument
def compact(folder: Path) -> None:
    """Merge the results of a study into a few large files."""
    from prudent.study import Store

    click.echo(f"{Store(folder).compact(warn)} parts")


COMMANDS = (run, show, plot, compare, compact)
