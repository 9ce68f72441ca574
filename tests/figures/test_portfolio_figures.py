"""Portfolio pictures show the data they are given, and the command line makes them from a CSV."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from helpers.synthetic_results import portfolio_runs
from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
from prudent.cli import main
from prudent.portfolio import spaced
from prudent.portfolio.figures import plot_frontier, plot_regret, plot_weights


@pytest.fixture(scope="module")
def learned():
    bandit = PortfolioBandit(MultivariateGaussian([0.5, 0.3, 0.1], np.diag([1.0, 0.6, 0.4])), ["a", "b", "c"])
    return simulate_portfolio(bandit, "mc-empirical", horizon=1000, runs=20, snapshots=spaced(50, 1000, 5))


@pytest.fixture
def returns(tmp_path):
    rows = np.random.default_rng(0).normal(0.01, 0.02, size=(60, 3))
    lines = [f"day {i},{a},{b},{c}" for i, (a, b, c) in enumerate(rows)]
    path = tmp_path / "returns.csv"
    path.write_text("\n".join(["date,oil,gold,bonds", *lines]))
    return path


def test_the_frontier_shows_the_arms_and_ends_the_path_at_the_last_mix(learned):
    frontier = learned.bandit.frontier(short=True)
    ax = plot_frontier(Figure().subplots(), learned.bandit, [("short", frontier)], learned)
    curve, path, star = ax.get_lines()
    assert curve.get_xdata().max() <= 1.2 * max(1.0, learned.best.variance**0.5)
    assert path.get_ydata()[-1] == pytest.approx(learned.weights[0] @ learned.bandit.law.mean)
    assert star.get_ydata() == pytest.approx([learned.best.mean])
    assert ax.collections[0].get_offsets()[:, 1].tolist() == [0.5, 0.3, 0.1]


def test_weights_come_with_the_best_mix_as_dashes(learned):
    lines = plot_weights(Figure().subplots(), learned).get_lines()
    last = sorted(line.get_ydata()[-1] for line in lines if line.get_linestyle() == "-")
    dashes = sorted(line.get_ydata()[0] for line in lines if line.get_linestyle() == "--")
    assert last == pytest.approx(sorted(learned.weights.mean(0)))
    assert dashes == pytest.approx(sorted(learned.best.weights))


def test_the_regret_picture_names_the_slope(learned):
    ax = plot_regret(Figure().subplots(), [learned])
    slope = learned.regret_slope().value
    assert f"slope {slope:.2f}".replace("-", "−") in ax.get_legend().get_texts()[0].get_text()


def test_no_regret_at_all_is_shown_though_logarithmic_axes_have_no_zero():
    ax = plot_regret(Figure().subplots(), [portfolio_runs(3, size=0.0)])
    assert ax.get_yscale() == "linear"
    assert ax.get_lines()[0].get_ydata().tolist() == [0.0] * 4


def test_from_a_csv_to_pictures_and_json(returns, tmp_path):
    out = tmp_path / "out"
    asked = [
        "portfolio",
        str(returns),
        "--upper",
        "0.6",
        "--horizon",
        "300",
        "--runs",
        "4",
        "--out",
        str(out),
        "--json",
    ]
    answer = CliRunner().invoke(main, asked)
    assert answer.exit_code == 0, answer.output
    facts = json.loads(answer.output)
    assert facts == json.loads((out / "portfolio.json").read_text())
    assert facts["arms"] == ["oil", "gold", "bonds"]
    for weights in (facts["best"]["weights"], facts["learned"]["weights"]):
        assert sum(weights.values()) == pytest.approx(1.0)
        assert max(weights.values()) <= 0.6 + 1e-12
    names = {f"{name}.{ending}" for name in ("frontier", "weights", "regret") for ending in ("svg", "png")}
    assert {path.name for path in out.iterdir()} == {*names, "portfolio.json"}


def test_the_table_lists_the_arms(returns):
    answer = CliRunner().invoke(main, ["portfolio", str(returns), "--horizon", "100", "--runs", "2", "--column", "oil"])
    assert answer.exit_code == 0
    assert "oil" in answer.output
    assert "gold" not in answer.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--upper", "0.2"], "sum to at least 1"),
        (["--feedback", "ful"], "full, semi-bandit, bandit"),
        (["--column", "tin"], "no column 'tin'"),
        (["--horizon", "0.5"], "horizon"),
    ],
)
def test_bad_input_ends_in_one_line(returns, options, words):
    answer = CliRunner().invoke(main, ["portfolio", str(returns), "--horizon", "100", *options])
    assert answer.exit_code == 2
    assert words in answer.stderr
