"""Thompson sampling for rewards that are 0 or 1."""

from typing import Any, NamedTuple

from prudent.compiled import helper
from prudent.policies.base import MEAN, Arm, policies


@policies.add("bernoulli-thompson", serves=MEAN, values=(0.0, 1.0))
class BernoulliThompson(NamedTuple):
    """θ ~ Beta(S + 1, F + 1) after S ones and F zeros;  the largest is pulled [Thompson33]. Ignores risk.

    Assumes rewards 0 or 1.
    """

    def score(self, arm: Arm, rng: Any) -> float:
        return -sampled_probability(arm, rng)


@helper
def sampled_probability(arm: Arm, rng: Any) -> float:
    """θ ~ Beta(S + 1, F + 1), as the ratio of two gammas."""
    share = min(1.0, max(0.0, arm.mean))  # other rewards break the model, and must not break the draw
    ones = rng.standard_gamma(1.0 + arm.pulls * share)
    zeros = rng.standard_gamma(1.0 + arm.pulls * (1.0 - share))
    return float(ones / (ones + zeros))
