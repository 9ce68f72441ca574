"""Heat maps, Figure 2 (right) and the worst case: what is drawn, and what is shared."""

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from prudent.paper import fig2_right, grid, heatmaps, worst_case
from prudent.paper.making import Settings, count_cells, make, measured
from prudent.paper.problems import ALGORITHMS, HORIZONS, MU_2, VARIANCE_1

SMALL = (50, 101, 200)


RUNS = 5


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(grid, "HORIZONS", SMALL)
    monkeypatch.setattr(grid, "MU_2", np.array([0.4, 1.0, 1.5]))
    monkeypatch.setattr(grid, "VARIANCE_1", np.array([0.0, 0.25]))
    monkeypatch.setattr(worst_case, "HORIZONS", SMALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The section of a figure, made once, the cells it told of and the folder it is in."""

    @cache
    def once(module):
        folder, counted = tmp_path_factory.mktemp("made"), []
        return make(module.FIGURE, Settings(folder, runs=RUNS, progress=counted.append)), counted, folder

    return once


@pytest.fixture
def panels(made, small):
    """The grid by algorithm and horizon."""
    data = measured({"grid": grid.cells()}, Settings(made(heatmaps)[2], runs=RUNS))["grid"]
    return dict(iter(data.group_by("algorithm", "horizon", maintain_order=True)))


@pytest.mark.parametrize(("module", "pictures"), [(heatmaps, 2), (fig2_right, 1), (worst_case, 1)])
def test_make_leaves_figures_and_data_and_nothing_half_done(made, small, module, pictures):
    section, _, folder = made(module)
    assert [path.suffix for path in section.figures] == [".svg", ".png"] * pictures
    assert all(path.stat().st_size > 1000 for path in section.files())
    assert not list(folder.rglob("*.part"))


@pytest.mark.parametrize("module", [heatmaps, fig2_right, worst_case])
def test_progress_counts_every_cell_also_when_nothing_is_left_to_do(made, small, module, monkeypatch):
    (_, first, folder), again = made(module), []
    monkeypatch.setattr("prudent.study.play.simulate", None)
    measured(module.FIGURE.cells(), Settings(folder, runs=RUNS, progress=again.append))
    assert sum(first) == sum(again) == count_cells(module.FIGURE) > 0


def test_the_papers_grid_has_132_problems_at_12_horizons():
    assert (len(MU_2), len(VARIANCE_1), len(HORIZONS)) == (12, 11, 12)
    labels = [each.labels for each in grid.cells() if each.cell.horizon == 50]
    assert {label["variance_gap"] for label in labels} == {round(0.025 * i, 9) for i in range(11)}
    assert {label["mean_gap"] for label in labels} == {round(0.1 * i, 9) for i in range(12)}


def test_figure_2_right_and_the_heat_maps_share_their_cells(made, small, monkeypatch):
    *_, folder = made(heatmaps)
    monkeypatch.setattr("prudent.study.play.simulate", None)
    make(fig2_right.FIGURE, Settings(folder, runs=RUNS))
    with pytest.raises(TypeError):
        make(fig2_right.FIGURE, Settings(folder, runs=RUNS + 1))


def test_heat_maps_have_a_panel_for_each_horizon_with_its_own_colours(panels):
    panels = [panels["MV-LCB", n] for n in SMALL]
    figure = heatmaps.draw_one("MV-LCB", pl.concat(panels))
    maps = [ax for ax in figure.axes if ax.get_title()]
    assert [ax.get_title() for ax in maps] == ["$n$ = 50", "$n$ = 101", "$n$ = 200"]
    for ax, panel in zip(maps, panels, strict=True):
        assert ax.collections[0].get_clim() == (panel["regret"].min(), panel["regret"].max())
        assert ax.collections[0].get_cmap().name == "viridis"
    assert "Delta" in figure.get_supxlabel()
    assert "Gamma" in figure.get_supylabel()
    assert all(not ax.get_xlabel() and not ax.get_ylabel() for ax in maps)


def test_a_heat_map_puts_every_value_at_its_gap_and_difference(panels):
    panel = panels["ExpExp", 50]
    figure = heatmaps.draw_one("ExpExp", panel)
    (mesh,) = figure.axes[0].collections
    drawn = np.asarray(mesh.get_array()).reshape(3, 2)
    for i, mean_gap in enumerate((0.0, 0.5, 1.1)):
        for j, variance_gap in enumerate((0.0, 0.25)):
            here = panel.filter((pl.col("mean_gap") == mean_gap) & (pl.col("variance_gap") == variance_gap))
            assert drawn[i, j] == here["regret"].item()
    top = grid.worst_of_each(panel).row(0, named=True)
    (ring,) = figure.axes[0].lines
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (top["variance_gap"], top["mean_gap"])


def test_figure_2_right_is_the_largest_of_each_panel(made, panels):
    (table,) = made(fig2_right)[0].tables.values()
    assert table.columns == ["n", "algorithm", "worst regret", "worst regret_se", "Δ", "Γ"]
    for row in table.iter_rows(named=True):
        assert row["worst regret"] == panels[row["algorithm"], row["n"]]["regret"].max()


def test_on_deterministic_arms_the_regret_of_mv_lcb_is_a_quarter_of_the_squared_difference(made, small):
    data = pl.read_parquet(made(worst_case)[0].data[0])
    rows = data.filter((pl.col("arms") == "deterministic") & (pl.col("algorithm") == "MV-LCB"))
    expected = [(n * n - n % 2) / (4 * n * n) * worst_case.MEAN_GAP**2 for n in SMALL]
    assert rows["regret"].to_list() == pytest.approx(expected, rel=1e-12)
    assert worst_case.deterministic_error(rows) < 1e-15


def test_worst_case_draws_both_kinds_of_arms_with_limit_and_guide(made, small):
    *_, folder = made(worst_case)
    tables = worst_case.tables(measured(worst_case.cells(), Settings(folder, runs=RUNS)))
    figure = worst_case.draw(tables)["worst-case"]
    left, right = figure.axes
    for ax in (left, right):
        labels = ax.get_legend_handles_labels()[1]
        assert labels == ["MV-LCB", "ExpExp", "$\\Gamma^2/4$ = 0.3025", "slope $-1/3$"]
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert left.get_title() != right.get_title()


def test_the_worst_gaps_stay_on_the_grid_and_shrink_at_their_rates():
    for algorithm in ALGORITHMS:
        assert worst_case.worst_gap(algorithm, 2) == worst_case.VARIANCE
        gaps = [each.cell.bandit.gaps(grid.RISK).max() for each in worst_case.gaussian_cells(algorithm, 50)]
        assert 0.0 <= min(gaps) < max(gaps) <= worst_case.VARIANCE
    assert worst_case.worst_gap("ExpExp", 10**6) == pytest.approx(10 * worst_case.worst_gap("ExpExp", 10**9))
    assert worst_case.worst_gap("MV-LCB", 10**8) < 1e-3 * worst_case.worst_gap("MV-LCB", 10**4)


def test_the_peak_of_x_times_the_normal_tail():
    x = np.linspace(0.0, 3.0, 300_001)
    values = x * norm.cdf(-x)
    assert x[values.argmax()] == pytest.approx(worst_case.X_WORST, abs=1e-4)
    assert values.max() == pytest.approx(worst_case.PEAK, abs=1e-4)
