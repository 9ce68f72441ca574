"""ρ-MTS: Thompson sampling on a known finite support, for every risk measure."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.policies.base import ANY, UNSET, Arm, policy
from prudent.policies.empirical import check_values, multinomial_weights
from prudent.risk import RiskMeasure


@policy("rho-mts", serves=ANY)
class RhoMTS(NamedTuple):
    """ρ-MTS: the risk of a law drawn from the posterior over laws on `support` [Chang22].

    The posterior of the values' probabilities is Dirichlet(1 + counts);  the arm with the smallest cost is pulled.
    Costs a gamma draw and O(log s) per value, arm and round. Assumes that rewards take only the values of `support`; a
    reward between two of them counts as the larger.
    """

    support: tuple[float, ...] = (0.0, 1.0)
    risk: RiskMeasure = UNSET

    def tuned(self, horizon: int | None, n_arms: int) -> "_Multinomial":
        return _Multinomial(np.array(self.support, dtype=float), self.risk)

    def check(self) -> None:
        check_values("rho-mts", self.support)


class _Multinomial(NamedTuple):
    """ρ-MTS with its support as an array."""

    support: NDArray[np.float64]
    risk: RiskMeasure

    def score(self, arm: Arm, rng: Any, rewards: NDArray[np.float64]) -> float:
        return self.risk.weigh(self.support, multinomial_weights(self.support, rewards, rng))
