"""Random laws and measures: every third law and every other measure is an ordinary one, the rest are extreme."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from prudent import (
    Bernoulli,
    Beta,
    Deterministic,
    Empirical,
    ExpectedUtility,
    Exponential,
    Gaussian,
    Law,
    Mixture,
    RiskMeasure,
    Spectral,
    StudentT,
    TruncatedGaussian,
    Uniform,
)
from prudent.risk.base import risks

KINDS = [
    *("bernoulli", "beta", "deterministic", "empirical", "exponential", "gaussian", "mixture", "student-t"),
    *("truncated-gaussian", "uniform"),
]
"""Those with a density of their own in tests/helpers/reference_laws.py."""


@dataclass(frozen=True)
class DualPower(Spectral):
    """A distortion of one's own: minus the mean of the worst of k rewards."""

    k: float = 2.0
    name = "dual-power"

    def distort(self, p: np.ndarray) -> np.ndarray:
        return 1.0 - (1.0 - p) ** self.k


@dataclass(frozen=True)
class Satisficing(ExpectedUtility):
    """A utility of one's own: rewards above the goal are worth no more than it."""

    goal: float = 0.5
    name = "satisficing"

    def utility(self, x: np.ndarray) -> np.ndarray:
        return np.minimum(x, self.goal)


OWN = {"dual-power": DualPower, "satisficing": Satisficing}
MEASURES = [*risks.names(), *OWN]


def random_law(kind: str, rng: np.random.Generator, wild: bool) -> Law:
    return MAKERS[kind](rng, wild)


def _size(rng: np.random.Generator, wild: bool, reach: float = 3.0) -> float:
    return float(10.0 ** rng.uniform(-reach, reach)) if wild else float(rng.uniform(0.5, 2.0))


def _shape(rng: np.random.Generator, wild: bool) -> float:
    return float(10.0 ** rng.uniform(-5.0, 6.0)) if wild else float(rng.uniform(1.0, 4.0))


def _truncated(rng: np.random.Generator, wild: bool) -> Law:
    scale, center = _size(rng, wild, 2.0), float(rng.normal())
    low = float(rng.uniform(-30.0, 30.0)) if wild else float(rng.uniform(-3.0, 1.0))
    high = low + (float(10.0 ** rng.uniform(-6.0, 1.5)) if wild else float(rng.uniform(0.5, 4.0)))
    if wild and rng.random() < 0.3:
        low, high = (low, math.inf) if rng.random() < 0.5 else (-math.inf, low)
    return TruncatedGaussian(center, scale, center + scale * low, center + scale * high)


def _uniform(low: float, width: float) -> Law:
    return Uniform(low, low + width)


def _student(rng: np.random.Generator, wild: bool) -> Law:
    degrees = float(10.0 ** rng.uniform(-1.0, 4.0)) if wild else float(rng.uniform(1.0, 6.0))
    return StudentT(degrees, float(rng.normal()), _size(rng, wild))


def _mixture(rng: np.random.Generator, wild: bool) -> Law:
    parts: list[Law] = []
    for kind in rng.choice([kind for kind in KINDS if kind != "mixture"], int(rng.integers(2, 5))):
        part = random_law(str(kind), rng, False)
        # A mixture has a mean and a variance, so its parts have them too.
        parts.append(StudentT(part.degrees + 2.5) if isinstance(part, StudentT) else part)
    weights = 10.0 ** rng.uniform(-4.0, 0.0, len(parts)) if wild else rng.uniform(0.1, 1.0, len(parts))
    return Mixture(parts, weights.tolist())


MAKERS: dict[str, Callable[[np.random.Generator, bool], Law]] = {
    "bernoulli": lambda rng, wild: Bernoulli(float(10.0 ** rng.uniform(-9.0, 0.0) if wild else rng.random())),
    "beta": lambda rng, wild: Beta(_shape(rng, wild), _shape(rng, wild)),
    "deterministic": lambda rng, wild: Deterministic(float(rng.normal()) * _size(rng, wild)),
    "empirical": lambda rng, wild: Empirical(rng.standard_t(3, int(rng.integers(1, 40))).round(2) * _size(rng, wild)),
    "exponential": lambda rng, wild: Exponential(_size(rng, wild)),
    "gaussian": lambda rng, wild: Gaussian(float(rng.normal()), _size(rng, wild) ** 2),
    "mixture": _mixture,
    "student-t": _student,
    "truncated-gaussian": _truncated,
    "uniform": lambda rng, wild: _uniform(float(rng.normal()), _size(rng, wild)),
}


def random_measure(name: str, rng: np.random.Generator, wild: bool) -> RiskMeasure:
    """The measure with its defaults, or with parameters from near one end of what is allowed to near the other."""
    factory = OWN[name] if name in OWN else risks.get(name).factory
    if not wild:
        return factory()
    level = 10.0 ** rng.uniform(-6.0, 0.0)
    free: dict[str, Any] = {
        "alpha": float(1.0 - level if rng.random() < 0.3 else level),
        "lam": float(10.0 ** rng.uniform(-3.0, 1.0)) * (0.1 if name == "wang" else 1.0),
        "k": float(rng.uniform(1.0, 9.0)) if name == "dual-power" else float(10.0 ** rng.uniform(-3.0, 2.0)),
        "goal": float(rng.normal()),
        "r": float(rng.uniform(0.2, 1.0)),
        "rho": float(10.0 ** rng.uniform(-3.0, 3.0)),
        "epsilon": float(10.0 ** rng.uniform(-6.0, 1.0)),
        "target": float(rng.normal()),
        "reference": float(rng.normal()),
        "aversion": float(rng.uniform(1.0, 5.0)),
        "asymmetry": float(0.5 * level),
        "power": float(rng.choice([1.0, 1.5, 2.0, 3.0])),
        "threshold": float(10.0 ** rng.uniform(-3.0, 1.0)),
        "curvature": float(rng.uniform(0.3, 1.0)),
        "gains": float(rng.uniform(0.4, 1.0)),
        "losses": float(rng.uniform(0.4, 1.0)),
        **dict.fromkeys(("weight", "mean", "variance", "tail"), float(rng.random())),
    }
    return factory(**{given: free[given] for given in inspect.signature(factory).parameters})
