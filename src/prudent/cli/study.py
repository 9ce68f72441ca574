"""The command `study`: run, show, plot, compare, compact. Heavy imports wait for their command."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from prudent.base.text import count, counted, duration, number, risk_name, with_error
from prudent.cli.output import all_of, answer, json_option, progress_bar, warn, warning_first
from prudent.cli.paths import FILE, check_file, check_folder
from prudent.cli.pivot import pivoted, print_latex

DRY_RUN_SECONDS = 1.0
"""Seconds that a dry run takes to try cells."""

KINDS = ("regret", "heatmap", "frontier", "pulls", "distribution")
SHOWN = ("regret", "exploration_risk", "best_share", "reward_mean", "reward_variance")
BACKENDS = "threads, processes, or a Dask scheduler: tcp://host:8786."

cells_options = all_of(
    click.argument("folder", type=FILE),
    click.option("--policy", "policies", multiple=True, metavar="POLICY", help='A policy, or "mv-lcb*".'),
    click.option("--bandit", "bandits", multiple=True, metavar="NAME", help="A bandit's name or a pattern."),
    click.option("--risk", "risks", multiple=True, metavar="RISK", help="A risk or a pattern; may be repeated."),
    click.option("--horizon", "horizons", type=float, multiple=True, metavar="N", help="May be repeated."),
    click.option("--where", multiple=True, metavar="NAME=VALUE", help="A value of a range; may be repeated."),
)
measure_option = click.option("--measure", default="regret", show_default=True, help="Which of the stored measures.")


def cells_of(folder: Path, chosen: dict[str, Any]) -> Any:
    """The table of the finished cells that `cells_options` ask for."""
    from prudent.study import Store
    from prudent.study.select import select

    with progress_bar("reading"):
        return select(Store(folder).table(warn), **chosen)


@click.group(short_help="Run grids of simulations.")
def study() -> None:
    """Run grids of simulations that survive crashes; show, draw and compare what they found."""


@study.command()
@click.argument("definition", type=FILE, metavar="STUDY.toml")
@click.option("--out", type=FILE, help="The folder; results/STUDY by default.")
@click.option("--workers", type=int, help="Threads or processes; all cores by default.")
@click.option("--backend", default="threads", show_default=True, help=BACKENDS)
@click.option("--dry-run", is_flag=True, help="Check the study, say how much work is left, simulate nothing.")
def run(definition: Path, out: Path | None, dry_run: bool, **settings: Any) -> None:
    """Run a study written in TOML. Stopped at any moment, it continues where it was when called again.

    Workers and backend never change the results.
    """
    from prudent.engine.threads import count_workers
    from prudent.study import load
    from prudent.study import run as run_study
    from prudent.study.backends import choose_backend
    from prudent.study.timing import seconds_of_sample

    out = out or Path("results") / definition.stem
    count, local = count_workers("run", settings["workers"]), settings["backend"] == "threads"
    choose_backend(settings["backend"])
    if not dry_run:
        check_folder("run", out)
    with expansion_bar(definition.stem) as expanding:
        asked = load(definition, expanding)
        total = len({each.key for each in asked.cells})
    if dry_run:
        print_estimate(asked, out, count, settings["backend"])
        return
    with progress_bar(definition.stem, total) as advance:
        seconds = partial(seconds_of_sample, asked.cells, count, threads=local)
        told = warning_first(advance, total, seconds, count)
        store = run_study(asked, out, progress=told, complain=warn, **settings)
    click.echo(store.folder)


@contextmanager
def expansion_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for `Study.expand`, drawn once it is known how many cells there are."""
    with ExitStack() as bars:
        told, advance = 0, None

        def expanding(made: int, total: int) -> None:
            nonlocal told, advance
            advance = advance or bars.enter_context(progress_bar(f"{title}: {total:,} cells", total))
            advance(made - told)
            told = made

        yield expanding


def print_estimate(asked: Any, out: Path, workers: int, backend: str) -> None:
    """What is left to do, and how long it may take."""
    from prudent.compile.announce import SECONDS
    from prudent.study import Store, estimate_time

    with progress_bar("estimating the time"):
        known = set(Store(out).table(warn)["cell"]) if (out / "manifest.json").exists() else set()
        rest = [each for each in asked.cells if each.key not in known]
        left = estimate_time(rest, workers, threads=backend == "threads", patience=DRY_RUN_SECONDS, compiles=False)
    finished = count(len(asked.cells) - len(rest))
    click.echo(f"{counted(len(asked.cells), 'cell')}, {finished} finished, {count(left.cells)} to run")
    where = "threads of this machine" if "://" in backend else backend
    time = f", roughly {duration(left.seconds)} with {workers} {where}" if left.seconds else ""
    click.echo(f"{counted(left.pulls, 'pull')}{time}")
    if left.uncompiled:
        kinds = f"{counted(left.uncompiled, 'kind')} of cells"
        more = f"compiling {kinds} adds about {duration(SECONDS * left.uncompiled)}, once"
        click.echo(f"{more}; how long they take to run is not known before")


@study.command(short_help="Print the finished cells.")
@cells_options
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with every column of numbers and words.")
@click.option("--pivot", metavar="LABEL", help="One measure, with a column for each policy, horizon, …")
@click.option("--latex", is_flag=True, help="As a LaTeX table of one measure, the best in bold.")
@measure_option
def show(
    folder: Path, as_json: bool, as_csv: bool, pivot: str | None, latex: bool, measure: str, **chosen: object
) -> None:
    """Print the finished cells of a study, with error bars."""
    from prudent.study import Store

    table = cells_of(folder, chosen)
    if as_csv:
        flat = [name for name, kind in table.schema.items() if not kind.is_nested()]
        click.echo(table.select(flat).write_csv(), nl=False)
        return
    facts, labels = table.to_dicts(), ["policy", *labels_shown(table), "risk", "horizon"]
    words, same = in_words(facts, labels)
    if pivot or latex:
        across = pivot or next((name for name in reversed(words[0]) if name != "policy"), "policy")
        rows, good = pivoted(facts, words, across, measure)
        about = f"{measure.replace('_', ' ')} by {across}{same}"
        if latex:
            print_latex(rows, good, about)
        else:
            answer(
                as_json, facts, f"{about} (± standard error)", rows, left=[name for name in words[0] if name != across]
            )
        return
    rows = [
        own | {name.replace("_", " "): with_error(row[name], row[f"{name}_se"]) for name in SHOWN}
        for own, row in zip(words, facts, strict=True)
    ]
    title = f"{count(len(table))} of {counted(len(Store(folder).labels()), 'cell')}{same} (± standard error)"
    answer(as_json, facts, title, rows, left=labels[:-1])


def labels_shown(table: Any) -> list[str]:
    """Labels in words, and ranges with more than one value."""
    from prudent.study.select import labels_of, ranges_of, varying

    return [name for name in labels_of(table) if name not in ranges_of(table) or name in varying(table)]


def in_word(label: object) -> str:
    """A label as it is printed: a count, a value of a range, a name, or nothing where a cell has none."""
    if label is None:
        return ""
    return count(label) if isinstance(label, int) else number(label, 6) if isinstance(label, float) else str(label)


def in_words(rows: list[dict[str, object]], names: list[str]) -> tuple[list[dict[str, str]], str]:
    """The labels of every row as they are printed; and those that all rows share, to be said once instead."""
    shown = [{name: risk_name(row[name]) if name == "risk" else in_word(row[name]) for name in names} for row in rows]
    same = [name for name in names[1:] if len(shown) > 1 and len({row[name] for row in shown}) == 1]
    said = "".join(f", {name} {shown[0][name]}" for name in same)
    return [{name: row[name] for name in names if name not in same} for row in shown], said


@study.command(short_help="Draw a study.")
@cells_options
@click.argument("kind", type=click.Choice(KINDS))
@measure_option
@click.option("--x", metavar="RANGE", help="Heat map: the range along x; the first by default.")
@click.option("--y", metavar="RANGE", help="Heat map: the range along y; the second by default.")
@click.option("--title", default="", help="A line above the picture.")
@click.option("--size", type=float, nargs=2, metavar="W H", help="Width and height in inches; then nothing is cut off.")
@click.option("--out", type=FILE, help=".svg, .png or .pdf; default: FOLDER/KIND.svg.")
def plot(folder: Path, kind: str, measure: str, out: Path | None, **options: Any) -> None:
    """Draw a study: regret against the horizon, a heat map over two ranges, the frontier, pulls, or the distribution
    of regret over runs."""
    from prudent.study.plots import draw

    out = out or folder / f"{kind}.svg"
    looks = {name: options.pop(name) for name in ("title", "size")}
    axes = options.pop("x"), options.pop("y")
    table = cells_of(folder, options)
    check_file("plot", out)
    with progress_bar("drawing"):
        made = draw(kind, table, out, measure=measure, axes=axes, **looks)
    click.echo(made)


@study.command(short_help="Compare two policies, with intervals.")
@cells_options
@click.argument("policy_a")
@click.argument("policy_b")
@measure_option
@click.option("--level", default=0.95, show_default=True, help="Confidence of all intervals together.")
@json_option
def compare(
    folder: Path, policy_a: str, policy_b: str, measure: str, level: float, as_json: bool, **chosen: object
) -> None:
    """Compare two policies on the cells they share: A − B, with intervals that hold all together."""
    from prudent.study.compare import compare as differences

    found = differences(cells_of(folder, chosen), policy_a, policy_b, measure=measure, level=level)
    facts, labels = found.to_dicts(), ["horizon", *labels_shown(found), "risk"]
    words, same = in_words(facts, labels)
    rows = []
    for own, row in zip(words, facts, strict=True):
        ends = {name: number(row[name]) for name in ("low", "high")}
        numbers = {"difference": with_error(row["difference"], row["se"]), **ends, "p (Holm)": number(row["p_holm"], 2)}
        rows.append({**own, **numbers, "verdict": row["verdict"]})
    together = f"intervals for all {count(len(found))} together" if len(found) > 1 else "interval"
    asked = f"{measure.replace('_', ' ')} of {policy_a} minus that of {policy_b}{same}"
    title = f"{asked}; ± standard error, {number(100 * level)} % {together}"
    answer(as_json, facts, title, rows, left=(*labels[1:], "verdict"))
    if not as_json:
        verdicts = found["verdict"].value_counts(sort=True).iter_rows()
        click.echo("\n" + "; ".join(f"{verdict}: {count(often)}" for verdict, often in verdicts))


@study.command(short_help="Merge the results into a few large files.")
@click.argument("folder", type=FILE)
def compact(folder: Path) -> None:
    """Merge the results of a study into a few large files."""
    from prudent.study import Store

    store = Store(folder)
    store.manifest()  # a folder that holds no study is no folder with 0 parts
    with progress_bar("compacting"):
        parts = store.compact(warn)
    click.echo(counted(parts, "part"))
