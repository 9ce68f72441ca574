"""How long it will take, said before it starts."""

from importlib import import_module
from math import log

import pytest
from click.testing import CliRunner

from prudent import PrudentError
from prudent.cli import main
from prudent.cli.output import warning_first
from prudent.study import timing
from prudent.study.timing import seconds_of_run, seconds_of_sample

ARMS = ["--arm", "gaussian(1.0, 0.05)", "--arm", "gaussian(0.5, 0.25)"]


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless a test turns it."""
    now = [0.0]
    monkeypatch.setattr("prudent.study.timing.time.perf_counter", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("grows", "seconds"),
    [
        (lambda n: 1e-6 * n, 1e6),
        (lambda n: 1e-10 * n**2, 1e14),
        (lambda n: 1e-3, 1e-3),
        (lambda n: 0.06 + 1e-3 * log(n), 0.0667),
    ],
)
def test_the_time_of_a_long_run_follows_from_short_ones(clock, grows, seconds):
    played = []

    def play(rounds, runs, workers):
        assert (runs, workers) == (1, 1)
        if rounds < 1_000:
            raise PrudentError("too short for this policy")
        played.append(rounds)
        clock[0] += grows(rounds)

    assert seconds_of_run(play, 10**12) == pytest.approx(seconds, rel=0.1)
    assert sum(map(grows, played)) < 10.0


def test_a_run_that_cannot_be_is_left_to_complain_itself():
    def play(*_, **__):
        raise PrudentError("never")

    with pytest.raises(PrudentError, match="never"):
        seconds_of_run(play, 10**6)


def test_years_are_announced_before_they_begin(monkeypatch):
    """The real run is not waited for."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("prudent.cli.simulate.progress_bar", stop)
    result = run("simulate", *ARMS, "--policy", "ucb-tuned", "--risk", "mean", "--horizon", 2**53, "--runs", 1)
    assert "Warning: this will take about " in result.stderr
    assert " years with 1 worker; Ctrl-C stops it" in result.stderr


@pytest.mark.parametrize("horizon", [100, 2**53])
def test_what_is_quick_is_not_announced(horizon):
    result = run("simulate", *ARMS, "--policy", "exp-exp", "--horizon", horizon, "--runs", 2)
    assert (result.exit_code, result.stderr) == (0, "")


def test_the_rest_of_a_study_is_announced_once(capsys):
    advanced = []
    told = warning_first(advanced.append, 10, lambda: 20 * 3600.0, 2)
    for finished in (5, 1, 1):
        told(finished)
    assert advanced == [5, 1, 1]
    assert capsys.readouterr().err == "Warning: this will take about 10 h with 2 workers; Ctrl-C stops it\n"


def test_a_finished_study_is_not_estimated(capsys):
    warning_first(lambda _: None, 10, lambda: pytest.fail("estimated"), 2)(10)
    assert capsys.readouterr().err == ""


def test_the_time_of_a_study_is_that_of_a_sample(monkeypatch):
    """A second for each cell one after another, whatever is sampled; on as many workers as have something to do."""
    from prudent import UCB1, Bandit, Gaussian, MeanVariance
    from prudent.study import Cell, Labelled, TimeEstimate

    asked = []

    def estimate(cells, workers, *, threads):
        asked.append(len(cells))
        return TimeEstimate(len(cells), 0, len(cells) / min(workers, len(cells)))

    monkeypatch.setattr(timing, "estimate_time", estimate)
    bandit = Bandit([Gaussian(1, 1), Gaussian(0, 1)])
    cells = [Labelled(Cell(bandit, MeanVariance(1), UCB1(), 10**9, seed=seed)) for seed in range(100)]
    assert seconds_of_sample(cells, 4) == pytest.approx(25.0)
    assert seconds_of_sample(cells, 50) == pytest.approx(2.0)
    assert seconds_of_sample(cells[:2], 50) == pytest.approx(1.0)
    assert asked == [timing.SAMPLE, timing.SAMPLE, 2]
    short = [Labelled(Cell(bandit, MeanVariance(1), UCB1(), 100))]
    assert seconds_of_sample(short, 4) == 0.0
    assert len(asked) == 3, "too small to matter, and not tried"


@pytest.mark.parametrize("command", ["run", "paper"])
def test_commands_announce_long_studies(command, tmp_path, monkeypatch):
    """The first word of `run` about what is finished brings the estimate; nothing is simulated here."""

    def stop(study, out, *, progress, **_):
        progress(0)
        raise KeyboardInterrupt

    for module in [import_module(f"prudent.{name}") for name in ("study", "paper.making")]:
        monkeypatch.setattr(module, "run", stop)
    monkeypatch.setattr(timing, "seconds_of_sample", lambda *_, **__: 7200.0)
    (tmp_path / "study.toml").write_text(
        'runs = 20\nhorizons = [50]\nrisks = ["variance"]\npolicies = ["exp-exp"]\n'
        '[bandits.pair]\narms = ["gaussian(1, 1)", "gaussian(0, 1)"]\n'
    )
    commands = {
        "run": ["study", "run", tmp_path / "study.toml"],
        "paper": ["paper", "discussion", "--runs", 501],
    }
    result = run(*commands[command], "--out", tmp_path / "out")
    assert "Warning: this will take about " in result.stderr
