"""Logs that a service exported, in files and frames of many kinds: what counts, and what is passed over."""

import math

import numpy as np
import polars as pl
import pytest

from prudent import PrudentError, evaluate
from prudent.evaluation import read_log

STATES = ["done", "defaulted", "expired", "withdrawn", "open", "told", "waiting", "done"]
LOG = {
    "decision": [f"d{i}" for i in range(8)],
    "arm": ["A", "=B", "A", "=B", "A", "A", "=B", "=B"],
    "state": STATES,
    "at": [f"2026-11-19T20:00:0{i}.000Z" for i in range(8)],
    "reward": [0.5, 0.0, None, None, None, 0.9, None, 1.0],
    "propensity": [0.5, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.75],
    "floor": [0.25] * 8,
    "latency": [7.0, None, None, None, None, None, None, 3.0],
}


class Query:
    """What `duckdb.sql` gives has a method that makes a frame of polars."""

    def __init__(self):
        self.columns = list(LOG)

    def pl(self):
        return pl.DataFrame(LOG)


@pytest.fixture(params=["csv", "parquet", "folder", "pattern", "several", "lazy", "frame", "columns", "query"])
def log(request, tmp_path):
    """The same decisions in every form."""
    frame, kind = pl.DataFrame(LOG), request.param
    if kind in ("frame", "columns", "lazy", "query"):
        return {"frame": frame, "columns": LOG, "lazy": frame.lazy(), "query": Query()}[kind]
    if kind == "csv":  # as the service writes it: an apostrophe before what a spreadsheet takes for a formula
        frame = frame.with_columns(pl.col("arm").str.replace("^=", "'="))
        frame.write_csv(tmp_path / "log.csv")
        return tmp_path / "log.csv"
    frame[:3].write_parquet(tmp_path / "a.parquet")
    frame[3:].write_parquet(tmp_path / "b.parquet")
    frame.write_parquet(tmp_path / "whole.parquet")
    if kind == "parquet":
        return tmp_path / "whole.parquet"
    (tmp_path / "whole.parquet").unlink()
    parts = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    return {"folder": tmp_path, "pattern": str(tmp_path / "*.parquet"), "several": parts}[kind]


def test_decisions_with_an_outcome_count_and_others_are_passed_over(log):
    known = read_log(log)
    assert known.labels == ("=B", "A")
    assert known.arms.tolist() == [1, 0, 0]
    assert known.outcomes.tolist() == [0.5, 0.0, 1.0]
    assert known.propensities.tolist() == [0.5, 0.25, 0.75]
    assert known.floor == 0.25
    assert known.passed_over == (("expired", 1), ("open", 1), ("told", 1), ("waiting", 1), ("withdrawn", 1))
    found = evaluate(log, "=B", support=(0, 1))
    assert found.method == "weights"
    said = "Decisions without an outcome were passed over: 1 expired, 1 open, 1 told, 1 waiting, 1 withdrawn."
    assert found.notes[1].startswith(said)
    assert math.isfinite(found["mean"].interval.high)


def test_another_metric_may_be_the_outcome():
    known = read_log(LOG, outcome="latency")
    assert known.outcomes.tolist() == [7.0, 3.0]
    assert ("no value", 1) in known.passed_over


def test_propensities_of_older_experiments_are_not_there():
    known = read_log({**LOG, "propensity": [None] * 8, "floor": [None] * 8})
    assert known.propensities is None
    assert known.floor is None
    assert evaluate(known, "A", support=(0, 1)).method == "arms"


def test_an_arm_without_a_chance_is_named():
    log = {**LOG, "state": ["done"] * 8, "reward": np.linspace(0, 1, 8), "floor": [0.0] * 8}
    log["propensity"] = [1.0, 1.0, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5]
    found = evaluate(log, "=B", support=(0, 1))
    assert found.method == "arms"
    said = "In 2 of 8 rounds another arm was certain, and =B had no chance, so propensities were not used."
    assert found.notes[1].startswith(said)
    weighted = evaluate(log, "=B", support=(0, 1), method="weights")
    assert "so weights are wrong" in weighted.notes[1]


def test_a_log_without_outcomes_yet_and_files_of_other_kinds_are_refused(tmp_path):
    with pytest.raises(PrudentError, match="no decision of the log has an outcome yet"):
        read_log({**LOG, "state": ["open"] * 8})
    with pytest.raises(PrudentError, match=r"several files must be of Parquet, got a\.csv"):
        read_log(["a.csv", "b.csv"])
    with pytest.raises(PrudentError, match=r"log cannot be read: No such file .* is the path right"):
        read_log(tmp_path / "none.parquet")
