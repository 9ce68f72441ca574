"""The paper's formulas as they are printed, for the checks: one function each, so that a wrong one can be put in."""

import math

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array


def lemma_2_width(rho: float, delta: float, s: ArrayLike) -> Array:
    """(5+ρ)√(log(1/δ)/2s)."""
    return (5.0 + rho) * event_width(delta, s)


def event_width(delta: float, s: ArrayLike) -> Array:
    """√(log(1/δ)/2s), the deviation of a mean in the event E of the proofs."""
    width: Array = np.sqrt(math.log(1.0 / delta) / (2.0 * np.asarray(s, float)))
    return width


def event_variance_width(delta: float, s: ArrayLike) -> Array:
    """5√(log(1/δ)/2s), the deviation of a variance in it."""
    return 5.0 * event_width(delta, s)


def failure(horizon: int, n_arms: int, delta: float) -> float:
    """6nKδ."""
    return 6.0 * horizon * n_arms * delta


def worst_case_index(delta: float, s: int) -> float:
    """√(log(1/δ)/s), the index on deterministic arms in Remark 2."""
    return math.sqrt(math.log(1.0 / delta) / s)


def largest_regret(rho: float) -> float:
    """1/4 + ρ, which no regret on [0, 1] exceeds (appendix B)."""
    return 0.25 + rho


def largest_pseudo_regret(rho: float) -> float:
    """2 + ρ, which no pseudo-regret on [0, 1] exceeds (appendix B)."""
    return 2.0 + rho


def wrong_arm(each: int, gap: ArrayLike) -> Array:
    """2 exp(−(τ/K)Δ²), the probability that ExpExp keeps an arm of gap Δ (appendix C)."""
    bound: Array = 2.0 * np.exp(-each * np.asarray(gap) ** 2)
    return bound


def exploring(tau: float, horizon: int) -> float:
    """2τ/n, the exploration part of ExpExp's pseudo-regret (appendix C)."""
    return 2.0 * tau / horizon


def worst_gap(tau: float, n_arms: int) -> float:
    """√(K/2τ), the gap that maximises Δ exp(−(τ/K)Δ²) (appendix C)."""
    return math.sqrt(n_arms / (2.0 * tau))


def worst_regret(tau: float, n_arms: int, horizon: int) -> float:
    """2τ/n + K^(3/2)/√τ, the worst case of ExpExp (appendix C)."""
    return float(2.0 * tau / horizon + n_arms**1.5 / math.sqrt(tau))


def best_tau(horizon: int, n_arms: int) -> float:
    """K(n/4)^(2/3), which minimises it (appendix C)."""
    return float(n_arms * (horizon / 4.0) ** (2.0 / 3.0))


def commented_index(deviation: Array, mean: Array, s: int, rho: float, delta: float) -> Array:
    """(σ̂ + √(L/2s))² − ρ(μ̂ + σ̂√(L/s) + L/s), L = log(1/δ), which the source keeps as a comment."""
    level = math.log(1.0 / delta) / s
    lower: Array = (deviation + math.sqrt(level / 2.0)) ** 2 - rho * (mean + deviation * math.sqrt(level) + level)
    return lower
