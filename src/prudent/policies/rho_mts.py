"""ρ-MTS: Thompson sampling on a known finite support, for every risk measure."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.base.arrays import Array
from prudent.policies.contract import ANY, UNSET, Arm, Setting, policies
from prudent.policies.empirical import multinomial_weights
from prudent.risk.base import RiskMeasure


@policies.add("rho-mts", serves=ANY)
class RhoMTS(NamedTuple):
    """ρ-MTS: the risk of a law drawn from the posterior over laws on `values` [Chang22].

    The posterior of the values' probabilities is Dirichlet(1 + counts);  the arm with the smallest cost is pulled.
    Costs a gamma draw per value, arm and round. Assumes that rewards take only the values of `values`; a
    reward between two of them counts as the larger.

    Examples
    --------
    >>> from prudent import Agent, RhoMTS
    >>> agent = Agent(RhoMTS(values=(0, 0.5, 1)), arms=["a", "b"], horizon=100, support=(0, 1), risk="mean")
    >>> agent.ask()
    'a'
    """

    values: tuple[float, ...] = UNSET
    risk: RiskMeasure = UNSET

    def tuned(self, setting: Setting) -> "Multinomial":
        return Multinomial(np.array(self.values, dtype=float), self.risk)


class Multinomial(NamedTuple):
    """ρ-MTS with its values as an array and its measure as kernels take it."""

    values: Array
    risk: RiskMeasure

    def score(self, arm: Arm, rng: Generator, counts: Array) -> float:
        return float(self.risk.weigh(self.values, multinomial_weights(counts, rng)))
