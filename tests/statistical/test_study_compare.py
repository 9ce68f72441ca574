"""Comparisons: adjusted p-values as defined, intervals with the coverage they promise."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, ttest_ind

from prudent import PrudentError
from prudent.study.compare import compare, holm


def table_of(means, errors, policies=("a", "b"), runs=100):
    """A row per policy and problem, as a study leaves them."""
    rows = [
        {"bandit": "x", "mu": float(j), "arms": "", "risk": "", "horizon": 10, "runs": runs, "policy": policy}
        | {"regret": float(means[i][j]), "regret_se": float(errors[i][j])}
        for i, policy in enumerate(policies)
        for j in range(len(means[0]))
    ]
    return pl.DataFrame(rows)


def test_holm_multiplies_the_smallest_by_all_and_never_falls():
    p = np.array([0.03, 0.001, 0.02, 0.5])
    assert holm(p) == pytest.approx([0.06, 0.004, 0.06, 0.5])
    assert holm(np.array([0.2])) == pytest.approx([0.2])
    assert holm(np.array([0.9, 0.8])).max() == 1.0


def test_intervals_hold_all_at_once():
    """Equal policies, 20 problems of 30 runs each, 500 studies: a miss anywhere at most 5 % of the time.

    False alarms of the test: 1e-9, on each of the two counts.
    """
    rng, studies, problems, runs = np.random.default_rng(5), 500, 20, 30
    missed = wrong = 0
    for _ in range(studies):
        rewards = rng.normal(size=(2, problems, runs)) * np.array([1.0, 3.0])[:, None, None]
        found = compare(table_of(rewards.mean(2), rewards.std(2, ddof=1) / np.sqrt(runs), runs=runs), "a", "b")
        missed += not ((found["low"] < 0.0) & (found["high"] > 0.0)).all()
        wrong += not (found["verdict"] == "open").all()
    limit = binom.isf(1e-9, studies, 0.05)
    assert missed <= limit
    assert wrong <= limit
    assert missed > 0, "intervals that never miss in 500 studies would be far too wide"


def test_it_is_welch_s_test_of_the_runs():
    """Against SciPy on the rewards themselves; intervals share the failure of 1 − level equally."""
    rng, problems, runs, level = np.random.default_rng(6), 4, 12, 0.9
    rewards = rng.normal(size=(2, problems, runs)) * rng.uniform(0.2, 3.0, (2, problems, 1))
    rewards[0] += np.arange(problems)[:, None] / 2.0
    errors = rewards.std(2, ddof=1) / np.sqrt(runs)
    found = compare(table_of(rewards.mean(2), errors, runs=runs), "a", "b", level=level)
    tests = [ttest_ind(*rewards[:, i], equal_var=False) for i in range(problems)]
    intervals = [test.confidence_interval(1.0 - (1.0 - level) / problems) for test in tests]
    assert found["low"].to_list() == pytest.approx([interval.low for interval in intervals])
    assert found["high"].to_list() == pytest.approx([interval.high for interval in intervals])
    adjusted = holm(np.array([test.pvalue for test in tests]))
    assert found["p_holm"].to_list() == pytest.approx(adjusted)
    assert found["verdict"].to_list() == ["B smaller" if p <= 1.0 - level else "open" for p in adjusted]
    assert {"open", "B smaller"} == set(found["verdict"])


def test_a_clear_difference_is_seen_and_its_sign_is_a_minus_b():
    found = compare(table_of([[1.0, 5.0], [2.0, 5.0]], [[0.01, 0.1], [0.01, 0.1]]), "a", "b")
    assert found["difference"].to_list() == [-1.0, 0.0]
    assert found["verdict"].to_list() == ["A smaller", "open"]
    assert compare(table_of([[1.0], [2.0]], [[0.0], [0.0]]), "a", "b")["verdict"].to_list() == ["A smaller"]


def test_a_label_that_names_the_policy_does_not_part_the_cells():
    table = table_of([[1.0, 2.0], [2.0, 1.0]], [[0.1, 0.1], [0.1, 0.1]])
    table.insert_column(0, (pl.col("policy") + " by name").alias("algorithm"))
    assert compare(table, "a", "b").height == 2


def test_only_shared_cells_are_compared():
    table = table_of([[1.0, 2.0], [2.0, 1.0]], [[0.1, 0.1], [0.1, 0.1]])
    assert compare(table.head(3), "a", "b").height == 1
    with pytest.raises(PrudentError, match="share no finished cell"):
        compare(table[[0, 3]], "a", "b")
