"""Panels of cells, measured once: simulate every cell of a panel, keep the summary as Parquet, continue where a run
stopped.

A panel is what one picture shows at one horizon or so: a few to a few hundred cells. Its file carries a key of all that
decides its content (arms, risks, policies, horizons, runs, seed, version), so a changed setting makes a new file, and a
finished panel is never computed again.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import prudent
from prudent.bandit import Bandit
from prudent.compiled import kernels_digest
from prudent.engine.simulation import simulate
from prudent.policies.base import Policy, spec
from prudent.risk.base import RiskMeasure
from prudent.runs import Runs, mean_and_se


@dataclass(frozen=True)
class Cell:
    """One simulation, and the labels under which its row will be found."""

    bandit: Bandit
    policy: Policy
    risk: RiskMeasure
    horizon: int
    labels: dict[str, float | str] = field(default_factory=dict)

    def key(self) -> str:
        return f"{self.bandit!r} | {spec(self.policy)} | {self.risk} | {self.horizon} | {self.labels}"


@dataclass(frozen=True)
class Desk:
    """Where the paper is worked on: the output folder and the settings of every simulation."""

    out: Path
    runs: int = 500
    seed: int = 0
    workers: int | None = None
    progress: Callable[..., Any] = lambda *_, **__: None

    def path(self, name: str) -> Path:
        """A file under the output folder."""
        return self.out / name


def measured(desk: Desk, name: str, cells: Sequence[Cell]) -> pl.DataFrame:
    """One row per cell: its labels, the means and standard errors of what the paper plots."""
    version = f"{prudent.__version__} {kernels_digest().hex()}"
    facts = "\n".join([version, str(desk.runs), str(desk.seed), *(cell.key() for cell in cells)])
    key = hashlib.blake2b(facts.encode(), digest_size=6).hexdigest()
    path = desk.path(f"data/{name}-{key}.parquet")
    if path.exists():
        desk.progress(len(cells))
        return pl.read_parquet(path)
    rows = []
    for cell in cells:
        settings: dict[str, Any] = {"horizon": cell.horizon, "runs": desk.runs, "seed": desk.seed}
        runs = simulate(cell.bandit, cell.policy, risk=cell.risk, workers=desk.workers, **settings)
        rows.append({**cell.labels, "policy": spec(cell.policy), "horizon": cell.horizon, **summary(runs)})
        desk.progress(1)
    return write_table(pl.DataFrame(rows, infer_schema_length=None), path)


def summary(runs: Runs) -> dict[str, float]:
    """Means and standard errors over runs, flat: regret, regret_se, gap, gap_se, …"""
    parts = runs.regret_parts()
    values = {
        "regret": runs.regret(),
        "gap": parts.gap,
        "exploration": parts.exploration,
        "twins": parts.twins,
        "pseudo_regret": runs.pseudo_regret(),
        "reward_mean": runs.reward_mean(),
        "reward_variance": runs.reward_variance(),
        "best_share": runs.pulls[:, runs.bandit.best(runs.risk)] / runs.horizon,
    }
    flat: dict[str, float] = {"runs": len(runs), "seed": runs.seed}
    for name, value in values.items():
        both = mean_and_se(value)
        flat[name], flat[f"{name}_se"] = both["mean"], both["se"] or 0.0
    flat["across_variance"] = runs.across_variance()
    return flat


def write_table(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Written beside and renamed, so that a file that can be read is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    table.write_parquet(beside)
    beside.replace(path)
    return table
