"""What every figure shares: bands of two standard errors, colours that go round, panels on shared axes, files."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from prudent import PrudentError
from prudent.results.figures import (
    COLOURS,
    ERRORS,
    MARKERS,
    in_ratios,
    label_log_axis,
    label_points,
    panels,
    plot_curves,
    plot_dots,
    save,
    style,
)


def test_a_band_is_two_standard_errors_wide():
    ax = plot_curves(Figure().subplots(), [10, 100], [("one", [4.0, 5.0], [0.5, 1.0])])
    (band,), (line,) = ax.collections, ax.lines
    vertices = band.get_paths()[0].vertices
    for x, centre, margin in ((10, 4.0, 1.0), (100, 5.0, 2.0)):
        assert {*vertices[vertices[:, 0] == x][:, 1]} == {centre - margin, centre + margin}
    assert line.get_ydata().tolist() == [4.0, 5.0]
    assert line.get_label() == "one"
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_legend().get_title().get_text() == ERRORS


def test_a_picture_without_errors_does_not_speak_of_them():
    ax = plot_curves(Figure().subplots(), [10, 100], [("one", [4.0, 5.0], [0.0, 0.0])])
    assert ax.get_legend().get_title().get_text() == ""


@pytest.mark.parametrize(("x", "mean"), [([10], [4.0]), ([1, 10, 100], [np.nan, 4.0, np.nan])])
def test_a_point_alone_has_an_error_bar_since_it_has_no_band(x, mean):
    ax = plot_curves(Figure().subplots(), x, [("one", mean, [0.5] * len(x))])
    (bar,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    assert bar.get_segments()[0][:, 1].tolist() == [3.0, 5.0]


def test_dots_have_error_bars_of_two_standard_errors():
    ax = plot_dots(Figure().subplots(), [("one", 4.0, 0.5), ("two", 5.0, 1.0)])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one", "two"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first on top
    (bars,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    assert [segment[:, 0].tolist() for segment in bars.get_segments()] == [[3.0, 5.0], [3.0, 7.0]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.1, 1, 10], True),
        (np.geomspace(0.01, 3, 8), True),
        (np.geomspace(100, 10_000, 5).round(), True),
        ([1, 2, 3], False),
        ([0, 1, 10], False),
        ([-1, 1, 10], False),
        ([1, 10], False),
        ([1, 1.0001, 1.0002], False),
    ],
)
def test_values_in_equal_ratios_ask_for_a_logarithmic_axis(values, expected):
    assert in_ratios(values) is expected


def test_a_short_logarithmic_axis_is_labelled_between_the_decades():
    ax = Figure().subplots()
    ax.plot([1, 2], [0.02, 0.4])
    ax.set_yscale("log")
    label_log_axis(ax, "y")
    shown = {ax.yaxis.get_major_formatter()(tick, 0) for tick in ax.get_yticks()}
    assert {"0.02", "0.05", "0.1", "0.2"} <= shown


def test_a_label_is_nearest_to_its_own_point():
    ax = Figure(figsize=(6.4, 4.2)).subplots()
    ax.set(xlim=(-70, 95), ylim=(-215, -150))
    points = np.array([(19.0, -167.0), (27.0, -167.5), (27.5, -170.0), (21.0, -183.0), (20.5, -183.4)])
    label_points(ax, points, ["the first of them", "B-CVTS, worst 10 %", "MVTS, mean-variance", "even", "sharp MV-LCB"])
    ax.figure.draw_without_rendering()
    pixels = ax.transData.transform(points)
    for i, text in enumerate(ax.texts):
        box = text.get_window_extent()
        low, high = np.array(box.min), np.array(box.max)
        away = np.linalg.norm(np.maximum(np.maximum(low - pixels, pixels - high), 0.0), axis=1)
        assert away[i] <= away.min() + 3.0  # the true letters are a little narrower or wider


def test_labels_keep_off_curves_and_each_other():
    with style():
        ax = Figure(figsize=(6.4, 4.2)).subplots()
    curve = np.column_stack([np.linspace(0, 1, 50), np.linspace(0, 1, 50)])
    ax.plot(*curve.T)
    points = [(0.5, 0.5), (0.52, 0.52), (1.0, 1.0)]
    label_points(ax, points, ["a long label"] * 3, clear_of=[curve])
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    on_curve = ax.transData.transform(np.column_stack([np.linspace(0, 1, 999)] * 2))
    assert not any(box.contains(*xy) for box in boxes for xy in on_curve)


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


def test_files_of_other_kinds(tmp_path):
    figure = Figure(figsize=(3.0, 2.0))
    figure.subplots().plot([1, 2])
    one, other = (save(figure, tmp_path / name, ["pdf"])[0].read_bytes() for name in ("one", "other"))
    assert one.startswith(b"%PDF")
    assert one == other
    with pytest.raises(PrudentError, match="endings must be of svg, png, pdf, got 'jpg'"):
        save(figure, tmp_path / "picture", ["jpg"])
    exact = save(figure, tmp_path / "exact", ["svg"], exact=True)[0].read_text()
    assert 'width="216pt" height="144pt"' in exact


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
