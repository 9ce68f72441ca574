"""Specs that name a class of the user's own, in a file or a module."""

import os
import sys

import pytest
from click.testing import CliRunner

from prudent import Bandit, PrudentError, RiskMeasure, simulate
from prudent.arms.base import arms
from prudent.base import registry
from prudent.cli import main
from prudent.policies.contract import policies, spec
from prudent.risk.base import risks
from prudent.study import Study, run
from prudent.study.toml import load, to_toml

TEXT = """
import math
from dataclasses import dataclass
from typing import NamedTuple

from prudent import RiskMeasure

class Thrifty(NamedTuple):
    c: float = 1.0
    def score(self, arm, t):
        return -arm.mean - self.c * math.sqrt(math.log(t) / arm.pulls)

class Greedy:
    def __init__(self, epsilon=0.1):
        self.epsilon = epsilon
    def start(self, n_arms, horizon):
        self.sums = [0.0] * n_arms
    def ask(self, rng):
        return int(rng.integers(len(self.sums))) if rng.random() < self.epsilon else self.sums.index(max(self.sums))
    def tell(self, arm, reward):
        self.sums[arm] += reward

@dataclass(frozen=True)
class Tenfold(RiskMeasure):
    factor: float = 10.0
    def cost(self, law):
        return -self.factor * law.mean
    def weigh(self, rewards, weights):
        return -self.factor * weights @ rewards

@dataclass(frozen=True)
class Nameless(RiskMeasure):
    pass
"""
COINS = Bandit(["bernoulli(0.4)", "bernoulli(0.6)"])


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file of classes, in the folder in which a user works."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "thrifty_policies.py"
    path.write_text(TEXT)
    yield path
    sys.modules.pop(path.stem, None)


def test_a_class_in_a_file_is_made(mine):
    made = policies.parse("thrifty_policies.py:Thrifty(c=2)")
    assert (type(made).__name__, made.c) == ("Thrifty", 2)
    assert spec(made) == "thrifty_policies.py:Thrifty(c=2)"
    assert spec(policies.parse(f"{mine}:Thrifty")) == f"{mine}:Thrifty"
    assert type(policies.parse(str(mine) + ":Thrifty")) is type(made), "one class, however its file is named"


def test_a_class_in_a_module_is_made():
    assert policies.parse("prudent.policies.mv_lcb:MVLCB(c=2)") == policies.parse("mv-lcb(c=2)")


def test_other_kinds_and_parts_of_specs_name_classes_too(mine):
    assert isinstance(risks.parse("thrifty_policies.py:Tenfold(3)"), RiskMeasure)
    assert str(risks.parse("thrifty_policies.py:Tenfold(3)")) == "thrifty_policies.py:Tenfold(factor=3)"
    law = arms.parse("mixture([prudent.arms.continuous:Gaussian(0, 1), gaussian(1, 1)])")
    assert law.mean == 0.5


def test_a_file_that_changed_is_read_again(mine):
    before = type(policies.parse("thrifty_policies.py:Thrifty"))
    mine.write_text(TEXT.replace("1.0", "7.0"))
    os.utime(mine, ns=(1, 1))
    assert policies.parse("thrifty_policies.py:Thrifty").c == 7.0
    assert type(policies.parse("thrifty_policies.py:Thrifty")) is not before


def test_it_plays_as_the_class_itself_does(mine):
    settings = {"risk": "mean", "horizon": 50, "runs": 3, "engine": "interpreted", "workers": 1}
    by_spec = simulate(COINS, "thrifty_policies.py:Greedy(0.2)", **settings)
    assert (by_spec.pulls.sum(axis=1) == 50).all()
    assert spec(by_spec.policy) == "thrifty_policies.py:Greedy(epsilon=0.2)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("thrifty_policies.py:Thirfty", "has no class Thirfty; did you mean Thrifty?"),
        ("thrifty_policies.py:Thrifty(d=1)", "unexpected keyword argument 'd'; it takes (c)"),
        ("nowhere.py:Thrifty", "there is no file"),
        ("thrifty_policiez:Thrifty", "there is no module thrifty_policiez; write the path of the file, as in"),
        (".:Thrifty", "is no module"),
        ("thrifty_policies.py:Tenfold", "must be a class of a NamedTuple"),
        ("os:system('touch harm')", "must be a class of"),
        ("subprocess:Popen(['touch', 'harm'])", "must be a class of"),
    ],
)
def test_what_cannot_be_found_is_said(mine, text, said):
    with pytest.raises(PrudentError) as caught:
        simulate(COINS, text, risk="mean", horizon=5, runs=1)
    assert said in str(caught.value)
    assert not mine.with_name("harm").exists()


def test_an_error_in_it_is_said_with_its_line(mine):
    mine.write_text(TEXT.replace("self.sums[arm] += reward", "self.sums[arm] += rewards"))
    arguments = "--policy thrifty_policies.py:Greedy --arm bernoulli(0.4) --risk mean --horizon 5 --runs 1 --workers 1"
    result = CliRunner().invoke(main, ["simulate", *arguments.split()])
    assert result.exit_code == 2
    assert (
        "thrifty_policies.py, line 21, in tell: self.sums[arm] += rewards: NameError: name 'rewards'" in result.stderr
    )
    assert "a fault of prudent" not in result.stderr


def test_loading_data_runs_no_code_of_a_file(mine):
    runs = simulate(COINS, "thrifty_policies.py:Greedy", risk="mean", horizon=5, runs=1, workers=1)
    path = runs.save(mine.with_name("runs.parquet"))
    with pytest.raises(PrudentError, match="data must not run code; pass policy="):
        type(runs).load(path)
    assert (type(runs).load(path, policy=runs.policy).pulls == runs.pulls).all()


def test_a_file_never_hides_another_module(mine):
    for name in ("queue", "numpy"):
        mine.with_name(f"{name}.py").write_text(TEXT)
        with pytest.raises(PrudentError, match=f"another module called {name}.*rename the file"):
            policies.parse(f"{name}.py:Thrifty")


def test_nothing_is_imported_for_a_stranger(mine, monkeypatch):
    monkeypatch.setattr(registry, "_may_open", False)
    for text in ("thrifty_policies.py:Thrifty", "antigravity:fly", "mixture([thrifty_policies.py:Law()])"):
        with pytest.raises(PrudentError, match="over the network opens no file"):
            (arms if text.startswith("mixture") else policies).parse(text)
    assert not {"thrifty_policies", "antigravity"} & sys.modules.keys()


@pytest.mark.slow
def test_a_study_runs_in_other_processes_and_follows_the_file(mine, tmp_path):
    file = tmp_path / "study.toml"
    study = Study({"two": COINS}, ["thrifty_policies.py:Greedy", "random-arm"], ["mean"], [20], runs=2)
    file.write_text(to_toml(study))
    cells = {each.key for each in load(file).cells}
    assert cells == {each.key for each in study.cells}
    here = run(load(file), tmp_path / "here", workers=1).table()
    there = run(load(file), tmp_path / "there", backend="processes", workers=1).table()
    assert here.drop("seconds", strict=False).equals(there.drop("seconds", strict=False))
    mine.write_text(TEXT.replace("< self.epsilon", "<= self.epsilon"))
    changed = {each.key for each in load(file).cells}
    assert len(cells & changed) == 1, "the other policy's cell is found again"
