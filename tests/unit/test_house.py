"""The house as CONTRIBUTING draws it: what is on the shelf, and what lies in each room."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHELF = ROOT / "src" / "prudent"
ROOMS = [init.parent for init in sorted(SHELF.rglob("__init__.py")) if init.parent != SHELF]


def entries(folder: Path) -> list[str]:
    """What lies in a folder, as a map names it: `file.py`, `folder/`."""
    files = [path.name for path in folder.glob("*.py") if not path.name.startswith("__")]
    folders = [f"{path.name}/" for path in folder.iterdir() if any(path.rglob("*.py"))]
    return sorted([*files, *folders])


def test_the_map_is_the_shelf():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = text[text.index("## The map") : text.index("### The code's own words")]
    assert sorted(re.findall(r"^\| `([\w./]+)` \|", table, re.MULTILINE)) == entries(SHELF)


def test_at_most_twenty_names_are_on_the_shelf():
    assert len(entries(SHELF)) <= 20


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(SHELF)))
def test_each_room_lists_what_lies_in_it(room):
    """In the docstring of its `__init__.py`, one line each."""
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or ""
    assert sorted(re.findall(r"^ *(\w+(?:\.py|/))  +\S", text, re.MULTILINE)) == entries(room)


def test_benchmarks_have_an_index():
    index = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    scripts = sorted(path.name for path in (ROOT / "benchmarks").glob("*.py"))
    assert sorted(set(re.findall(r"^\| `(\w+\.py)", index, re.MULTILINE))) == scripts
