"""One random arm for good."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.policies.base import ANY, FOREVER, Arms, policies
from prudent.policies.helpers import choose_only


@policies.add("random-arm", serves=ANY)
class RandomArm(NamedTuple):
    """A₂ of the paper's discussion [Sani12]: pick an arm at random, stay with it.

    Steady within a run, unsteady over runs. Assumes nothing of the rewards.
    """

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        choose_only(chosen, rng.integers(0, len(arms.pulls)))
        return FOREVER
