"""The cells of every figure and the texts of every picture are the pinned ones."""

import pytest
from matplotlib.figure import Figure

from figure_pins import PARTS, PINNED, part
from figure_texts import texts_of
from pinned import difference, read

THEN = "If the change is meant, look at the picture, then run: python tests/figure_pins.py"


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
