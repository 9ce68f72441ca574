"""Always the same arm."""

from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Marks
from prudent.base.errors import check_integer
from prudent.policies.contract import ANY, FOREVER, Arms, Setting, policies
from prudent.policies.helpers import choose_only


@policies.add("fixed-arm", serves=ANY)
class FixedArm(NamedTuple):
    """Pull `arm` (numbered from 0) in every round: a baseline that does not learn [Sani12].

    Assumes that the user knows which arm to take.

    Examples
    --------
    >>> from prudent import Agent, FixedArm
    >>> agent = Agent(FixedArm(arm=1), arms=["a", "b"], horizon=100, support=(0, 1), risk="mean")
    >>> agent.ask()
    'b'
    """

    arm: int = 0

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        choose_only(chosen, self.arm)
        return FOREVER

    def tuned(self, setting: Setting) -> "FixedArm":
        check_integer("fixed-arm", "arm", self.arm, low=0, high=setting.n_arms - 1, hint="arms are numbered from 0")
        return self

    def check(self) -> None:
        check_integer("fixed-arm", "arm", self.arm, low=0, hint="arms are numbered from 0")
