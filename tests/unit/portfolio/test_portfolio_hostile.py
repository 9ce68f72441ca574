"""Whatever is passed where a portfolio's pieces belong is refused in words or gives a sane result."""

import contextlib
import warnings

import pytest

from helpers.portfolio_calls import BANDIT, HOSTILE, MEAN, PORTFOLIO_CALLS, SPREAD
from prudent import EmpiricalJoint, PrudentError, simulate_portfolio
from prudent import portfolio as package
from prudent.portfolio import Brief, Even, solve

PASSIVE = {"Frontier", "Block", "JointLaw", "Brief", "Explore", "Observation", "PortfolioPolicy", "Mix", "Even"}
"""They only hold what they are given, or take nothing, or are for subclasses."""


def test_no_public_name_is_forgotten():
    public = {name for name in vars(package) if name[0] != "_" and callable(getattr(package, name))}
    assert public - PASSIVE - {"portfolio_policies", "PortfolioRuns"} <= set(PORTFOLIO_CALLS)
    assert Even() == Even()
    assert Brief(2, 1.0, 5).even().tolist() == [0.5, 0.5]


@pytest.fixture(scope="module", autouse=True)
def compiled():
    for call, arguments in PORTFOLIO_CALLS.values():
        with contextlib.suppress(PrudentError):
            call(**arguments)


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", PORTFOLIO_CALLS)
def test_hostile_values_are_refused_in_words(name, value):
    call, arguments = PORTFOLIO_CALLS[name]
    for argument in arguments:
        with warnings.catch_warnings(), contextlib.suppress(PrudentError):
            warnings.simplefilter("error")
            call(**{**arguments, argument: value})


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
