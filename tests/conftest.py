"""Shared by all tests: bandits small and large, quiet compiling, and quiet, repeatable Hypothesis."""

import gc
import os

import pytest
from hypothesis import settings

from prudent import Bandit, Gaussian
from prudent.base.registry import Entry
from prudent.engine.threads import usable_cores

os.environ["PRUDENT_QUIET"] = "1"  # what is compiled, and announced, depends on what was before
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("repeatable")


def pytest_xdist_auto_num_workers():
    """One process more than there are cores, because many tests wait for a server or for another process."""
    return usable_cores() + 1


def pytest_collection_modifyitems(items):
    """Long files first, as they take longest by and large: so no process is left alone with one of them at the end."""
    length = {path: path.stat().st_size for path in {item.path for item in items}}
    items.sort(key=lambda item: (-length[item.path], item.path))


def pytest_collection_finish():
    """Spare the collector of garbage what stays for ever: Numba makes so many objects that it searches all of them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="module", autouse=True)
def spare_the_collector():
    """What a file of tests has compiled stays too: a search of all of it takes half a minute at the end."""
    yield
    gc.freeze()


@pytest.fixture
def figure_2() -> Bandit:
    """The arms of the paper's Figure 2 (left)."""
    return Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])


@pytest.fixture
def register(monkeypatch):
    """Put a class into a registry until the test ends: register(registry, name, cls)."""

    def put(registry, name, factory):
        monkeypatch.setitem(registry._entries, name, Entry(name, factory, {}))
        monkeypatch.setitem(registry._of_factory, factory, registry._entries[name])

    return put
