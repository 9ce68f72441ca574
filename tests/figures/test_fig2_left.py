"""Figure 2 (left): the files, the numbers in them, and what is drawn."""

import polars as pl
import pytest
from matplotlib.figure import Figure

from prudent.paper import fig2_left, make


def quiet(*_, **__):
    pass


@pytest.fixture(scope="module")
def data():
    return fig2_left.measure(20, 0, None, quiet)


def test_parts_add_up_at_every_horizon(data):
    wide = data.pivot(on="quantity", index="horizon", values="mean")
    sums = wide["gap"] + wide["exploration"] + wide["twins"]
    assert sums.to_list() == pytest.approx(wide["regret"].to_list(), abs=1e-12)


def test_three_labelled_curves_with_bands_on_log_axes(data):
    figure = Figure()
    fig2_left.draw(figure, data, 20)
    ax = figure.axes[0]
    assert [line.get_label() for line in ax.get_lines()] == list(fig2_left.CURVES.values())
    assert len(ax.collections) == 3
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert "rounds" in ax.get_xlabel()


def test_make_leaves_figure_and_data_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(fig2_left, "HORIZONS", (100, 200))
    made = make("fig2-left", tmp_path, runs=3, seed=0, workers=1, progress=quiet)
    assert sorted(tmp_path.iterdir()) == sorted(made)
    assert {path.suffix for path in made} == {".parquet", ".svg", ".png"}
    assert pl.read_parquet(tmp_path / "fig2-left.parquet").height == 8
