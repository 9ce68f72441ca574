"""The even mix."""

from dataclasses import dataclass

from prudent.portfolio.policies.base import FOREVER, Play, PortfolioPolicy, Task, registry


@dataclass(frozen=True)
class Even(PortfolioPolicy):
    """The even mix in every round, a baseline."""

    name = "even"
    feedback = "bandit"

    def play(self, task: Task) -> Play:
        while True:
            yield task.even(), FOREVER


registry.add(Even.name, Even)
