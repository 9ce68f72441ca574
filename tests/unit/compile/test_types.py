"""Machine code and cells are never found again once what they were made from has changed."""

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.codegen import CPUCodeLibrary

from prudent import MVLCB, UCB1, Bandit, CVaR, Gaussian, MeanVariance, simulate
from prudent import MeanVariance as Base
from prudent.compile.cache import fingerprint, foreign_code
from prudent.compile.types import MachineCode, as_compiled, borrowed, either, kernel
from prudent.engine.score_rounds import play_scores
from prudent.study import Cell

BANDIT = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])

POLICY = """
from typing import NamedTuple

import library
from library import width
from prudent.compile.types import helper

WIDTH = 0.1
RISES = (1.0, (2.0, 3.0))

def made(shift):
    def inside(pulls):
        return shift / pulls
    return inside

inside = made(4.0)

def beside(pulls, scale=1.0):
    return scale / pulls

class Learner(NamedTuple):
    rho: float = 1.0
    STEPS = 3

    def score(self, arm):
        bonus = WIDTH + RISES[1][0] + library.WIDTH + library.TABLE[0] + library.inner.DEPTH
        return arm.mean - bonus / arm.pulls - width(arm.pulls) - library.far(arm.pulls) - self.near(arm.pulls)

    def near(self, pulls):
        return inside(pulls) + beside(pulls) + 5.0

    @property
    def label(self):
        return "a learner"
"""

LIBRARY = """
from types import ModuleType

import numpy as np

from prudent.compile.types import helper

WIDTH = 0.2
UNUSED = 1.0
TABLE = np.array([6.0, 7.0])
inner = ModuleType("inner")
inner.DEPTH = 8.0

@helper
def width(pulls):
    return 9.0 / pulls

@helper
def far(pulls):
    return deeper(pulls)

@helper
def deeper(pulls):
    return 10.0 / pulls
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write the two modules with an edit, import them under the same names as before, and give the policy's class."""

    def write(old="", new=""):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, text in (("library", LIBRARY), ("learning", POLICY)):
            path = folder / f"{name}.py"
            path.write_text(text.replace(old, new) if old else text)
            found = importlib.util.spec_from_file_location(name, path)
            monkeypatch.setitem(sys.modules, name, importlib.util.module_from_spec(found))
            found.loader.exec_module(sys.modules[name])
        return sys.modules["learning"].Learner

    return write


EDITS = {
    "a constant": ("WIDTH = 0.1", "WIDTH = 0.3"),
    "a tuple in a tuple": ("(2.0, 3.0)", "(2.5, 3.0)"),
    "a constant of a module": ("WIDTH = 0.2", "WIDTH = 0.3"),
    "an array of a module": ("[6.0, 7.0]", "[6.5, 7.0]"),
    "the type of an array": ("np.array([6.0, 7.0])", "np.array([6.0, 7.0], np.float32)"),
    "a module in a module": ("DEPTH = 8.0", "DEPTH = 8.5"),
    "a function imported": ("9.0 / pulls", "9.5 / pulls"),
    "a function of a function of a module": ("10.0 / pulls", "10.5 / pulls"),
    "an operator": ("return 10.0 / pulls", "return 10.0 * pulls"),
    "a closure": ("made(4.0)", "made(4.5)"),
    "the body of a closure": ("shift / pulls", "shift * pulls"),
    "a default": ("scale=1.0", "scale=1.5"),
    "a method": ("+ 5.0", "+ 5.5"),
    "a constant of the class": ("STEPS = 3", "STEPS = 4"),
    "a property": ('"a learner"', '"another learner"'),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_what_a_policy_reads_changes_its_fingerprint(written, edit):
    assert fingerprint(written()) != fingerprint(written(*EDITS[edit]))


@pytest.mark.parametrize(
    "edit", [("", ""), ("UNUSED = 1.0", "UNUSED = 2.0"), ("import numpy as np", "\n\nimport numpy as np")]
)
def test_an_edit_of_what_it_does_not_read_leaves_its_fingerprint(written, edit):
    assert fingerprint(written()) == fingerprint(written(*edit))


SCRIPT = """
import learner
from prudent.compile.types import as_compiled, kernel
from prudent.policies.contract import Arm

@kernel
def scored(policy, pulls):
    return policy.score(Arm(pulls, 1.0, 0.0))

print(scored(as_compiled(learner.Learner()), 4))
"""
LEARNER = """
from typing import NamedTuple
import library

class Learner(NamedTuple):
    rho: float = 1.0

    def score(self, arm):
        return -arm.mean - library.width(arm.pulls)
"""
WIDER = """
from prudent.compile.types import helper

@helper
def width(pulls):
    return {width} / pulls**0.5
"""


def test_a_helper_edited_between_two_processes_takes_effect(tmp_path):
    """A library is edited; the policy is not. In a kernel of its own, which is compiled sooner than the engine's."""
    (tmp_path / "learner.py").write_text(LEARNER)
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-B", "script.py"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}

    def score(width):
        (tmp_path / "library.py").write_text(WIDER.format(width=width))
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout)

    assert [score(0.5), score(9.0), score(0.5)] == [-1.25, -5.5, -1.25]
    assert len([*tmp_path.rglob("script.scored*.nbc")]) == 2, "the third finds the machine code of the first"


def pulls_of_second(policy):
    return simulate(BANDIT, policy, risk="variance", horizon=200, runs=20).pulls[:, 1].mean()


def written_again(width):
    class Learner(NamedTuple):
        rho: float = 1.0

        def score(self, arm):
            return -arm.mean - width / arm.pulls**0.5

    return Learner()


def test_a_class_written_a_second_time_runs_its_own_code():
    """As when the cell of a notebook is edited: the same name, the same fields, other code."""
    assert pulls_of_second(written_again(0.1)) < 10.0
    assert pulls_of_second(written_again(9.0)) > 40.0


WIDTH = 0.1


class Wide(NamedTuple):
    rho: float = 1.0

    def score(self, arm):
        return -arm.mean - WIDTH / arm.pulls**0.5


def test_a_constant_changed_after_the_first_run_takes_effect(monkeypatch):
    assert pulls_of_second(Wide()) < 10.0
    monkeypatch.setattr(sys.modules[__name__], "WIDTH", 9.0)
    assert pulls_of_second(Wide()) > 40.0


def test_our_own_policies_keep_their_classes_and_others_get_one_by_code():
    assert type(as_compiled(UCB1())) is UCB1
    other = as_compiled(Wide())
    assert type(other).__name__ == f"Wide_{fingerprint(Wide)}"
    assert type(as_compiled(other)) is type(other)


def halved(factor):
    @dataclass(frozen=True)
    class Halved(Base):
        def cost(self, law):
            return factor * super().cost(law)

    return Halved()


def taller(factor):
    @dataclass(frozen=True)
    class Taller(Gaussian):
        def quantile(self, alpha):
            return factor * super().quantile(alpha)

    return Taller(1.0, 0.05)


@pytest.mark.parametrize(
    "made", [lambda x: Cell(BANDIT, halved(x), MVLCB(), 10), lambda x: Cell(Bandit([taller(x)]), CVaR(), MVLCB(), 10)]
)
def test_cells_of_edited_risks_and_laws_are_other_cells(made):
    assert made(0.5).key() == made(0.5).key() != made(0.25).key()


def test_what_is_our_own_adds_no_code_to_a_cell():
    assert foreign_code(MVLCB(), MeanVariance(1.0), *BANDIT.arms) == ""
    assert foreign_code([MVLCB(), (halved(0.5),)]) == fingerprint(type(halved(0.5)))


def test_fingerprints_do_not_depend_on_the_process():
    code = "import sys; sys.path[:0] = sys.argv[1:]; from test_types import *; print(fingerprint(Wide))"
    settings = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(Path(__file__).parents[1])]
    found = [subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout for env in settings]
    assert found[0] == found[1] == f"{fingerprint(Wide)}\n"


@pytest.fixture
def kept(tmp_path):
    """The files of a kernel in a folder of their own."""

    class Elsewhere:
        cache_path = str(tmp_path)
        _impl = play_scores.alone._cache._impl

    return lambda: MachineCode(Elsewhere(), "alone")


def test_processes_that_compile_at_once_do_not_mix_up_their_files(kept, tmp_path):
    one, other = kept(), kept()
    one.save("policy A", "code of A")
    other.save("policy B", "code of B")
    assert [kept().load(f"policy {x}") for x in "ABC"] == ["code of A", "code of B", None]
    assert len(list(tmp_path.iterdir())) == 2


def test_machine_code_of_another_source_is_removed_and_damaged_code_is_none(kept, tmp_path):
    old = kept()
    old._begins = f"{old._begins[:-12]}0123456789ab"
    old.save("policy A", "old code")
    kept().save("policy A", "code of A")
    assert kept().load("policy A") == "code of A"
    assert old.load("policy A") is None
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-3])
    assert kept().load("policy A") is None


def test_a_full_disk_costs_the_machine_code_only(kept, monkeypatch):
    monkeypatch.setattr(
        MachineCode, "_save_data", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    kept().save("policy A", "code of A")
    assert kept().load("policy A") is None


@kernel
def doubled(x):
    return 2.0 * x


def test_what_numba_cannot_write_down_runs_all_the_same(monkeypatch):
    def none_yet(library):
        raise RuntimeError(f"no compiled object yet for {library}")

    monkeypatch.setattr(CPUCodeLibrary, "serialize_using_object_code", none_yet)
    assert doubled(3.0) == 6.0


class Left(NamedTuple):
    step: float

    def backwards(self):
        return True


class Right(NamedTuple):
    step: float


moved = either(
    lambda policy: hasattr(policy, "backwards"), lambda policy, x: x - policy.step, lambda policy, x: x + policy.step
)


@kernel
def walk(policy, numbers, rng):
    numbers, rng = borrowed((numbers, rng))
    for i in range(len(numbers)):
        numbers[i] = moved(policy, rng.random())


@pytest.mark.parametrize("kind", [Left, Right])
def test_what_is_borrowed_is_the_same_and_stays_with_its_owner(kind):
    plain, compiled = np.zeros(50), np.zeros(50)
    walk.py_func(kind(2.0), plain, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    held = sys.getrefcount(compiled), sys.getrefcount(rng)
    walk(as_compiled(kind(2.0)), compiled, rng)
    assert (sys.getrefcount(compiled), sys.getrefcount(rng)) == held
    np.testing.assert_array_equal(plain, compiled)
    assert (plain < 0.0).all() == (kind is Left)
