"""One task: some cells simulated one after another, their results as the bytes of a Parquet file."""

import io
import time
from typing import Any, NamedTuple

import polars as pl

import prudent
from prudent.base.errors import PrudentError
from prudent.base.own_classes import Files, unpacked
from prudent.compile.cache import kernels_digest
from prudent.engine.simulate import simulate
from prudent.policies.contract import spec
from prudent.policies.units import without_warning
from prudent.results.runs import Runs
from prudent.study.cells import Cell
from prudent.study.schema import BY_RUN, STATISTICS, columns

_warm: set[tuple[Any, ...]] = set()


class Task(NamedTuple):
    """Cells by their keys, the code they are to be simulated by, and files of the user's that they name."""

    cells: dict[str, Cell]
    keep: str
    code: str
    files: Files = {}  # noqa: RUF012 - never changed


class Done(NamedTuple):
    """What a task leaves: how long each cell took, by its key, and a part of the results."""

    seconds: dict[str, float]
    part: bytes


def code_version() -> str:
    """A digest of the code that decides the numbers."""
    return kernels_digest().hex()


@without_warning()
def play(task: Task) -> Done:
    """Simulate the cells; on any machine, in any company, with the same result."""
    if task.code != code_version():
        raise PrudentError(f"a worker runs another prudent than this one, {prudent.__version__}; install the same")
    unpacked(task.files)
    rows, seconds = [], {}
    for key, cell in task.cells.items():
        if cell.key() != key:
            name = type(cell.policy).__name__
            raise PrudentError(f"{name} is not the same policy on a worker; define it in a module workers can import")
        if cell.kind() not in _warm:  # the policy is compiled, or loaded, before anything is timed
            simulate(**cell._replace(runs=1)._asdict(), workers=1)
            _warm.add(cell.kind())
        started = time.perf_counter()
        runs = simulate(**cell._asdict(), workers=1)
        measured = runs.summary() | (_by_run(runs) if task.keep == "runs" else {})
        rows.append({**measured, "cell": key, **cell.facts()})
        seconds[key] = time.perf_counter() - started
    return Done(seconds, to_bytes(pl.DataFrame(rows, schema=columns(task.keep)), task.code))


def _by_run(runs: Runs) -> dict[str, Any]:
    """The statistics of every run and arm."""
    regret = pl.Series(runs.regret()) if runs.risk.by_moments else None
    arrays = {f"{name}_by_run": pl.Series(getattr(runs, name)) for name in STATISTICS}
    as_run = {"engine_ran": runs.engine, "policy_played": spec(runs.policy)}
    return as_run | {"regret_by_run": regret} | {name: each.cast(BY_RUN[name].inner) for name, each in arrays.items()}


def to_bytes(table: pl.DataFrame, code: str, **more: str) -> bytes:
    """A Parquet file that carries the version of the code."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, metadata={"prudent": prudent.__version__, "prudent.code": code, **more})
    return buffer.getvalue()
