"""One task: some cells played one after another, their results as the bytes of a Parquet file."""

import io
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import prudent
from prudent.compiled import kernels_digest
from prudent.engine.simulation import simulate
from prudent.errors import PrudentError
from prudent.regret import exploration_risk, gap_regret
from prudent.risk.mean_variance import MeanVariance
from prudent.runs import Runs
from prudent.study.cells import Cell

MEASURES = (
    "regret",
    "gap",
    "exploration",
    "twins",
    "pseudo_regret",
    "expected_gap",
    "exploration_risk",
    "reward_mean",
    "reward_variance",
    "best_share",
)
"""What is measured of every run; means and standard errors (`regret_se`) are stored. Null where the risk has none."""

STATISTICS = ("pulls", "mean", "variance", "twin_mean", "twin_variance")
"""What a run leaves of every arm; stored if the study keeps runs, as lists over runs of lists over arms."""

FACTS: dict[str, Any] = {
    "cell": pl.String,
    "arms": pl.String,
    "risk": pl.String,
    "policy": pl.String,
    "horizon": pl.Int64,
}
FACTS |= {"runs": pl.Int64, "seed": pl.Int64, "engine": pl.String}
SUMMARY: dict[str, Any] = {name: pl.Float64 for measure in MEASURES for name in (measure, f"{measure}_se")}
SUMMARY |= {"across_variance": pl.Float64, "pulls": pl.List(pl.Float64)}
BY_RUN: dict[str, Any] = {"regret_by_run": pl.List(pl.Float64), "pulls_by_run": pl.List(pl.List(pl.Int64))}
BY_RUN |= {f"{name}_by_run": pl.List(pl.List(pl.Float64)) for name in STATISTICS[1:]}

COLUMNS = ("bandit", *FACTS, *SUMMARY, *BY_RUN)

_warm: set[tuple[Any, ...]] = set()


class Task(NamedTuple):
    """Cells with their keys, and the code they are to be played by."""

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
        rows.append({"cell": key, **cell.facts(), **summary(runs), **(by_run(runs) if task.keep == "runs" else {})})
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


def summary(runs: Runs) -> dict[str, Any]:
    """Means and standard errors over runs, flat: regret, regret_se, …"""
    values = measures(runs)
    flat: dict[str, Any] = dict.fromkeys(SUMMARY)
    table = np.array(list(values.values()))
    means = table.mean(1).tolist()
    errors = (table.std(1, ddof=1) / np.sqrt(len(runs))).tolist() if len(runs) > 1 else [None] * len(values)
    for name, mean, error in zip(values, means, errors, strict=True):
        flat[name], flat[f"{name}_se"] = mean, error
    flat["across_variance"] = float(values["reward_mean"].var())
    flat["pulls"] = runs.pulls.mean(0).tolist()
    return flat


def measures(runs: Runs) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """One value per run of every measure that the risk has.

    The expected gap (1/n) Σ T_i Δ_i and the exploration risk are there for every risk.
    """
    values = {}
    if runs.risk.by_moments:
        values["regret"] = runs.regret()
    if isinstance(runs.risk, MeanVariance):
        values |= runs.regret_parts()._asdict()
        values["pseudo_regret"] = runs.pseudo_regret()
    values["expected_gap"] = gap_regret(runs.pulls, runs.bandit.gaps(runs.risk))
    values["exploration_risk"] = exploration_risk(runs.pulls, runs.mean)
    values["reward_mean"], values["reward_variance"] = runs.reward_mean(), runs.reward_variance()
    values["best_share"] = runs.pulls[:, runs.bandit.best(runs.risk)] / runs.horizon
    return values


def by_run(runs: Runs) -> dict[str, Any]:
    """The statistics of every run and arm."""
    rows: dict[str, Any] = {"regret_by_run": pl.Series(runs.regret()) if runs.risk.by_moments else None}
    for name in STATISTICS:
        rows[f"{name}_by_run"] = pl.Series(getattr(runs, name)).cast(BY_RUN[f"{name}_by_run"].inner)
    return rows


def as_part(rows: Sequence[dict[str, Any]], keep: str) -> bytes:
    """Rows as a Parquet file that says which code made it; every file has the same columns."""
    schema = {**FACTS, **SUMMARY, **(BY_RUN if keep == "runs" else {})}
    return to_bytes(pl.DataFrame(rows, schema=schema), code_version())


def to_bytes(table: pl.DataFrame, code: str) -> bytes:
    """A Parquet file that carries the version of the code."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, metadata={"prudent": prudent.__version__, "prudent.code": code})
    return buffer.getvalue()
