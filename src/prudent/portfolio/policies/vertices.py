"""A policy for single arms on the vertices of the simplex."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prudent.errors import PrudentError
from prudent.policies.base import Arm, Setting, policies
from prudent.policies.binding import bind
from prudent.portfolio.laws import Block
from prudent.portfolio.policies.base import Brief, Play, PortfolioPolicy, portfolio_policies
from prudent.risk.mean_variance import MeanVariance


@portfolio_policies.add("vertices")
@dataclass(frozen=True)
class Vertices(PortfolioPolicy):
    """A policy for single arms, MV-LCB unless another is named, on the vertices of the simplex: no arms are mixed.

    Plays round by round, in Python; takes any policy whose score needs neither the clock nor chance.
    """

    policy: str = "mv-lcb"

    feedback = "bandit"

    def play(self, brief: Brief) -> Play:
        ready: Any = bind(policies.parse(self.policy), Setting(brief.arms, MeanVariance(brief.rho), brief.horizon))
        vertices = np.eye(brief.arms)
        blocks = []
        for vertex in vertices:
            blocks.append((yield vertex, 1).block)
        scores = [self._score(ready, block) for block in blocks]
        while True:
            arm = int(np.argmin(scores))
            blocks[arm] = blocks[arm].join((yield vertices[arm], 1).block)
            scores[arm] = self._score(ready, blocks[arm])

    def _score(self, ready: Any, block: Block) -> float:
        try:
            return float(ready.score(Arm(block.rounds, float(block.mean), float(block.scatter) / block.rounds)))
        except (AttributeError, TypeError):
            raise PrudentError(f"{self.name}: {self.policy} has no score of an arm alone; try mv-lcb") from None
