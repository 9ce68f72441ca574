"""MVTS for rewards that are 0 or 1."""

from typing import NamedTuple

from prudent.policies.bernoulli_thompson import believed_probability
from prudent.policies.contract import UNSET, Arm, policies
from prudent.policies.posteriors import Beta
from prudent.risk.mean_variance import mean_variance


@policies.add("bernoulli-mvts", serves="mean-variance", binary=True)
class BernoulliMVTS(NamedTuple):
    """Thompson sampling of a probability for the mean-variance [Zhu20].

    θ ~ Beta(S + 1, F + 1) after S successes and F failures;  the arm with the smallest θ(1 − θ) − ρ θ is pulled.
    Assumes rewards that are `high`, a success, or `low`, a failure: 1 or 0.

    Examples
    --------
    >>> from prudent import Agent, BernoulliMVTS
    >>> agent = Agent(BernoulliMVTS(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    low: float = UNSET
    high: float = UNSET

    def draws(self, arm: Arm) -> tuple[Beta]:
        return (believed_probability(arm, self.low, self.high),)

    def score(self, arm: Arm, theta: float) -> float:
        length = self.high - self.low
        return mean_variance(self.low + length * theta, length * length * (theta * (1.0 - theta)), self.rho)
