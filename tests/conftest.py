"""Shared by all tests: bandits small and large, and quiet, repeatable Hypothesis."""

import pytest
from hypothesis import settings

from prudent import Bandit, Gaussian

settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("repeatable")


@pytest.fixture
def figure_2() -> Bandit:
    """The arms of the paper's Figure 2 (left)."""
    return Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
