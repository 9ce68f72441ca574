"""Whatever is passed where a portfolio's pieces belong is refused in words or gives a sane result, and soon."""

import contextlib
import time
import warnings

import numpy as np
import pytest

from helpers.portfolio_calls import BANDIT, CALLS, MEAN, SPREAD
from prudent import EmpiricalJoint, PortfolioBandit, PrudentError, simulate_portfolio
from prudent import portfolio as package
from prudent.portfolio import Brief, Even, solve

HOSTILE = {
    "None": None, "5": 5, "-1": -1, "1.5": 1.5, "x": "x", "empty text": "", "[]": [], "{}": {}, "object": object(),
    "nan": np.nan, "inf": np.inf, "-inf": -np.inf, "huge": 10**400, "bytes": b"x", "True": True, "texts": ["a", "b"],
    "numbers as text": ["1", "2"], "ragged": [[1.0, 2.0], [3.0]], "three dimensions": np.ones((2, 2, 2)),
    "complex": np.array([1j, 2.0]), "complex matrix": np.eye(2) * 1j, "NaN in it": [np.nan, 1.0],
    "NaN in a matrix": [[1.0, np.nan], [np.nan, 1.0]], "not symmetric": [[1.0, 5.0], [0.0, 1.0]],
    "not positive": [[1.0, 2.0], [2.0, 1.0]], "zero": [[0.0, 0.0], [0.0, 0.0]],
    "tiny": [[5e-324, 0.0], [0.0, 5e-324]], "objects": [object(), None],
    "enormous": [[1e308, 0.0], [0.0, 1e308]], "a class": PortfolioBandit, "a set": {1, 2},
    "dates": np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"), "a huge one": [10**400, 1],
}  # fmt: skip

PASSIVE = {"Frontier", "Block", "JointLaw", "Brief", "Explore", "Observation", "PortfolioPolicy", "Mix", "Even"}
"""They only hold what they are given, or take nothing, or are for subclasses."""


def test_no_public_name_is_forgotten():
    public = {name for name in vars(package) if name[0] != "_" and callable(getattr(package, name))}
    assert public - PASSIVE - {"portfolio_policies", "PortfolioRuns"} <= set(CALLS)
    assert Even() == Even()
    assert Brief(2, 1.0, 5).even().tolist() == [0.5, 0.5]


@pytest.fixture(scope="module", autouse=True)
def compiled():
    for call, arguments in CALLS.values():
        with contextlib.suppress(PrudentError):
            call(**arguments)


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", CALLS)
def test_hostile_values_are_refused_in_words(name, value):
    call, arguments = CALLS[name]
    for argument in arguments:
        start = time.perf_counter()
        with warnings.catch_warnings(), contextlib.suppress(PrudentError):
            warnings.simplefilter("error")
            call(**{**arguments, argument: value})
        assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize("short", ["no", "False", 0, 1, None, [], 1.0])
def test_short_selling_is_true_or_false(short):
    for call in (
        lambda: BANDIT.optimal(1.0, short=short),
        lambda: solve(SPREAD, MEAN, 1.0, short=short),
        lambda: simulate_portfolio(BANDIT, "even", horizon=5, runs=1, short=short),
    ):
        with pytest.raises(PrudentError, match="short must be True or False, got"):
            call()


def test_returns_without_a_finite_variance_are_refused():
    with pytest.raises(PrudentError, match="the variance is not finite in oil; give rewards in a larger unit"):
        EmpiricalJoint([[1e300, 1.0], [-1e300, 2.0]], ["oil", "gold"])
