"""Figure 2 (left): the files, the numbers in them, and what is drawn."""

import polars as pl
import pytest

from prudent import Bandit
from prudent.paper import fig2_left
from prudent.paper.making import Settings, make


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setattr(fig2_left, "HORIZONS", (100, 200))
    return Settings(tmp_path, runs=20)


def test_make_leaves_figure_and_data_and_nothing_half_done(settings):
    section = make(fig2_left.FIGURE, settings)
    assert all(path.stat().st_size > 1000 for path in section.files())
    assert {path.suffix for path in section.files()} == {".parquet", ".svg", ".png"}
    assert not list(settings.out.rglob("*.part"))


def test_other_arms_have_files_of_their_own_and_the_paper_says_nothing_of_them(settings):
    bandit = Bandit(["gaussian(1, 0.1)", "uniform(0, 1)"])
    section = make(fig2_left.with_others(bandit, 0.5), settings)
    assert {path.stem for path in section.files()} == {"fig2-left-own"}
    data = pl.read_parquet(section.data[0])
    assert data["arms"].unique().to_list() == ["gaussian(1.0, 0.1); uniform(0.0, 1.0)"]
    assert data["risk"].unique().to_list() == ["mean-variance(rho=0.5)"]
    assert "Measured" not in section.notes


def test_parts_add_up_at_every_horizon(settings):
    (table,) = make(fig2_left.FIGURE, settings).data
    data = pl.read_parquet(table)
    sums = data["gap"] + data["exploration"] + data["twins"]
    assert sums.to_list() == pytest.approx(data["regret"].to_list(), abs=1e-12)


def test_a_finished_cell_is_not_simulated_again(settings, monkeypatch):
    make(fig2_left.FIGURE, settings)
    monkeypatch.setattr("prudent.study.play.simulate", None)
    make(fig2_left.FIGURE, settings)
    with pytest.raises(TypeError):
        make(fig2_left.FIGURE, Settings(settings.out, runs=21))
