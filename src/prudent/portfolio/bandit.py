"""A portfolio bandit: arms that pay together, and the mixes that are best for them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array, as_array
from prudent.base.errors import PrudentError, shown
from prudent.base.parameters import check_parameter
from prudent.portfolio.laws import JointLaw, arm_names
from prudent.portfolio.program import MANY_ARMS, Mix, best_mix, variance_of
from prudent.risk.mean_variance import MeanVariance

TOLERANCES = tuple(np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 60)]).tolist())
"""ρ on a frontier, in units of the largest variance over the spread of the means."""

LEAST_OF_MANY = 0.01
"""The least of these where arms are many."""


class Frontier(NamedTuple):
    """The best mixes for growing tolerance ρ; arrays have one row per ρ."""

    rho: Array
    weights: Array
    mean: Array
    variance: Array


class PortfolioBandit:
    """K arms with a joint law; the learner chooses a mix x of them and receives xᵀr (conclusions of [Sani12]).

    Parameters
    ----------
    law
        The joint law of the arms' rewards.
    names
        What the arms are called; the law's names, or "arm 1", "arm 2", … by default.

    Examples
    --------
    >>> from prudent import MultivariateGaussian, PortfolioBandit
    >>> bandit = PortfolioBandit(MultivariateGaussian([0.1, 0.2], [[0.04, 0.0], [0.0, 0.04]]))
    >>> bandit.optimal(rho=0.0).weights.round(3).tolist()
    [0.5, 0.5]
    """

    def __init__(self, law: JointLaw, names: Sequence[str] | None = None) -> None:
        if not isinstance(law, JointLaw):
            wanted = "a joint law such as MultivariateGaussian"
            raise PrudentError(f"PortfolioBandit: law must be {wanted}, got {shown(law)}")
        self.law = law
        given = names if names is not None else getattr(law, "names", None)
        self.names = arm_names("PortfolioBandit", given, len(self))
        if len(set(self.names)) != len(self):
            raise PrudentError(f"PortfolioBandit: names must be {len(self)} different names, got {shown(given)}")

    def __len__(self) -> int:
        return self.law.mean.size

    def __repr__(self) -> str:
        return f"PortfolioBandit({self.law})"

    def optimal(self, rho: float, *, upper: ArrayLike | None = None, short: bool = False) -> Mix:
        """The best fixed mix x*, see `solve`."""
        return best_mix(self.law.covariance, self.law.mean, rho, upper=upper, short=short)

    def cost(self, weights: Array, rho: float) -> float:
        """xᵀCx − ρ xᵀμ of a mix; −xᵀμ when ρ is infinite."""
        x, rho = as_array("cost", "weights", weights), check_parameter("cost", "rho", rho)
        if x.shape != self.law.mean.shape:
            raise PrudentError(f"cost: weights must be {len(self)} numbers, one per arm, got shape {x.shape}")
        mean = float(x @ self.law.mean)
        return -mean if math.isinf(rho) else variance_of(x, self.law.covariance) - rho * mean

    def best_arm(self, rho: float) -> int:
        """The single arm of smallest cost; a tie goes to the lowest number."""
        return int(np.argmin(MeanVariance(rho).stats_cost(self.law.mean, np.diag(self.law.covariance))))

    def middle_rho(self, *, upper: ArrayLike | None = None) -> float:
        """The ρ, to three digits, whose best mix has the mean halfway between those of the steadiest mix and of the
        largest mean, without short selling; 0 where all mixes have one mean.

        A tolerance in the scale of the data: ρ has the unit of rewards, so no fixed number suits daily returns as well
        as yearly ones.
        """
        unit, least = self._unit_of_rho(), LEAST_OF_MANY if len(self) > MANY_ARMS else TOLERANCES[1]
        low, high = unit * least, unit * TOLERANCES[-1]
        ends = [self.optimal(rho, upper=upper).mean for rho in (low if len(self) > MANY_ARMS else 0.0, math.inf)]
        if ends[1] - ends[0] <= 1e-12 * max(map(abs, ends)):
            return 0.0
        while high > 1.001 * low:
            middle = math.sqrt(low * high)
            below = self.optimal(middle, upper=upper).mean < 0.5 * (ends[0] + ends[1])
            low, high = (middle, high) if below else (low, middle)
        return float(f"{high:.3g}")

    def _unit_of_rho(self) -> float:
        """The largest variance over the spread of the means."""
        spread = float(np.ptp(self.law.mean)) or 1.0
        return float(np.diag(self.law.covariance).max()) / spread or 1.0

    def frontier(
        self, rhos: Sequence[float] | None = None, *, upper: ArrayLike | None = None, short: bool = False
    ) -> Frontier:
        """The efficient frontier over ρ; by default 61 tolerances from least variance to nearly the mean alone.

        Of more than 200 arms those near the least variance are left out: with fewer rows than arms they take minutes.
        """
        if rhos is None:
            unit = self._unit_of_rho()
            rhos = [
                unit * tolerance for tolerance in TOLERANCES if len(self) <= MANY_ARMS or tolerance >= LEAST_OF_MANY
            ]
        given = as_array("frontier", "rhos", rhos)
        if given.ndim != 1:
            raise PrudentError(f"frontier: rhos must be a list of tolerances such as [0, 1], got {shown(rhos)}")
        rhos = [check_parameter("frontier", "rho", rho) for rho in given.tolist()]
        mixes = [self.optimal(rho, upper=upper, short=short) for rho in rhos]
        moments = (np.array([getattr(mix, name) for mix in mixes]) for name in ("weights", "mean", "variance"))
        return Frontier(np.array(rhos, dtype=float), *moments)
