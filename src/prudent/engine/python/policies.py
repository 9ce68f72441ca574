"""A policy that is made a learner by the choice that an `Agent` makes."""

import math
from typing import Any

import numpy as np

from prudent.bandit import Bandit
from prudent.base.errors import PrudentError
from prudent.engine.python.arm import ArmState, include_reward
from prudent.engine.python.choosing import Ready, choose, ready_of
from prudent.engine.python.memory import Memory
from prudent.engine.python.propensities import Choice, Limits, decide
from prudent.policies.binding import assumed_rewards, bind
from prudent.policies.contract import Policy, Setting, spec
from prudent.policies.units import PUBLISHED, fitted
from prudent.risk.base import RiskMeasure


class Acting:
    """A policy as a learner. It chooses as `Agent` does, on the same statistics, with rewards as they are."""

    def __init__(self, policy: Policy, risk: RiskMeasure, laws: Bandit | None, limits: Limits | None = None) -> None:
        self.policy, self.risk, self.laws, self.limits = policy, risk, laws, limits
        self.ready: Ready | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the policy as it is bound to compiled code, which is made again in another process."""
        return {**vars(self), "ready": None}

    def __deepcopy__(self, memo: object) -> "Acting":
        """Itself, because `start` leaves nothing of an earlier run."""
        return self

    def start(self, n_arms: int, horizon: int) -> None:
        """Before the first round."""
        if self.ready is None:
            support = (-math.inf, math.inf) if self.laws is None else self.laws.support
            setting = Setting(n_arms, self.risk, horizon, support, bandit=self.laws)
            self.ready = ready_of(bind(self.policy, setting), spec(self.policy), 1.0)
            self.low, self.high, _ = assumed_rewards(fitted(self.policy, PUBLISHED))
        self.ready.known.clear()
        keeps = self.ready.needs_rewards
        self.arms = [ArmState(rewards=[] if keeps else None) for _ in range(n_arms)]
        self.numbers = list(range(n_arms))
        self.memory = None if self.ready.forgets is None else Memory(self.ready.forgets, 1.0)
        if self.memory is not None:
            self.arms = [self.memory.begin(arm) for arm in self.arms]

    def ask(self, rng: np.random.Generator) -> int:
        """The arm of the coming round; until its reward is told, the policy knows that it is open."""
        return self.decide(rng).arm

    def decide(self, rng: np.random.Generator) -> Choice:
        """The same with its probability, if there are floors or caps."""
        assert self.ready is not None, "start was called"
        known = self.ready, self.arms, self.numbers, rng
        chosen = Choice(choose(*known), None) if self.limits is None else decide(*known, limits=self.limits)
        self.arms[chosen.arm].open_asks += 1
        return chosen

    def tell(self, arm: int, reward: float) -> None:
        """A reward of an open ask."""
        if not self.low <= reward <= self.high:
            made = f"is made for rewards in [{self.low:g}, {self.high:g}], got {reward:g}"
            raise PrudentError(f"{spec(self.policy)}: {made}; give what it assumes, or scale=…")
        include_reward(self.arms[arm], reward, -math.inf, math.inf)
        self.arms[arm].open_asks -= 1
        if self.memory is not None:
            self.memory.tell(self.arms, arm, reward)
