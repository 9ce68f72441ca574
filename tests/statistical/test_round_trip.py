"""One file goes round: plan → serve → export → evaluate → plan again, on arms whose distributions are known."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.stats import binom

from prudent import evaluate
from prudent.cli import main
from prudent.client import Client
from prudent.evaluation import read_log
from prudent.service.http.local import Local, client_of
from prudent.service.log.store import open_store
from prudent.service.work.service import Service

pytestmark = pytest.mark.slow
SHAPES = {"old": (2.0, 3.0), "new": (3.0, 3.0), "wild": (1.0, 1.0)}
FALSE_ALARM = 1e-9


def mean_of(arm):
    a, b = SHAPES[arm]
    return a / (a + b)


def prudent(*args):
    """What a command prints."""
    done = CliRunner().invoke(main, [*map(str, args)], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout) if "--json" in args else done.stdout


def test_plan_serve_export_evaluate_and_plan_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = [f"{arm},{rng.beta(*shape):.4f}" for arm, shape in SHAPES.items() for _ in range(60)]
    Path("pilot.csv").write_text("\n".join(["arm,reward", *rows]), encoding="utf-8")
    about = ["--rho", 1, "--support", 0, 1, "--horizon", 600, "--draws", 10, "--runs", 2, "--policy", "prudent"]
    prudent("plan", "--pilot", "pilot.csv", "--group", "arm", "--outcome", "reward", *about, "--out", "plan")
    spec = json.loads(Path("plan/experiment.json").read_text(encoding="utf-8"))
    spec |= {"name": "shop", "floor": {"old": 0.1, "new": 0.1, "wild": 0.1}, "rewards": {"window": "1 h"}, "seed": 1}
    Path("experiment.json").write_text(json.dumps(spec), encoding="utf-8")
    prudent("trial", "create", "experiment.json")

    now = [1_800_000_000_000]
    service = Service(open_store("prudent.db", relaxed=True), lambda: now[0], patience=3600.0).start()
    with client_of(service, "shop") as client:
        for _ in range(6):
            told = []
            for decision in client.ask_many(100):
                if rng.random() < 0.9:  # the others expire
                    told.append((decision, float(rng.beta(*SHAPES[decision.arm]))))
            assert all(each["status"] == 201 for each in client.tell_many(told))
            now[0] += 3_600_001
            service.close_windows()
        left = client.ask_many(7)
        assert {each.state for each in left} == {"open"}
        assert client.verify()["ok"]
    for kind in ("csv", "parquet"):
        prudent("trial", "export", "shop", "--out", f"log.{kind}")

    for arm in SHAPES:
        found = prudent("evaluate", "log.csv", "--policy", arm, "--support", 0, 1, "--json")
        assert found == prudent("evaluate", "log.parquet", "--policy", arm, "--support", 0, 1, "--json")
        assert found["method"] == "weights"
        assert found["rounds"] == 600 - int(found["notes"][1].split(": ")[1].split(" expired")[0])
        assert "expired, 7 open" in found["notes"][1]
        mean = found["rows"][0]
        assert mean["low"] <= mean_of(arm) <= mean["high"]
        assert mean["high"] - mean["low"] < 0.5
    known = read_log("log.csv")
    assert known.floor == pytest.approx(0.1)
    assert pl.read_parquet("log.parquet")["propensity"].min() >= 0.1
    again = prudent("plan", "--pilot", "log.csv", "--group", "arm", "--outcome", "reward", *about, "--out", "again")
    assert "prudent" in again
    assert json.loads(Path("again/experiment.json").read_text(encoding="utf-8"))["arms"] == spec["arms"]


COINS = {"old": 0.5, "new": 0.5, "late": 0.7}
TARGETS = {"late": {"late": 1.0}, "mixture": {"old": 0.5, "late": 0.5}, "new": {"new": 1.0}}
LOGS = 40


def exported(client, path, rng):
    """The log of an experiment to which an arm is added in the middle, and of which one decision in twenty expires."""
    spec = {"arms": ["old", "new"], "policy": "ucb1", "risk": "mean", "support": [0, 1], "floor": 0.1}
    client.create({**spec, "horizon": 1000, "seed": int(rng.integers(2**31))})
    for part in range(8):
        if part == 4:
            client.add_arm("late", "an idea")
        decisions = client.ask_many(125)
        for decision in decisions[::20]:
            client.withdraw(decision)
        told = [each for i, each in enumerate(decisions) if i % 20]
        client.tell_many([(each, float(rng.random() < COINS[each.arm])) for each in told])
    client.export(path)
    return pl.read_csv(path)


def test_intervals_of_logs_of_the_service_hold_and_narrower_ones_are_found(tmp_path):
    """Logs are independent, so the misses of one target have at most the binomial distribution of the level."""
    limit = binom.isf(FALSE_ALARM, LOGS, 0.05)
    missed = {name: dict.fromkeys(TARGETS, 0) for name in ("ours", "without chances", "too narrow")}
    wire = Local(Service(open_store(str(tmp_path / "round.db"), relaxed=True), patience=3600.0).start())
    for seed in range(LOGS):
        log = exported(Client.through(wire, f"e{seed}"), tmp_path / "log.csv", np.random.default_rng([seed, 5]))
        for name, shares in TARGETS.items():
            truth = sum(share * COINS[arm] for arm, share in shares.items())
            found = evaluate(log, shares, support=(0, 1), quantiles=[], risk="mean")
            row = found["mean"]
            assert found.method == "weights"
            assert found.rounds == (472 if "late" in shares else 944)
            missed["ours"][name] += not row.interval.low <= truth <= row.interval.high
            missed["too narrow"][name] += abs(truth - row.estimate) > (row.interval.high - row.interval.low) / 12
            wrong = evaluate(log.drop("without_chance"), shares, support=(0, 1), quantiles=[], risk="mean")["mean"]
            missed["without chances"][name] += not wrong.interval.low <= truth <= wrong.interval.high
    wire.close()
    assert max(missed["ours"].values()) <= limit
    assert missed["without chances"]["late"] > limit, missed
    assert min(missed["too narrow"].values()) > limit, missed
