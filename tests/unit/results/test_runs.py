"""What is measured of runs: one list of measures, and means and errors that do not depend on how they are taken."""

from importlib.util import find_spec

import numpy as np
import pytest

from prudent import Bandit, MeanVariance, PrudentError, simulate
from prudent.results.runs import MEASURES, averages

BANDIT = Bandit(["gaussian(1, 0.05)", "gaussian(0.5, 0.25)", "gaussian(0.2, 0.1)"])


@pytest.mark.parametrize("runs", [2, 9, 130, 500, 1001])
def test_averaging_measures_together_gives_every_bit_of_averaging_them_alone(runs):
    rng = np.random.default_rng(runs)
    values = {name: rng.lognormal(size=runs) * scale for name, scale in (("a", 1.0), ("b", 1e-7), ("c", -3.0))}
    found = averages(values)
    for name, value in values.items():
        assert found[name] == float(value.mean())
        assert found[f"{name}_se"] == float(value.std(ddof=1) / np.sqrt(runs))


def test_measures_are_the_methods_of_the_same_name_and_the_summary_their_means():
    runs = simulate(BANDIT, "mv-lcb", risk=MeanVariance(0.5), horizon=300, runs=40)
    measures, summary = runs.measures(), runs.summary()
    assert tuple(measures) == MEASURES
    for name in ("regret", "pseudo_regret", "gap_regret", "exploration_risk", "reward_mean", "reward_variance"):
        assert (measures[name] == getattr(runs, name)()).all()
    assert sum(measures[part] for part in ("gap", "exploration", "twins")) == pytest.approx(runs.regret(), abs=1e-12)
    assert all(summary[name] == measures[name].mean() for name in MEASURES)
    assert summary["pulls"] == runs.pulls.mean(0).tolist()
    assert summary["across_variance"] == runs.across_variance()
    assert measures["best_share"].tolist() == (runs.pulls[:, 0] / 300).tolist()


def test_what_the_risk_does_not_define_is_none():
    runs = simulate(BANDIT, "round-robin", risk="cvar(alpha=0.25)", horizon=100, runs=5)
    undefined = {"regret", "gap", "exploration", "twins", "pseudo_regret"}
    assert set(MEASURES) - set(runs.measures()) == undefined
    assert all(runs.summary()[name] is None and runs.summary()[f"{name}_se"] is None for name in undefined)


def test_one_run_has_no_standard_error():
    summary = simulate(BANDIT, "mv-lcb", risk=MeanVariance(0.5), horizon=30, runs=1).summary()
    assert summary["regret"] is not None
    assert summary["regret_se"] is summary["pulls_se"] is None


def test_an_earlier_round_must_have_been_asked_for():
    runs = simulate(BANDIT, "mv-lcb", risk=MeanVariance(0.5), horizon=30, runs=2, snapshots=[10])
    assert runs.at(10).pulls.sum() == 20
    with pytest.raises(PrudentError, match="must be one of the snapshots 10, 30, got 20"):
        runs.at(20)


@pytest.mark.parametrize("rho", [0.0, 1.0, float("inf")])
@pytest.mark.parametrize(
    "arms", [("gaussian(1e70, 1)", "gaussian(-1e70, 1)"), ("gaussian(0, 1e140)", "gaussian(1, 1)")]
)
def test_the_largest_rewards_leave_numbers(arms, rho):
    summary = simulate(Bandit(arms), "round-robin", risk=MeanVariance(rho), horizon=10, runs=3).summary()
    assert np.isfinite([summary[name] for measure in MEASURES for name in (measure, f"{measure}_se")]).all()


def test_rewards_too_large_for_their_measures_are_refused():
    with pytest.raises(PrudentError, match="gaussian: its mean or variance is too large for floats"):
        Bandit(["gaussian(1e200, 1)", "gaussian(2e200, 1)"])
    with pytest.raises(PrudentError, match=r"Bandit: the cost of .* cannot be squared"):
        simulate(Bandit(["gaussian(1, 1)"] * 2), "round-robin", risk=MeanVariance(1e200), horizon=10, runs=3).summary()


def test_a_standard_error_beyond_floats_is_none():
    assert averages({"a": np.array([1e200, 2e200, -3e200])})["a_se"] is None


def test_the_table_has_a_row_for_each_run_and_snapshot():
    runs = simulate(BANDIT, "mv-lcb", risk=MeanVariance(0.5), horizon=300, runs=4, snapshots=[100])
    table = runs.table()
    assert table.columns == ["run", "horizon", *MEASURES, "pulls of arm 1", "pulls of arm 2", "pulls of arm 3"]
    assert table["horizon"].to_list() == [100] * 4 + [300] * 4
    assert table["run"].to_list() == [0, 1, 2, 3] * 2
    assert table.filter(horizon=300)["regret"].to_list() == runs.regret().tolist()
    assert table.filter(horizon=100)["pulls of arm 2"].to_list() == runs.at(100).pulls[:, 1].tolist()
    assert runs.at(100).table().equals(table.filter(horizon=100))


def test_pandas_is_given_or_its_installation_is_explained():
    runs = simulate(BANDIT, "round-robin", risk="mean", horizon=10, runs=2)
    if find_spec("pandas") and find_spec("pyarrow"):
        assert runs.to_pandas()["regret"].tolist() == runs.regret().tolist()
    else:
        with pytest.raises(PrudentError, match=r"to_pandas: .* must be installed.*pip install pandas pyarrow"):
            runs.to_pandas()
