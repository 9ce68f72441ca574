"""A pytest plugin that puts files, and the tests of a file, into a random order: `pytest -p shuffled`.

PRUDENT_ORDER is the random seed. A file's tests stay together, because they share what is slow to set up.
"""

import os
import random

import pytest


@pytest.hookimpl(trylast=True)  # after the conftest, which puts the longest files first
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    shuffle = random.Random(int(os.environ["PRUDENT_ORDER"])).shuffle
    files = sorted({item.path for item in items})
    shuffle(files)
    shuffle(items)
    items.sort(key=lambda item: files.index(item.path))
