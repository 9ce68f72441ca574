"""Thompson sampling for Gaussian rewards."""

import math
from typing import Any, NamedTuple

from prudent.errors import check_positive
from prudent.policies.base import MEAN, Arm, policies


@policies.add("thompson", serves=MEAN)
class Thompson(NamedTuple):
    """θ ~ N(μ̂, σ²/s), the posterior under a flat prior;  the largest is pulled [Thompson33]. Ignores risk.

    Assumes Gaussian rewards of known variance σ² = `variance`, or any whose tails are no heavier (1/4 on [0, 1]).
    """

    variance: float = 1.0

    def score(self, arm: Arm, rng: Any) -> float:
        return float(-arm.mean - rng.standard_normal() * math.sqrt(self.variance / arm.pulls))

    def check(self) -> None:
        check_positive("thompson", "variance", self.variance)
