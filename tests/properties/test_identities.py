"""Identities of the paper, to rounding, over random bandits and allocations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prudent import Bandit, Bernoulli, Beta, Deterministic, Gaussian, MeanVariance, Uniform, simulate
from prudent.results.regret import exploration_risk

numbers = st.floats(-3.0, 3.0)
laws = st.one_of(
    st.builds(Gaussian, numbers, st.floats(0.0, 2.0)),
    st.builds(Bernoulli, st.floats(0.0, 1.0)),
    st.builds(Beta, st.floats(0.2, 5.0), st.floats(0.2, 5.0)),
    st.builds(Deterministic, numbers),
    st.builds(lambda low, width: Uniform(low, low + width), numbers, st.floats(0.01, 2.0)),
)
bandits = st.builds(Bandit, st.lists(laws, min_size=1, max_size=6))
risks = st.builds(MeanVariance, st.one_of(st.floats(0.0, 20.0), st.just(np.inf)))
policies = st.sampled_from(["mv-lcb(c=1, rho=1)", "exp-exp(rho=1)", "round-robin", "epsilon-greedy(rho=1)"])


@given(bandits, risks, policies, st.integers(6, 200))
def test_the_parts_add_up_to_the_regret(bandit, risk, policy, horizon):
    runs = simulate(bandit, policy, risk=risk, horizon=horizon, runs=3)
    parts = runs.regret_parts()
    scale = 1.0 + np.abs(bandit.means).max() ** 2 + (0.0 if np.isinf(risk.rho) else risk.rho)
    assert parts.gap + parts.exploration + parts.twins == pytest.approx(runs.regret(), abs=1e-12 * scale)


@given(bandits, risks, policies, st.integers(6, 200))
def test_regret_never_exceeds_eq_regret3(bandit, risk, policy, horizon):
    runs = simulate(bandit, policy, risk=risk, horizon=horizon, runs=3)
    assert (runs.regret() <= runs.regret_bound() + 1e-9).all()


@given(arrays(np.int64, 5, elements=st.integers(1, 10_000)), arrays(float, 5, elements=numbers))
def test_exploration_risk_is_the_weighted_variance_of_the_means(pulls, means):
    pairs = ((pulls[:, None] * pulls) * (means[:, None] - means) ** 2).sum() / (2.0 * pulls.sum() ** 2)
    assert exploration_risk(pulls, means) == pytest.approx(pairs, rel=1e-12, abs=1e-12)


@given(bandits, st.integers(1, 400), st.integers(1, 5))
def test_pulls_add_up_to_the_horizon(bandit, horizon, runs):
    assert (
        simulate(bandit, "round-robin", risk="mean-variance", horizon=horizon, runs=runs).pulls.sum(1) == horizon
    ).all()
