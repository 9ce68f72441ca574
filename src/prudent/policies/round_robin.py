"""Every arm in turn."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.policies.base import ANY, FOREVER, Arms, policies


@policies.add("round-robin", serves=ANY)
class RoundRobin(NamedTuple):
    """A₁ of the paper's discussion [Sani12]: arm 1, 2, …, K, 1, 2, …

    Runs resemble each other, but rewards vary within each. Assumes nothing about the rewards.
    """

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        chosen[:] = True
        return FOREVER
