"""RS-ETC-M: explore, then play the mixture of arms that looked best."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.base.arrays import Array, Marks
from prudent.base.errors import check_integer
from prudent.compile.types import helper
from prudent.policies.contract import ANY, UNSET, Arms, Setting, policies
from prudent.policies.helpers import choose_only, exploring_pulls, need_horizon
from prudent.risk.base import RiskMeasure
from prudent.risk.mixtures import parts_of, simplex


@helper
def _follow(arms: Arms, weights: Array, horizon: int, chosen: Marks) -> int:
    """Choose the arm that lacks most of its share of twice the pulls so far, and return how many it lacks."""
    pulled = int(arms.pulls.sum())
    lacking = weights * max(min(2 * pulled, horizon), pulled + 1) - arms.pulls
    arm = int(np.argmax(lacking))
    choose_only(chosen, arm)
    return max(1, int(lacking[arm]))


@helper
def _unseen(arms: Arms, chosen: Marks) -> bool:
    """Choose the arms that were never pulled; whether there are any. In a live experiment one may come later."""
    for i in range(len(arms.pulls)):
        chosen[i] = arms.pulls[i] == 0
    return bool(arms.pulls.min() == 0)


@policies.add("rs-etc-m", serves=ANY)
class RSETCM(NamedTuple):
    """Pull every arm `explore` times, then keep the shares of pulls that cost least as a mixture (RS-ETC-M, [Tatli25]).

    The mixture is the best one of the empirical laws, among weights that are multiples of 1/`parts`; the arm that lacks
    most pulls is pulled. Differs from the paper in two ways: `explore` is by default the ⌈(n/14)^(2/3)⌉ of `exp-exp`,
    because the paper's number depends on gaps that nobody knows; and the mixture is chosen anew from all rewards before
    each block of pulls, which at most doubles their number. For a measure under which no mixture is best it commits to
    an arm. Assumes nothing about the rewards, and a known horizon.

    Examples
    --------
    >>> from prudent import RSETCM, Agent
    >>> agent = Agent(RSETCM(), arms=["a", "b"], horizon=100, support=(0, 1), risk="cvar(alpha=0.1)")
    >>> agent.ask()
    'a'
    """

    risk: RiskMeasure = UNSET
    explore: int = UNSET
    parts: int = UNSET

    def tuned(self, setting: Setting) -> "_ByRewards | _ByMoments":
        n, n_arms = need_horizon("rs-etc-m", setting), setting.n_arms
        each = exploring_pulls(n, n_arms) if self.explore is UNSET else self.explore
        each = check_integer("rs-etc-m", "explore", each, low=1, high=n // n_arms, hint="pulls of each arm")
        parts = parts_of(n_arms) if self.parts is UNSET else self.parts
        grid = np.eye(n_arms) if self.risk.quasiconcave else simplex(n_arms, parts)
        kind = _ByMoments if self.risk.by_moments else _ByRewards
        return kind(self.risk, each, n, grid)

    def check(self) -> None:
        if self.explore is not UNSET:
            check_integer("rs-etc-m", "explore", self.explore, low=1, hint="pulls of each arm")
        if self.parts is not UNSET:
            check_integer("rs-etc-m", "parts", self.parts, low=1, high=1_000, hint="20 cuts weights into steps of 5 %")


class _ByRewards(NamedTuple):
    risk: RiskMeasure
    explore: int
    horizon: int
    grid: Array

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        n_arms, pulled = len(arms.pulls), arms.pulls.sum()
        if _unseen(arms, chosen):
            return self.explore
        best = 0
        if len(self.grid) == n_arms:  # single arms only
            best = int(np.argmin(arms.cost))
        else:
            # All rewards as one sample, each with the arm it came from.
            rewards, owners, filled = np.empty(pulled), np.empty(pulled, np.int64), 0
            for i in range(n_arms):
                rewards[filled : filled + arms.pulls[i]] = arms.rewards[i, : arms.pulls[i]]
                owners[filled : filled + arms.pulls[i]] = i
                filled += arms.pulls[i]
            order = np.argsort(rewards)
            rewards, owners = rewards[order], owners[order]
            least = np.inf
            for k in range(len(self.grid)):
                cost = self.risk.weigh(rewards, (self.grid[k] / arms.pulls)[owners])
                if cost < least:
                    best, least = k, cost
        return _follow(arms, self.grid[best], self.horizon, chosen)


class _ByMoments(NamedTuple):
    risk: RiskMeasure
    explore: int
    horizon: int
    grid: Array

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        if _unseen(arms, chosen):
            return self.explore
        best, least = 0, np.inf
        for k in range(len(self.grid)):
            mean = (self.grid[k] * arms.mean).sum()
            variance = (self.grid[k] * (arms.variance + (arms.mean - mean) ** 2)).sum()
            cost = self.risk.estimate(mean, variance, arms.rewards[0, :0])
            if cost < least:
                best, least = k, cost
        return _follow(arms, self.grid[best], self.horizon, chosen)
