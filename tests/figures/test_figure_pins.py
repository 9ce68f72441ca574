"""The cells of every figure and the texts of every picture are the pinned ones.

    PIN=1 pytest tests/figures/test_figure_pins.py

writes `figures.json` again, after a change that is meant: look at the pictures first.
"""

import os
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from helpers.figure_pins import PARTS, part
from helpers.figure_texts import texts_of
from helpers.pinned_texts import difference, read, write

PINNED = Path(__file__).with_name("figures.json")
THEN = "If the change is meant, look at the picture, then run: PIN=1 pytest tests/figures/test_figure_pins.py"


@pytest.fixture(scope="module", autouse=True)
def pin_anew():
    """Write the file first, if asked to."""
    if os.environ.get("PIN"):
        write(PINNED, {section: lines for name in PARTS for section, lines in part(name).items()})


@pytest.mark.parametrize("name", PARTS)
def test_pictures_and_definitions_are_the_pinned_ones(name):
    pinned = {section: lines for section, lines in read(PINNED).items() if section.startswith(f"[{name}] ")}
    assert not (changed := difference(pinned, part(name), THEN)), changed


def test_nothing_is_pinned_that_is_no_longer_made():
    assert {section.partition("]")[0][1:] for section in read(PINNED)} == set(PARTS)


CHANGES = {
    "tick labels": lambda ax: ax.set_xticks([0.0, 1.0], ["a", "c"]),
    "title": lambda ax: ax.set_title("another"),
    "label of an axis": lambda ax: ax.set_xlabel("rounds"),
    "label of a line": lambda ax: ax.lines[0].set_label("another"),
    "note": lambda ax: ax.texts[0].set_text("there"),
    "legend": lambda ax: ax.legend(["another"]),
    "heading": lambda ax: ax.legend(title="another"),
    "title of all": lambda ax: ax.figure.suptitle("another"),
}
LOOKS = {
    "size": lambda ax: ax.figure.set_size_inches(5.0, 5.0),
    "ticks": lambda ax: ax.tick_params(labelsize=7.0),
    "width": lambda ax: ax.lines[0].set_linewidth(3.0),
    "opacity": lambda ax: ax.collections[0].set_alpha(0.5),
}


def picture():
    """A little of everything."""
    ax = Figure().subplots()
    ax.plot([0.0, 1.0], [1.0, 2.0], "o-", label="line")
    ax.fill_between([0.0, 1.0], [1.0, 2.0], [2.0, 3.0], alpha=0.2)
    ax.bar([0.5], [1.0], label="bar")
    ax.annotate("here", (0.5, 1.0), (1.0, 1.0), textcoords="offset points")
    ax.set_xticks([0.0, 1.0], ["a", "b"])
    ax.set_title("title")
    ax.legend(loc="upper left")
    return ax


@pytest.mark.parametrize("change", CHANGES)
def test_every_changed_text_shows(change):
    before, after = picture(), picture()
    assert texts_of(before.figure) == texts_of(after.figure)
    CHANGES[change](after)
    assert texts_of(before.figure) != texts_of(after.figure)


@pytest.mark.parametrize("change", LOOKS)
def test_looks_are_not_pinned(change):
    before, after = picture(), picture()
    LOOKS[change](after)
    assert texts_of(before.figure) == texts_of(after.figure)
