"""Risk measures: known values, identities, and bad samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent.arms import Bernoulli, Empirical, Gaussian
from prudent.errors import PrudentError
from prudent.risk import MeanVariance, RiskMeasure, registry
from prudent.testing import check_risk

SPECS = {"mean-variance": [f"mean-variance({rho})" for rho in ("", "0", "0.5", "10", "rho=inf")]}

rewards = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30)
tolerances = st.one_of(st.floats(0, 1e3), st.just(math.inf))


@pytest.mark.parametrize("name", registry.names())
def test_every_registered_risk_keeps_the_contract(name: str) -> None:
    for spec in SPECS.get(name, [name]):
        check_risk(registry.parse(spec))


@pytest.mark.parametrize(("rho", "cost"), [(0.0, 0.05), (1.0, -0.95), (2.0, -1.95), (math.inf, -1.0)])
def test_mean_variance(rho: float, cost: float) -> None:
    assert MeanVariance(rho).cost(Gaussian(1.0, 0.05)) == pytest.approx(cost)
    assert MeanVariance(rho).stats_cost([1.0, 1.0], [0.05, 0.05]) == pytest.approx([cost, cost])


def test_variances_are_divided_by_the_number_of_samples() -> None:
    assert MeanVariance(0.0).sample_cost([0.0, 1.0]) == 0.25
    assert MeanVariance(0.0).sample_cost([0.0, 1.0], [1.0, 3.0]) == pytest.approx(3.0 / 16.0)


def test_mean_only_is_the_limit_of_a_large_tolerance() -> None:
    large, law = 1e9, Bernoulli(0.3)
    assert MeanVariance(math.inf).cost(law) == pytest.approx(MeanVariance(large).cost(law) / large)


@given(rewards, tolerances)
def test_a_sample_is_priced_as_its_empirical_law(x: list[float], rho: float) -> None:
    risk = MeanVariance(rho)
    scale = 1e-12 * (1.0 + max(map(abs, x))) ** 2 * (1.0 if math.isinf(rho) else 1.0 + rho)
    assert risk.sample_cost(x) == pytest.approx(risk.cost(Empirical(x)), abs=scale)
    assert risk.sample_cost(x) == pytest.approx(risk.sample_cost(x[::-1]), abs=scale)
    assert risk.sample_cost(x) == pytest.approx(risk.sample_cost(x + x), abs=scale)


@given(rewards, st.floats(-10, 10), st.floats(0, 10))
def test_a_sure_gain_lowers_the_cost_by_rho_times_it(x: list[float], gain: float, rho: float) -> None:
    risk, scale = MeanVariance(rho), 1e-10 * (11.0 + max(map(abs, x))) ** 2
    assert risk.sample_cost(np.add(x, gain)) == pytest.approx(risk.sample_cost(x) - rho * gain, abs=scale)


@given(tolerances)
def test_a_spec_builds_the_same_risk(rho: float) -> None:
    risk = MeanVariance(rho)
    assert registry.parse(str(risk)) == risk
    assert hash(registry.parse(str(risk))) == hash(risk)


@pytest.mark.parametrize("rho", [-1.0, -math.inf, math.nan, "1", None, True])
def test_bad_tolerances_are_refused(rho: float) -> None:
    with pytest.raises(PrudentError, match="mean-variance: rho must"):
        MeanVariance(rho)


def test_the_hint_explains_rho() -> None:
    with pytest.raises(PrudentError, match=r"rho must lie in \[0, ∞\], got -1; ρ is a tolerance for risk"):
        MeanVariance(-1)


@pytest.mark.parametrize(
    ("x", "weights", "message"),
    [
        ([], None, "rewards must be one or more finite numbers, got 0 values"),
        ([1.0, math.nan], None, "rewards must be one or more finite"),
        ([math.inf], None, "rewards"),
        (["a"], None, "rewards must be numbers, got"),
        ([[1.0, 2.0], [3.0]], None, "rewards must be numbers"),
        ([1.0, 2.0], [1.0], "weights must be 2 finite numbers"),
        ([1.0, 2.0], [1.0, -1.0], "weights"),
        ([1.0, 2.0], [0.0, 0.0], "weights"),
        ([1.0, 2.0], [1.0, math.nan], "weights"),
        ([1.0, 2.0], ["a", "b"], "weights must be numbers"),
    ],
)
def test_bad_samples_are_refused(x: list[float], weights: list[float] | None, message: str) -> None:
    with pytest.raises(PrudentError, match=f"mean-variance: {message}"):
        MeanVariance().sample_cost(x, weights)


def test_a_risk_that_needs_more_than_two_moments_says_so() -> None:
    class Median(RiskMeasure):
        name = "median"
        cost = weigh = None  # type: ignore[assignment]

    with pytest.raises(PrudentError, match=r"median: mean and variance do not determine .* use sample_cost"):
        Median().stats_cost(0.0, 1.0)
