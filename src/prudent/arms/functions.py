"""Quantiles of beta and Student laws at every level, and the Laplace transform of beta laws."""

import math

import numpy as np
from scipy import special

from prudent.arms.quadrature import integrals
from prudent.base.arrays import Array


def beta_quantiles(a: float, b: float, levels: Array) -> Array:
    """The x at which the distribution function of Beta(a, b) reaches the levels; right where SciPy's inverse is NaN."""
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        leading = np.exp(np.minimum((np.log(levels) + math.log(a) + special.betaln(a, b)) / a, 1.0))
        # The distribution function is x^a (1 − a(b−1)x/(a+1) + …)/(aB): two terms are all there is to see this near 0.
        near = leading * (1.0 + b) < 1e-8
        x: Array = np.where(near, leading * (1.0 + (b - 1.0) / (a + 1.0) * leading), 0.0)
        x[~near] = special.betaincinv(a, b, levels[~near])
    lost = np.isnan(x)
    if lost.any():
        x[lost] = _beta_search(a, b, levels[lost])
    return x


def _beta_search(a: float, b: float, levels: Array) -> Array:
    """The same by bisection on log x, down to the smallest float."""
    low, high = np.full(len(levels), -745.0), np.zeros(len(levels))
    for _ in range(70):
        middle = 0.5 * (low + high)
        reached = special.betainc(a, b, np.exp(middle)) >= levels
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.exp(high)


def student_quantiles(degrees: float, levels: Array) -> Array:
    """The quantiles of Student's law at levels up to ½. SciPy's search ends too early, where the tail is a power."""
    a = 0.5 * degrees
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        # With x = n/(n + t²), 2 P(T ≤ t) is the distribution function of Beta(n/2, 1/2) at x, as above.
        log_x = (np.log(2.0 * levels) + math.log(a) + special.betaln(a, 0.5)) / a
        x = np.exp(np.minimum(log_x, 0.0))
        far = -np.sqrt(degrees * (1.0 - x)) * np.exp(-0.5 * log_x) * (1.0 + 0.25 / (a + 1.0) * x)
        t: Array = np.where(x < 1e-8, far, special.stdtrit(degrees, np.where(x < 1e-8, 0.25, levels)))
    return np.where(levels == 0.0, -math.inf, t)


def log_beta_laplace(a: float, b: float, lam: float) -> float:
    """log E e^(−λX) for X of Beta(a, b), by an integral over y = log(x/(1 − x)), where the integrand has one peak."""
    half = 0.5 * (a + b + lam)
    at = a / (half + math.sqrt(max(half * half - lam * a, 0.0)))
    peak = math.log(at) - math.log1p(-at) if at < 1.0 else 36.0
    width = 1.0 / math.sqrt(max(at * (1.0 - at) * (a + b + lam * (1.0 - 2.0 * at)), 1e-12))

    def exponent(y: Array) -> Array:
        height: Array = -a * np.logaddexp(0.0, -y) - b * np.logaddexp(0.0, y) - lam * special.expit(y)
        return height

    top = float(exponent(np.array([peak]))[0])
    steps = np.concatenate([[0.0], np.geomspace(0.1, 1e4, 40)])
    grids = [peak + width * steps, peak - width * steps, -math.log(lam) + steps, -math.log(lam) - steps, steps, -steps]
    ends = np.array([peak - 60.0 * width - (800.0 + lam) / a, peak + 60.0 * width + (800.0 + lam) / b])
    far = np.concatenate([peak - np.geomspace(1.0, peak - ends[0], 40), peak + np.geomspace(1.0, ends[1] - peak, 40)])
    edges = np.unique(np.clip(np.concatenate([*grids, ends, far]), *ends))
    pieces = integrals(lambda y: np.exp(exponent(y) - top), edges)
    return top + math.log(pieces.sum()) - float(special.betaln(a, b))
