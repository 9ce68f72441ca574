"""The multi-period figure: its numbers are those of the sequences, its artists show them."""

import numpy as np
import polars as pl
import pytest

from prudent import best_sequence, period_cost
from prudent.paper import FIGURES, figure, periods
from prudent.paper.making import Settings, make


@pytest.fixture(scope="module")
def tables():
    patch = pytest.MonkeyPatch()
    patch.setattr(periods, "HORIZONS", (8, 32))
    patch.setattr(periods, "RUNS", 2_000)
    yield periods.tables({})
    patch.undo()


def test_the_sequence_beats_both_arms_and_adapting_beats_the_sequence(tables):
    data = tables["periods-shares"]
    costs = data["cost"].to_list()
    ends = [period_cost(law, periods.LOSSES_RISK, periods.PERIODS).cost for law in periods.LOSSES.arms]
    assert [costs[-1], costs[0]] == pytest.approx(ends)
    assert min(costs) == pytest.approx(best_sequence(periods.LOSSES, periods.LOSSES_RISK, periods.PERIODS).cost)
    assert data["adaptive"][0] < min(costs) < min(ends) - 2.0
    assert data["share"].to_list() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_regrets_lie_where_they_must(tables):
    """Nobody is below the best plan that adapts; the learner within 6 standard errors, by chance once in 1e9."""
    for row in tables["periods-learning"].rows(named=True):
        assert row["adaptive"] <= 0.0 <= row["single arm"]
        assert row["regret"] > row["adaptive"] - 6.0 * row["regret_se"]
        known = best_sequence(periods.GAMES, periods.GAMES_RISK, row["periods"])
        assert row["cost"] == known.cost
        assert row["single arm"] == pytest.approx((known.single_cost - known.cost) / row["periods"])
        for count, name in zip(known.counts, periods.GAMES.names, strict=True):
            assert f"{count} × {name}" in row["best sequence"]


def test_the_artists_show_the_tables(tables):
    (drawn,) = periods.draw(tables).values()
    left, right = drawn.axes
    shares, data = tables["periods-shares"], tables["periods-learning"]
    assert left.lines[0].get_ydata() == pytest.approx(shares["cost"].to_numpy())
    ends, inner = (np.asarray(dots.get_offsets()) for dots in left.collections)
    assert ends[:, 0].tolist() == [0.0, 1.0]
    assert inner[:, 1] == pytest.approx(shares["cost"].to_numpy()[1:-1])
    assert set(left.lines[1].get_ydata()) == {shares["adaptive"][0]}
    curves = {line.get_label(): line.get_ydata() for line in right.lines}
    assert curves["best single arm, known"] == pytest.approx(data["single arm"].to_numpy())
    (bars,) = right.containers
    segments = np.array(bars.lines[2][0].get_segments())
    assert segments[:, 1, 1] - segments[:, 0, 1] == pytest.approx(4.0 * data["regret_se"].to_numpy())


def test_the_section_says_what_was_found(tmp_path, monkeypatch):
    monkeypatch.setattr(periods, "HORIZONS", (8, 16))
    monkeypatch.setattr(periods, "RUNS", 400)
    section = make(periods.FIGURE, Settings(tmp_path))
    assert {path.suffix for path in section.files()} == {".parquet", ".svg", ".png"}
    measured = section.notes["Measured"]
    assert "The best sequence of 4 pulls the first arm 2 times" in measured.verdict
    assert "no mix saves more than 0.00007 per period" in measured.verdict
    assert measured.table.select(pl.nth(0, 1)).rows()[:2] == [("best sequence", "5.02"), ("best single arm", "7.29")]
    assert "rare large: −10 with probability 0.1, 7 with probability 0.9" in section.notes["Settings"]
    assert figure("periods") is periods.FIGURE
    assert "periods" in FIGURES
