"""The policy to try first: MV-IMED with a budget for every arm."""

import math
from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Marks
from prudent.compile.types import helper
from prudent.policies.contract import UNSET, Arm, Arms, Setting, policies
from prudent.policies.helpers import choose_only, enough_rounds
from prudent.policies.mv_imed import gaussian_index
from prudent.policies.ties import arm_of, below
from prudent.risk.mean_variance import mean_variance

EXPLORED = 14.0
"""ExpExp explores (n/14)^{2/3} rounds an arm [Sani12]. The budgets are of that size where Γ̂² is as large as τ."""

_CLEAR_ERRORS = 2.0
"""An arm is clearly better than another if its cost is smaller by so many standard errors."""


@policies.add("prudent", serves="mean-variance")
class Prudent(NamedTuple):
    """MV-IMED in which every arm has a budget: the policy to try first (when not to, see docs: mv-imed).

    Of the most pulled arm J and those with pulls left in their budgets, the one with the smallest (s − 2)K + log s is
    pulled, K as in `mv-imed`. The budget of arm i is

        (n τ / (14 Γ̂²))^{2/3} pulls,   Γ̂ = μ̂_i − μ̂_J,   τ² = τ_i² + τ_J²,   τ_i² = 2V̂² + ρ²V̂,

    where the exploration risk Γ²s/n of s pulls has grown to what a wrong choice may cost, about τ/√s. This answers the
    question of [Sani12] after Theorem 2: regret O(log n/n) on easy problems, where no budget ends, and O(n^{−1/3}) on
    all. If means are alike, or ρ is large, exploring adds little risk, and the budgets are large. An arm whose cost is
    below that of J by more than 2τ/√s has no budget, so that it can take over.

    The variance of arm i counts as (V̂_J + Γ̂²)/s² at least, so that an arm whose first rewards are equal or lie close
    together is not left for too long; it is also why no budget is below (√2 n/14)^{2/7}. The most pulled arm is pulled
    an eighth of its lead at a time, so runs can leap. Needs no range, prior or draws, and has no unit. Assumes rewards
    that are not far from Gaussian; for Gaussian arms it is asymptotically optimal (docs: mv-imed). Without a horizon
    there are no budgets.

    Examples
    --------
    >>> from prudent import Agent, Prudent
    >>> agent = Agent(Prudent(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET

    def tuned(self, setting: Setting) -> "Budgeted":
        n = enough_rounds("prudent", setting) if setting.horizon is not None else math.inf
        return Budgeted(self.rho, n / EXPLORED)


class Budgeted(NamedTuple):
    """MV-IMED with the budgets (scale · τ/Γ̂²)^{2/3}."""

    rho: float
    scale: float

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        fewest = arms.pulls.min()
        if fewest < 3:
            chosen[:] = arms.pulls == fewest
            return 1
        leader, second, best_cost = 0, 0, arms.cost[0]
        for i in range(1, len(arms.pulls)):
            ahead = arms.pulls[i] - arms.pulls[leader]
            tied = below(arms.cost[i], arm_of(arms, i), arms.cost[leader], arm_of(arms, leader))
            if ahead > 0 or (ahead == 0 and tied):
                leader, second = i, arms.pulls[leader]
            else:
                second = max(second, arms.pulls[i])
            best_cost = min(best_cost, arms.cost[i])
        most = arm_of(arms, leader)
        lowest, lowest_score = -1, math.inf
        for i in range(len(arms.pulls)):
            arm = arm_of(arms, i)
            if i == leader or self.open(arm, most):
                score = self.evidence(arm, most, best_cost)
                if lowest < 0 or below(score, arm, lowest_score, arm_of(arms, lowest)):
                    lowest, lowest_score = i, score
        choose_only(chosen, lowest)
        return max(1, int(most.pulls - second) // 8) if lowest == leader else 1

    def evidence(self, arm: Arm, most: Arm, best_cost: float) -> float:
        """(s − 2)K + log s for every ρ, with a variance that is not too small for so few rewards."""
        if mean_variance(arm.mean, arm.variance, self.rho) <= best_cost:
            return gaussian_index(arm, best_cost, self.rho, 2.0)
        # The arm stays as far from the best one as it is: what its cost gains by the variance, the best one gains too.
        wider = widened(arm, most)
        gained = 0.0 if math.isinf(self.rho) else wider.variance - arm.variance
        return gaussian_index(wider, best_cost + gained, self.rho, 2.0)

    def open(self, arm: Arm, most: Arm) -> bool:
        """Whether an arm other than the most pulled one has pulls left. If only means count, there is no such risk.

        Nor is there one in pulling an arm that is clearly better than the most pulled one: it takes over.
        """
        gap = arm.mean - most.mean
        if math.isinf(self.rho) or gap == 0.0:
            return True
        error = math.hypot(spread(widened(arm, most), self.rho), spread(most, self.rho))
        pulls, root = float(arm.pulls), math.sqrt(arm.pulls)
        ahead = mean_variance(most.mean, most.variance, self.rho) - mean_variance(arm.mean, arm.variance, self.rho)
        return pulls * root * gap * gap < self.scale * error or root * ahead > _CLEAR_ERRORS * error


@helper
def widened(arm: Arm, most: Arm) -> Arm:
    """An arm with a variance of (V̂_J + Γ̂²)/s² at least, J the most pulled arm."""
    gap, pulls = arm.mean - most.mean, float(arm.pulls)
    return Arm(arm.pulls, arm.mean, max(arm.variance, (most.variance + gap * gap) / (pulls * pulls)))


@helper
def spread(arm: Arm, rho: float) -> float:
    """√(2V̂² + ρ²V̂): the standard error of a Gaussian arm's mean-variance, times √s."""
    return math.sqrt(arm.variance * (2.0 * arm.variance + rho * rho))
