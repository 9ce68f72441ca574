"""The best mix: optimality, limits, singular covariances, and what is rejected."""

import numpy as np
import pytest

from prudent import PrudentError
from prudent.portfolio import active_set, positive_part, program, solve


def problem(rng, arms, rank):
    returns = rng.normal(size=(rank, arms)) * rng.exponential(size=arms)
    return returns.T @ returns / rank, rng.normal(size=arms) * rng.choice([0.01, 1.0, 10.0])


@pytest.mark.parametrize("bounded", [False, True])
def test_every_solution_is_feasible_and_its_kkt_residual_is_rounding(bounded):
    rng = np.random.default_rng(1)
    for _ in range(500):
        arms = int(rng.integers(1, 60))
        covariance, mean = problem(rng, arms, int(rng.integers(1, 2 * arms + 1)))
        upper = rng.uniform(1.0 / arms, 1.0, size=arms) if bounded else None
        mix = solve(covariance, mean, float(rng.choice([0.0, 0.1, 1.0, 10.0])), upper=upper)
        assert mix.kkt_residual <= 1e-12
        assert mix.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert (mix.weights >= 0.0).all()
        assert upper is None or (mix.weights <= upper).all()


@pytest.mark.parametrize("rank", [3, 20, 100])
@pytest.mark.parametrize("short", [False, True])
def test_of_many_arms_the_mix_is_that_of_the_method_for_few(monkeypatch, rank, short):
    """A singular covariance, a nearly singular and a regular one, as if 50 arms were many; with and without limits."""
    rng = np.random.default_rng(rank)
    for rho in (0.0, 0.1, 1.0, 1.0 if short else np.inf):
        for upper in (None, 0.05, rng.uniform(0.02, 0.2, size=50)):
            covariance, mean = problem(rng, 50, rank)
            covariance += 1e-3 * np.eye(50) * short  # else a position of no variance earns
            expected = solve(covariance, mean, rho, upper=upper, short=short)
            with monkeypatch.context() as patch:
                patch.setattr(program, "MANY_ARMS", 8)
                found = solve(covariance, mean, rho, upper=upper, short=short)
            assert found.kkt_residual <= (1e-10 if short else 1e-12)  # short positions are hundreds of units
            assert found.weights.sum() == pytest.approx(1.0, abs=1e-10)
            assert found.cost == pytest.approx(expected.cost, rel=1e-9, abs=1e-12 * np.abs(covariance).max())
            assert upper is None or (found.weights <= upper).all()
            assert short or found.weights.min() >= 0.0


def test_of_many_arms_what_is_no_covariance_is_rejected_and_rounding_is_not(monkeypatch):
    monkeypatch.setattr(program, "MANY_ARMS", 8)
    rng = np.random.default_rng(0)
    covariance, mean = problem(rng, 50, 20)
    assert solve(covariance, mean, 1.0).projected == 0.0
    rotation = np.linalg.qr(rng.normal(size=(50, 50)))[0]
    for least in (-1e-3, -1e-9):
        values = np.linspace(0.5, 1.0, 50)
        values[0] = least
        nearly = (rotation * values) @ rotation.T
        if least == -1e-9:
            assert solve(nearly, mean, 1.0).projected == pytest.approx(least, rel=1e-4)
        else:
            with pytest.raises(PrudentError, match=r"smallest eigenvalue -0\.001"):
                solve(nearly, mean, 1.0)
    for broken in (np.nan, np.inf):
        spoiled = covariance.copy()
        spoiled[7, 9] = spoiled[9, 7] = broken
        with pytest.raises(PrudentError, match="covariance must be finite"):
            solve(spoiled, mean, 1.0)


@pytest.mark.parametrize("size", [1, 127, 128, 129, 300])
def test_large_matrices_are_factorised_in_blocks(size):
    rng = np.random.default_rng(size)
    root = rng.normal(size=(size, size + 10))
    matrix = root @ root.T
    factor = matrix.copy()
    assert active_set._factor(factor, 0.0)
    assert np.tril(factor) == pytest.approx(np.linalg.cholesky(matrix), rel=1e-9, abs=1e-9)
    matrix[-1, -1] = -1.0
    assert not active_set._factor(matrix, 0.0)


COVARIANCES = {
    "zero": lambda rng, arms: np.zeros((arms, arms)),
    "twins": lambda rng, arms: np.full((arms, arms), 0.7),
    "one factor": lambda rng, arms: np.outer(*[rng.normal(size=arms)] * 2),
    "nearly singular": lambda rng, arms: (v := rng.normal(size=(arms, arms // 2 + 1))) @ v.T + 1e-11 * np.eye(arms),
    "some riskless": lambda rng, arms: np.diag(rng.integers(0, 2, size=arms).astype(float)),
}


@pytest.mark.parametrize("scale", [1e-16, 1e-8, 1.0, 1e8, 1e150])
@pytest.mark.parametrize("kind", COVARIANCES)
def test_awkward_problems_are_solved_within_their_limits_to_the_last_bit(kind, scale):
    rng = np.random.default_rng(6)
    for arms in (1, 2, 7, 30):
        shares = rng.uniform(0.1, 1.0, size=arms)
        for rho in (0.0, 1e-8, 1.0, 1e8, np.inf):
            covariance, mean = scale * COVARIANCES[kind](rng, arms), 1e6 + rng.normal(size=arms)
            for upper in (np.inf, 1.0, 1.0 / arms, shares / shares.sum()):
                mix = solve(covariance, mean, rho, upper=None if np.isscalar(upper) and np.isinf(upper) else upper)
                assert mix.kkt_residual <= 1e-8
                assert mix.weights.sum() == pytest.approx(1.0, abs=1e-12)
                assert ((mix.weights >= 0.0) & (mix.weights <= upper)).all()


def test_arms_of_wildly_different_scales_are_solved_to_rounding():
    """Arms a million times as wild as others, in singular covariances: here whole sets exchanged often end nowhere, and
    a weight that is freed before the others are at their minimum is pushed back without end."""
    rng = np.random.default_rng(8)
    for _ in range(300):
        arms = int(rng.integers(2, 80))
        covariance, mean = problem(rng, arms, int(rng.integers(1, arms)))
        scales = 10.0 ** rng.uniform(-6.0, 6.0, size=arms)
        upper = float(rng.uniform(1.0 / arms, 1.0))
        mix = solve(scales[:, None] * covariance * scales, mean, float(rng.choice([1e-8, 0.1, 10.0])), upper=upper)
        assert mix.kkt_residual <= 1e-12


def test_short_positions_without_end_in_sight_are_solved_or_rejected():
    """Weights of some 1e5 are solved to 1e-8; of 1e16, no rounding lets them sum to 1."""
    rng = np.random.default_rng(7)
    covariance, mean = problem(rng, 5, 20)
    for unit in (1e-5, 1e-3, 1.0, 1e5):
        assert solve(covariance * unit, mean, 1.0, short=True).kkt_residual <= 1e-8
    with pytest.raises(PrudentError, match="KKT residual of at most 1e-08"):
        solve(covariance * 1e-16, mean, 1.0, short=True)


def test_two_uncorrelated_arms_share_by_their_variances():
    # ∂/∂x of x²a + (1−x)²b − ρ(xm + (1−x)k): x = (2b + ρ(m − k)) / (2a + 2b)
    mix = solve([[1.0, 0.0], [0.0, 3.0]], [0.2, 0.1], 1.0)
    assert mix.weights[0] == pytest.approx((6.0 + 0.1) / 8.0, rel=1e-14)
    assert mix.cost == pytest.approx(mix.variance - mix.mean, rel=1e-14)
    assert mix.held == (0, 1)


def test_the_scale_of_rewards_does_not_matter():
    rng = np.random.default_rng(2)
    covariance, mean = problem(rng, 12, 30)
    weights = solve(covariance, mean, 0.7).weights
    for unit in (1e-5, 1e4):
        assert solve(covariance * unit**2, mean * unit + 1e3 * unit, 0.7 * unit).weights == pytest.approx(
            weights, abs=1e-9
        )


def test_mean_only_takes_the_best_vertex_and_fills_limits_from_the_best_mean_down():
    mean = [0.1, 0.4, 0.4, 0.2]
    assert solve(np.eye(4), mean, np.inf).weights.tolist() == [0, 1, 0, 0]
    assert solve(np.eye(4), mean, np.inf, upper=0.4).weights == pytest.approx([0, 0.4, 0.4, 0.2])
    assert solve(np.eye(4), mean, np.inf).cost == -0.4
    assert solve(np.eye(2), [0.0, 1.0], np.inf, upper=3.0, short=True).weights == pytest.approx([-2.0, 3.0])


def test_short_selling_solves_the_linear_system():
    rng = np.random.default_rng(3)
    covariance, mean = problem(rng, 6, 20)
    mix = solve(covariance, mean, 2.0, short=True)
    inverse = np.linalg.inv(covariance)
    free, one = inverse @ mean, inverse @ np.ones(6)
    expected = free + one * (1.0 - free.sum()) / one.sum()  # 2Cx = 2μ + λ1
    assert mix.weights == pytest.approx(expected, rel=1e-8)
    assert mix.kkt_residual <= 1e-10
    assert solve(covariance, mean, 2.0, short=True, upper=0.5).weights.max() <= 0.5


def test_an_unbounded_position_is_rejected_and_a_harmless_one_is_not():
    twins = np.ones((2, 2))
    with pytest.raises(PrudentError, match="no minimum"):
        solve(twins, [0.1, 0.2], 1.0, short=True)
    assert solve(twins, [0.2, 0.2], 1.0, short=True).variance == pytest.approx(1.0)
    assert solve(twins, [0.1, 0.2], 0.0, short=True).variance == pytest.approx(1.0)
    assert solve(twins, [0.1, 0.2], 1.0).weights.tolist() == [0.0, 1.0]
    assert solve(twins, [0.1, 0.2], 1.0, short=True, upper=2.0).weights == pytest.approx([-1.0, 2.0])
    with pytest.raises(PrudentError, match="no maximum"):
        solve(np.eye(2), [0.1, 0.2], np.inf, short=True)


def test_a_rounding_error_below_zero_is_projected_and_said():
    rotation = np.linalg.qr(np.random.default_rng(4).normal(size=(4, 4)))[0]
    nearly = (rotation * [1.0, 0.5, 0.2, -1e-10]) @ rotation.T
    mix = solve(nearly, np.zeros(4), 1.0)
    assert mix.projected == pytest.approx(-1e-10, rel=1e-4)
    assert mix.kkt_residual <= 1e-8
    assert solve(np.eye(4), np.zeros(4), 1.0).projected == 0.0


def test_positive_part_keeps_what_is_positive():
    values = np.array([-0.3, 0.1, 2.0])
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    part, found = positive_part((rotation * values) @ rotation.T)
    assert found == pytest.approx(values)
    assert part == pytest.approx((rotation * [0.0, 0.1, 2.0]) @ rotation.T)


@pytest.mark.parametrize(
    ("covariance", "mean", "settings", "words"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], [0, 0], {}, "smallest eigenvalue -1"),
        ([[1.0, 0.2], [0.1, 1.0]], [0, 0], {}, r"symmetric, got \[0, 1\] = 0.2 and \[1, 0\] = 0.1"),
        (np.eye(2), [0, np.nan], {}, "mean must be finite"),
        ([[1.0, np.nan], [np.nan, 1.0]], [0, 0], {}, "covariance must be finite"),
        (np.eye(2) * 1e308, [0, 0], {}, "covariance must be finite"),
        (np.eye(3), [0, 0], {}, "K × K"),
        (np.eye(2), [[0, 0]], {}, "K × K"),
        (np.eye(2), [0, 0], {"rho": -1}, "rho must lie in"),
        (np.eye(2), [0, 0], {"rho": np.nan}, "rho must lie in"),
        (np.eye(2), [0, 0], {"upper": 0.4}, "sum to at least 1, got 0.8"),
        (np.eye(2), [0, 0], {"upper": [0.4, 0.5, 0.6]}, "one per arm"),
        (np.eye(2), [0, 0], {"upper": np.nan}, "finite"),
        (np.eye(2), ["a", "b"], {}, "mean must be numbers"),
    ],
)
def test_bad_input_is_rejected_with_the_reason(covariance, mean, settings, words):
    with pytest.raises(PrudentError, match=words):
        solve(covariance, mean, **{"rho": 1.0, **settings})
