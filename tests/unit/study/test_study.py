"""A study as data: cells, keys, ranges, and every mistake found before anything runs."""

import itertools
import math
import re
from typing import NamedTuple

import numpy as np
import pytest

from prudent import MVLCB, Bandit, ExpExp, Gaussian, MeanVariance, PrudentError
from prudent.arms import arms
from prudent.policies.contract import policies
from prudent.risk.base import risks
from prudent.study import Cell, Labelled, Store, Study, StudyError, estimate_time, load, run
from prudent.study.compare import compare
from prudent.study.ranges import Template, filled, values_of
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
    from prudent import RiskMeasure

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


class Drifts:
    """An environment of one's own."""

    n_arms = 2

    def reset(self, rng):
        self.rng = rng

    def pull(self, arm):
        return self.rng.random()


@pytest.mark.parametrize("world", [Drifts(), lambda arm, rng: rng.random()], ids=["object", "function"])
def test_an_environment_is_refused_with_the_way_to_compare_on_it(world, tmp_path):
    with pytest.raises(StudyError, match=r"bandits.own: a study keeps its cells by their content.*simulate\(env"):
        Study({"own": world}, ["ucb1"], ["mean"], [10], 1).cells  # noqa: B018
    with pytest.raises(PrudentError, match="a study keeps its cells by their content"):
        run([Cell(world, MeanVariance(1.0), MVLCB(), 10)], tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_leaping_asked_for_where_it_cannot_be_is_refused():
    study = Study({"a": ["bernoulli(0.5)"]}, ["ucb-tuned"], ["mean-variance"], [10], runs=1, engine="leaping")
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


def fields(**changes) -> dict:
    facts = {
        "bandits": {"a": ["bernoulli(0.5)", "bernoulli(0.4)"]},
        "policies": ["ucb1"],
        "risks": ["mean-variance"],
        "horizons": [10],
        "runs": 2,
    }
    return {**facts, **changes}


NONSENSE = [None, -1, 2.5, "x", "", [], {}, object(), math.nan, 10**400, 2**63, True, b"x", [None], [5.5], ["x"], [[]]]
NONSENSE += [[math.nan], {"a": None}, {1: [1]}, {"a": [None]}, {"a": {}}, {"from": 0, "to": 1, "steps": 10**400}, MVLCB]
NONSENSE += [
    MVLCB(),
    [MVLCB],
    Gaussian(0.0, 1.0),
    [Gaussian(0.0, 1.0)],
    np.array([0.5, 1.5]),
    np.array("x"),
    {1.5, 2.5},
]
NONSENSE += [lambda: None, ["{a}"], ["a\0b"], [["ucb1"]]]


@pytest.mark.parametrize("name", Study.__dataclass_fields__)
@pytest.mark.parametrize("value", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_in_a_study_is_refused_in_words_at_its_place(tmp_path, name, value):
    if (name, repr(value)) in [("ranges", "{}"), ("scale", "None"), ("scale", "2.5"), ("scale", repr(2**63))]:
        return
    study = Study(**fields(**{name: value}))
    with pytest.raises(StudyError) as error:
        run(study, tmp_path / "out")
    assert all("\n" not in str(mistake) and len(str(mistake)) < 700 for mistake in error.value.mistakes)
    assert name in {mistake.place[0] for mistake in error.value.mistakes if mistake.place}
    assert not (tmp_path / "out").exists()
    with pytest.raises(StudyError):
        study.as_dict()


@pytest.mark.parametrize("name", [*Cell._fields, "labels", "study", "out", "keep", "workers", "backend", "progress"])
@pytest.mark.parametrize("value", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_in_a_call_of_run_is_refused_and_nothing_is_written(tmp_path, name, value):
    meaningful = {"workers": [None, 2**63, 10**400], "labels": [{}, {"a": None}], "policy": [MVLCB()], "out": ["x", ""]}
    meaningful["scale"] = [None, 2.5, 2**63]
    if repr(value) in map(repr, meaningful.get(name, [])) or (name == "progress" and callable(value)):
        return
    cell = Cell(Bandit(["bernoulli(0.5)", "bernoulli(0.4)"]), MeanVariance(1.0), MVLCB(), 10, runs=2)
    settings = {"study": [cell], "out": tmp_path / "out"}
    if name in Cell._fields:
        settings["study"] = [cell._replace(**{name: value})]
    elif name == "labels":
        settings["study"] = [Labelled(cell, value), Labelled(cell, {"a": 1.0})]
    else:
        settings[name] = value
    with pytest.raises(PrudentError) as error:
        run(**settings)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_elsewhere_is_refused_in_words(tmp_path, value):
    calls = [
        lambda: compare(value, "a", "b"),
        lambda: compare(run(Study(**fields()), tmp_path / "a").table(), value, "ucb1"),
        lambda: compare(run(Study(**fields()), tmp_path / "a").table(), "ucb1", "ucb1", measure=value),
        lambda: estimate_time([value], 1),
        lambda: run([value], tmp_path / "b"),
        lambda: Store(tmp_path / "a").runs([value]),
        lambda: Store(value).table(),
    ]
    for call in calls:
        with pytest.raises(PrudentError):
            call()


def test_a_range_without_end_is_refused():
    with pytest.raises(StudyError, match="at most 1,000,000 numbers"):
        _ = Study(**fields(ranges={"a": itertools.count()})).cells


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"policies": ["mv-lcb", "ucb1", "mv-lcb(c=5.0)"]}, ("policies", 2), "policies.1 gives too"),
        ({"policies": ["mv-lcb(c={c})", "mv-lcb"], "ranges": {"c": [1, 5]}}, ("policies", 1), "policies.1 gives too"),
        ({"risks": ["mean-variance", MeanVariance(1.0)]}, ("risks", 1), "risks.1 gives too"),
        ({"policies": ["mv-lcb(c={c})"], "ranges": {"c": [1, 1 + 1e-13]}}, ("ranges", "c"), "equal to twelve digits"),
        ({"policies": ["mv-lcb(c={c})"], "ranges": {"c": [0.5, 0.5]}}, ("ranges", "c"), "holds 0.5 and 0.5"),
        (
            {"policies": ["mv-lcb(c={a}{b})"], "ranges": {"a": [1, 12], "b": [23, 3]}},
            ("policies", 0),
            "values of a, b",
        ),
    ],
)
def test_a_cell_that_two_entries_share_is_a_mistake_that_names_both(changes, place, message):
    with pytest.raises(StudyError) as error:
        _ = Study(**fields(**changes)).cells
    assert [mistake.place for mistake in error.value.mistakes] == [place]
    assert message in str(error.value)


def test_bandits_of_two_names_may_be_alike():
    alike = {"one": ["bernoulli(0.5)"], "two": ["bernoulli(0.5)"]}
    cells = Study(**fields(bandits=alike)).cells
    assert [each.labels["bandit"] for each in cells] == ["one", "two"]
    assert len({each.key for each in cells}) == 1


def large(**changes) -> Study:
    """Half a million cells for each policy."""
    steps = {"from": 0.1, "to": 0.9, "steps": 700}
    ranges = {"p": steps, "q": steps, **changes.pop("ranges", {})}
    return Study(**fields(bandits={"a": ["bernoulli({p})", "bernoulli({q})"]}, ranges=ranges, **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ranges": {"unused": [1]}}, "is used in no arm"),
        ({"policies": ["ucb2"]}, "did you mean ucb1"),
        ({"policies": ["ucb1", None]}, "policy must be a spec"),
        ({"horizons": [1]}, "at least the number of arms"),
        ({"seed": -1}, "seed must be"),
        ({"risks": ["cvar(0.1)"], "policies": ["mv-lcb"]}, "rho cannot be taken"),
        ({"policies": ["ucb1", "ucb1()"]}, "policies.1 gives too"),
    ],
)
def test_a_mistake_in_many_cells_is_found_before_they_are_made(monkeypatch, changes, message):
    monkeypatch.setattr("prudent.study.expand.Expansion.product", lambda *_: pytest.fail("expanded"))
    with pytest.raises(StudyError, match=re.escape(message)):
        _ = large(**changes).cells


def test_progress_counts_the_cells_while_they_are_made():
    steps, calls = {"from": 0.1, "to": 0.9, "steps": 12_000}, []
    study = Study(**fields(policies=["ucb1(range={r})"], ranges={"r": steps}, horizons=[10, 20]))
    assert study.expand(lambda made, total: calls.append((made, total))) is study.cells
    assert calls == [(10_000, 24_000), (20_000, 24_000), (24_000, 24_000)]


@pytest.mark.parametrize(
    ("registry", "text"),
    [
        (arms, "gaussian({a}, 0.25)"),
        (arms, " gaussian( mean = {a},variance=1.50 )"),
        (arms, "bernoulli({b})"),
        (arms, "mixture([gaussian({a}, 1), uniform(0, 1)], [0.5, 0.5])"),
        (arms, "uniform(-{c}, {c})"),
        (risks, "mean-variance(rho={c})"),
        (policies, "mv-lcb(c={c}, rho={c})"),
        (policies, "mv-lcb(c={n}e2)"),
        (policies, "exp-exp(tau={n})"),
    ],
)
def test_a_spec_with_ranges_reads_the_same_value_by_value(registry, text):
    """Also where it is taken apart once; 1 and 1.0, which read differently in a cell's key, stay apart."""
    template = Template(registry, text)
    for a, b, c, n in zip([0.5, -1, 1e20, 0], [0.1, 1, 0, 1e-9], [1, 0.1, 2e-7, 1e20], [10, 20, 30, 40], strict=True):
        values = {"a": a, "b": b, "c": c, "n": n}
        assert repr(template.made(values)) == repr(registry.make("test", filled(text, values)))


@pytest.mark.parametrize("text", ["gaussian({a}, {b})", "gaussian({a}, 1, {b})", "gaussian({a}, mean={b})"])
def test_what_is_wrong_with_a_spec_is_said_as_if_it_were_read_as_a_whole(text):
    template = Template(arms, text)
    for values in ({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": -1.0}):
        said = []
        for make in (template.made, lambda values: arms.make("study", filled(text, values))):
            try:
                said.append(repr(make(values)))
            except PrudentError as error:
                said.append(str(error))
        assert said[0] == said[1]


def test_many_entries_are_counted_at_once_and_many_mistakes_end_the_search():
    names = {f"bandit {i}": [Gaussian(0.0, 1.0)] for i in range(3000)}
    with pytest.raises(StudyError, match="9,000,000 cells are more than"):
        _ = Study(**fields(bandits=names, policies=["ucb1"] * 3000)).cells
    steps = {"from": -1.0, "to": 0.0, "steps": 100_000}
    with pytest.raises(StudyError) as error:
        _ = Study(**fields(bandits={"a": ["gaussian(0, {v})", "gaussian(0, 1)"]}, ranges={"v": steps})).cells
    assert len(error.value.mistakes) == 1, "the first value is wrong already"
    wrong_later = {"v": [1.0, *(-1.0 - i for i in range(50_000))]}
    with pytest.raises(StudyError) as error:
        _ = Study(**fields(bandits={"a": ["gaussian(0, {v})", "gaussian(0, 1)"]}, ranges=wrong_later)).cells
    assert len(error.value.mistakes) < 5_001


def test_an_error_counts_entries_as_people_do():
    twice = Study(
        {"pair": ["bernoulli(0.5)", "bernoulli(0.4)"]}, ["ucb1", "mv-lcb", "mv-lcb(c=5.0)"], ["variance"], [9], runs=2
    )
    with pytest.raises(StudyError, match=r"^policies\.3: gives a cell that policies\.2 gives too"):
        _ = twice.cells


def test_a_number_too_long_to_be_written_is_refused_in_words():
    with pytest.raises(StudyError, match="stepping, leaping, gpu, got a whole number of about"):
        _ = Study(**fields(engine=10**5_000)).cells
