"""What ends a command before its time: the disk, the memory, wrong names, signals, faults of our own."""

import errno
import html
import json
import os
import signal
import subprocess
import sys
import warnings

import click
import pytest
from click.testing import CliRunner

from prudent import PrudentError
from prudent.cli import Commands, main
from prudent.cli.paths import FILE, check_file, check_folder

ARMS = ["--arm", "gaussian(1.0, 0.05)", "--arm", "gaussian(0.5, 0.25)"]


def run(*arguments, command=main):
    return CliRunner().invoke(command, list(map(str, arguments)))


def failing(error):
    """A command line with one command, which fails."""

    @click.group(cls=Commands)
    @click.option("--debug", is_flag=True)
    def group(debug):
        pass

    @group.command()
    def fail():
        raise error

    return group


class Panic(BaseException):
    """As polars has it."""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PrudentError("simulate: runs must be 5"), "Error: simulate: runs must be 5\n"),
        (OSError(errno.ENOSPC, "No space left on device", "a.svg"), "a.svg: No space left on device; make room"),
        (PermissionError(errno.EACCES, "Permission denied", "a"), "a: Permission denied; change the rights"),
        (OSError(errno.EROFS, "Read-only file system", "a"), "a: Read-only file system; choose another place"),
        (OSError("something else"), "something else; mend that"),
        (
            MemoryError("Unable to allocate 14 PiB"),
            "too large for this machine (Unable to allocate 14 PiB); take fewer",
        ),
        (MemoryError(), "too large for this machine (no memory is left)"),
        (ValueError("Maximum allowed dimension exceeded"), "too large for this machine (Maximum allowed"),
        (OverflowError(34, "Numerical result out of range"), "(Numerical result out of range)"),
        (RuntimeError("can't start new thread"), "fewer runs, rounds, arms or workers"),
        (RuntimeError("cannot cache function 'f': no locator available for file 'x'"), "set NUMBA_CACHE_DIR"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "not UTF-8"),
    ],
)
def test_what_the_system_says_is_one_line_with_a_fix_and_exit_code_2(error, message):
    result = run("fail", command=failing(error))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("error", [ZeroDivisionError("division by zero\nmore"), KeyError("x"), Panic("boom")])
def test_a_fault_of_prudent_is_two_lines_that_ask_for_a_report(error):
    result = run("fail", command=failing(error))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 2
    assert type(error).__name__ in result.stderr
    assert "a fault of prudent; run again with `prudent --debug" in result.stderr


@pytest.mark.parametrize("error", [ZeroDivisionError("division by zero"), PrudentError("wrong"), MemoryError()])
def test_debug_shows_the_traceback_as_well(error):
    result = run("--debug", "fail", command=failing(error))
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert "raise error" in result.stderr
    assert "\nError: " in result.stderr


def test_debug_may_stand_in_the_environment(monkeypatch):
    monkeypatch.setenv("PRUDENT_DEBUG", "1")
    assert "Traceback" in run("cite", "nobody").stderr


def test_what_quotes_long_input_is_shortened():
    for arguments in (["--arm", "-" * 5000], ["--runs", "x" * 5000]):
        result = run("simulate", *ARMS, "--policy", "ucb1", "--horizon", 10, *arguments)
        assert result.exit_code == 2
        assert max(map(len, result.stderr.splitlines())) < 1100


NAMES = {"empty": "", "blank": "  ", "zero": "a\0b", "long": "x" * 5000, "deep": "abc/" * 1500, "bytes": "a\udcff"}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize(
    "command",
    [
        ["study", "run", "study.toml", "--out"],
        ["paper", "discussion", "--out"],
        ["plan", "--option", "2 * bernoulli(0.5)", "--rho", 1, "--horizon", 10, "--out"],
        ["portfolio", "--horizon", 10],
        ["study", "plot", ".", "regret", "--out"],
        ["study", "show"],
        ["study", "compact"],
    ],
)
def test_names_that_no_file_can_have_are_refused(command, name):
    result = run(*command, name)
    assert result.exit_code == 2
    assert "Invalid value for" in result.stderr
    assert result.stdout == ""


def test_no_figure_has_an_empty_name(tmp_path):
    result = run("paper", "", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "unknown figure ''" in result.stderr
    assert not (tmp_path / "out").exists()


def test_ordinary_names_are_paths(tmp_path):
    for name in (".", "a b", "results/münchen", str(tmp_path)):
        assert str(FILE.convert(name, None, None)) == name


def test_a_place_is_checked_before_anything_is_computed(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for out in ("file", "file/below", "file/far/below"):
        with pytest.raises(PrudentError, match=r"some: cannot write .* is a file and no folder; choose another place"):
            check_folder("some", tmp_path / out)
    with pytest.raises(PrudentError, match="it is a folder"):
        check_file("some", tmp_path)
    check_folder("some", tmp_path / "new" / "newer")
    check_file("some", tmp_path / "new.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "nothing is made"
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PrudentError, match="no right to write into"):
        check_folder("some", tmp_path / "new")


def test_a_place_that_cannot_be_looked_at_is_refused(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("pathlib.Path.exists", denied)
    with pytest.raises(PrudentError, match=r"cannot write .*: Permission denied; choose another place"):
        check_folder("some", tmp_path)


@pytest.fixture
def returns(tmp_path):
    path = tmp_path / "returns.csv"
    path.write_text("a,b\n0.01,0.02\n0.02,-0.01\n0.03,0.02\n-0.01,0.04\n")
    return path


PLACED = {
    "prudent.paper.making.make": ["paper", "discussion"],
    "prudent.plan.advise": ["plan", "--option", "2 * bernoulli(0.3..0.5)", "--rho", 1, "--horizon", 10],
    "prudent.portfolio.report.learn": ["portfolio", "RETURNS", "--horizon", 10],
    "prudent.study.load": ["study", "run", "study.toml"],
}


@pytest.mark.parametrize("work", PLACED)
def test_no_work_is_done_for_a_place_that_cannot_be_written(work, returns, tmp_path, monkeypatch):
    monkeypatch.setattr(work, lambda *_, **__: pytest.fail("it began"))
    command = [returns if word == "RETURNS" else word for word in PLACED[work]]
    (tmp_path / "file").touch()
    result = run(*command, "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert "is a file and no folder" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_full_disk_costs_no_answer_and_leaves_no_pieces(returns, tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = run("portfolio", returns, "--horizon", 10, "--runs", 2, "--json", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["arms"] == ["a", "b"]
    assert result.stderr.count("\n") == 1
    assert "No space left on device; make room" in result.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_infinite_tolerance_is_written_as_json_that_others_read(returns, tmp_path):
    result = run("portfolio", returns, "--horizon", 10, "--runs", 2, "--rho", "inf", "--json", "--out", tmp_path)
    assert json.loads(result.stdout, parse_constant=pytest.fail)["rho"] == "inf"
    assert json.loads((tmp_path / "portfolio.json").read_text(), parse_constant=pytest.fail)["rho"] == "inf"


@pytest.mark.parametrize("horizon", ["1e300", "1e16", "inf", "nan", "0"])
def test_horizons_that_no_one_can_count_are_refused(returns, horizon):
    for command in (["portfolio", returns], ["simulate", *ARMS, "--policy", "exp-exp"]):
        result = run(*command, "--horizon", horizon)
        assert result.exit_code == 2
        assert "horizon must be a whole number" in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--horizon", "1e300"], "horizon must be at most 2.04e+90, got a whole number of about 301 digits"),
        (["--horizon", "1e3", "--rho", "1e200"], "rho must lie in [0, 1e+40]"),
        (["--horizon", "1e3", "--delta", "1e-320"], "delta must lie in [1e-200, 1]"),
        (["--horizon", "1e3", "--arm", "gaussian(1e60, 1)"], "means and costs of arms must differ by at most 1e+40"),
    ],
)
def test_bounds_refuses_what_floats_cannot_hold(given, message):
    result = run("bounds", *ARMS, *given)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("given", [["--horizon", "1e90"], ["--horizon", "1e90", "--rho", "1e40", "--delta", "1e-200"]])
def test_bounds_at_the_limits_are_numbers(given):
    found = json.loads(run("bounds", *ARMS, *given, "--json").stdout)
    assert all(row["printed"] is not None or row["corrected"] is not None for row in found)


def process(code, *arguments, **settings):
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings)


WAITING = """
import signal, time
from prudent.cli import main

for each in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
    signal.signal(each, signal.SIG_DFL)  # which `nohup` takes away from all that it runs
signal.signal(signal.SIGINT, signal.default_int_handler)

@main.command()
def wait():
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        print("cleaned up", flush=True)

main(["wait"])
"""


@pytest.mark.parametrize(
    ("number", "code", "said"), [("SIGTERM", 143, ""), ("SIGHUP", 129, ""), ("SIGINT", 1, "Aborted!")]
)
def test_signals_let_a_command_clean_up(number, code, said):
    with process(WAITING) as waiting:
        assert waiting.stdout.readline() == "ready\n"
        waiting.send_signal(getattr(signal, number))
        out, err = waiting.communicate(timeout=120)
    assert (waiting.returncode, out, err.strip()) == (code, "cleaned up\n", said)


DEAF = """
import time
from prudent.cli import main, trouble

trouble.GRACE = 0.1

@main.command()
def work():
    print("ready", flush=True)
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass

main(["work"])
"""


@pytest.mark.parametrize(("number", "code", "said"), [("SIGTERM", 143, ""), ("SIGINT", 1, "Aborted!")])
def test_what_does_not_hear_a_signal_is_ended_all_the_same(number, code, said):
    with process(DEAF) as working:
        assert working.stdout.readline() == "ready\n"
        working.send_signal(getattr(signal, number))
        _, err = working.communicate(timeout=120)
    assert (working.returncode, err.strip()) == (code, said)


def test_handlers_of_signals_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    run("cite", "ucb1")
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    woken = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(woken)
    assert woken == -1


def test_a_reader_that_had_enough_is_no_error():
    with process("from prudent.cli import main; main(['policies', '--json'])") as writing:
        writing.stdout.close()
        assert writing.stderr.read() == ""
    assert writing.returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_an_output_that_cannot_be_written_is_one_line():
    with open("/dev/full", "w") as full:
        code = "from prudent.cli import main; main(['cite', 'ucb1'])"
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


def test_warnings_of_libraries_are_one_line_each():
    @click.group(cls=Commands)
    @click.option("--debug", is_flag=True)
    def group(debug):
        pass

    @group.command()
    def remark():
        warnings.warn("take care", RuntimeWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("remark", command=group).stderr == "Warning: take care\n"


def test_a_plan_goes_into_a_folder_whatever_it_is_called(tmp_path):
    out = tmp_path / "c; echo $HOME & more"
    options = ["--option", "2 * bernoulli(0.3..0.5)", "--rho", 1, "--horizon", 10, "--draws", 10, "--runs", 2]
    result = run("plan", *options, "--policy", "exp-exp", "--seconds", 1, "--out", out)
    assert result.exit_code == 0, result.output
    page = html.unescape((out / "plan.html").read_text())
    assert f"prudent trial create '{out / 'experiment.json'}'" in page


DROPPED = """
import signal
import sys
import time
from prudent.cli import main

class Kept:
    def __del__(self):
        signal.raise_signal(getattr(signal, sys.argv[1]))

@main.command()
def collect():
    Kept()
    time.sleep(20)
    print("it went on")

main(["collect"])
"""


@pytest.mark.parametrize(("number", "code", "said"), [("SIGTERM", 143, ""), ("SIGINT", 1, "Aborted!")])
def test_a_signal_heard_where_python_drops_errors_is_not_lost(number, code, said):
    """As in a callback of the garbage collector: Python prints an error there, and goes on."""
    with process(DROPPED, number) as collecting:
        out, err = collecting.communicate(timeout=120)
    assert (collecting.returncode, out, err.strip()) == (code, "", said)


CLOSED = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-", "all": "<&- >&- 2>&-"}


@pytest.mark.skipif(sys.platform == "win32", reason="no shell there closes a stream")
@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize(("command", "code"), [("arms", 0), ("risks --json", 0), ("cite nobody", 2)])
def test_a_closed_stream_is_as_if_nobody_read_it(closed, command, code):
    line = f'exec "$0" -m prudent {command} {CLOSED[closed]}'
    ended = subprocess.run(["sh", "-c", line, sys.executable], capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "fault of prudent" not in ended.stderr
    assert bool(ended.stdout) == (code == 0 and closed in ("stdin", "stderr"))
    assert bool(ended.stderr) == (code != 0 and closed in ("stdin", "stdout"))


@pytest.mark.skipif(sys.platform == "win32", reason="no shell there closes a stream")
def test_no_file_gets_the_number_of_a_closed_stream(tmp_path):
    code = """
import sys
from prudent.cli.trouble import open_closed_streams
open_closed_streams()
with open(sys.argv[1], "w") as file:
    print("to stdout", flush=True)
    print("to stderr", file=sys.stderr, flush=True)
    file.write(str(file.fileno() > 2))
"""
    path = tmp_path / "database"
    line = 'exec "$0" -c "$1" "$2" <&- >&- 2>&-'
    subprocess.run(["sh", "-c", line, sys.executable, code, str(path)], check=True)
    assert path.read_text() == "True"
