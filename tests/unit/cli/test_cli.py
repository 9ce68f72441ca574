"""The command line as a user types it."""

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from prudent.cli import main
from prudent.paper import EXTRAS, FIGURES
from prudent.study.schema import SUMMARY

ARMS = ["--arm", "gaussian(1.0, 0.05)", "--arm", "gaussian(0.5, 0.25)"]
SIMULATE = ["simulate", *ARMS, "--risk", "mean-variance(rho=0)", "--policy", "mv-lcb", "--runs", "30", "--seed", "7"]


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_simulate_prints_a_table_with_error_bars():
    result = run(*SIMULATE, "--policy", "exp-exp", "--horizon", "1e3")
    assert result.exit_code == 0
    assert "mv-lcb" in result.stdout
    assert "exp-exp" in result.stdout
    assert "±" in result.stdout


def test_simulate_as_json_is_one_object():
    result = run(*SIMULATE, "--policy", "mv-lcb(c=1, rho=0.5)", "--horizon", 1000, "--json")
    answer = json.loads(result.stdout)
    assert set(answer) == {"horizon", "batch", "runs", "seed", "risk", "policies"}
    assert [row["policy"] for row in answer["policies"]] == ["mv-lcb", "mv-lcb(rho=0.5, c=1)"]
    row = answer["policies"][0]
    assert set(row) == {"policy", "engine", "seconds", *SUMMARY}, "the columns of a stored study"
    assert row["regret"] == pytest.approx(sum(row[part] for part in ("gap", "exploration", "twins")), abs=1e-12)
    assert sum(row["pulls"]) == pytest.approx(1000)


def test_simulate_in_batches():
    late = [*SIMULATE, "--horizon", 1000, "--batch", 100]
    assert ", 1,000 rounds in batches of 100, 30 runs" in run(*late).stdout
    answer, soon = (json.loads(run(*line, "--json").stdout) for line in (late, late[:-2]))
    assert (answer["batch"], soon["batch"]) == (100, 1)
    assert answer["policies"][0]["engine"] == "stepping"
    assert "simulate: batch must be a whole number" in run(*late[:-1], 0).stderr


def test_the_mean_is_called_the_mean():
    mean = [*SIMULATE, "--risk", "mean", "--horizon", 100]
    assert run(*mean).stdout.startswith("2 arms, mean, 100 rounds, 30 runs (± standard error)\n")
    assert json.loads(run(*mean, "--json").stdout)["risk"] == "mean-variance(rho=inf)", "the text of cells and keys"


def test_a_value_that_all_runs_share_is_exact_and_counts_are_whole():
    """ExpExp explores by a rule, so its pulls have no error; they were 2e+04 and ± 3.7e-19 once."""
    shown = run(*SIMULATE, "--policy", "exp-exp", "--horizon", 30_000).stdout
    assert re.search(r"pulls, arm 1 +29,\d{3}\n", shown)
    assert not re.search(r"\de[+-]?\d|0{9}", shown)


def test_one_run_has_no_standard_error():
    answer = json.loads(run(*SIMULATE, "--runs", 1, "--horizon", 100, "--json").stdout)
    assert answer["policies"][0]["regret_se"] is None
    assert run(*SIMULATE, "--runs", 1, "--horizon", 100).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arm", "gaussian(1, -1)"], "variance must lie in [0, ∞), got -1"),
        (["--arm", "gaussian(nan, 1)"], "mean must lie in"),
        (["--arm", "gaussian(1, inf)"], "variance must lie in"),
        (["--arm", "gausian(1, 1)"], "did you mean gaussian"),
        (["--arm", "gaussian(1"], "cannot read arm"),
        (["--arm", "gaussian(1)"], "it takes (mean, variance)"),
        (["--arm", "empirical('nowhere.csv', 'x')"], "cannot read nowhere.csv"),
        (["--policy", "mv-lcb(delta=5)"], "delta must lie in (0, 1), got 5; for a 5 % failure rate pass 0.05"),
        (["--policy", "mvlcb"], "did you mean mv-lcb"),
        (["--risk", "mean-variance(rho=-1)"], "rho must lie in [0, ∞], got -1"),
        (["--runs", 0], "runs must be a whole number at least 1"),
        (["--horizon", 1], "horizon must be at least the number of arms"),
        (["--horizon", 10.5], "whole number"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message):
    result = run(*SIMULATE, "--horizon", 100, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_unknown_figure_writes_nothing(tmp_path):
    result = run("paper", "fig-2", "--out", tmp_path / "results")
    assert result.exit_code == 2
    assert "fig2-left" in result.stderr
    assert not (tmp_path / "results").exists()


def test_the_help_of_the_paper_names_its_figures():
    text = " ".join(run("paper", "--help").stdout.split())
    assert f"The names: {', '.join(FIGURES)}." in text.replace("- ", "-")
    assert all(name in text for name in EXTRAS)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["fig2-right", "--rho", 1], "rho and arm are for fig2-left, got fig2-right"),
        (["--rho", 1], "rho and arm are for fig2-left, got the whole paper"),
        (["fig2-left", "--arm", "uniform(0, 1)"], "two or more arms, got one"),
        (["fig2-left", "--rho", -1], "rho must lie in"),
        (["--policy", "mv-lcb"], "policy is for leaderboard, got the whole paper"),
        (["beyond", "--policy", "mv-lcb"], "policy is for leaderboard, got beyond"),
        (["fig2-left", "--horizon", "1000000"], "horizon is for leaderboard, got fig2-left"),
        (["leaderboard", "--horizon", "0"], "horizon must be a whole number at least 10001, got 0"),
        (["leaderboard", "--policy", "mv-lbc"], "did you mean mv-lcb"),
        (["leaderboard", "--policy", "kl-ucb(low=5, high=6)"], "kl-ucb(low=5, high=6) cannot join"),
    ],
)
def test_another_rho_other_arms_and_policies_are_for_one_figure(flags, words, tmp_path):
    told = run("paper", *flags, "--out", tmp_path / "out")
    assert told.exit_code == 2
    assert words in told.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("flags", "runs"), [([], 500), (["--quick"], 50), (["--runs", 7], 7)])
def test_the_paper_takes_500_runs_a_point_unless_asked_otherwise(flags, runs, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("prudent.paper.making.make", lambda figure, settings: asked.append(settings) or 1 / 0)
    run("paper", "fig2-left", *flags, "--out", tmp_path)
    assert [settings.runs for settings in asked] == [runs]


def test_bounds_prints_every_result():
    result = run("bounds", *ARMS, "--rho", 0, "--horizon", 5000)
    assert result.exit_code == 0
    for name in ("Lemma 1", "Lemma 2", "Theorem 1", "Theorem 2", "10.2"):
        assert name in result.stdout
    assert json.loads(run("bounds", *ARMS, "--rho", 0, "--horizon", 5000, "--json").stdout)


def test_bounds_takes_the_model_of_the_lower_bound():
    arms = ["--arm", "beta(2, 2)", "--arm", "bernoulli(0.3)", "--horizon", 100, "--json"]

    def lower(*model):
        rows = json.loads(run("bounds", *arms, *model).stdout)
        return next(row for row in rows if row["name"] == "Lower bound, these arms")

    assert lower()["corrected"] is None
    assert lower("--support", 0, 1)["corrected"] == pytest.approx(0.0642, abs=1e-4)
    coins = ["bounds", "--arm", "bernoulli(0.3)", "--arm", "bernoulli(0.9)", "--horizon", 100]
    assert "all laws on 3 values" in " ".join(run(*coins, "--values", "0, 0.5, 1").stdout.split())
    wrong = run(*coins, "--values", "0; 1")
    assert wrong.exit_code == 2
    assert "values must be numbers with commas between them, got '0; 1'; write --values 0,0.5,1" in wrong.stderr


HEAVY = ("numpy", "numba", "scipy", "polars", "matplotlib", "joblib", "jinja2", "rich", "prudent.engine")


def test_help_starts_at_once():
    """It imports nothing that takes its time."""
    code = "import sys; from prudent.cli import main; main(sys.argv[1:], standalone_mode=False);"
    code += f"print([name for name in {HEAVY} if name in sys.modules])"
    for command in ([], *([name] for name in main.commands)):
        done = subprocess.run(
            [sys.executable, "-c", code, *command, "--help"], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[0].startswith("Usage:")
        assert done.stdout.splitlines()[-1] == "[]"


IDENTIFY = ["identify", "--arm", "bernoulli(0.8)", "--arm", "uniform(0, 0.5)", "--risk", "mean-variance(rho=inf)"]
IDENTIFY += ["--runs", "30"]


def test_identify_prints_a_table_with_error_bars():
    result = run(*IDENTIFY, "--strategy", "uniform", "--strategy", "ucb-e(a=2)", "--budget", "1e1")
    assert result.exit_code == 0
    for text in ("uniform", "ucb-e(a=2)", "10 pulls", "±", "error probability", "simple regret"):
        assert text in result.stdout
    assert run(*IDENTIFY, "--strategy", "uniform", "--budget", 2, "--runs", 1).exit_code == 0


def test_identify_as_json_is_one_object():
    answer = json.loads(run(*IDENTIFY, "--strategy", "va-lucb(limit=0.1)", "--delta", 0.1, "--json").stdout)
    assert set(answer) == {"budget", "delta", "runs", "seed", "risk", "strategies"}
    (row,) = answer["strategies"]
    assert row["simple_regret"] is None
    assert row["recommended"] == [0.0, 1.0]
    assert row["stopping_time"] == pytest.approx(sum(row["pulls"]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategy", "uniform"], "got neither"),
        (["--strategy", "uniform", "--budget", 10, "--delta", 0.1], "got both"),
        (["--strategy", "uniform", "--delta", 0.1], "uniform: needs budget"),
        (["--strategy", "lucbb", "--delta", 0.1], "did you mean lucb"),
        (["--strategy", "va-lucb", "--delta", 2], "delta must lie in (0, 1), got 2"),
        (["--strategy", "uniform", "--budget", 1], "budget must be a whole number from 2"),
    ],
)
def test_bad_searches_are_one_line_and_exit_code_2(arguments, message):
    result = run(*IDENTIFY, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
