"""Nodes and weights of quadrature are real, symmetric, exact to the last digit, and owe nothing to a linear solver."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import prudent
from prudent.arms import quantile_tables
from prudent.arms.quadrature import gauss, lobatto

RULES = [(gauss, n) for n in (1, 2, 3, 8, 15, 16, 32, 64)] + [(lobatto, n) for n in (3, 5, 9, 15)]


@pytest.mark.parametrize(("rule", "count"), RULES)
def test_nodes_are_real_symmetric_and_ascending_with_an_exact_zero(rule, count):
    points, weights = rule(count)
    assert points.dtype == weights.dtype == np.float64
    assert len(points) == len(weights) == count
    assert_array_equal(points, -points[::-1])
    assert_array_equal(weights, weights[::-1])
    assert (np.diff(points) > 0.0).all()
    assert count % 2 == 0 or points[count // 2] == 0.0


@pytest.mark.parametrize(("rule", "count"), RULES)
def test_a_rule_integrates_the_powers_it_should(rule, count):
    """∫ x^k from −1 to 1 is 2/(k+1) for even k; summed as fractions, so that only nodes and weights are rounded."""
    points, weights = ([Fraction(value) for value in values.tolist()] for values in rule(count))
    degree = 2 * count - 1 if rule is gauss else count - 1
    for power in range(0, min(degree, 40) + 1, 2):
        total = sum(w * x**power for w, x in zip(weights, points, strict=True))
        assert float(total) == pytest.approx(2.0 / (power + 1), rel=1e-14)


def test_the_outer_nodes_of_the_rough_rule_lie_next_to_the_ends():
    assert lobatto(15)[0][-1] == 1.0 - 1e-5


def test_importing_calls_no_linear_algebra(monkeypatch):
    """LAPACK's last digits depend on the processor."""

    def forbidden(*_, **__):
        raise AssertionError("a constant must not come out of a linear solver")

    for name in ("eigvals", "eigvalsh", "eig", "eigh", "inv", "solve"):
        monkeypatch.setattr(np.linalg, name, forbidden)
    gauss.__wrapped__(32)
    lobatto.__wrapped__(15)
    quantile_tables._lagrange()


def test_no_nodes_are_eigenvalues():
    """SciPy and NumPy find theirs with LAPACK, and those of RULES would be other numbers on another processor."""
    source = Path(prudent.__file__).parent.rglob("*.py")
    solvers = re.compile(r"\b(?:[a-z]_)?roots_[a-z]+|\b(?:leg|herm|cheb|lag)e?gauss\b|\bfixed_quad\b")
    assert not [path.name for path in source if solvers.search(path.read_text(encoding="utf-8"))]


def test_tables_fit_polynomials_exactly_at_their_nodes():
    values = quantile_tables._product(
        quantile_tables.FIT, np.vander(quantile_tables.NODES, quantile_tables.POWERS, increasing=True).T
    )
    np.testing.assert_allclose(values, np.eye(quantile_tables.POWERS), atol=1e-12)
    wanted = np.sort(0.5 - 0.5 * np.cos((2.0 * np.arange(6) + 1.0) * np.pi / 12.0))
    np.testing.assert_allclose(quantile_tables.NODES, wanted, atol=1e-16)
