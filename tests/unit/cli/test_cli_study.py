"""Studies as typed on the command line."""

import csv
import io
import json
import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from prudent.base.text import duration, with_error
from prudent.cli import main
from prudent.compile.announce import NotCompiledError

EXAMPLE = Path(__file__).parents[3] / "examples" / "study.toml"

TOML = """
runs = 20
horizons = [50, 200]
risks = ["mean-variance(rho={rho})"]
policies = ["exp-exp", "ucb1"]
keep = "runs"

[ranges]
mu = [0.2, 0.8, 1.4]
rho = [0, 1]

[bandits.pair]
arms = { old = "gaussian(1.0, 0.05)", new = "gaussian({mu}, 0.25)" }
"""


def prudent(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A finished study of 24 cells."""
    place = tmp_path_factory.mktemp("cli")
    (place / "study.toml").write_text(TOML)
    result = prudent("study", "run", place / "study.toml", "--out", place / "out", "--workers", 1)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{place / 'out'}\n"
    return place / "out"


def test_a_dry_run_says_how_much_and_simulates_nothing(tmp_path, folder):
    study = folder.parent / "study.toml"
    result = prudent("study", "run", study, "--out", tmp_path / "none", "--dry-run")
    assert "24 cells, 0 finished, 24 to run" in result.stdout
    assert f"{12 * 20 * 250:,} pulls, roughly " in result.stdout
    assert not (tmp_path / "none").exists()
    assert "24 finished, 0 to run" in prudent("study", "run", study, "--out", folder, "--dry-run").stdout


def test_a_dry_run_compiles_nothing_and_says_what_compiling_adds(folder, tmp_path, monkeypatch):
    def refuse(**_):
        raise NotCompiledError("is not compiled yet")

    monkeypatch.setattr("prudent.study.play.simulate", refuse)
    monkeypatch.setattr("prudent.study.play._warm", set())
    printed = prudent("study", "run", folder.parent / "study.toml", "--out", tmp_path / "none", "--dry-run").stdout
    assert printed.splitlines()[1:] == [
        f"{12 * 20 * 250:,} pulls",
        "compiling 2 kinds of cells adds about 20 s, once; how long they take to run is not known before",
    ]


def test_show_prints_all_or_some_cells(folder):
    rows = json.loads(prudent("study", "show", folder, "--json").stdout)
    assert len(rows) == 24
    some = ["--policy", "ucb*", "--horizon", 200, "--where", "mu=0.8", "--risk", "mean-variance( rho=1.0 )"]
    (row,) = json.loads(prudent("study", "show", folder, *some, "--json").stdout)
    assert (row["policy"], row["horizon"], row["mu"], row["rho"]) == ("ucb1", 200, 0.8, 1.0)
    (flat,) = csv.DictReader(io.StringIO(prudent("study", "show", folder, *some, "--csv").stdout))
    assert float(flat["regret"]) == row["regret"]
    table = prudent("study", "show", folder, *some).stdout
    assert "1 of 24 cells" in table
    assert "±" in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "--policy", "ucb2"], "no policy here is called 'ucb2'; did you mean ucb1"),
        (["show", "--where", "my=1"], "no range here is called 'my'; did you mean mu"),
        (["show", "--where", "mu"], "write a range and its value"),
        (["show", "--horizon", "7"], "no finished cell here has horizon 7; known: 50, 200"),
        (["show", "--horizon", "200.5"], "no finished cell here has horizon 200.5; known: 50, 200"),
        (["show", "--horizon", "inf"], "no finished cell here has horizon inf"),
        (["show", "--horizon", "nan"], "no finished cell here has horizon nan"),
        (["show", "--horizon", "50", "--horizon", "1e300"], "no finished cell here has horizon 1e+300"),
        (["show", "--where", "mu=inf"], "no finished cell here has mu inf; known: 0.2, 0.8, 1.4"),
        (["plot", "regret", "--where", "mu=-inf"], "no finished cell here has mu -inf"),
        (["compare", "exp-exp", "ucb1", "--where", "rho=nan"], "no finished cell here has rho nan; known: 0, 1"),
        (["show", "--where", "rho=0.5"], "no finished cell here has rho 0.5; known: 0, 1"),
        (["plot", "heatmap", "--x", "nu"], "no range here is called 'nu'"),
        (["plot", "heatmap", "--where", "rho=1"], "needs two ranges"),
        (["plot", "pulls"], "shows one problem, and 6 are left"),
        (["plot", "frontier"], "shows one bandit, and 3 are left"),
        (["plot", "regret", "--out", "x.jpg"], "must end in .svg, .png, .pdf, got x.jpg"),
        (["plot", "regret", "--size", "0", "3"], "size must lie in [1, 50], got 0.0; width and height in inches"),
        (["plot", "regret", "--measure", "regrets"], "unknown measure 'regrets'; did you mean regret"),
        (["compare", "exp-exp", "mv-lcb"], "'mv-lcb' must be one policy of exp-exp, ucb1; it is 0"),
        (["compare", "exp-exp", "exp*"], "exp-exp and exp* are one policy; name two that differ"),
        (["compare", "exp-exp", "ucb1", "--level", "95"], "level must lie in (0, 1)"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder, arguments, message):
    result = prudent("study", arguments[0], folder, *arguments[1:])
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_mistakes_in_the_file_are_reported_with_their_lines(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TOML.replace("ucb1", "ucb9").replace("runs = 20", "rums = 20"))
    result = prudent("study", "run", path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert f"{path}:2: rums: unknown key; did you mean runs" in result.stderr
    assert f"{path}:1: runs is missing" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["regret", "heatmap", "frontier", "pulls", "distribution"])
def test_plots_are_written(folder, tmp_path, kind):
    one = ["--where", "mu=0.8"] if kind in ("pulls", "distribution", "frontier") else []
    one += ["--where", "rho=1"] if kind in ("pulls", "distribution") else []
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        out = tmp_path / f"{kind}.{ending}"
        result = prudent("study", "plot", folder, kind, *one, "--out", out)
        assert result.stdout == f"{out}\n", result.output
        assert out.read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_plot_has_the_title_and_the_size_asked_for(folder, tmp_path):
    out = tmp_path / "plot.svg"
    prudent("study", "plot", folder, "regret", "--title", "Cost in $ and $", "--size", "5", "3", "--out", out)
    assert 'width="360pt" height="216pt"' in out.read_text()
    assert "Cost in $ and $" in out.read_text()


def test_compare_prints_every_pair_and_counts_verdicts(folder):
    rows = json.loads(prudent("study", "compare", folder, "exp-exp", "ucb1", "--json").stdout)
    assert len(rows) == 12
    assert all(row["low"] < row["difference"] < row["high"] for row in rows)
    printed = prudent("study", "compare", folder, "exp-exp", "ucb1").stdout
    assert "95 % intervals for all 12 together" in " ".join(printed.split())
    one = prudent(
        "study", "compare", folder, "exp-exp", "ucb1", "--where", "mu=0.2", "--where", "rho=0", "--horizon", 50
    ).stdout
    assert "95 % interval\n" in one


def test_show_calls_the_mean_so_and_finds_it_by_what_it_shows(tmp_path):
    """What cells are stored under is another text, and stays."""
    toml = TOML.replace('["mean-variance(rho={rho})"]', '["mean", "variance"]').replace("rho = [0, 1]", "")
    (tmp_path / "study.toml").write_text(toml)
    prudent("study", "run", tmp_path / "study.toml", "--out", tmp_path / "out")
    rows = json.loads(prudent("study", "show", tmp_path / "out", "--risk", "mean", "--json").stdout)
    assert {row["risk"] for row in rows} == {"mean-variance(rho=inf)"}
    printed = prudent("study", "show", tmp_path / "out", "--risk", "mean").stdout
    assert printed.startswith(f"{len(rows)} of {2 * len(rows)} cells, bandit pair, risk mean (± standard error)\n")
    assert "mean-variance(rho=0)\n" in prudent("study", "show", tmp_path / "out").stdout


@pytest.mark.parametrize("command", ["show", "compact", ("plot", "regret"), ("compare", "a", "b")])
@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_what_holds_no_study_is_refused(tmp_path, command, place):
    (tmp_path / "file").touch()
    name, *others = [command] if isinstance(command, str) else command
    result = prudent("study", name, tmp_path / place, *others)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["--workers", 0], "workers must be a whole number from 1 to 1024, got 0"),
        (["--backend", "gpu"], "backend must be one of threads, processes"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_settings_that_cannot_be_are_refused_before_anything_is_written(folder, tmp_path, settings, message, dry):
    result = prudent("study", "run", folder.parent / "study.toml", "--out", tmp_path / "out", *settings, *dry)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


def test_compact_leaves_one_part(folder):
    assert prudent("study", "compact", folder).stdout == "1 part\n"
    assert len(json.loads(prudent("study", "show", folder, "--json").stdout)) == 24


def test_the_example_is_a_study():
    from prudent.study import load

    assert len(load(EXAMPLE).cells) == (12 + 1) * 3 * 4 * 5


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.534, "0.53 s"),
        (59.0, "59 s"),
        (60.0, "1 min"),
        (90.0, "1.5 min"),
        (3599.0, "60 min"),
        (3600.0, "1 h"),
        (36 * 3600.0, "36 h"),
        (48 * 3600.0, "2 days"),
        (1e10, "317 years"),
        (1e13, "317,000 years"),
        (1e300, "a million years or more"),
    ],
)
def test_durations_are_said_in_the_largest_unit_that_fits(seconds, said):
    assert duration(seconds) == said


def test_a_study_full_of_mistakes_shows_twenty_and_counts_the_others(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TOML.replace('"ucb1"', ", ".join(f'"no{i}"' for i in range(300))))
    result = prudent("study", "run", path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.count("unknown policy") == 20
    assert result.stderr.endswith("\nand 280 more\n")


def test_the_byte_order_mark_of_some_editors_is_no_mistake(tmp_path, folder):
    path = tmp_path / "study.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TOML.encode())
    assert "24 finished" in prudent("study", "run", path, "--out", folder, "--dry-run").stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"runs = " + b"[" * 5000 + b"]" * 5000, "brackets are nested too deeply"),
        (b"runs = " + b"{a=" * 5000 + b"1" + b"}" * 5000, "brackets are nested too deeply"),
        (b"runs = '\xff'", "not UTF-8 text"),
        (b"runs = \x00", "not TOML"),
    ],
)
def test_what_is_no_toml_is_one_line(tmp_path, content, message):
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    result = prudent("study", "run", path)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_pivot_has_a_column_for_each_value_of_a_label(folder):
    result = prudent("study", "show", folder, "--pivot", "policy", "--where", "rho=1", "--horizon", 200)
    lines = result.stdout.splitlines()
    head = [line.split() for line in lines].index(["mu", "exp-exp", "ucb1"])
    table = {
        (row["policy"], row["mu"]): row
        for row in json.loads(prudent("study", "show", folder, "--json").stdout)
        if row["horizon"] == 200 and row["rho"] == 1
    }
    for line in lines[head + 2 :]:
        mu, *cells = re.split(r"  +", line.strip())
        assert cells == [
            with_error(*(table[name, float(mu)][key] for key in ("regret", "regret_se")))
            for name in ("exp-exp", "ucb1")
        ]


def test_latex_marks_what_is_not_clearly_worse(folder):
    result = prudent("study", "show", folder, "--latex", "--pivot", "mu", "--where", "rho=1", "--measure", "best_share")
    assert "\\toprule" in result.stdout
    facts = [row for row in json.loads(prudent("study", "show", folder, "--json").stdout) if row["rho"] == 1]
    bold = 0
    for row in facts:
        rivals = [each for each in facts if (each["mu"], each["horizon"]) == (row["mu"], row["horizon"])]
        best = max(rivals, key=lambda each: each["best_share"])
        away = math.hypot(row["best_share_se"], best["best_share_se"])
        bold += best["best_share"] - row["best_share"] <= 1.96 * away
    assert result.stdout.count("mathbf") == bold
    assert 6 <= bold < 12, "the test shows both kinds"


def test_what_cannot_be_pivoted_is_said(folder):
    assert (
        "pivot must be one of the labels that vary, policy, " in prudent("study", "show", folder, "--pivot", "m").stderr
    )
    assert (
        "unknown measure 'regrt'; did you mean regret"
        in prudent("study", "show", folder, "--latex", "--measure", "regrt").stderr
    )
