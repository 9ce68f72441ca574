"""Every arm in turn."""

from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Marks
from prudent.policies.contract import ANY, FOREVER, Arms, policies


@policies.add("round-robin", serves=ANY)
class RoundRobin(NamedTuple):
    """A₁ of the paper's discussion [Sani12]: arm 1, 2, …, K, 1, 2, …

    Runs resemble each other, but rewards vary within each. Assumes nothing about the rewards.

    Examples
    --------
    >>> from prudent import Agent, RoundRobin
    >>> agent = Agent(RoundRobin(), arms=["a", "b"], horizon=100, support=(0, 1), risk="mean")
    >>> agent.ask()
    'a'
    """

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        chosen[:] = True
        return FOREVER
