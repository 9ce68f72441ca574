"""Best of both: a search with an exploration budget, an answer to the paper's open question."""

import math
from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Marks
from prudent.base.errors import check_choice, check_positive
from prudent.policies.contract import FOREVER, UNSET, Arms, Setting, policies
from prudent.policies.helpers import choose_only, choose_pulled, exploring_pulls, need_horizon
from prudent.policies.mv_lcb import MVLCB, lower_bound
from prudent.policies.prudent import EXPLORED, Budgeted
from prudent.policies.ties import arm_of, below
from prudent.policies.units import Units

_SEARCHES = ("mv-lcb", "mv-imed")


@policies.add("best-of-both", serves="mean-variance")
class BestOfBoth(NamedTuple):
    """Sharp MV-LCB until exploration has cost as much as ExpExp's, then one arm to the end (docs: best-of-both).

    Pull the argmin of V − ρ μ̂ − (1 + ρ)√(log(1/δ) / 2s), V the unbiased variance, while

        Σ_i T_i − max_i T_i < β (K − 1) m,   m = min(⌈(n/14)^{2/3}⌉, ⌊n/K⌋),

    and then the most pulled arm to the end (among equals, the one with the smallest V − ρ μ̂). [Sani12] asks after
    Theorem 2 for one algorithm with regret O(log n/n) on easy problems and O(n^{−1/3}) on all. On easy problems the
    search ends before the budget, and this is MV-LCB. On hard problems at most β(K−1)m rounds go to other arms, and the
    most pulled arm, whose index was the smallest after m pulls or more, is nearly best. With β = `budget` = 1 the
    budget is what ExpExp spends on arms other than its last one.

    Pulls of the most pulled arm cost no budget, so it is pulled an eighth of its lead at a time, and runs can leap.
    Unless given, δ = 1/n². Assumes rewards in an interval of length `range`, and a known horizon.

    `search="mv-imed"` is the policy `prudent` with n times β in its budgets: there each arm has a budget of its own,
    which follows from the rewards, and nothing is assumed of their range.

    Examples
    --------
    >>> from prudent import Agent, BestOfBoth
    >>> agent = Agent(BestOfBoth(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    search: str = "mv-lcb"
    budget: float = 1.0
    delta: float = UNSET
    range: float = UNSET

    def tuned(self, setting: Setting) -> "_BudgetThenMostPulled | Budgeted":
        n_arms = setting.n_arms
        n = need_horizon("best-of-both", setting)
        if self.search == "mv-imed":
            return Budgeted(self.rho, self.budget * n / EXPLORED)
        index = MVLCB(self.rho, 1.0, self.delta, self.range, unbiased=True).tuned(setting)
        rounds = min(self.budget * (n_arms - 1) * exploring_pulls(n, n_arms), n)
        return _BudgetThenMostPulled(self.rho, index.width, math.ceil(rounds))

    def fitted(self, units: Units) -> "BestOfBoth":
        """MV-IMED assumes nothing of the range of rewards, so it need not be known."""
        unknown = self.assumes_nothing and self.range is UNSET and units.range is None
        return self._replace(range=1.0) if unknown else self

    @property
    def assumes_nothing(self) -> bool:
        """Of the size of rewards."""
        return self.search == "mv-imed"

    def check(self) -> None:
        check_positive("best-of-both", "budget", self.budget, hint="1 explores as long as ExpExp, 0.5 half as long")
        check_choice("best-of-both", "search", self.search, _SEARCHES)


class _BudgetThenMostPulled(NamedTuple):
    """The argmin of mean-variance − width/√s until `budget` rounds went to other arms than the most pulled, then that.

    A round adds either to what is spent or to the most pulls, so the budget is met exactly; the arm it ends with
    stays the most pulled, so nothing need be remembered.
    """

    rho: float
    width: float
    budget: int

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        fewest = int(arms.pulls.min())
        if fewest < 2:  # an unbiased variance takes two
            choose_pulled(chosen, arms, fewest)
            return 1
        lowest, lowest_score = 0, math.inf
        leader, leader_cost, second = 0, math.inf, 0
        for i in range(len(arms.pulls)):
            arm = arm_of(arms, i)
            score = lower_bound(arm, self.rho, self.width, True)
            cost = lower_bound(arm, self.rho, 0.0, True)
            if below(score, arm, lowest_score, arm_of(arms, lowest)):
                lowest, lowest_score = i, score
            ahead = arm.pulls - arms.pulls[leader]
            if i == 0 or ahead > 0 or (ahead == 0 and below(cost, arm, leader_cost, arm_of(arms, leader))):
                second = arms.pulls[leader] if i > 0 else 0
                leader, leader_cost = i, cost
            else:
                second = max(second, arm.pulls)
        if arms.pulls.sum() - arms.pulls[leader] >= self.budget:
            choose_only(chosen, leader)
            return FOREVER
        choose_only(chosen, lowest)
        return max(1, int(arms.pulls[leader] - second) // 8) if lowest == leader else 1
