"""The notebooks run from the first cell to the last, and are kept without outputs."""

import ast
import json
import runpy
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


def test_the_site_shows_a_notebook_as_text_and_code_and_gives_the_file():
    pytest.importorskip("myst_parser")
    converted = runpy.run_path(str(FOLDER.parent / "site_parts/notebooks.py"))["as_markdown"]
    page = converted((FOLDER / "paper.ipynb").read_text(encoding="utf-8"), "paper.ipynb")
    assert page.startswith(
        "# The paper in a notebook\n\n{download}`Download this notebook <paper.ipynb>`\n\nAfter this"
    )
    assert page.count("```python\n") == sum(cell["cell_type"] == "code" for cell in cells("paper"))
