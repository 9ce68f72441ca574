"""What an error in the means costs: at most ρ² eᵀC⁻¹e/4, under any limits. The fast rates rest on it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prudent.portfolio import solve


@given(
    seed=st.integers(0, 2**32), arms=st.integers(2, 8), rho=st.sampled_from([0.1, 1.0, 20.0]), size=st.floats(0.01, 3)
)
def test_the_cost_of_wrong_means(seed, arms, rho, size):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(arms, arms))
    covariance, mean, error = root @ root.T + 0.01 * np.eye(arms), rng.normal(size=arms), size * rng.normal(size=arms)
    limit = rho**2 * error @ np.linalg.solve(covariance, error) / 4.0
    for limits in ({}, {"upper": 0.7}, {"upper": 0.7, "short": True}, {"short": True}):
        found = solve(covariance, mean + error, rho, **limits).weights
        best = solve(covariance, mean, rho, **limits)
        excess = found @ covariance @ found - rho * found @ mean - best.cost
        assert -1e-9 * (1.0 + limit) <= excess <= limit * (1.0 + 1e-9) + 1e-9
