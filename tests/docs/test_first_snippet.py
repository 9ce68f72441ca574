"""README's first snippet compiles what it needs and nothing else, once, and never finds what is stale."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import prudent

FIRST = """
import json
from numba.core.event import RecordingListener, register
heard = RecordingListener()
register("numba:compile", heard)
from prudent import MVLCB, Bandit, Gaussian, MeanVariance, simulate
bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
simulate(bandit, MVLCB(), risk=MeanVariance(rho=0.0), horizon=10_000, runs=500, seed=7, snapshots=[100, 1_000])
print(json.dumps([event.data["dispatcher"].py_func.__name__ for _, event in heard.buffer if event.is_start]))
"""


@pytest.fixture(scope="module")
def first_question(tmp_path_factory):
    """README's first snippet twice, with no machine code before: what was compiled each time, and the folder of it."""
    folder = tmp_path_factory.mktemp("machine code")
    return [json.loads(run_script(FIRST, folder)) for _ in range(2)], folder


def run_script(script, folder):
    """What a script prints in a process of its own that keeps its machine code in the folder; it must not complain."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(Path(prudent.__file__).parents[1])}
    (folder / "own.py").write_text(script)
    command = [sys.executable, "own.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
def test_the_first_question_compiles_nothing_that_it_does_not_need(first_question):
    """`benchmarks/compiling.py` measures the time, which was 22 s when these were 161."""
    (compiled, again), _ = first_question
    assert len(compiled) <= 75
    unneeded = {"hypergeometric", "_draw_other", "_split_atoms", "next_phase", "random_beta", "random_binomial"}
    assert not unneeded & set(compiled)
    ours = [name for name in compiled if name in ("advance", "give_back", "make_stacks", "leap_scores", "raise_level")]
    assert len(ours) == len(set(ours)), "each for one combination of types"
    assert again == []


OWN = """
import sys
from typing import NamedTuple
from prudent.compile.types import Kernel
from prudent import Bandit, Gaussian, simulate
class Own(NamedTuple):
    def score(self, arm):
        return arm.variance - {constant} * arm.pulls**-0.5
runs = simulate(Bandit([Gaussian(1, 0.05), Gaussian(0, 0.25)]), Own(), risk="mean-variance(rho=0)", horizon=500, runs=1)
kernels = [value for module in list(sys.modules.values()) for value in vars(module).values()]
forms = {{id(form): form for kernel in kernels if isinstance(kernel, Kernel) for form in (kernel.alone, kernel.inside)}}
print(runs.pulls[0, 0], sum(sum(form.stats.cache_misses.values()) for form in forms.values()))
"""
"""A policy in a script of its own: prints the pulls of an arm, and how many kernels were compiled."""


@pytest.mark.slow
def test_the_disk_cache_is_quick_and_never_stale(first_question):
    _, folder = first_question
    printed = [run_script(OWN.format(constant=constant), folder) for constant in (0.1, 0.1, 1e3)]
    (first, compiled), (again, none), (edited, anew) = ([int(word) for word in text.split()] for text in printed)
    assert again == first
    assert none == 0 < min(compiled, anew)
    assert abs(edited - 250) <= 2
    assert first > 400
