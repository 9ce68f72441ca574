"""M-CVTS: Thompson sampling for the CVaR on a known finite support."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.policies.base import UNSET, Arm, policy
from prudent.policies.empirical import check_alpha, check_values, multinomial_weights, weighted_tail_mean


@policy("m-cvts", serves="cvar")
class MCVTS(NamedTuple):
    """The CVaR of a law drawn from the posterior over laws on `support` [Baudry21]: ρ-MTS of the CVaR.

    The posterior of the values' probabilities is Dirichlet(1 + counts);  the arm with the largest mean of the worst
    α-fraction is pulled. Costs a gamma draw and O(log s) per value, arm and round. Assumes that rewards take only the
    values of `support`; a reward between two of them counts as the larger.
    """

    alpha: float = UNSET
    support: tuple[float, ...] = (0.0, 1.0)

    def tuned(self, horizon: int | None, n_arms: int) -> "_Multinomial":
        return _Multinomial(self.alpha, np.array(self.support, dtype=float))

    def check(self) -> None:
        check_alpha("m-cvts", self.alpha)
        check_values("m-cvts", self.support)


class _Multinomial(NamedTuple):
    """M-CVTS with its support as an array."""

    alpha: float
    support: NDArray[np.float64]

    def score(self, arm: Arm, rng: Any, rewards: NDArray[np.float64]) -> float:
        return -weighted_tail_mean(self.support, multinomial_weights(self.support, rewards, rng), self.alpha)
