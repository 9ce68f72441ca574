"""The package as others see it: one version."""

import re
import tomllib
from pathlib import Path

import prudent

ROOT = Path(__file__).parents[2]


def test_the_version_stands_in_one_place_and_the_citation_agrees():
    assert re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M) == [prudent.__version__]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/prudent/__init__.py"
