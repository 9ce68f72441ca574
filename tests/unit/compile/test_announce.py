"""What a user notices of compiling: a line on stderr, a refusal in one line, and nothing twice."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from numba.core.errors import NumbaError

import prudent
from prudent import Bandit, PrudentError, identify, simulate
from prudent.cli import main
from prudent.compile.announce import NotCompiledError, nothing_compiled, refusal
from prudent.compile.types import MachineCode
from prudent.study import Cell, run
from prudent.testing import check_policy

BANDIT = Bandit(["gaussian(1, 0.05)", "gaussian(0.5, 0.25)"])
RISK = "mean-variance(rho=1)"


@pytest.fixture
def fresh(monkeypatch):
    """A policy that was never compiled before and leaves nothing on disk."""
    monkeypatch.setattr(MachineCode, "save", lambda *_: None)
    number = random.SystemRandom().random()

    class Fresh(NamedTuple):
        rho: float = 1.0

        def score(self, arm, t):
            return number - arm.mean

    return Fresh()


def play(policy):
    return simulate(BANDIT, policy, risk=RISK, horizon=20, runs=2)


# The line on stderr


def test_what_takes_long_to_compile_is_said_once_on_stderr(fresh, monkeypatch, capfd):
    monkeypatch.setattr("prudent.compile.announce.ANNOUNCED_SECONDS", 0.0)
    monkeypatch.delenv("PRUDENT_QUIET", raising=False)
    play(fresh)
    play(fresh)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "prudent: compiling Fresh for arms of this kind, once; about 10 s\n")


def test_what_is_compiled_quickly_needs_no_line(fresh, monkeypatch, capfd):
    monkeypatch.setattr("prudent.compile.announce.ANNOUNCED_SECONDS", 3600.0)
    play(fresh)
    assert capfd.readouterr() == ("", "")


def test_the_line_can_be_silenced(fresh, monkeypatch, capfd):
    monkeypatch.setattr("prudent.compile.announce.ANNOUNCED_SECONDS", 0.0)
    monkeypatch.setenv("PRUDENT_QUIET", "1")
    play(fresh)
    assert capfd.readouterr() == ("", "")


def test_where_nothing_is_to_be_compiled_only_what_is_there_runs(fresh):
    play("thompson")
    with nothing_compiled():
        assert len(play("thompson")) == 2
        for _ in range(2):
            with pytest.raises(NotCompiledError, match="Fresh: is not compiled yet"):
                play(fresh)
    assert len(play(fresh)) == 2


# Refusals


class Typo(NamedTuple):
    rho: float = 1.0

    def score(self, arm):
        return arm.maen


class ListInside(NamedTuple):
    def phase(self, arms, t, chosen, rng):
        return beyond(arms)


def beyond(arms):
    return arms.pulls.argmaxx()


class Text(NamedTuple):
    rho: float = 1.0

    def score(self, arm):
        return "low"


REFUSED = r"; keep to numbers, arrays, math and NumPy$"


def test_a_policy_that_does_not_compile_is_refused_in_one_line():
    line = r"^Typo: test_announce.py, line \d+, in score: return arm.maen: AttributeError: .*; did you mean mean\?$"
    with pytest.raises(PrudentError, match=line) as caught:
        play(Typo())
    assert "During: resolving callee" in str(caught.value.__cause__.__cause__), "Numba's whole text"
    with pytest.raises(PrudentError, match=r"^Text: must compile, but Numba refuses what its methods take or return"):
        play(Text())


class Median(NamedTuple):
    def score(self, arm):
        return np.median(["a", arm.mean])


def test_the_line_is_the_users_whichever_folder_the_work_is_done_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = r"^Median: test_announce.py, line \d+, in score: return np.median"
    with pytest.raises(PrudentError, match=line + r'\(\["a", arm.mean\]\): '):
        play(Median())


BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
COLOURED = f"""Failed in nopython mode pipeline (step: nopython frontend)
{BOLD}{BOLD}Unknown attribute 'maen' of type Arm
{BOLD}
File "mine.py", line 7:{PLAIN}
{BOLD}def score(self, arm):
{BOLD}    return arm.maen
{PLAIN}    {BOLD}^{PLAIN}{PLAIN}

{PLAIN}{BOLD}During: Pass nopython_type_inference{PLAIN}"""


def test_a_report_in_colours_is_read_too():
    line = 'must compile, but Numba refuses File "mine.py", line 7: return arm.maen'
    assert re.match(line + REFUSED, refusal(NumbaError(COLOURED)))


def test_so_is_a_strategy_and_a_cell_of_a_study(tmp_path):
    with pytest.raises(PrudentError, match=r"^ListInside: must compile.*: return beyond\(arms\)" + REFUSED):
        identify(BANDIT, ListInside(), risk="mean", budget=20, runs=2)
    with pytest.raises(PrudentError, match=r"Typo: test_announce.py, line .*: return arm.maen: AttributeError"):
        run([Cell(BANDIT, prudent.MeanVariance(1.0), Typo(), 20, runs=2)], tmp_path / "out", workers=1)


class Memory(NamedTuple):
    memory: list = []  # noqa: RUF012

    def score(self, arm):
        self.memory.append(arm.mean)
        return -arm.mean


@pytest.mark.parametrize("value", [[], [1.0], {}, {1: 2.0}, {3.0}, object()])
def test_a_field_that_cannot_be_compiled_is_refused_with_what_to_do(value):
    line = "^Memory: memory must be a number, a text, an array or a tuple of these, .* write constants as a tuple"
    with pytest.raises(PrudentError, match=line):
        play(Memory(value))
    with pytest.raises(AssertionError, match="Memory: memory must be a number"):
        check_policy(Memory(value))


# Edits of the package itself

STATE = """
import json, sys
from prudent.compile.types import Kernel
from prudent.compile.cache import fingerprint
from prudent.policies.contract import policies, strategies
import prudent.engine.compiled, prudent.engine.search

found = {e.name: fingerprint(e.factory) for registry in (policies, strategies) for e in registry.entries()}
kernels = {value for module in [*sys.modules.values()] for value in vars(module).values() if isinstance(value, Kernel)}
found |= {f"{k.__module__}.{k.__name__}": k.alone._cache._cache_file._begins.split(".")[-1] for k in kernels}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, and what `script` prints in it after an edit of one file, which is then undone."""
    folder = tmp_path_factory.mktemp("package")
    home = Path(prudent.__file__).parent
    shutil.copytree(home, folder / "prudent", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "prudent/engine/small.py").write_text(SMALL)
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}

    def printed(script, file="", old="", new=""):
        path = folder / "prudent" / (file or "__init__.py")
        before = path.read_text(encoding="utf-8")
        assert old in before
        path.write_text(before.replace(old, new), encoding="utf-8")
        command = [sys.executable, "-B", "-c", script]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
        path.write_text(before, encoding="utf-8")
        return json.loads(done.stdout.splitlines()[-1])

    return printed


@pytest.fixture(scope="module")
def changed(package):
    """The names of all that an edit changes."""
    before = package(STATE)

    def names(file, old, new):
        after = package(STATE, file, old, new)
        assert before.keys() == after.keys()
        return {name for name in before if before[name] != after[name]}

    return names


def test_an_edit_of_one_policy_changes_that_policy_alone(changed):
    assert changed("policies/thompson.py", '"""', '"""\n') == {"thompson"}


def test_an_edit_of_a_helper_changes_the_policies_that_use_it_and_no_other(changed):
    found = changed("policies/mv_lcb.py", "math.isinf(rho)", "not math.isfinite(rho)")
    assert {"mv-lcb", "anytime-mv-lcb"} <= found
    assert not {"thompson", "ucb1", "exp-exp", "prudent.engine.score_rounds.play_scores"} & found


def test_an_edit_of_what_all_kernels_are_made_of_changes_all_that_use_it(changed):
    found = changed("policies/ties.py", "CLEAR = 1e-6", "CLEAR = 1e-7")
    assert {"prudent.engine.leap.scores.leap_scores", "prudent.engine.phase_rounds.play_phases"} <= found
    assert "prudent.arms.sampling.draw" not in found
    assert {"thompson", "prudent.arms.sampling.draw"} <= changed("compile/types.py", "import glob\n", "import glob \n")


SMALL = """
from prudent.compile.types import kernel
from prudent.policies.contract import Arm
from prudent.policies.scoring import score_of

@kernel
def scored(policy, pulls):
    return score_of(policy, Arm(pulls, 0.5, 0.1), 0.0, 10, 0, 0)

@kernel
def least(policy, pulls):
    return min(scored(policy, pulls), scored(policy, pulls + 1))
"""
"""Two kernels, one inside the other: those of the engine take ten times as long to compile."""

PLAYED = """
import json
from numba.core.event import RecordingListener, register
heard = RecordingListener()
register("numba:compile", heard)
from prudent import MVUCB, UCB1
from prudent.compile.types import as_compiled
from prudent.engine.small import least
for policy in (UCB1(1.0), MVUCB(1.0, 2.0, 1.0)):
    least(as_compiled(policy), 5)
starts = [event.data for _, event in heard.buffer if event.is_start]
names = [(data["dispatcher"].py_func.__name__, str(data["args"])) for data in starts]
print(json.dumps([[args for name, args in names if name == kernel] for kernel in ("least", "scored")]))
"""


def test_only_the_edited_policy_is_compiled_again(package):
    first, again = package(PLAYED), package(PLAYED)
    edited = package(PLAYED, "policies/ucb1.py", '"""', '"""\n')
    both = package(PLAYED, "policies/scoring.py", '"""', '"""\n')
    for i in range(2):
        assert (len(first[i]), len(again[i]), len(edited[i]), len(both[i])) == (2, 0, 1, 2)
        assert "ucb1" in edited[i][0]


def test_every_import_within_the_package_is_seen(package):
    """By a pattern, for speed; here by Python's own parser."""
    script = """
import ast, json
from prudent.compile import cache as f
missed = []
for path in f.PACKAGE.rglob("*.py"):
    if path.parent.name == "client":
        continue  # it imports nothing of the rest and can be copied elsewhere, so that its imports are relative
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.ImportFrom) or node.level == 0, f"{path} has a relative import"
        if isinstance(node, ast.ImportFrom) and node.module.startswith("prudent."):
            wanted = {f._file(node.module), *(f._file(f"{node.module}.{item.name}") for item in node.names)}
            missed += [str(file) for file in wanted if file.is_file() and file not in f._imported(path)]
        if isinstance(node, ast.Import):
            missed += [item.name for item in node.names if item.name.startswith("prudent.")]
print(json.dumps(missed))
"""
    assert package(script) == []


# Compiling ahead


def test_what_is_warmed_up_runs_on_every_kind_of_arms_without_compiling():
    done = CliRunner().invoke(main, ["warm-up", "--policy", "thompson", "--policy", "uniform"])
    assert (done.exit_code, done.stdout) == (0, "compiled: thompson, uniform\n")
    with nothing_compiled():
        for arms in (
            ["gaussian(1, 2)"] * 3,
            ["bernoulli(0.3)", "empirical([0, 1, 2])"],
            ["beta(1, 2)", "gaussian(0, 1)"],
        ):
            assert len(simulate(Bandit(arms), "thompson", risk="mean-variance(rho=2)", horizon=30, runs=2)) == 2
            assert len(identify(Bandit(arms), "uniform", risk="mean", budget=30, runs=2)) == 2


def test_an_unknown_name_is_refused_before_anything_is_compiled():
    done = CliRunner().invoke(main, ["warm-up", "--policy", "thomson"])
    assert done.exit_code == 2
    assert "unknown policy or strategy 'thomson'; did you mean thompson" in done.stderr
