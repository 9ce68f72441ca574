"""A policy for single arms on the vertices of the simplex."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prudent.errors import PrudentError
from prudent.policies import Arm, bind
from prudent.policies import registry as arm_policies
from prudent.portfolio.laws import Block
from prudent.portfolio.policies.base import Brief, Play, PortfolioPolicy, registry
from prudent.risk import MeanVariance


@dataclass(frozen=True)
class Vertices(PortfolioPolicy):
    """A policy for single arms, MV-LCB unless another is named, on the vertices of the simplex: no arms are mixed.

    Plays round by round, in Python; any policy whose score needs neither the clock nor chance will do.
    """

    policy: str = "mv-lcb"

    name = "vertices"
    feedback = "bandit"

    def play(self, brief: Brief) -> Play:
        ready: Any = bind(arm_policies.parse(self.policy), MeanVariance(brief.rho), brief.horizon, brief.arms)
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


registry.add(Vertices.name, Vertices)
