"""The paper's two algorithms and its problems: the arms of its figures and tables."""

import numpy as np

from prudent import MVLCB, Bandit, Deterministic, ExpExp, Gaussian
from prudent.policies.contract import Policy

ALGORITHMS: dict[str, Policy] = {"MV-LCB": MVLCB(), "ExpExp": ExpExp()}
ZERO_ONE = Bandit([Deterministic(0.0), Deterministic(1.0)])
FIGURE_2 = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
FIGURE_2_ARMS = "$\\mu = (1, 0.5)$, $\\sigma^2 = (0.05, 0.25)$"

HORIZONS = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000)
"""Twelve values from 50 to 250,000, as many as the paper shows panels."""

MU_2 = np.linspace(0.4, 1.5, 12)
VARIANCE_1 = np.linspace(0.0, 0.25, 11)
"""The grid of the heat maps: μ₁ = 1.5, σ₂² = 0.25, so that Γ runs from 1.1 to 0 and Δ from 0.25 to 0."""


def grid_bandit(mu_2: float, variance_1: float) -> Bandit:
    """One point of the grid."""
    return Bandit([Gaussian(1.5, variance_1), Gaussian(mu_2, 0.25)])


def fifteen(*arms: tuple[float, float]) -> Bandit:
    """The arms of a configuration from their means and variances."""
    return Bandit([Gaussian(*arm) for arm in arms], names=[f"α{i}" for i in range(1, 16)])


CONFIGURATION_1 = fifteen(
    (0.10, 0.05), (0.20, 0.34), (0.23, 0.28), (0.27, 0.09), (0.32, 0.23),
    (0.32, 0.72), (0.34, 0.19), (0.41, 0.14), (0.43, 0.44), (0.54, 0.53),
    (0.55, 0.24), (0.56, 0.36), (0.67, 0.56), (0.71, 0.49), (0.79, 0.85),
)  # fmt: skip
CONFIGURATION_2 = fifteen(
    (0.1, 0.05), (0.2, 0.0725), (0.27, 0.09), (0.32, 0.11), (0.41, 0.145),
    (0.49, 0.19), (0.55, 0.24), (0.59, 0.28), (0.645, 0.36), (0.678, 0.413),
    (0.69, 0.445), (0.71, 0.498), (0.72, 0.53), (0.765, 0.72), (0.79, 0.854),
)  # fmt: skip
CONFIGURATIONS = {"1": CONFIGURATION_1, "2": CONFIGURATION_2}
