"""ε-greedy on the mean-variance."""

from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Array, Marks
from prudent.base.errors import check_number
from prudent.policies.contract import UNSET, Arms, policies
from prudent.policies.helpers import cheapest, choose_only, choose_pulled


@policies.add("epsilon-greedy", serves="mean-variance")
class EpsilonGreedy(NamedTuple):
    """With probability ε a random arm, else the one with the smallest empirical mean-variance, after one pull of each.

    Assumes nothing about the rewards. With a fixed ε it never stops exploring, so its regret never falls to 0 [Auer02].

    Examples
    --------
    >>> from prudent import Agent, EpsilonGreedy
    >>> agent = Agent(EpsilonGreedy(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    epsilon: float = 0.1

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        if arms.pulls.min() == 0:
            choose_pulled(chosen, arms, 0)
        elif rng.random() < self.epsilon:
            choose_only(chosen, int(rng.integers(0, len(arms.pulls))))
        else:
            choose_only(chosen, cheapest(arms))
        return 1

    def chances(self, arms: Arms, t: int, chances: Array) -> None:
        chances[:] = self.epsilon / len(chances)
        chances[cheapest(arms)] += 1.0 - self.epsilon
        if arms.pulls.min() == 0:
            chances[:] = 0.0
            chances[arms.pulls.argmin()] = 1.0

    def check(self) -> None:
        check_number("epsilon-greedy", "epsilon", self.epsilon, low=0.0, high=1.0, hint="pass a probability")
