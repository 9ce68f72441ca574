"""Whatever is done to a study's file, it is a study or an error that says so."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prudent import PrudentError
from prudent.study import load
from prudent.study.toml import to_toml

TOML = """\
runs = 2
seed = 3
horizons = [50, 1e2]
risks = ["mean-variance(rho={rho})"]
policies = ["mv-lcb(c=1)", "exp-exp"]
ranges = { mu2 = { from = 0.4, to = 1.5, steps = 2 }, rho = [0, 1] }
bandits.grid = { arms = ["gaussian(1.0, 0.05)", "gaussian({mu2}, 0.25)"] }
"""
VALUES = (
    """1 -1 "x" [] {} true 1e400 nan inf [1,"a"] {from=1} [[1]] "{mu2}" "" 1979-05-27 {a=1} ["mv-lcb",3] ["{","}"]"""
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "study.toml"


def loads_or_says_why(path, text):
    path.write_text(text, encoding="utf-8")
    try:
        study = load(path)
    except PrudentError:
        return
    path.write_text(to_toml(study), encoding="utf-8")
    assert [each.key for each in load(path).cells] == [each.key for each in study.cells]


@settings(max_examples=150)
@given(st.integers(0, len(TOML) - 1), st.integers(0, 3), st.text('"{}[]=.,()-1aé\n', max_size=2))
def test_characters_lost_and_added(path, start, lost, added):
    loads_or_says_why(path, TOML[:start] + added + TOML[start + lost :])


@settings(max_examples=150)
@given(st.integers(0, 6), st.sampled_from(VALUES.split()))
def test_values_of_another_kind(path, line, value):
    lines = TOML.splitlines()
    lines[line] = f"{lines[line].split(' = ')[0]} = {value}"
    loads_or_says_why(path, "\n".join(lines))
