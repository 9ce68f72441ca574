"""Thompson sampling for rewards that are 0 or 1."""

from typing import Any, NamedTuple

from prudent.compiled import helper
from prudent.policies.base import MEAN, UNSET, Arm, policies


@policies.add("bernoulli-thompson", serves=MEAN, binary=True)
class BernoulliThompson(NamedTuple):
    """θ ~ Beta(S + 1, F + 1) after S successes and F failures;  the largest is pulled [Thompson33]. Ignores risk.

    Assumes rewards that are `high`, a success, or `low`, a failure: 1 or 0.

    Examples
    --------
    >>> from prudent import Agent, BernoulliThompson
    >>> agent = Agent(BernoulliThompson(), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    low: float = UNSET
    high: float = UNSET

    def score(self, arm: Arm, rng: Any) -> float:
        return -self.low - (self.high - self.low) * sampled_probability(arm, self.low, self.high, rng)


@helper
def sampled_probability(arm: Arm, low: float, high: float, rng: Any) -> float:
    """θ ~ Beta(S + 1, F + 1), as the ratio of two gammas."""
    # Other rewards break the model, and must not break the draw.
    share = min(1.0, max(0.0, (arm.mean - low) / (high - low)))
    ones = rng.standard_gamma(1.0 + arm.pulls * share)
    zeros = rng.standard_gamma(1.0 + arm.pulls * (1.0 - share))
    return float(ones / (ones + zeros))
