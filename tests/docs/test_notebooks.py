"""The notebooks run from the first cell to the last, and are kept without outputs."""

import ast
import json
from pathlib import Path

import matplotlib as mpl
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NAMES = ["live-trial", "own-policy", "paper"]


def cells(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def test_there_are_these_notebooks():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    with mpl.rc_context({"backend": "agg"}):
        for cell in cells(name):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"{name}.ipynb", "exec"), names)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_has_no_outputs_and_starts_with_what_it_gives(name):
    first, *rest = cells(name)
    title, said, *_ = "".join(first["source"]).split("\n\n")
    assert title.startswith("# ")
    assert said.startswith("After this notebook you can ")
    for cell in rest:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    last = [cell for cell in rest if cell["cell_type"] == "code"][-1]
    checks = [node for node in ast.walk(ast.parse("".join(last["source"]))) if isinstance(node, ast.Assert)]
    assert checks or name == "paper", "the reader can check the result"
