"""Baselines that learn nothing: the even mix, and one arm alone."""

from dataclasses import dataclass

import numpy as np

from prudent.errors import check_integer
from prudent.portfolio.policies.base import FOREVER, Brief, Play, PortfolioPolicy, portfolio_policies


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

    def play(self, brief: Brief) -> Play:
        arm = check_integer(self.name, "arm", self.arm, low=0, high=brief.arms - 1, hint="arms are numbered from 0")
        while True:
            yield np.eye(brief.arms)[arm], FOREVER
