"""Thompson sampling for rewards that are 0 or 1."""

from typing import NamedTuple

from prudent.compile.types import helper
from prudent.policies.contract import MEAN, UNSET, Arm, policies
from prudent.policies.posteriors import Beta, beta


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

    def draws(self, arm: Arm) -> tuple[Beta]:
        return (believed_probability(arm, self.low, self.high),)

    def score(self, arm: Arm, theta: float) -> float:
        return -self.low - (self.high - self.low) * theta


@helper
def believed_probability(arm: Arm, low: float, high: float) -> Beta:
    """Beta(S + 1, F + 1)."""
    # Other rewards break the model, and must not break the draw.
    share = min(1.0, max(0.0, (arm.mean - low) / (high - low)))
    return beta(1.0 + arm.pulls * share, 1.0 + arm.pulls * (1.0 - share))
