"""The even mix."""

from dataclasses import dataclass

from prudent.portfolio.policies.base import FOREVER, Brief, Play, PortfolioPolicy, portfolio_policies


@portfolio_policies.add("even")
@dataclass(frozen=True)
class Even(PortfolioPolicy):
    """The even mix in every round, a baseline."""

    feedback = "bandit"

    def play(self, brief: Brief) -> Play:
        while True:
            yield brief.even(), FOREVER
