"""One random arm, kept to the end."""

from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Array, Marks
from prudent.policies.contract import ANY, FOREVER, Arms, policies
from prudent.policies.helpers import choose_only


@policies.add("random-arm", serves=ANY)
class RandomArm(NamedTuple):
    """A₂ of the paper's discussion [Sani12]: pick an arm at random and stay with it.

    Rewards are steady within a run but differ from run to run. Assumes nothing about the rewards.

    Examples
    --------
    >>> from prudent import Agent, RandomArm
    >>> agent = Agent(RandomArm(), arms=["a", "b"], horizon=100, support=(0, 1), risk="mean")
    >>> agent.ask()
    'b'
    """

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        choose_only(chosen, int(rng.integers(0, len(arms.pulls))))
        return FOREVER

    def chances(self, arms: Arms, t: int, chances: Array) -> None:
        chances[:] = 1.0 / len(chances)
        if t > 1:
            chances[:] = 0.0
            chances[arms.pulls.argmax()] = 1.0
