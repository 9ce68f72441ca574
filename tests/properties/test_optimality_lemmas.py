"""The lemmas behind MV-IMED's theorem (docs: mv-imed), on a grid of all estimates of the best arm, N(0, 1)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from prudent.confidence.divergence import gaussian

RHOS = (0.0, 0.1, 1.0, 10.0, math.inf)
EPSILON = 0.3
LOG_VARIANCES = np.linspace(-24.0, 5.0, 146)
MEANS = np.sinh(np.linspace(-4.5, 4.5, 181))
"""Close to 0 where N(0, s⁻¹) is, and up to 45."""

V, MU = np.meshgrid(np.exp(LOG_VARIANCES), MEANS, indexing="ij")
KL = 0.5 * (-np.log(V) + V + MU**2 - 1.0)


def cost_of(mean, variance, rho):
    return -mean if math.isinf(rho) else variance - rho * mean


def worse(rho):
    """The reachable cost c₁ + ε, where on the grid arm 1 looks worse than that, and K there."""
    cost = cost_of(0.0, 1.0, rho) + EPSILON
    b = cost_of(MU, V, rho) >= cost
    k = np.zeros(b.shape)
    k[b] = [gaussian(mean, variance, cost, rho) for mean, variance in zip(MU[b], V[b], strict=True)]
    return cost, b, k


def constants(rho):
    """a and r of Lemma 1, made as in its proof, of nine distributions of cost c₁ + ε at most."""
    cost = cost_of(0.0, 1.0, rho) + EPSILON
    eta = EPSILON if math.isinf(rho) else min(EPSILON / (1.0 + rho), 0.5)
    square = [(m, 1.0 + v) for m in (-eta, 0.0, eta) for v in (-eta, 0.0, eta)]
    assert max(cost_of(m, v, rho) for m, v in square) <= cost + 1e-12

    def g(q, d):
        return np.max([-np.log(v) + q - (q - 2.0 * d * m + m * m) / v for m, v in square], 0)

    # The least distance of B from x₁ = (1, 0), in x = (V + μ², μ), is at a point of its edge.
    mean = np.linspace(-3.0, 3.0, 60_001)
    edge = 1.0 + EPSILON + rho * mean + mean**2 if rho < math.inf else np.maximum(mean**2, 1.0)
    off = np.hypot(edge - 1.0, mean if rho < math.inf else np.minimum(mean, -EPSILON))
    angle, r = np.linspace(0.0, 2.0 * math.pi, 10_001), float(off.min())
    return 0.5 * float(g(1.0 + r * np.cos(angle), r * np.sin(angle)).min()), r


def log_masses(s):
    """The logarithm of the density of the estimates after s rewards, times the area that each point stands for."""
    log_c = 0.5 * math.log(s / (2 * math.pi)) + 0.5 * (s - 1) * math.log(s / 2) - s / 2 - gammaln(0.5 * (s - 1))
    assert math.exp(log_c) <= s / (2.0 * math.sqrt(2.0) * math.pi)
    return log_c - 0.5 * np.log(V) - s * KL + np.log(np.gradient(LOG_VARIANCES)[:, None] * np.gradient(MEANS))


@pytest.mark.parametrize("rho", RHOS)
def test_lemma_1_the_gap_is_uniform_and_grows(rho):
    (_, b, k), (a, r) = worse(rho), constants(rho)
    away = np.hypot(V + MU**2 - 1.0, MU)
    assert a > 0.0
    assert away[b].min() >= r * (1.0 - 1e-6)
    assert (KL - k >= a * np.maximum(1.0, away / r))[b].all()


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("s", [3, 6, 20])
def test_lemma_2_the_best_arm_waits_for_a_finite_time(rho, s):
    (_, b, k), (a, _), mass = worse(rho), constants(rho), log_masses(s)
    assert np.exp(mass).sum() == pytest.approx(1.0, abs=0.01)
    assert np.exp(mass + (s - 2.0) * k)[b].sum() <= s * math.exp(-(s - 2.0) * a)


@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_without_the_correction_the_time_is_infinite_unless_the_variance_is_all(rho):
    """The finer the grid at V → 0, the larger; for ρ = 0 it is what Lemma 3 says."""
    mass = log_masses(3)
    for tolerance, infinite in ((rho, True), (0.0, False)):
        cost, b, k = worse(tolerance)
        coarse = b & (math.exp(-12.0) < V)
        all_of_it, part = (np.exp(mass + 3.0 * k)[each].sum() for each in (b, coarse))
        assert (all_of_it > 100.0 * part) == infinite
        if not infinite:
            a = 0.5 * (cost - 1.0 - math.log(cost))
            assert all_of_it <= math.exp(-3.0 * a) / (EPSILON * math.sqrt(3.0 * math.pi * cost))
            assert (KL - k)[b].min() >= a


@pytest.mark.parametrize("rho", [0.1, 1.0, 10.0, math.inf])
def test_lemma_4_a_variance_that_is_not_too_small_is_enough(rho):
    """The widened variance is 1/2s² at least; with s in place of s − 2."""
    cost, b, _ = worse(rho)
    for s in (3, 6, 20):
        wide = np.maximum(V, 0.5 / s**2)
        wanted = cost + (0.0 if math.isinf(rho) else 1.0) * (wide - V)
        k = np.array([gaussian(m, v, c, rho) for m, v, c in zip(MU[b], wide[b], wanted[b], strict=True)])
        terms, coarse = np.exp(log_masses(s)[b] + s * k), (math.exp(-12.0) < V)[b]
        assert terms[coarse].sum() > 0.99 * terms.sum(), "nothing is left near V = 0"
        assert terms.sum() < s**2


@given(st.floats(-3.0, 3.0), st.floats(1e-3, 10.0), st.floats(1.0, 5.0), st.floats(1e-3, 3.0), st.sampled_from(RHOS))
def test_at_a_given_distance_from_the_best_cost_a_larger_variance_is_less_evidence(mean, variance, wider, gap, rho):
    one, other = (gaussian(mean, v, cost_of(mean, v, rho) - gap, rho) for v in (variance, wider * variance))
    assert other <= one * (1.0 + 1e-9)
