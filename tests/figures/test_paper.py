"""The paper as a whole: same numbers however it is run."""

import polars as pl
import pytest
from click.testing import CliRunner
from prudent.paper.measure import Cell, Desk, measured

from prudent import MVLCB, ExpExp, MeanVariance, paper
from prudent.cli import main
from prudent.paper.problems import FIGURE_2

CELLS = [Cell(FIGURE_2, policy, MeanVariance(0.0), n, {"n": n}) for policy in (MVLCB(), ExpExp()) for n in (50, 500)]


def test_workers_do_not_change_a_number(tmp_path):
    one, two = (measured(Desk(tmp_path / str(w), runs=120, workers=w), "panel", CELLS) for w in (1, 2))
    assert one.equals(two)


def test_an_interrupted_panel_leaves_nothing_and_comes_out_the_same(tmp_path):
    steps = []

    def stop_at_third(_):
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(Desk(tmp_path, runs=20, progress=stop_at_third), "panel", CELLS)
    assert not list(tmp_path.rglob("*.parquet"))
    again = measured(Desk(tmp_path, runs=20), "panel", CELLS)
    assert again.equals(measured(Desk(tmp_path / "whole", runs=20), "panel", CELLS))


def test_a_changed_setting_is_measured_anew(tmp_path):
    first = measured(Desk(tmp_path, runs=20), "panel", CELLS)
    assert not first.equals(measured(Desk(tmp_path, runs=20, seed=1), "panel", CELLS))
    assert len(list(tmp_path.rglob("*.parquet"))) == 2


def test_the_command_makes_figures_claims_and_report(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "FIGURES", ("discussion", "configurations"))
    monkeypatch.setattr("prudent.paper.claims.CLAIMS", paper_claims()[:3])
    result = CliRunner().invoke(main, ["paper", "--quick", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.html").read_text()
    assert "Discussion" in page
    assert "3 hold" in page
    assert pl.read_parquet(next(tmp_path.glob("discussion*.parquet"))).height > 0


def paper_claims():
    from prudent.paper.claims import CLAIMS

    return CLAIMS
