"""Everything works on systems that lack what Linux has: no affinity, no links, no folders that sync."""

import errno
import os
import stat

import numpy as np
import pytest

from prudent import Agent, Bandit, Gaussian, simulate
from prudent.base.files import write
from prudent.engine.threads import usable_cores
from prudent.study import Study, run


def refuse(code):
    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    return fail


def sync_files_only(handle, sync=os.fsync):
    if stat.S_ISDIR(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    sync(handle)


def open_files_only(path, *flags, opened=os.open, **others):
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return opened(path, *flags, **others)


def bare(monkeypatch):
    """A system that never heard of these."""
    for name in ("sched_getaffinity", "link", "O_DIRECTORY"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(os, "open", open_files_only)


def foreign(monkeypatch):
    """A disk of another system: it knows no links and cannot sync a folder."""
    monkeypatch.setattr(os, "link", refuse(errno.EPERM))
    monkeypatch.setattr(os, "fsync", sync_files_only)


@pytest.fixture(params=[bare, foreign], ids=["bare", "foreign"])
def lacking(request, monkeypatch):
    request.param(monkeypatch)


@pytest.mark.usefixtures("lacking")
def test_files_are_written_and_kept(tmp_path):
    path = write(tmp_path / "folder" / "a.txt", "first")
    write(path, "second", only_new=True)
    assert path.read_text() == "first"
    write(path, "third")
    write(tmp_path / "folder" / "b.txt", "new", only_new=True)
    assert {p.name: p.read_text() for p in path.parent.iterdir()} == {"a.txt": "third", "b.txt": "new"}


@pytest.mark.usefixtures("lacking")
def test_a_simulation_takes_all_cores():
    assert usable_cores() >= 1
    bandit = Bandit([Gaussian(0.0, 1.0), Gaussian(1.0, 1.0)])
    some, same = (
        simulate(bandit, "mv-lcb", risk="mean", horizon=100, runs=300, workers=workers) for workers in (None, 1)
    )
    np.testing.assert_array_equal(some.pulls, same.pulls)


@pytest.mark.usefixtures("lacking")
def test_a_study_is_run_and_taken_up_again(tmp_path):
    study = Study(
        bandits={"pair": ["gaussian(1, 0.1)", "gaussian(0.5, 0.3)"]},
        policies=["mv-lcb", "epsilon-greedy"],
        risks=["mean-variance(1)"],
        horizons=[10, 20],
        runs=5,
    )
    made = run(study, tmp_path / "study")
    assert made.table().height == 4
    run(study, tmp_path / "study").compact()
    assert made.table().height == 4


@pytest.mark.usefixtures("lacking")
def test_an_agent_is_saved_and_loaded(tmp_path):
    agent = Agent("mv-lcb", 2, 100, scale=1, risk="mean-variance(rho=1)")
    for reward in (0.5, 0.25, 1.0):
        agent.tell(agent.ask(), reward)
    agent.save(tmp_path / "agent.json")
    assert Agent.load(tmp_path / "agent.json").to_json() == agent.to_json()
