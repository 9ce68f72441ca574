"""One task: some cells simulated one after another, their results as the bytes of a Parquet file."""

import io
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

import prudent
from prudent.compiled import kernels_digest
from prudent.engine.simulation import simulate
from prudent.errors import PrudentError
from prudent.runs import Runs
from prudent.study.cells import Cell
from prudent.study.schema import BY_RUN, STATISTICS, columns

_warm: set[tuple[Any, ...]] = set()


class Task(NamedTuple):
    """Cells with their keys, and the code they are to be simulated by."""

    keys: list[str]
    cells: list[Cell]
    keep: str
    code: str


class Done(NamedTuple):
    """What a task leaves: a part of the results, and how long each cell took."""

    keys: list[str]
    seconds: list[float]
    part: bytes


def code_version() -> str:
    """A digest of the code that decides the numbers."""
    return kernels_digest().hex()


def play(task: Task) -> Done:
    """Simulate the cells; on any machine, in any company, with the same result."""
    if task.code != code_version():
        raise PrudentError(f"a worker runs another prudent than this one, {prudent.__version__}; install the same")
    rows, seconds = [], []
    for key, cell in zip(task.keys, task.cells, strict=True):
        if cell.key() != key:
            name = type(cell.policy).__name__
            raise PrudentError(f"{name} is not the same policy on a worker; define it in a module workers can import")
        _warm_up(cell)
        started = time.perf_counter()
        runs = _simulate(cell, cell.runs)
        measured = runs.summary() | (by_run(runs) if task.keep == "runs" else {})
        rows.append({**measured, "cell": key, **cell.facts()})
        seconds.append(time.perf_counter() - started)
    return Done(task.keys, seconds, as_part(rows, task.keep))


def _warm_up(cell: Cell) -> None:
    """Have the policy compiled, or loaded, before anything is timed."""
    if cell.kind() not in _warm:
        _simulate(cell, 1)
        _warm.add(cell.kind())


def _simulate(cell: Cell, runs: int) -> Runs:
    settings: dict[str, Any] = {"horizon": cell.horizon, "seed": cell.seed, "engine": cell.engine, "workers": 1}
    return simulate(cell.bandit, cell.policy, risk=cell.risk, runs=runs, **settings)


def by_run(runs: Runs) -> dict[str, Any]:
    """The statistics of every run and arm."""
    rows: dict[str, Any] = {"regret_by_run": pl.Series(runs.regret()) if runs.risk.by_moments else None}
    for name in STATISTICS:
        rows[f"{name}_by_run"] = pl.Series(getattr(runs, name)).cast(BY_RUN[f"{name}_by_run"].inner)
    return rows


def as_part(rows: Sequence[dict[str, Any]], keep: str) -> bytes:
    """Rows as a Parquet file that says which code made it."""
    return to_bytes(pl.DataFrame(rows, schema=columns(keep)), code_version())


def to_bytes(table: pl.DataFrame, code: str) -> bytes:
    """A Parquet file that carries the version of the code."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, metadata={"prudent": prudent.__version__, "prudent.code": code})
    return buffer.getvalue()
