"""M-CVTS: Thompson sampling for the CVaR on a known finite support."""

from typing import NamedTuple

import numpy as np

from prudent.policies.contract import UNSET, Setting, policies
from prudent.policies.rho_mts import Multinomial
from prudent.risk.tails import CVaR


@policies.add("m-cvts", serves="cvar")
class MCVTS(NamedTuple):
    """The CVaR of a law drawn from the posterior over laws on `values` [Baudry21]: ρ-MTS of the CVaR.

    The posterior of the values' probabilities is Dirichlet(1 + counts);  the arm with the largest mean of the worst
    α-fraction is pulled. Costs a gamma draw per value, arm and round. Assumes that rewards take only the values of
    `values`; a reward between two of them counts as the larger.

    Examples
    --------
    >>> from prudent import MCVTS, Agent
    >>> agent = Agent(MCVTS(alpha=0.1, values=(0, 0.5, 1)), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    alpha: float = UNSET
    values: tuple[float, ...] = UNSET

    def tuned(self, setting: Setting) -> Multinomial:
        return Multinomial(np.array(self.values, dtype=float), CVaR(self.alpha).compiled())
