"""The paper as a whole: same numbers however it is run."""

import polars as pl
import pytest
from click.testing import CliRunner

from prudent import MVLCB, ExpExp, MeanVariance, paper
from prudent.cli import main
from prudent.paper.making import Settings, measured
from prudent.paper.problems import FIGURE_2
from prudent.study import Cell, Labelled

POINTS = [(policy, n) for policy in (MVLCB(), ExpExp()) for n in (50, 500)]
PANEL = {"panel": [Labelled(Cell(FIGURE_2, MeanVariance(0.0), policy, n), {"n": n}) for policy, n in POINTS]}


def test_workers_do_not_change_a_number(tmp_path):
    one, two = (measured(PANEL, Settings(tmp_path / str(w), runs=120, workers=w))["panel"] for w in (1, 2))
    assert one.equals(two)


def test_an_interrupted_panel_comes_out_the_same_and_loses_nothing_finished(tmp_path):
    steps = []

    def stop_at_third(finished):
        steps.append(finished)
        if len(steps) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(PANEL, Settings(tmp_path, runs=20, progress=stop_at_third))
    steps.clear()
    again = measured(PANEL, Settings(tmp_path, runs=20, progress=steps.append))["panel"]
    assert 0 < steps[0] < 4, "some were finished before"
    assert again.equals(measured(PANEL, Settings(tmp_path / "whole", runs=20))["panel"])


def test_a_changed_setting_is_measured_anew(tmp_path):
    first = measured(PANEL, Settings(tmp_path, runs=20))["panel"]
    assert not first.equals(measured(PANEL, Settings(tmp_path, runs=20, seed=1))["panel"])
    assert len(list(tmp_path.iterdir())) == 2, "a folder for each seed"


def test_another_version_of_the_code_gets_a_folder_of_its_own(tmp_path, monkeypatch):
    first = measured(PANEL, Settings(tmp_path, runs=20))["panel"]
    monkeypatch.setattr("prudent.__version__", "99.0")
    assert first.equals(measured(PANEL, Settings(tmp_path, runs=20))["panel"])
    assert len(list(tmp_path.iterdir())) == 2


def test_panels_keep_their_own_labels_and_share_equal_cells(tmp_path):
    (cell,) = (PANEL["panel"][0].cell,)
    counted = []
    panels = {"a": [Labelled(cell, {"who": "x"})], "b": [Labelled(cell, {"rho": 0.5})]}
    found = measured(panels, Settings(tmp_path, runs=20, progress=counted.append))
    assert sum(counted) == 1
    assert ("rho" in found["a"].columns, "who" in found["b"].columns) == (False, False)
    assert found["a"]["regret"].item() == found["b"]["regret"].item()


def test_the_command_makes_figures_claims_and_report(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "FIGURES", ("discussion", "configurations"))
    monkeypatch.setattr("prudent.paper.claims.CLAIMS", [c for c in paper_claims() if c.name in ("rho_zero", "in_turn")])
    result = CliRunner().invoke(main, ["paper", "--quick", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.html").read_text()
    assert "Discussion" in page
    assert "2 hold" in page
    assert "Remarks: what is not a claim of the paper" in page
    assert pl.read_parquet(next(tmp_path.glob("discussion*.parquet"))).height > 0


def paper_claims():
    from prudent.paper.claims import CLAIMS

    return CLAIMS
