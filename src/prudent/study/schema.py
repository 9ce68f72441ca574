"""The columns of a study's results: what identifies a cell, what is measured of it, what its runs leave."""

from typing import Any

import polars as pl

from prudent.results.runs import MEASURES

KEEP = ("summary", "runs")
"""What is stored of each cell: means and standard errors, or the statistics of every run as well."""

MAX_WHOLE = 2**63 - 1
"""The largest whole number that a column holds."""

FACTS: dict[str, Any] = {"cell": pl.String, "arms": pl.String, "risk": pl.String, "policy": pl.String}
FACTS |= {"horizon": pl.Int64, "runs": pl.Int64, "seed": pl.Int64, "engine": pl.String, "scale": pl.String}

SUMMARY: dict[str, Any] = {name: pl.Float64 for measure in MEASURES for name in (measure, f"{measure}_se")}
SUMMARY |= {"across_variance": pl.Float64, "pulls": pl.List(pl.Float64), "pulls_se": pl.List(pl.Float64)}
"""`Runs.summary()`; null where the risk measure defines no such measure."""

STATISTICS = ("pulls", "mean", "variance", "twin_mean", "twin_variance")
"""What a run leaves of every arm, the arrays of `Runs`; stored as lists over runs of lists over arms."""

BY_RUN: dict[str, Any] = {"regret_by_run": pl.List(pl.Float64), "pulls_by_run": pl.List(pl.List(pl.Int64))}
BY_RUN |= {f"{name}_by_run": pl.List(pl.List(pl.Float64)) for name in STATISTICS[1:]}

BY_RUN |= {"engine_ran": pl.String, "policy_played": pl.String}
"""The engine that "auto" stood for, and the policy with what it assumes of rewards filled in."""

COLUMNS = (*FACTS, *SUMMARY, *BY_RUN)


def columns(keep: str) -> dict[str, Any]:
    """The columns of a part; every part of a study has the same."""
    return {**FACTS, **SUMMARY, **(BY_RUN if keep == "runs" else {})}
