"""Configurations, frontiers, discussion and theorems: what is computed, what is measured, and what is drawn."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import polars as pl
import pytest

from prudent import MeanVariance
from prudent.paper import configurations, discussion, frontiers, theorems
from prudent.paper.making import Settings, count_cells, make, measured
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATION_2, HORIZONS
from prudent.results.figures import LOWER_BOUND

BOTH = [CONFIGURATION_1, CONFIGURATION_2]


RUNS = 5


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(frontiers, "HORIZONS", (50, 100))
    monkeypatch.setattr(frontiers, "RHOS", (0.0, 1.0, 10.0))
    monkeypatch.setattr(theorems, "HORIZONS", (1_000, 1_000_000))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The section of a figure, made once, the cells it told of and the folder it is in."""

    @cache
    def once(module):
        folder, counted = tmp_path_factory.mktemp("made"), []
        return make(module.FIGURE, Settings(folder, runs=RUNS, progress=counted.append)), counted, folder

    return once


@pytest.fixture(scope="module")
def drawn(made):
    """Its drawings by file name."""

    @cache
    def once(module):
        figure, (*_, folder) = module.FIGURE, made(module)
        return figure.draw(figure.tables(measured(figure.cells(), Settings(folder, runs=RUNS))))

    return once


def labels(ax):
    return ax.get_legend_handles_labels()[1]


@pytest.mark.parametrize("module", [configurations, frontiers, discussion, theorems])
def test_make_leaves_figures_and_data_and_nothing_half_done(module, made, small):
    section, _, folder = made(module)
    assert section.name == module.__name__.rpartition(".")[2]
    assert all(path.stat().st_size > 500 for path in section.files())
    assert {path.suffix for path in section.files()} == {".parquet", ".svg", ".png"}
    assert not list(folder.rglob("*.part"))
    measured = section.notes["Measured"]
    assert "nan" not in measured.verdict + str(measured.table.rows())


@pytest.mark.parametrize("module", [frontiers, discussion, theorems])
def test_every_cell_is_counted_once(module, made, small):
    _, counted, _ = made(module)
    assert sum(counted) == count_cells(module.FIGURE) == sum(map(len, module.FIGURE.cells().values())) > 0


def test_the_dominated_arms():
    """Arms from 1, as the paper numbers them."""
    found = [[arm + 1 for arm in configurations.dominated(bandit)] for bandit in BOTH]
    assert found == [[2, 3, 5, 6, 7, 9, 10, 12, 13], [4, 11]]


@pytest.mark.parametrize("bandit", BOTH)
def test_pieces_are_the_optimal_arm_everywhere(bandit):
    pieces = configurations.pieces(bandit)
    assert [piece.high for piece in pieces[:-1]] == [piece.low for piece in pieces[1:]]
    assert (pieces[0].low, pieces[-1].high) == (0, math.inf)
    for piece in pieces:
        middle = float(piece.low) + 1.0 if piece.high == math.inf else float(piece.low + piece.high) / 2
        assert bandit.best(MeanVariance(middle)) == piece.arm
    assert {piece.arm for piece in pieces} | set(configurations.dominated(bandit)) == set(range(15))


@pytest.mark.parametrize("bandit", BOTH)
def test_each_optimal_arm_has_a_tolerance_in_the_frontiers(bandit):
    chosen = {bandit.best(MeanVariance(rho)) for rho in frontiers.RHOS}
    assert chosen == {piece.arm for piece in configurations.pieces(bandit)}


def test_configuration_2_ties_at_one_exactly():
    (tie,) = [piece for piece in configurations.pieces(CONFIGURATION_2) if piece.high == 1]
    assert isinstance(tie.high, Fraction)
    (after,) = [piece for piece in configurations.pieces(CONFIGURATION_2) if piece.low == 1]
    assert (tie.arm + 1, after.arm + 1) == (7, 8)
    assert "ρ = 1 (α7 and α8)" in configurations.ties(CONFIGURATION_2)


def test_complexity_is_that_of_the_bandit():
    rhos = np.array([0.0, 0.5, 2.0, 9.9])
    for bandit in BOTH:
        assert configurations.complexity(bandit, rhos) == pytest.approx(
            [bandit.complexity(MeanVariance(rho)) for rho in rhos]
        )


def test_configuration_1_is_the_more_complex_around_its_own_ties_only():
    intervals = configurations.first_more_complex()
    ties = configurations.tie_points(CONFIGURATION_1)
    assert [low < tie < high for (low, high), tie in zip(intervals, ties, strict=True)] == [True] * 5
    assert sum(high - low for low, high in intervals) / 10 == pytest.approx(0.037, abs=5e-4)
    for low, high in intervals:
        for edge in (low, high):
            one, two = (configurations.complexity(bandit, np.array([edge])) for bandit in BOTH)
            assert one == pytest.approx(two, rel=1e-6)


def test_the_complexity_plot_and_the_tables(made, drawn):
    section, *_ = made(configurations)
    assert [len(table) for table in section.tables.values()] == [15, 15]
    complexity, one, two = drawn(configurations)["configurations"].axes
    assert complexity.get_yscale() == "log"
    assert set(labels(complexity)) == {"configuration 1", "configuration 2", "configuration 1 is the more complex"}
    assert [len(ax.get_lines()) for ax in (one, two)] == [15, 15]
    assert set(labels(one)) == {"optimal", "dominated"}


def test_a_panel_per_horizon_and_one_legend(drawn, small):
    for name in ("frontiers-configuration-1", "frontiers-configuration-2"):
        figure = drawn(frontiers)[name]
        shown = [ax for ax in figure.axes if ax.axison]
        assert [ax.get_title() for ax in shown] == ["$n$ = 50", "$n$ = 100"]
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["arms", "optimal", "MV-LCB", "ExpExp"]
        for ax in shown:
            assert [len(line.get_xdata()) for line in ax.get_lines()][2:] == [3, 3]


def test_the_frontiers_have_twelve_panels_as_the_paper_has():
    cells = frontiers.cells()["frontiers"]
    assert {each.cell.horizon for each in cells} == set(HORIZONS)
    assert len(HORIZONS) == 12
    assert len(cells) == 2 * 12 * 2 * len(frontiers.RHOS)


def test_every_tolerance_of_a_panel_is_judged(made, small):
    for table in made(frontiers)[0].tables.values():
        assert (table["MV-LCB lower"] + table["ExpExp lower"] + table["neither"]).to_list() == [3, 3]


def test_a1_and_a2_exactly(made, drawn):
    section, *_ = made(discussion)
    one, two = section.notes["Measured"].table.rows(named=True)
    within, across, regret = "variance within a run", "variance across runs", "mean-variance regret"
    assert (one[within], one[across], one[regret], one["standard regret"]) == (0.25, 0.0, 0.25, 500.0)
    assert (two[within], two[regret]) == (0.0, 0.0)
    ones = 1.0 - two["standard regret"] / discussion.HORIZON
    assert ones * RUNS == pytest.approx(round(ones * RUNS))
    assert two[across] == pytest.approx(ones * (1.0 - ones))
    assert len(drawn(discussion)["discussion"].axes) == 2


def test_what_is_measured_stays_below_the_corrected_bounds_where_they_apply(made, small):
    table = made(theorems)[0].tables["Bounds, Unit interval"]
    assert table["applies"].all()
    assert (table["pseudo_regret"] + 2.0 * table["pseudo_regret_se"] < table["corrected"]).all()
    assert (table["corrected"] <= table["printed"]).all()


def test_figure_2_lies_outside_the_assumptions_and_says_so(made, drawn, small):
    assert not made(theorems)[0].tables["Bounds, Figure 2"]["applies"].any()
    outside, inside = drawn(theorems)["theorems"].axes
    assert "OUTSIDE the theorems' assumptions" in outside.get_title()
    assert "within the theorems' assumptions" in inside.get_title()


def test_bounds_that_say_nothing_are_marked(made, drawn, small):
    table = made(theorems)[0].tables["Bounds, Unit interval"]
    first, last = (table.filter(pl.col("algorithm") == "MV-LCB").row(i, named=True) for i in (0, -1))
    assert (first["printed is vacuous"], first["corrected is vacuous"]) == (True, True)
    assert (last["printed is vacuous"], last["corrected is vacuous"]) == (False, False)
    ax = drawn(theorems)["theorems"].axes[1]
    assert {"Theorem 1, printed", "Theorem 1, corrected"} <= {text.get_text() for text in ax.texts}
    assert {"MV-LCB, regret", "ExpExp, pseudo-regret", "Theorem 2, printed", "vacuous"} <= set(labels(ax))
    (bound,) = [line for line in ax.lines if line.get_label() == LOWER_BOUND["label"]]
    n, values = bound.get_data()
    # 0.95 · 0.05 is all the variance the better coin has; 0.5 looks like it at 0.05 or 0.95.
    k = 0.5 * np.log(0.5 / 0.95) + 0.5 * np.log(0.5 / 0.05)
    assert values == pytest.approx((0.25 - 0.0475 + 0.45**2) / k * np.log(n) / n)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
