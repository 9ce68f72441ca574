"""The best mix against an independent solver, over a thousand random problems."""

import numpy as np
import pytest

from prudent.portfolio import solve

cvxpy = pytest.importorskip("cvxpy")

TOLERANCE = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
SIZES = [(2, 400), (5, 320), (15, 200), (40, 70), (100, 7), (200, 3), (300, 4)]


@pytest.mark.slow
@pytest.mark.parametrize(("arms", "problems"), SIZES)
def test_costs_agree_with_cvxpy_to_1e_7(arms, problems):
    """Half of the covariances are singular, half of the problems have upper limits."""
    rng = np.random.default_rng(arms)
    factor, pull, high = cvxpy.Parameter((arms, arms)), cvxpy.Parameter(arms), cvxpy.Parameter(arms)
    x = cvxpy.Variable(arms)
    oracle = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(factor @ x) - pull @ x), [cvxpy.sum(x) == 1, x >= 0, x <= high]
    )
    for number in range(problems):
        rank = arms // 2 + 1 if number % 2 else 2 * arms
        returns = rng.normal(size=(rank, arms))
        covariance, mean = returns.T @ returns / rank, rng.normal(size=arms) * 0.3
        rho = float(rng.choice([0.0, 0.3, 1.0, 5.0]))
        upper = float(rng.uniform(1.0 / arms, 1.0)) if number % 4 < 2 else None
        mix = solve(covariance, mean, rho, upper=upper)
        values, vectors = np.linalg.eigh(covariance)
        factor.value = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        pull.value, high.value = rho * mean, np.full(arms, 1.0 if upper is None else upper)
        oracle.solve(solver=cvxpy.CLARABEL, **TOLERANCE)
        assert mix.kkt_residual <= 1e-8
        assert abs(mix.cost - oracle.value) <= 1e-7
