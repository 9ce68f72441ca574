"""The package as others see it: one version, one list of names."""

import ast
import functools
import importlib
import inspect
import math
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import prudent
from prudent.arms.base import arms
from prudent.base.text import RELEASED
from prudent.policies.contract import policies, strategies
from prudent.risk.base import risks

ROOT = Path(__file__).parents[2]


def test_the_version_stands_in_one_place_and_the_citation_agrees():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.M) == [prudent.__version__]
    assert re.findall(r"^date-released: (.*)$", citation, re.M) == [RELEASED]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/prudent/__init__.py"


STUB = ast.parse((ROOT / "src/prudent/__init__.pyi").read_text())
IMPORTS = [(node, name.name) for node in STUB.body if isinstance(node, ast.ImportFrom) for name in node.names]
HOMES = {name: None if node.level else node.module for node, name in IMPORTS}
MODULES = {name: ".".join(filter(None, ("prudent", node.module, name))) for node, name in IMPORTS if node.level}
"""What is public as a whole: from . import plan."""


@pytest.mark.parametrize("name", HOMES)
def test_every_name_of_the_stub_is_where_it_says(name):
    home = HOMES[name]
    module = importlib.import_module(home or MODULES[name])
    assert getattr(prudent, name) is (getattr(module, name) if home else module)
    assert name in dir(prudent)
    assert name in prudent.__all__
    assert getattr(getattr(prudent, name), "__module__", home) == home or not home


def test_nothing_public_is_missing_from_the_stub():
    """Every law, risk measure, policy and strategy of the package that has a class."""
    registries = (arms, risks, policies, strategies)
    found = [entry.factory for registry in registries for entry in registry.entries()]
    ours = [thing for thing in found if isinstance(thing, type) and thing.__module__.startswith("prudent.")]
    assert len(ours) > 40
    assert [thing.__name__ for thing in ours if thing.__name__ not in HOMES] == []


DEFAULTS = {
    "simulate": {
        "seed": 0,
        "batch": 1,
        "engine": "auto",
        "snapshots": (),
        "bound_failure": 0.0,
        "common": False,
        "replay": False,
    },
    "identify": {"seed": 0},
    "simulate_portfolio": {"rho": 1.0, "seed": 0, "short": False, "snapshots": ()},
    "Agent": {"seed": 0, "larger_is_better": True, "remember": False},
    "study.Cell": {"runs": 500, "seed": 0, "engine": "auto"},
    "study.Study": {"seed": 0, "engine": "auto", "keep": "summary"},
    "study.run": {"keep": "summary", "backend": "threads"},
    "plan.advise": {
        "policies": (),
        "unit": "",
        "larger_is_better": True,
        "begin": True,
        "model": "pilot",
        "period": 1,
        "draws": 200,
        "runs": 10,
        "seed": 0,
        "seconds": 30.0,
    },
    "testing.check_policy": {"arms": (2, 3, 5), "horizon": 60, "rewards": (-math.inf, math.inf)},
    "testing.check_strategy": {"arms": (2, 3, 5), "budget": 60, "delta": 0.1},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_stay(name):
    """Another default gives everybody other numbers, and must be meant: what is not None or a function."""
    taken = inspect.signature(functools.reduce(getattr, name.split("."), prudent)).parameters.values()
    given = {one.name: one.default for one in taken if isinstance(one.default, (bool, int, float, str, tuple))}
    assert given == DEFAULTS[name]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'prudent' has no attribute 'Gausian'"):
        _ = prudent.Gausian


@pytest.mark.parametrize(
    "command",
    [
        ["-c", "import prudent; prudent.testing.check_policy; prudent.study.Study; prudent.simulate"],
        ["-m", "prudent", "--version"],
    ],
)
def test_a_fresh_interpreter_finds_it(command):
    subprocess.run([sys.executable, *command], check=True, capture_output=True)


def test_completion_offers_the_public_names_and_nothing_else():
    offered = {name for name in dir(prudent) if not name.startswith("__")}
    assert offered == set(prudent.__all__)
