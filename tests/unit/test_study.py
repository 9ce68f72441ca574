"""A study as data: cells, keys, ranges, and every mistake found before anything runs."""

import re
from typing import NamedTuple

import pytest

from prudent import MVLCB, Bandit, ExpExp, Gaussian, MeanVariance, PrudentError
from prudent.study import Cell, Labelled, Study, StudyError, load, run
from prudent.study.ranges import values_of
from prudent.study.toml import line_of

TOML = """\
runs = 20
seed = 3
horizons = [50, 1e2]
risks = ["mean-variance(rho={rho})"]
policies = [
    "mv-lcb(c=1)",
    "exp-exp",
]

[ranges]
mu2 = { from = 0.4, to = 1.5, steps = 12 }
rho = [0, 1]

[bandits.grid]
arms = ["gaussian(1.0, 0.05)", "gaussian({mu2}, 0.25)"]

[bandits.trial]
arms = { placebo = "bernoulli(0.3)", drug = "bernoulli(0.5)" }
"""


def written(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text)
    return path


def test_a_study_is_the_product_of_its_parts(tmp_path):
    cells = load(written(tmp_path, TOML)).cells
    assert len(cells) == (12 + 1) * 2 * 2 * 2
    assert len({each.key for each in cells}) == len(cells)
    assert {each.cell.bandit.names for each in cells if each.labels["bandit"] == "trial"} == {("placebo", "drug")}
    grid = [each for each in cells if each.labels["bandit"] == "grid"]
    assert {each.labels["mu2"] for each in grid} == {round(0.4 + 0.1 * i, 12) for i in range(12)}
    assert all(each.cell.bandit.means[1] == each.labels["mu2"] for each in grid)


def test_toml_and_python_make_the_same_cells(tmp_path):
    study = Study(
        bandits={
            "grid": ["gaussian(1.0, 0.05)", "gaussian({mu2}, 0.25)"],
            "trial": Bandit(["bernoulli(0.3)", "bernoulli(0.5)"]),
        },
        policies=[MVLCB(c=1), ExpExp()],
        risks=["mean-variance(rho={rho})"],
        horizons=[50, 100],
        runs=20,
        seed=3,
        ranges={"mu2": {"from": 0.4, "to": 1.5, "steps": 12}, "rho": [0.0, 1.0]},
    )
    assert [e.key for e in study.cells] == [e.key for e in load(written(tmp_path, TOML)).cells]


def test_a_key_depends_on_the_content_alone():
    arms = [Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)]
    facts = {"risks": [MeanVariance(0.0)], "runs": 5}
    small = Study({"a": Bandit(arms)}, ["mv-lcb"], horizons=[100], **facts).cells
    large = Study({"z": arms, "b": Bandit(arms, ["x", "y"])}, ["exp-exp", "mv-lcb(c=5)"], horizons=[50, 100], **facts)
    assert small[0].key in {each.key for each in large.cells}
    (cell,) = (each.cell for each in small)
    changes = {
        "horizon": 101,
        "runs": 6,
        "seed": 1,
        "engine": "stepping",
        "policy": MVLCB(c=1),
        "risk": MeanVariance(1),
    }
    keys = {cell._replace(**{name: value}).key() for name, value in changes.items()}
    keys.add(cell._replace(bandit=Bandit(arms[::-1])).key())
    assert len(keys | {cell.key()}) == len(changes) + 2


def test_the_code_of_a_policy_from_outside_is_part_of_the_key():
    class One(NamedTuple):
        rho: float = 1.0

        def score(self, arm):
            return -arm.mean

    class Other(NamedTuple):
        rho: float = 1.0

        def score(self, arm):
            return arm.variance - arm.mean

    Other.__name__ = "One"
    keys = {
        Study({"a": ["bernoulli(0.5)"]}, [made()], ["mean-variance"], [10], runs=1).cells[0].key
        for made in (One, Other)
    }
    assert len(keys) == 2


def test_a_name_used_twice_varies_together():
    study = Study(
        {"a": ["bernoulli(0.5)", "bernoulli(0.4)"]},
        ["mv-lcb(rho={rho})"],
        ["mean-variance(rho={rho})"],
        [10],
        runs=1,
        ranges={"rho": [0.5, 1.0, 2.0]},
    )
    assert [(e.cell.risk.rho, e.cell.policy.rho) for e in study.cells] == [(0.5, 0.5), (1.0, 1.0), (2.0, 2.0)]


def test_ranges():
    assert values_of("r", {"from": 0.1, "to": 0.7, "steps": 7}) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert values_of("r", {"from": 1, "to": 1000, "steps": 4, "scale": "log"}) == [1.0, 10.0, 100.0, 1000.0]
    assert values_of("r", {"from": 2, "to": 2, "steps": 1}) == [2.0]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("runs = 20", "", 1, "runs is missing"),
        ("runs = 20", "rusn = 20", 1, "did you mean runs"),
        ("runs = 20", "runs = 0", 1, "runs must be a whole number at least 1"),
        ("seed = 3", 'seed = "x"', 2, "seed must be a whole number"),
        ("seed = 3", 'keep = "all"', 2, "keep must be one of summary, runs"),
        ("seed = 3", 'engine = "jumping"', 2, "engine must be one of auto, stepping, leaping"),
        ("[50, 1e2]", "[50.5]", 3, "horizons must be a whole number"),
        ("[50, 1e2]", "[1]", 6, "horizon must be at least the number of arms"),
        ('"exp-exp"', '"exp-exq"', 7, "did you mean exp-exp"),
        ('"exp-exp"', '"exp-exp(tau=1000)"', 7, "tau must be a whole number"),
        ("rho={rho}", "rho={roh}", 4, "no range is called {roh}; did you mean rho"),
        ("from = 0.4", "from = 2.4", 11, "from must be at most to"),
        ("from = 0.4", 'from = "0.4"', 11, "from must be a number"),
        ("from = 0.4", "form = 0.4", 11, "unknown key 'form'; did you mean from"),
        ("from = 0.4, ", "", 11, "from is missing"),
        ("steps = 12", "steps = 0", 11, "steps must be a whole number from 1"),
        ("steps = 12", "steps = 1", 11, "one step cannot reach"),
        ("from = 0.4", 'scale = "log", from = 0', 11, "from must be above 0"),
        ("rho = [0, 1]", "rho = 1", 12, "must be a list of numbers"),
        ("rho = [0, 1]", "rho = []", 12, "at least one number"),
        ("rho = [0, 1]", "rho = [0, -1]", 4, "rho must lie in [0, ∞]"),
        ("rho = [0, 1]", "rho = [0]\nunused = [1]", 13, "is used in no arm"),
        ("rho = [0, 1]", "rho = [0]\nregret = [1]", 13, "a range cannot be called 'regret'"),
        ("0.25)", "-0.25)", 15, "variance must lie in [0, ∞)"),
        ("[bandits.grid]\narms", "[bandits.grid]\namrs", 14, "unknown key 'amrs'; did you mean arms"),
        ("bernoulli(0.5)", "bernouli(0.5)", 18, "did you mean bernoulli"),
        ("runs = 20", "runs = 20 20", 1, "not TOML"),
    ],
)
def test_a_mistake_is_found_on_its_line(tmp_path, old, new, line, message):
    assert old in TOML
    with pytest.raises(PrudentError, match=re.escape(message)) as error:
        load(written(tmp_path, TOML.replace(old, new)))
    assert f"line {line}" in str(error.value) if "not TOML" in message else f"study.toml:{line}:" in str(error.value)


def test_all_mistakes_are_reported_at_once(tmp_path):
    broken = TOML.replace("runs = 20", "runs = -1").replace('"exp-exp"', '"exp-exq"').replace("0.05)", "-1)")
    with pytest.raises(PrudentError) as error:
        load(written(tmp_path, broken))
    assert [line.split(":")[1] for line in str(error.value).splitlines()] == ["1", "15", "7"]
    assert [line.split(": ")[1] for line in str(error.value).splitlines()] == ["runs", "bandits.grid.1", "policies.2"]


def test_a_policy_that_cannot_serve_the_risk_is_refused_before_anything_runs():
    from prudent.risk.base import RiskMeasure

    class Other(RiskMeasure):
        name = "other"

        def cost(self, law):
            return 0.0

        def weigh(self, values, weights):
            return 0.0

        def __str__(self):
            return "other"

    study = Study({"a": ["bernoulli(0.5)"]}, ["ucb1", "mv-lcb"], [Other()], [10], runs=1)
    with pytest.raises(StudyError, match="mv-lcb: serves mean-variance, and rho cannot be taken from other") as error:
        _ = study.cells
    assert [mistake.place for mistake in error.value.mistakes] == [("policies", 1)]


def test_leaping_asked_for_where_it_cannot_be_is_refused():
    study = Study({"a": ["bernoulli(0.5)"]}, ["ucb1"], ["mean-variance"], [10], runs=1, engine="leaping")
    with pytest.raises(StudyError, match="cannot leap here"):
        _ = study.cells


def test_a_label_must_not_be_a_column_of_the_results(tmp_path):
    cell = Cell(Bandit([Gaussian(1.0, 0.05)]), MeanVariance(0.0), MVLCB(), 10, runs=2)
    with pytest.raises(PrudentError, match="a label cannot be called 'regret'"):
        run([Labelled(cell, {"regret": 1.0})], tmp_path / "out")


def test_too_many_cells_are_refused_at_once():
    steps = {"from": 0.1, "to": 0.9, "steps": 100_000}
    study = Study({"a": ["bernoulli({p})"]}, ["ucb1"], ["mean-variance"], range(1, 100), runs=1, ranges={"p": steps})
    with pytest.raises(StudyError, match="9,900,000 cells are more than"):
        _ = study.cells


def test_lines_are_found_under_quotes_dots_and_headers():
    text = 'a.b = 1\n["x y"]\nkey = [\n  "one",\n  "two",\n]\n[c.d]\ne = { f = 1 }\n'
    assert line_of(text, ("a", "b")) == 1
    assert line_of(text, ("x y", "key", 1), "two") == 5
    assert line_of(text, ("c", "d", "e", "f")) == 8
    assert line_of(text, ("nowhere",)) == 1
