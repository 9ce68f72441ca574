"""The gallery: every script draws its picture, and the page shows them all with the code that made them."""

import re
import sys
from pathlib import Path

import pytest
from matplotlib import pyplot as plt

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import gallery  # noqa: E402

NAMES = [name for group in gallery.GROUPS.values() for name in group]


def test_there_are_enough_pictures_and_none_is_left_out():
    assert len(NAMES) == len(set(NAMES)) >= 16
    assert set(NAMES) == {path.stem for path in gallery.FOLDER.glob("*.py")}


@pytest.mark.parametrize("name", NAMES)
def test_a_script_draws(name):
    figure = gallery.drawn(name, small=True)
    try:
        assert any(ax.has_data() for ax in figure.axes)
        assert all(ax.get_xlabel() or ax.get_xticklabels() for ax in figure.axes)
    finally:
        plt.close(figure)


def test_the_page_shows_every_script_as_it_is():
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page(), "run python docs/gallery.py NAME"


def test_thumbnails_come_first_and_lead_to_their_pictures():
    page = gallery.page()
    assert page.index("](small/") < page.index("## ")
    headings = {gallery.anchor(title) for title in re.findall(r"^### (.*)$", page, flags=re.MULTILINE)}
    assert set(re.findall(r"\.png\)\]\(#(.*?)\)", page)) == headings
    assert len(headings) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_there_and_small(name):
    assert (gallery.FOLDER / f"{name}.png").stat().st_size < 80_000
    assert (gallery.FOLDER / "small" / f"{name}.png").stat().st_size < 15_000


def test_sizes_are_made_small():
    code = "RUNS, HORIZON = 200, 10_000\nRUNS = 5\nx = RUNS\nLONGEST = 9\n"
    assert gallery.shrunk(code) == "RUNS, HORIZON = 3, 200\nRUNS = 3\nx = RUNS\nLONGEST = 6\n"
    assert "RUNS = 3" not in gallery.shrunk("OTHER = 200\n")
