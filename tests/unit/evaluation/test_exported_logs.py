"""Logs that a service exported, in files and frames of many kinds: what counts, and what is passed over."""

import json
import math

import numpy as np
import polars as pl
import pytest

from prudent import PrudentError, evaluate
from prudent.evaluation import read_log, streaming

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


def coins_of(rounds, without):
    """A log in which C pays 0.9 of the time, A and B half of it, and in the first rounds some had no chance."""
    rng, rows = np.random.default_rng(1), []
    for t in range(rounds):
        lacking = without if t < rounds // 2 else []
        arms = [arm for arm in "ABC" if arm not in lacking]
        rates = [0.8 if arm == arms[0] else 0.2 / (len(arms) - 1) for arm in arms]
        i = rng.choice(len(arms), p=rates)
        paid = float(rng.random() < (0.9 if arms[i] == "C" else 0.5))
        rows.append((str(t), arms[i], "done", paid, rates[i], 0.2 / (len(arms) - 1), json.dumps(lacking)))
    names = ["decision", "arm", "state", "reward", "propensity", "floor", "without_chance"]
    return pl.DataFrame(rows, schema=names, orient="row")


@pytest.mark.parametrize("in_parts", [False, True])
def test_rounds_in_which_an_arm_had_no_chance_are_left_out(monkeypatch, in_parts):
    monkeypatch.setattr(streaming, "LARGE", 10 if in_parts else 10_000)
    log, asked = coins_of(2_000, ["C"]), {"support": (0, 1), "risk": "mean", "quantiles": [0.5]}
    found = evaluate(log.lazy(), "C", **asked)
    alone = evaluate(log[1_000:].lazy(), "C", **asked)
    assert (found.method, found.rounds, found.rows) == ("weights", 1_000, alone.rows)
    assert found["mean"].interval.low < 0.9 < found["mean"].interval.high
    said = "Left out were 1,000 of 2,000 rounds in which it was not certain that C had a chance"
    assert found.notes[1].startswith(said)
    # The mutant: without that column the first half counts, and the interval misses the truth by far.
    wrong = evaluate(log.drop("without_chance").lazy(), "C", **asked)
    assert wrong["mean"].interval.high < 0.85
    assert evaluate(log.lazy(), "A", **asked).rounds == 2_000
    mixture = evaluate(log.lazy(), {"A": 0.5, "C": 0.5}, **asked)
    assert mixture.rounds == 1_000
    assert "all of A and C had a chance" in mixture.notes[1]


def test_a_policy_that_learns_is_replayed_where_every_arm_had_a_chance():
    log = coins_of(2_000, ["C"])
    found = evaluate(log, "thompson", support=(0, 1), risk="mean")
    assert found.rounds == 1_000
    assert found["mean"].estimate == evaluate(log[1_000:], "thompson", support=(0, 1), risk="mean")["mean"].estimate


def test_arms_that_never_had_a_chance_together(monkeypatch):
    log = coins_of(2_000, ["C"]).with_columns(
        pl.when(pl.col("without_chance") == "[]")
        .then(pl.lit('["A"]'))
        .otherwise("without_chance")
        .alias("without_chance")
    )
    for large in (10, 10_000):
        monkeypatch.setattr(streaming, "LARGE", large)
        found = evaluate(log.lazy(), {"A": 0.5, "C": 0.5}, support=(0, 1))
        assert (found.method, found.rounds) == ("arms", 2_000)
        assert found.notes[1] == "In no round all of A and C could be taken, so propensities were not used."
        with pytest.raises(PrudentError, match="no round in which all of A and C could be taken"):
            evaluate(log.lazy(), {"A": 0.5, "C": 0.5}, support=(0, 1), method="weights")
    with pytest.raises(PrudentError, match="a replay needs such rounds"):
        evaluate(log, "ucb1", support=(0, 1), risk="mean")
    with pytest.raises(PrudentError, match="without_chance must hold arms as JSON"):
        evaluate(log.with_columns(pl.lit("A").alias("without_chance")), "A", support=(0, 1))


def test_a_floor_of_one_arm_alone_is_enough_for_it():
    log = coins_of(1_000, []).with_columns(pl.lit('["A", "B"]').alias("without_chance"))
    assert evaluate(log, "C", support=(0, 1)).method == "weights"
    assert evaluate(log, "A", support=(0, 1)).method == "arms"


def test_a_query_of_duckdb_is_read_in_parts(monkeypatch, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    log = coins_of(2_000, ["C"])
    log.write_parquet(tmp_path / "log.parquet")
    query = duckdb.sql(f"SELECT * FROM '{tmp_path / 'log.parquet'}' WHERE state = 'done'")
    for large in (10, 10_000):
        monkeypatch.setattr(streaming, "LARGE", large)
        found = evaluate(query, "C", support=(0, 1), risk="mean")
        assert found.rows == evaluate(tmp_path / "log.parquet", "C", support=(0, 1), risk="mean").rows


def test_an_error_of_a_query_is_not_taken_for_an_older_version():
    class Broken:
        def pl(self, lazy: bool = False):
            assert lazy
            raise TypeError("a column of another type")

    with pytest.raises(TypeError, match="a column of another type"):
        read_log(Broken())
