"""Figure 2 (left): the files, the numbers in them, and what is drawn."""

import polars as pl
import pytest
from prudent.paper.measure import Desk

from prudent.paper import fig2_left, make


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setattr(fig2_left, "HORIZONS", (100, 200))
    return Desk(tmp_path, runs=20)


def test_make_leaves_figure_and_data_and_nothing_half_done(desk):
    section = make("fig2-left", desk)
    assert all(path.stat().st_size > 1000 for path in section.files())
    assert {path.suffix for path in section.files()} == {".parquet", ".svg", ".png"}
    assert not list(desk.out.rglob("*.part"))


def test_parts_add_up_at_every_horizon(desk):
    (table,) = make("fig2-left", desk).data
    data = pl.read_parquet(table)
    sums = data["gap"] + data["exploration"] + data["twins"]
    assert sums.to_list() == pytest.approx(data["regret"].to_list(), abs=1e-12)


def test_a_finished_panel_is_not_computed_again(desk, monkeypatch):
    make("fig2-left", desk)
    monkeypatch.setattr("prudent.paper.measure.simulate", None)
    make("fig2-left", desk)
    with pytest.raises(TypeError):
        make("fig2-left", Desk(desk.out, runs=21))
