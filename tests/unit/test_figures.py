"""What every figure shares: bands of two standard errors, colours that go round, panels on shared axes, files."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from prudent.figures import COLOURS, MARKERS, panels, plot_curves, save


def test_a_band_is_two_standard_errors_wide():
    ax = plot_curves(Figure().subplots(), [10, 100], [("one", [4.0, 5.0], [0.5, 1.0])])
    (band,), (line,) = ax.collections, ax.lines
    vertices = band.get_paths()[0].vertices
    for x, centre, margin in ((10, 4.0, 1.0), (100, 5.0, 2.0)):
        assert {*vertices[vertices[:, 0] == x][:, 1]} == {centre - margin, centre + margin}
    assert line.get_ydata().tolist() == [4.0, 5.0]
    assert line.get_label() == "one"
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_legend() is not None


@pytest.mark.parametrize("log", [False, True])
def test_curves_differ_in_colour_and_marker_and_begin_again(log):
    count = len(COLOURS) + 1
    ax = plot_curves(Figure().subplots(), [1, 2], [(f"{i}", [1, 2], [0, 0]) for i in range(count)], log=log)
    assert [to_hex(line.get_color()) for line in ax.lines] == [to_hex(COLOURS[i % len(COLOURS)]) for i in range(count)]
    assert [line.get_marker() for line in ax.lines] == [MARKERS[i % len(MARKERS)] for i in range(count)]
    assert ax.get_xscale() == ("log" if log else "linear")


@pytest.mark.parametrize(("count", "columns", "rows"), [(5, 3, 2), (6, 3, 2), (1, 1, 1), (7, 3, 3)])
def test_panels_share_their_axes_and_empty_places_are_blank(count, columns, rows):
    figure, axes = panels(count, columns, width=6.0, height=2.0)
    assert len(axes) == count
    assert len(figure.axes) == rows * columns
    assert [ax.axison for ax in figure.axes] == [i < count for i in range(rows * columns)]
    assert figure.get_size_inches() == pytest.approx([6.0, 2.0 * rows + 0.7])
    axes[0].set(xlim=(3, 4), ylim=(5, 6))
    assert {(*ax.get_xlim(), *ax.get_ylim()) for ax in axes} == {(3, 4, 5, 6)}


def test_the_same_figure_makes_the_same_files(tmp_path):
    """No date and no random names inside, so that folders can be compared."""
    made = []
    for folder in ("a", "b"):
        figure = Figure()
        figure.subplots().plot([1, 2])
        made.append(save(figure, tmp_path / folder / "picture"))
    assert [path.name for path in made[0]] == ["picture.svg", "picture.png"]
    assert b"<dc:date>" not in made[0][0].read_bytes()
    assert [path.read_bytes() for path in made[0][1:]] == [path.read_bytes() for path in made[1][1:]]


def test_many_may_save_the_same_figure_at_once(tmp_path):
    """As two reports made in one folder do: each file is one of theirs, whole, and nothing else is left."""

    def draw(_):
        figure = Figure()
        figure.subplots().plot([1, 2])
        return save(figure, tmp_path / "picture", ["svg"])

    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(draw, range(8)))) == 8
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]
    assert (tmp_path / "picture.svg").read_text().endswith("</svg>\n")
