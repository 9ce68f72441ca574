"""Always the same arm, alone."""

from dataclasses import dataclass

import numpy as np

from prudent.errors import check_integer
from prudent.portfolio.policies.base import FOREVER, Play, PortfolioPolicy, Task, registry


@dataclass(frozen=True)
class SingleArm(PortfolioPolicy):
    """One arm in every round, a baseline; `PortfolioBandit.best_arm` knows the best."""

    arm: int

    name = "single-arm"
    feedback = "bandit"

    def play(self, task: Task) -> Play:
        arm = check_integer(self.name, "arm", self.arm, low=0, high=task.arms - 1, hint="arms are numbered from 0")
        while True:
            yield np.eye(task.arms)[arm], FOREVER


registry.add(SingleArm.name, SingleArm)
