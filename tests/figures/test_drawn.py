"""Every picture, every definition of a figure: as `drawn.json` has them, described in words and not in pixels."""

import pytest
from matplotlib.figure import Figure

from described import described
from drawn import PARTS, PINNED, part
from pinned import difference, read

THEN = "If the change is meant, look at the picture, then run: python tests/drawn.py"


@pytest.mark.parametrize("name", PARTS)
def test_pictures_and_definitions_are_the_pinned_ones(name):
    pinned = {section: lines for section, lines in read(PINNED).items() if section.startswith(f"[{name}] ")}
    assert not (changed := difference(pinned, part(name), THEN)), changed


def test_nothing_is_pinned_that_is_no_longer_made():
    assert {section.partition("]")[0][1:] for section in read(PINNED)} == set(PARTS)


CHANGES = {
    "size": lambda ax: ax.figure.set_size_inches(5.0, 5.0),
    "limit": lambda ax: ax.set_xlim(0.0, 3.0),
    "scale": lambda ax: ax.set_yscale("log"),
    "ticks": lambda ax: ax.set_xticks([0.0, 1.0, 2.0]),
    "tick labels": lambda ax: ax.set_xticks([0.0, 1.0], ["a", "c"]),
    "grid": lambda ax: ax.grid(visible=True, axis="y"),
    "width": lambda ax: ax.lines[0].set_linewidth(3.0),
    "marker": lambda ax: ax.lines[0].set_markersize(9.0),
    "hollow": lambda ax: ax.lines[0].set_fillstyle("none"),
    "dashes": lambda ax: ax.lines[0].set_linestyle("--"),
    "opacity": lambda ax: ax.collections[0].set_alpha(0.5),
    "order": lambda ax: ax.lines[0].set_zorder(5.0),
    "data": lambda ax: ax.lines[0].set_ydata([1.0, 2.01]),
    "title": lambda ax: ax.title.set_fontsize(7.0),
    "text": lambda ax: ax.texts[0].set_position((5.0, 5.0)),
    "legend": lambda ax: ax.legend(loc="lower left"),
    "columns": lambda ax: ax.legend(loc="upper left", ncols=2),
    "anchor": lambda ax: ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0)),
    "bar": lambda ax: ax.patches[0].set_height(0.4),
    "frame": lambda ax: ax.spines["top"].set_visible(False),
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
def test_the_description_tells_every_change(change):
    before, after = picture(), picture()
    assert described(before.figure) == described(after.figure)
    CHANGES[change](after)
    assert described(before.figure) != described(after.figure)
