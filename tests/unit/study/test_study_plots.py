"""Pictures of a study: logarithmic ranges, one horizon, the arms, and what axes say."""

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from helpers.synthetic_results import results, study_cells
from prudent import Bandit
from prudent.results.figures import ERRORS, LOWER_BOUND
from prudent.study import plots
from prudent.theory import asymptotic_bound


@pytest.fixture(scope="module")
def table():
    return results(study_cells())


def test_a_range_in_ratios_has_a_logarithmic_axis_on_which_its_cells_are_even():
    values = [0.01, 0.1, 1.0, 10.0]
    cells = [{"mean": x, "variance": y, "regret": x + y} for x in (0.0, 0.5, 1.0) for y in values]
    ax = plots.plot_heat_map(Figure().subplots(), pl.DataFrame(cells), "regret", "mean", "variance")
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    corners = ax.collections[0].get_coordinates()
    edges = np.log(corners[:, 0, 1])
    assert np.ptp(np.diff(edges)) < 1e-9
    assert ((edges[:-1] + edges[1:]) / 2.0).tolist() == pytest.approx(np.log(values).tolist())


def test_with_one_horizon_every_policy_has_an_error_bar(table):
    one = table.filter(pl.col("horizon") == pl.col("horizon").max())
    ax = plots.plot_horizons(Figure().subplots(), one)
    (bars,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    assert len(bars.get_segments()) == one["policy"].n_unique() > 1
    assert ERRORS in ax.get_xlabel()
    assert "regret per round" in ax.get_xlabel()


def test_against_the_horizon_axes_and_legend_say_what_is_shown(table):
    ax = plots.plot_horizons(Figure().subplots(), table)
    assert ax.get_ylabel().startswith("regret per round, mean of")
    assert ax.get_legend().get_title().get_text() == ERRORS


def test_one_problem_has_its_lower_bound(table):
    one = table.filter(pl.col("mean") == 0.5, pl.col("variance") == 0.25, pl.col("risk") == table["risk"][0])
    bound = asymptotic_bound(Bandit(one["arms"][0].split("; ")), one["risk"][0])
    for measure, constant in (("regret", bound.constant), ("gap_regret", bound.gap_constant)):
        line = plots.plot_horizons(Figure().subplots(), one, measure).lines[-1]
        assert line.get_label() == LOWER_BOUND["label"]
        n, values = line.get_data()
        assert (n[0], n[-1]) == (one["horizon"].min(), one["horizon"].max())
        assert values == pytest.approx(constant * np.log(n) / n)
    assert bound.constant > bound.gap_constant > 0.0


@pytest.mark.parametrize(
    ("arms", "risk", "measure"),
    [
        ("exponential(1.0); exponential(2.0)", "mean-variance(rho=1.0)", "regret"),  # of no known family
        ("bernoulli(0.2); bernoulli(0.8)", "mean-variance(rho=0.0)", "regret"),  # tied
        ("deterministic(0.2); deterministic(0.8)", "mean-variance(rho=1.0)", "regret"),  # seen at once
        ("bernoulli(0.2); bernoulli(0.8)", "cvar(alpha=0.5)", "regret"),  # of which the regret is no sum of pulls
        ("bernoulli(0.2); bernoulli(0.8)", "mean-variance(rho=1.0)", "reward_mean"),
    ],
)
def test_where_no_lower_bound_is_known_none_is_drawn(arms, risk, measure):
    assert not plots.plot_lower_bound(Figure().subplots(), np.array([10, 100]), arms, risk, measure).lines


def test_the_frontier_shows_the_arms_and_single_points_as_points(table):
    one = table.filter(pl.col("mean") == 0.5, pl.col("variance") == 0.25)
    ax = plots.plot_frontier(Figure().subplots(), one)
    arms, *policies = ax.lines
    assert arms.get_label() == "single arms"
    assert len(arms.get_xdata()) == len(one["arms"][0].split("; ")) == len(ax.texts)
    assert all(line.get_linestyle() == "None" for line in policies)


def test_arms_without_a_spec_are_left_out_of_the_frontier(table):
    one = table.filter(pl.col("mean") == 0.5, pl.col("variance") == 0.25)
    long = one.with_columns(arms=pl.lit("empirical(100 values, 0123456789abcdef); gaussian(0.5, 0.25)"))
    assert plots.plot_frontier(Figure().subplots(), long).lines[0].get_label() != "single arms"


def test_curves_of_a_distribution_carry_their_names():
    single = results(study_cells(), by_run=30).filter(pl.col("mean") == 0.5, pl.col("variance") == 1.0)
    ax = plots.plot_distribution(Figure().subplots(), single)
    assert {text.get_text(): text.get_color() for text in ax.texts} == {
        line.get_label(): line.get_color() for line in ax.lines
    }
