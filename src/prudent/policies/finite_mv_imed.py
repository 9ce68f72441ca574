"""MV-IMED for rewards of finitely many known values."""

import math
from typing import NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.confidence.finite_divergence import finite
from prudent.policies.contract import UNSET, Arm, Setting, policies


@policies.add("finite-mv-imed", serves="mean-variance")
class FiniteMVIMED(NamedTuple):
    """IMED for the mean-variance of few values: the smallest s·K(p̂, ĉ) + log s is pulled
    (docs: mv-imed; after the IMED of [Honda15]).

    ĉ is the smallest empirical mean-variance, p̂ the shares of the values among the arm's rewards, and K the smallest
    divergence from p̂ of a law on `values` of cost ĉ or less. Costs some 10 µs where the index must be computed, which
    is seldom. Assumes that rewards take only the values of `values`; a reward between two of them counts as the larger.

    Examples
    --------
    >>> from prudent import Agent, FiniteMVIMED
    >>> agent = Agent(FiniteMVIMED(rho=1, values=(0, 0.5, 1)), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    values: tuple[float, ...] = UNSET

    def tuned(self, setting: Setting) -> "_FiniteIndex":
        return _FiniteIndex(self.rho, np.array(self.values, dtype=float))


class _FiniteIndex(NamedTuple):
    """MV-IMED with its values as an array."""

    rho: float
    values: Array

    def score(self, arm: Arm, best_cost: float, counts: Array) -> float:
        return arm.pulls * finite(self.values, counts, best_cost, self.rho) + math.log(arm.pulls)
