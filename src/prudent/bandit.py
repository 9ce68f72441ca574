"""A bandit: named arms, and what a risk measure says about them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prudent.arms.base import Law
from prudent.arms.base import arms as registered
from prudent.errors import PrudentError
from prudent.risk.base import RiskMeasure

ROUNDING = 1e-12
"""Costs closer than this share of the largest are one: 0.28 − 0.59 and 0.24 − 0.55 differ as floats only."""


class Bandit:
    """K independent arms.

    Parameters
    ----------
    arms
        Laws, or specs such as `"gaussian(1.0, 0.05)"`.
    names
        What the arms are called; "arm 1", "arm 2", … by default.

    Examples
    --------
    >>> from prudent import Bandit, Gaussian, MeanVariance
    >>> bandit = Bandit([Gaussian(1.0, 0.05), "gaussian(0.5, 0.25)"], names=["steady", "wild"])
    >>> bandit.names[bandit.best(MeanVariance(rho=0.0))]
    'steady'
    """

    def __init__(self, arms: Sequence[Law | str], names: Sequence[str] | None = None) -> None:
        if isinstance(arms, (str, Law)):
            raise PrudentError(f"Bandit: arms must be a list of arms, got {arms}; put it in brackets")
        self.arms: tuple[Law, ...] = tuple(registered.make("Bandit", arm) for arm in arms)
        if not self.arms:
            raise PrudentError("Bandit: arms must hold at least one arm, got none; pass e.g. [Gaussian(1.0, 0.05)]")
        self.names = tuple(names) if names is not None else tuple(f"arm {i + 1}" for i in range(len(self)))
        if len(self.names) != len(self) or len(set(self.names)) != len(self):
            raise PrudentError(f"Bandit: names must be {len(self)} different names, got {list(self.names)}")

    def __len__(self) -> int:
        return len(self.arms)

    def __repr__(self) -> str:
        return f"Bandit([{', '.join(map(str, self.arms))}])"

    @property
    def means(self) -> NDArray[np.float64]:
        """μ_i."""
        return np.array([law.mean for law in self.arms])

    @property
    def variances(self) -> NDArray[np.float64]:
        """σ_i²."""
        return np.array([law.variance for law in self.arms])

    @property
    def mean_differences(self) -> NDArray[np.float64]:
        """Γ_ij = μ_i − μ_j."""
        return self.means[:, None] - self.means

    @property
    def support(self) -> tuple[float, float]:
        """The smallest interval that holds every reward of every arm."""
        return min(law.support[0] for law in self.arms), max(law.support[1] for law in self.arms)

    def costs(self, risk: RiskMeasure) -> NDArray[np.float64]:
        """The cost of each arm, smaller is better (MV_i for mean-variance)."""
        return np.array([risk.cost(law) for law in self.arms])

    def best(self, risk: RiskMeasure) -> int:
        """i*, the arm of smallest cost; a tie goes to the lowest number."""
        return int(np.argmin(self.gaps(risk)))

    def gaps(self, risk: RiskMeasure) -> NDArray[np.float64]:
        """Δ_i = cost of arm i minus cost of the best; a difference within rounding is a tie."""
        costs = self.costs(risk)
        gaps: NDArray[np.float64] = costs - costs.min()
        gaps[gaps <= ROUNDING * np.abs(costs).max()] = 0.0
        return gaps

    def complexity(self, risk: RiskMeasure) -> float:
        """Σ_{i≠i*} 1/Δ_i², the paper's proxy for how hard learning is; infinite when the best arm is not unique."""
        gaps = np.delete(self.gaps(risk), self.best(risk))
        with np.errstate(divide="ignore"):
            return float(np.sum(1.0 / gaps**2))
