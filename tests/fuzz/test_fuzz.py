"""Nothing that people type, save or damage ends in a traceback, a hang, half-written files or a wrong answer.

`run.py` is the fuzzer as a script, `corpus.py` has the input that once did harm, `judge.py` what is promised.
"""

import shlex

import pytest
from corpus import CASES
from judge import complaints
from run import LARGE, fuzz, seeds_of
from sandbox import Case, Limits, Sandbox
from valid import CALLS, COMMANDS, FILES, TEXTS, call

from prudent.cli import main

SEED, CASES_TRIED = 0, 100
"""As many as an idle processor tries in twenty seconds; a number, so that a busy one tries the same."""


@pytest.fixture(scope="module")
def box():
    with Sandbox() as server:
        yield server


@pytest.fixture(scope="module")
def study(box):
    """The files of a finished study."""
    return seeds_of(box).study


def test_every_command_is_tried():
    assert COMMANDS.keys() == main.commands.keys(), "add a valid command line to valid.py"


@pytest.mark.parametrize("command", TEXTS)
def test_what_cases_are_made_from_is_valid(command, box, study):
    case = Case(tuple(shlex.split(command)), files={**FILES, **study})
    outcome = box.run(case)
    assert (outcome.code, complaints(case, outcome, box.limits)) == (0, []), outcome.err


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_that_cases_are_made_from_are_valid(name, box):
    outcome = box.run(Case(code=call(name, CALLS[name])))
    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize("name", CASES)
def test_what_once_did_harm_does_none(name, box, study):
    case = CASES[name]
    case = case._replace(files={**study, **case.files}) if "made" in case.args else case
    limits = box.limits if case.small else LARGE
    assert complaints(case, box.run(case, limits), limits) == []


@pytest.mark.slow
def test_random_input_does_no_harm(box):
    tried, problems = fuzz(box, SEED, range(CASES_TRIED))
    assert tried == CASES_TRIED
    assert not problems, "\n\n".join(problem.report(SEED) for problem in problems)


BROKEN = """
import os, sys, time, traceback, warnings, click
import prudent.cli
from prudent import PrudentError

def command(function):
    prudent.cli.main.add_command(click.command(function.__name__)(function))

@command
def fails():
    try:
        open("nowhere")
    except OSError:
        traceback.print_exc()

@command
def hangs():
    import signal
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    time.sleep(600)

@command
def dawdles():
    time.sleep(600)

@command
def naps():
    time.sleep(1.0)

@command
def computes():
    while True:
        pass

@command
def eats():
    time.sleep(0.01)
    kept = [bytearray(2**20) for _ in range(10**6)]

@command
def nibbles():
    kept = bytearray(os.urandom(2**20)) * 300

@command
def writes():
    open("half.txt", "w").write("x")
    raise PrudentError("no")

@command
def overwrites():
    open("given.txt", "w").write("x")
    raise PrudentError("no")

@command
def chatters():
    for i in range(100):
        click.echo(f"Warning: {i}", err=True)

@command
def drones():
    click.echo("Error: " + "x" * 100_000, err=True)
    raise SystemExit(2)

@command
def warns():
    warnings.warn("divide by zero encountered in log", RuntimeWarning)

@command
def confesses():
    raise PrudentError("TypeError: int is no str\\nThis is a fault of prudent")

@command
def overflows():
    click.echo("Warning: overflow encountered in square", err=True)

@command
def crashes():
    os.abort()

@command
def mumbles():
    print("no", file=sys.stderr)
    raise SystemExit(2)

@command
def litters():
    open(".a.json.part", "w").write("x")

@click.command()
@click.option("--json", is_flag=True)
def raves(json):
    print('{"rho": Infinity}')

prudent.cli.main.add_command(raves)

@command
def behaves():
    open("half.txt", "w").write("x")
"""

CAUGHT = {
    "fails": "traceback",
    "hangs": "deaf to Ctrl-C",
    "dawdles": "takes more than",
    "computes": "takes more than",
    "eats": "takes",
    "nibbles": "MB",
    "writes": "changes here/half.txt",
    "overwrites": "changes here/given.txt",
    "chatters": "100 lines",
    "drones": "characters",
    "warns": "warning of Python's",
    "confesses": "fault of prudent",
    "overflows": "warning of Python's",
    "crashes": "ends with -6",
    "mumbles": "without a line",
    "litters": "leaves here/.a.json.part",
    "raves": "strict JSON",
    "behaves": "",
    "naps": "",
}


@pytest.fixture(scope="module")
def broken():
    """A server whose command line has commands that break one promise each."""
    with Sandbox(BROKEN, Limits(seconds=0.5, grace=0.1, megabytes=250)) as server:
        yield server


@pytest.mark.parametrize("name", CAUGHT)
def test_a_broken_promise_is_noticed(name, broken):
    case = Case((name, "--json") if name == "raves" else (name,), files={"given.txt": b"y"})
    found = complaints(case, broken.run(case), broken.limits)
    assert any(CAUGHT[name] in text for text in found) if CAUGHT[name] else not found, found
    assert not complaints(Case(("behaves",)), broken.run(Case(("behaves",))), broken.limits), "the server goes on"


WRONG = {
    "not refused": Case(("behaves",), refused="no"),
    "refused with another word": Case(("writes",), refused="yes"),
    "without the answer": Case(("behaves",), answers="yes"),
    "a row too many": Case(("raves",), table="a\nb\n"),
    "a row too few": Case(("behaves",), table="a\nb\n", whole=True),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_noticed(name, broken):
    assert complaints(WRONG[name], broken.run(WRONG[name]), broken.limits)
