"""MVTS for rewards that are 0 or 1."""

from typing import Any, NamedTuple

from prudent.policies.base import UNSET, Arm, policies
from prudent.policies.bernoulli_thompson import sampled_probability
from prudent.risk.mean_variance import mean_variance


@policies.add("bernoulli-mvts", serves="mean-variance", values=(0.0, 1.0))
class BernoulliMVTS(NamedTuple):
    """Thompson sampling of a probability for the mean-variance [Zhu20].

    θ ~ Beta(S + 1, F + 1) after S ones and F zeros;  the arm with the smallest θ(1 − θ) − ρ θ is pulled.
    Assumes rewards 0 or 1.
    """

    rho: float = UNSET

    def score(self, arm: Arm, rng: Any) -> float:
        theta = sampled_probability(arm, rng)
        return mean_variance(theta, theta * (1.0 - theta), self.rho)
