"""Beyond the paper: the files, the worst case, and what the section says, at tiny settings."""

import polars as pl
import pytest

from prudent.paper import beyond
from prudent.paper.making import Settings, count_cells, make


def test_make_leaves_figure_data_and_table_and_counts_every_cell_once(tmp_path, monkeypatch):
    monkeypatch.setattr(beyond, "HORIZONS", (50, 100))
    monkeypatch.setattr(beyond, "EASY_HORIZONS", (50, 100, 200))
    monkeypatch.setattr(beyond, "GRID", [(0.4, 0.25), (0.4, 0.1)])
    monkeypatch.setattr(beyond, "RHOS", (1.0,))
    monkeypatch.setattr(beyond, "TABLE_HORIZON", 100)
    counted = []
    section = make(beyond.FIGURE, Settings(tmp_path, runs=20, progress=counted.append))
    assert section.tag == "beyond the paper"
    assert {path.suffix for path in section.files()} == {".parquet", ".svg", ".png"}
    assert all(path.stat().st_size > 1000 for path in section.files())
    assert not list(tmp_path.rglob("*.part"))
    (table,), ends = section.tables.values(), section.notes["Measured"].table
    assert table.shape == (len(beyond.CONFIGURATIONS), 2 + len(beyond.POLICIES))
    assert ends["policy"].to_list() == list(beyond.POLICIES)
    assert sum(counted) == count_cells(beyond.FIGURE) == sum(map(len, beyond.cells().values()))


def test_the_worst_is_the_largest_mean_regret():
    data = pl.DataFrame(
        {
            "name": ["a", "a", "a", "b"],
            "horizon": [10, 10, 20, 10],
            "mu_2": [0, 1, 2, 3],
            "regret": [1.0, 3.0, 2.0, 5.0],
        }
    )
    assert beyond.worst(data)["mu_2"].to_list() == [1, 2, 3]


def test_the_slope_of_a_power_law_is_its_exponent():
    horizons = [10, 100, 1_000, 10_000]
    curve = pl.DataFrame({"horizon": horizons, "regret": [n**-0.5 for n in horizons]})
    assert beyond.late_slope(curve) == pytest.approx(-0.5)


def test_wins_are_counted_with_their_margin():
    rows = [("1", 1.0, 3.0), ("1", 2.0, 1.0), ("2", 1.0, 1.5)]  # ours against another's, standard errors of 0.2
    data = pl.DataFrame(
        [
            {"configuration": which, "rho": i, "policy": policy, "regret": regret, "regret_se": 0.2}
            for i, (which, ours, other) in enumerate(rows)
            for policy, regret in (("best-of-both", ours), ("exp-exp", other))
        ]
    )
    assert beyond.wins(data) == (2, 1)
