"""What learners are compared with: the even mix, one arm, and policies for single arms, which mix nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prudent.base.errors import PrudentError, check_integer, shown
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting, policies
from prudent.portfolio.laws import Block
from prudent.portfolio.policies.base import FOREVER, Brief, Play, PortfolioPolicy, portfolio_policies
from prudent.risk.mean_variance import MeanVariance


@portfolio_policies.add("even")
@dataclass(frozen=True)
class Even(PortfolioPolicy):
    """The even mix in every round, a baseline."""

    feedback = "bandit"

    def play(self, brief: Brief) -> Play:
        while True:
            yield brief.even(), FOREVER


@portfolio_policies.add("single-arm")
@dataclass(frozen=True)
class SingleArm(PortfolioPolicy):
    """One arm in every round, a baseline; `PortfolioBandit.best_arm` knows the best."""

    arm: int

    feedback = "bandit"

    def __post_init__(self) -> None:
        check_integer(self.name, "arm", self.arm, low=0, hint="arms are numbered from 0")

    def play(self, brief: Brief) -> Play:
        arm = check_integer(self.name, "arm", self.arm, low=0, high=brief.arms - 1, hint="arms are numbered from 0")
        while True:
            yield np.eye(brief.arms)[arm], FOREVER


@portfolio_policies.add("vertices")
@dataclass(frozen=True)
class Vertices(PortfolioPolicy):
    """A policy for single arms, MV-LCB unless another is named, on the vertices of the simplex: no arms are mixed.

    Plays round by round, in Python; takes any policy whose score needs neither the clock nor chance.
    """

    policy: str = "mv-lcb"

    feedback = "bandit"

    def __post_init__(self) -> None:
        if not isinstance(self.policy, str):
            raise PrudentError(f"{self.name}: policy must be a name such as 'mv-lcb', got {shown(self.policy)}")

    def play(self, brief: Brief) -> Play:
        ready: object = bind(policies.parse(self.policy), Setting(brief.arms, MeanVariance(brief.rho), brief.horizon))
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
